package scrolls

import (
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestAnErasedHandleLeavesTheScrolls: it is in no coverage and no plan of any scroll of the
// tenant; others stay, and so do the scrolls of other tenants.
func TestAnErasedHandleLeavesTheScrolls(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.offline = []string{"feed"}
		w.sources["feed"].outcomes = []stage.Outcome{
			{Seed: "maker1", Platform: "tiktok", Status: stage.OK, Asked: 8, Returned: 8},
			{Seed: "maker1", Platform: "youtube", Status: stage.OK, Asked: 8, Returned: 8},
			{Seed: "rival", Platform: "tiktok", Status: stage.Partial, Asked: 8},
		}
		var ids []int64
		for range 3 {
			ids = append(ids, w.complete(w.create(Start{}).ID).ID)
		}
		names := func() (text string) {
			for _, id := range ids {
				s, err := w.service.load(tenant(), id)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range s.Progress.Coverage {
					text += e.Platform + ":" + e.Seed + " "
				}
				if s.Progress.Plan == nil || s.Progress.Percent != 100 {
					t.Fatalf("got the progress %+v, want one that is whole", s.Progress)
				}
				for _, seed := range s.Progress.Plan.Seeds {
					text += seed.Platform + ":" + seed.Handle + " "
				}
			}
			return text
		}
		before := names()
		if strings.Count(before, "tiktok:maker1") != 3 || !strings.Contains(before, "rival") {
			t.Fatalf("before: got %s, want both handles in all scrolls", before)
		}
		erase := func(account int64, handle string) {
			t.Helper()
			is := func(text string) bool { return strings.EqualFold(strings.TrimPrefix(text, "@"), handle) }
			if err := w.history.EraseHandle(viewer.As(t.Context(), account), "tiktok", is); err != nil {
				t.Fatal(err)
			}
		}
		erase(account+1, "maker1")
		if got := names(); got != before {
			t.Errorf("after the erasure for another tenant: got %s, want %s", got, before)
		}
		erase(account, "MAKER1")
		if got := names(); strings.Contains(got, "tiktok:maker1") || strings.Count(got, "youtube:maker1") != 3 || !strings.Contains(got, "rival") {
			t.Errorf("got %s, want maker1 gone from tiktok alone", got)
		}
		erase(account, "rival")
		if got := names(); strings.Contains(got, "rival") {
			t.Errorf("got %s, want rival gone from coverage and plan", got)
		}
	})
}
