package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLongRulesCompileInTime takes rules of the longest length in shapes that
// make every search go furthest.
func TestLongRulesCompileInTime(t *testing.T) {
	t.Parallel()
	const length = 20_000
	for _, piece := range []string{"a ", "x ", "1 ", "english ", "no a, ", "no a, x and ", "skip a or at least 1 views, "} {
		t.Run(fmt.Sprintf("%q", piece), func(t *testing.T) {
			text := strings.Repeat(piece, length/len(piece))
			start := time.Now()
			p := compiled(text, text)
			p.Judge(video(nil), noon)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%q took %v, want at most %v", piece, took, 5*time.Second)
			}
		})
	}
}
