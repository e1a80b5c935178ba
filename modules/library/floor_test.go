package library

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// The bars: a read, and a write, of the largest library against that of the smallest.
const (
	flatBar   = 1.1
	writesBar = 1.2
)

// tries is how often a bar may be measured before it counts as missed: what disturbs one
// try on a machine that others share is over in the next one. The bars are the same everywhere.
const tries = 3

// hold measures until the ratio is within its bar, at most tries times.
func hold(t *testing.T, what string, within func() (fault string)) {
	t.Helper()
	fault := ""
	for range tries {
		if fault = within(); fault == "" {
			return
		}
	}
	t.Errorf("%s: %s", what, fault)
}

func measured(t *testing.T) {
	t.Helper()
	if os.Getenv("SCROLLERY_BENCH") == "" {
		t.Skip("a measurement: set SCROLLERY_BENCH=1 (to 20,000 videos), strict (100,000) or 1M, with nothing else running")
	}
}

func used() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestReadsStayOnTheFloorAtAnySize compares uncached reads of a small and a large
// library, in turns.
func TestReadsStayOnTheFloorAtAnySize(t *testing.T) {
	measured(t)
	size := map[string]int{"strict": 100_000, "1M": 1_000_000}[os.Getenv("SCROLLERY_BENCH")]
	if size == 0 {
		size = 20_000
	}
	small, large := grown(t, 10_000), grown(t, size)
	for _, list := range []lists.Page{{List: lists.Hooks, Limit: 25}, {List: lists.Outliers, Limit: 25}, {List: lists.Trends, Limit: 25}} {
		call := func(b *bundle) func() {
			bare, err := New(Config{}, b.db, b.runs, b.runs, b.runs, b.runs, b.kept(), nil, videos.Thinning{})
			if err != nil {
				t.Fatal(err)
			}
			return func() {
				made, err := bare.Lists.Read(b.ctx, list)
				if err != nil {
					t.Fatal(err)
				}
				if made.Done != nil {
					made.Done()
				}
			}
		}
		hold(t, "list "+string(rune(list.List)), func() (fault string) {
			few, many := inTurns(call(small), call(large))
			ratio := float64(many) / float64(few)
			t.Logf("%s: %v of 10,000, %v of %d: %.2f, bar %.2f", string(rune(list.List)), few, many, size, ratio, flatBar)
			if ratio > flatBar {
				fault = fmt.Sprintf("got %.2f times the cost in the larger library, want at most %.2f", ratio, flatBar)
			}
			return fault
		})
	}
}

// inTurns gives the processor time of each call in the median round.
func inTurns(a, b func()) (costA, costB time.Duration) {
	// So many calls that several collections of garbage fall into each round: with 40, one did or
	// did not, and was half of a page's cost.
	const rounds, calls = 15, 200
	costs := [2][]time.Duration{}
	for round := range rounds {
		for i, call := range []func(){a, b} {
			runtime.GC()
			before := used()
			for range calls {
				call()
			}
			if round > 0 {
				costs[i] = append(costs[i], (used()-before)/calls)
			}
		}
	}
	for i := range costs {
		slices.Sort(costs[i])
	}
	return costs[0][rounds/2], costs[1][rounds/2]
}

// TestArchivingStaysOnTheFloorAtAnySize compares writes to a small and a large library, in
// turns.
func TestArchivingStaysOnTheFloorAtAnySize(t *testing.T) {
	measured(t)
	size := map[string]int{"strict": 100_000, "1M": 1_000_000}[os.Getenv("SCROLLERY_BENCH")]
	if size == 0 {
		size = 20_000
	}
	call := func(b *bundle) func() {
		found, _ := b.read(lists.Page{List: lists.Videos, Limit: 100})
		n := 0
		return func() {
			v := found.Videos[n/2%len(found.Videos)]
			if _, err := b.edits.ArchiveVideo(b.ctx, v.ID, false, n%2 == 0); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	small, large := call(grown(t, 10_000)), call(grown(t, size))
	hold(t, "archiving", func() (fault string) {
		few, many := inTurns(small, large)
		ratio := float64(many) / float64(few)
		t.Logf("archiving: %v of 10,000, %v of %d: %.2f, bar %.2f", few, many, size, ratio, writesBar)
		if ratio > writesBar {
			fault = fmt.Sprintf("got %.2f times the cost in the larger library, want at most %.2f", ratio, writesBar)
		}
		return fault
	})
}
