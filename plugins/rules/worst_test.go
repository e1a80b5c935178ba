package rules

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLongRulesCompileInTime takes rules of the longest length in shapes that
// make every search go furthest. Other processes add nothing to its processor time.
func TestLongRulesCompileInTime(t *testing.T) {
	const length = 20_000
	for _, piece := range []string{"a ", "x ", "1 ", "english ", "no a, ", "no a, x and ", "skip a or at least 1 views, "} {
		t.Run(fmt.Sprintf("%q", piece), func(t *testing.T) {
			text := strings.Repeat(piece, length/len(piece))
			start := used(t)
			p := compiled(text, text)
			p.Judge(video(nil), noon)
			if took := used(t) - start; took > 5*time.Second {
				t.Errorf("%q took %v, want at most %v", piece, took, 5*time.Second)
			}
		})
	}
}

// used is the processor time of this process. Where it is asked, tests take turns.
func used(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
