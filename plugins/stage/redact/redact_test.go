package redact

import (
	"net/url"
	"testing"
)

func TestForms(t *testing.T) {
	t.Parallel()
	const secret = "a/b+c d=&"
	words := map[string]string{}
	for _, form := range Forms(secret) {
		words[form] = "[x]"
	}
	text := secret + " " + url.Values{"k": {secret}}.Encode() + " " + url.PathEscape(secret)
	if got, want := Replacer(words).Replace(text), "[x] k=[x] [x]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, echoed := range []string{`a\/b+c d=\u0026`, `a/b+c d=\u0026`, "a/b+c d=&amp;", "a%2fb%2bc+d%3d%26", "a%2fb+c%20d=&"} {
		if got := Replacer(words).Replace("[" + echoed + "]"); got != "[[x]]" {
			t.Errorf("of %s: got %s, want nothing of the secret", echoed, got)
		}
	}
	if forms := Forms("plain"); len(forms) != 1 || len(Forms("")) != 0 {
		t.Errorf("%q, want 1 form and length 0", forms)
	}
}

// TestLongestFirst: a secret that begins as another does leaves no rest.
func TestLongestFirst(t *testing.T) {
	t.Parallel()
	replacer := Replacer(map[string]string{"secret": "[a]", "secret-and-more": "[b]", "sec": "[c]"})
	if got := replacer.Replace("secret-and-more secret sec"); got != "[b] [a] [c]" {
		t.Error(got)
	}
}
