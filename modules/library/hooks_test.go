package library

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestRepeatedHooksComeLast has creators open their videos alike, in several scrolls, and
// compares the list with plain code.
func TestRepeatedHooksComeLast(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		r := rand.New(rand.NewPCG(1, 2))
		type hook struct {
			id, creator, spoken string
			changed             int64
		}
		known := map[string]*hook{}
		for run := range int64(8) {
			var records []stage.Record
			for i := range 30 {
				if r.IntN(3) == 0 {
					continue
				}
				id, creator := fmt.Sprint("v", i), fmt.Sprint("c", i%4)
				one := clip(id, creator, 100)
				if creator == "c0" {
					one.Source = nil
					creator = ""
				}
				text := []string{"short", "How to pull a shot, at HOME today", "How to pull a shot at home, today!", "Another opening of twenty letters"}[r.IntN(4)]
				one.Evidence = &stage.Evidence{Spoken: &text}
				records = append(records, one)
				if h := known[id]; h == nil || h.spoken != text {
					known[id] = &hook{id, creator, text, now + run*day}
				}
			}
			b.archive(run+1, now+run*day, records...)
		}
		ids := map[string]string{}
		var got []string
		for _, h := range b.all(page{list: hooks, limit: 7}).Hooks {
			got, ids[h.Video.ExternalID] = append(got, h.Video.ExternalID), h.Video.ID
		}
		letters := func(text string) string {
			var kept []rune
			for _, c := range strings.ToLower(text) {
				if c >= 'a' && c <= 'z' {
					kept = append(kept, c)
				}
			}
			if len(kept) < 20 {
				return ""
			}
			return string(kept[:20])
		}
		before := func(x, y *hook) int { // newest change first, then id
			if x.changed != y.changed {
				return int(y.changed/day - x.changed/day)
			}
			return strings.Compare(ids[x.id], ids[y.id])
		}
		repeats := func(h *hook) bool {
			for _, other := range known {
				if other != h && h.creator != "" && other.creator == h.creator && letters(h.spoken) != "" && letters(other.spoken) == letters(h.spoken) && before(other, h) < 0 {
					return true
				}
			}
			return false
		}
		var first, last []*hook
		for _, h := range known {
			if repeats(h) {
				last = append(last, h)
			} else {
				first = append(first, h)
			}
		}
		slices.SortFunc(first, before)
		slices.SortFunc(last, before)
		var want []string
		for _, h := range slices.Concat(first, last) {
			want = append(want, h.id)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("hooks (-want +got):\n%s", diff)
		}
		if len(last) < 5 || len(first) < 5 {
			t.Errorf("the test compares too little: got %d repetitions and %d others, want at least 5 of each", len(last), len(first))
		}
	})
}

func TestSpokenTextWithoutTimesIsCut(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	one := clip("1", "a", 100)
	one.Evidence = &stage.Evidence{Spoken: ptr(strings.Repeat("abcdefghi ", 40))}
	b.archive(1, now, one)
	if got := *b.all(page{list: hooks}).Hooks[0].Spoken; got != strings.TrimSpace(strings.Repeat("abcdefghi ", 28)) {
		t.Errorf("got %q, want the first 28 words", got)
	}
}

func TestHooksOfANewCreatorRepeatEachOther(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		opens := func(id, creator, spoken string) stage.Record {
			one := clip(id, creator, 100)
			one.Evidence = &stage.Evidence{Spoken: &spoken}
			return one
		}
		const opening = "How to pull a shot at home"
		b.archive(1, now,
			opens("1", "ann", opening), opens("2", "ann", opening+" again"), opens("3", "ann", "Another opening of twenty letters"), opens("4", "bob", opening))
		var got []string
		for _, h := range b.all(page{list: hooks}).Hooks {
			got = append(got, h.Video.ExternalID)
		}
		if diff := gocmp.Diff([]string{"1", "3", "4", "2"}, got); diff != "" {
			t.Errorf("hooks (-want +got):\n%s", diff)
		}
	})
}
