package rules

import (
	"fmt"
	"math/rand/v2"
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

// TestAnyOrderOfWordsIsRead takes words that the grammar knows, in any order: no rule may end
// the process.
func TestAnyOrderOfWordsIsRead(t *testing.T) {
	t.Parallel()
	known := strings.Fields("no only skip question hooks or and hook that asks a question starting with questions captions unless except over 10k views English German TikTok Reels Shorts @a @b #x , . ads is not must under 30 seconds year old creators with followers from like food vegan in on the hashtag 5 to")
	random := rand.New(rand.NewPCG(39, 6))
	for range 5_000 {
		words := make([]string, 2+random.IntN(14))
		for i := range words {
			words[i] = known[random.IntN(len(known))]
		}
		text := strings.Join(words, " ")
		func() {
			defer func() {
				if fault := recover(); fault != nil {
					t.Errorf("%q: %v", text, fault)
				}
			}()
			compiled(text, text).Judge(video(nil), noon)
		}()
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
