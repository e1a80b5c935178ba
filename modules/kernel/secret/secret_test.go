package secret

import (
	"fmt"
	"testing"
)

func TestNew(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		text := New()
		if len(text) != Length || !Clean(text) {
			t.Fatalf("New() = %q, want %d base62 digits", text, Length)
		}
		if seen[text] {
			t.Fatalf("New() returned %q twice", text)
		}
		seen[text] = true
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n     uint64
		width int
		want  string
	}{
		{0, 6, "000000"}, {61, 2, "0z"}, {62, 2, "10"}, {1<<32 - 1, 6, "4gfFC3"}, {62, 1, "0"},
	} {
		t.Run(fmt.Sprintf("%d in %d digits", c.n, c.width), func(t *testing.T) {
			if got := Encode(c.n, c.width); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, "aZ9": true, "a-b": false, "a b": false, "é": false, "a\x00": false} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got := Clean(text); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
