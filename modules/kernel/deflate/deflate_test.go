package deflate

import (
	"strings"
	"testing"
)

func TestTextsComeBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "no politics", "a\x00b\xff", strings.Repeat("keep videos about coffee\n", 500)} {
		packed := Pack(text)
		got, err := Unpack(packed)
		if err != nil || got != text {
			t.Errorf("%.20q: got %.20q, error %v; want the text", text, got, err)
		}
		if len(text) > 1000 && len(packed) > len(text)/20 {
			t.Errorf("%d bytes were packed into %d, want at most a twentieth", len(text), len(packed))
		}
	}
}

func TestWhatWasNotPackedIsRefused(t *testing.T) {
	t.Parallel()
	whole := Pack(strings.Repeat("words ", 100))
	for name, packed := range map[string][]byte{
		"a part":   whole[:len(whole)/2],
		"no part":  nil,
		"too long": Pack(strings.Repeat("a", MaxText+1)),
	} {
		if text, err := Unpack(packed); err == nil {
			t.Errorf("%s: got a text of %d bytes, want an error", name, len(text))
		}
	}
}
