package host

import (
	"fmt"
	"testing"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Über TikTok, 見る":  "Über TikTok, 見る",
		"\x1b[2Jok\r\n\tx": `\x1b[2Jok\r\n\tx`,
		"a\u202eb\u200bc":  `a\u202eb\u200bc`,
		"\xff":             `\xff`,
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got := Printable(text); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
		})
	}
}
