package score

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFoldOfWords compares texts that are folded by their words with the same texts folded
// as a whole.
func TestFoldOfWords(t *testing.T) {
	t.Parallel()
	parts := []string{
		" ", " ", "Hello", "STOP", "\u00e9", "\u00c9", "e\u0301", "\u0301", "\u0323\u0307", "\u00a8", "\u0345", "\u03a3", "\u03c2", "\u0130", "i\u0307",
		"\ufb01", "\u2126", "\uac00", "\u1100", "\u1161", "\u11a8", "\u3000", "\u00a0", "\U0001f4a1", "\u65e5\u672c", "\xff", "\t", "\n", "20\u20ac", "#naïve",
		strings.Repeat("\u0300", 40),
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var text strings.Builder
		for range 1 + random.IntN(8) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		if diff := cmp.Diff(foldAny(text.String()), Fold(text.String())); diff != "" {
			t.Fatalf("%q (-as a whole +by words):\n%s", text.String(), diff)
		}
	}
}
