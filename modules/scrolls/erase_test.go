package scrolls

import (
	"context"
	"encoding/json"
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

// TestARunningScrollWritesNoErasedHandle erases a handle between two steps of a scroll that has it
// in its hands.
func TestARunningScrollWritesNoErasedHandle(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var w *world
		var id int64
		names := func() string {
			s, err := w.service.load(tenant(), id)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(s.Progress)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		cfg := quick()
		cfg.Pause = func(_ context.Context, step, point string) {
			if step != Score || point != "begin" {
				return
			}
			if before := names(); !strings.Contains(before, "maker1") {
				t.Errorf("before: got %s, want the handle", before)
			}
			w.erased.Store(true)
			if err := w.history.EraseHandle(tenant(), "tiktok", func(text string) bool { return text == "maker1" }); err != nil {
				t.Error(err)
			}
			if erased := names(); strings.Contains(erased, "maker1") {
				t.Errorf("when it was erased: got %s, want no handle", erased)
			}
		}
		w = setup(t, db, cfg)
		w.offline = []string{"feed"}
		w.sources["feed"].outcomes = []stage.Outcome{
			{Seed: "maker1", Platform: "tiktok", Status: stage.OK, Asked: 8, Returned: 8},
			{Seed: "rival", Platform: "tiktok", Status: stage.Partial, Asked: 8},
		}
		id = w.create(Start{}).ID
		w.complete(id)
		if got := names(); !w.erased.Load() || strings.Contains(got, "maker1") || !strings.Contains(got, "rival") {
			t.Errorf("at the end: got %s, erased %t; want the other handle alone", got, w.erased.Load())
		}
	})
}

// TestADeletedVideoIsNotJudgedAgain collects and imports a video that the account deleted from its
// library: no screen sees it, no verdict names it, and the import does not count it.
func TestADeletedVideoIsNotJudgedAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.setLimits(Limits{Active: true, MaxFeedSize: 250, ActiveScrolls: 1})
		w.buried = "v0003"
		w.screen = func(rec stage.Record) stage.Verdict {
			if rec.ExternalID == w.buried {
				t.Error("got the deleted video in a screen, want it left out")
			}
			return stage.Verdict{Ref: rec.Ref}
		}
		if scroll := w.complete(w.create(Start{}).ID); scroll.Status != Completed || scroll.NewVideos != 24 {
			t.Errorf("got %d new videos, %s; want the 24 others", scroll.NewVideos, scroll.Status)
		}
		done, err := w.service.Import(tenant(), feed(read(secondTime, videos("youtube", 1, 5))))
		if want := (Tally{New: 4}); err != nil || done.Sum() != want {
			t.Errorf("import: got %+v, %v; want %+v", done.Sum(), err, want)
		}
		if got := w.number("SELECT count(*) FROM verdicts WHERE external_id = 'v0003'"); got != 0 {
			t.Errorf("got %d verdicts on the deleted video, want none", got)
		}
	})
}
