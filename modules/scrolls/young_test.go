package scrolls

import (
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// young is a world whose library has seven videos, the first three of them young, and a
// source that can read all of them again. A pass is due a minute after a scheduled scroll.
func young(t *testing.T, db *store.DB) (w *world, api *source) {
	t.Helper()
	cfg := quick()
	cfg.ObserveYoung = time.Minute
	cfg.Templates[youngTemplate] = Template{Sources: []string{"feed", "api"}}
	known := videos("tiktok", 1, 7)
	w = library(t, db, cfg, known, "feed", "api")
	api = &source{refreshes: byRef(known)}
	w.sources["api"] = api
	for _, r := range known[:3] {
		w.young = append(w.young, r.Ref)
	}
	return w, api
}

func TestYoungVideosAreReadAgainBetweenScheduledScrolls(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w, api := young(t, db)
		w.service.now = func() time.Time { return time.Now().Add(100*time.Millisecond - time.Minute) }
		w.complete(w.create(Start{Schedule: ptr(1)}).ID)
		api.lookedUp = nil
		collected := w.calls["feed"]
		w.queue(w.service)
		const passes = "SELECT count(*) FROM scrolls WHERE template = 'observe_young' AND status = 'completed'"
		giveUp := time.After(2 * time.Minute)
		for tick := time.NewTicker(20 * time.Millisecond); w.number(passes) == 0; {
			select {
			case <-tick.C:
			case <-giveUp:
				t.Fatal("got no completed pass within 2 min, want one")
			}
		}
		if got, want := api.asked(), "tiktok 1, tiktok 2, tiktok 3"; got != want {
			t.Errorf("asked for %q, want the young ones, %q", got, want)
		}
		if n := w.number("SELECT count(*) FROM fake_observations o JOIN scrolls s ON s.id = o.scroll_id WHERE s.template = 'observe_young'"); n != 3 {
			t.Errorf("%d observations, want 3", n)
		}
		if n := w.calls["feed"]; n != collected {
			t.Errorf("the feed was collected %d times, want no more than %d", n, collected)
		}
		if n := w.number("SELECT sum(units) FROM fake_charges WHERE units = 10"); n != 10 {
			t.Errorf("%d units for the pass, want 10", n)
		}
		if n, err := w.service.runNumber(tenant()); n != 3 || err != nil {
			t.Errorf("the next run is number %d, %v; want 3, as a pass is none", n, err)
		}
	})
}

func TestPassesOverYoungVideosAreSkippedWhereScrollsAre(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w, api := young(t, db)
		name := youngTemplate
		if _, _, err := w.service.Create(tenant(), Start{Template: &name}); !apierr.Is(err, apierr.InvalidRequest) {
			t.Errorf("a caller names the template: %v, want that it is refused", err)
		}
		w.complete(w.create(Start{Schedule: ptr(1)}).ID)
		args := passArgs{
			account, int64(w.number("SELECT id FROM recurrences")), w.service.now().UnixMilli(), int64(w.number("SELECT next_at FROM recurrences")),
		}
		for _, c := range []struct {
			name   string
			change func()
			want   int // passes afterwards
		}{
			{"not paid", func() { w.setLimits(Limits{MaxFeedSize: 250, ActiveScrolls: 1}) }, 0},
			{"nothing left to spend", func() {
				w.setLimits(Limits{Active: true, MaxFeedSize: 250, ActiveScrolls: 1})
				w.setSpent(true)
			}, 0},
			{"no source that reads again", func() { w.setSpent(false); w.unusable = []string{"api", "feed"} }, 0},
			{"a schedule that was replaced", func() { w.unusable = nil; args.Until++ }, 0},
			{"a schedule that is gone", func() { args.Until--; args.Recurrence++ }, 0},
			{"nothing in the way", func() { args.Recurrence-- }, 1},
			{"the same pass again", func() {}, 1},
			{"while one is active", func() { args.At++ }, 1},
		} {
			t.Run(c.name, func(t *testing.T) {
				c.change()
				args.At++
				if c.name == "the same pass again" {
					args.At--
				}
				if err := (schedules{w.service}).pass(tenant(), args); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				if n := w.number("SELECT count(*) FROM scrolls WHERE template = 'observe_young'"); n != c.want {
					t.Errorf("%s: %d passes, want %d", c.name, n, c.want)
				}
			})
		}
		// A pass takes no place of the tenant's own scrolls.
		w.complete(w.create(Start{}).ID)
		if len(api.lookedUp) == 0 {
			t.Errorf("the scroll read nothing again: got %v, want some", len(api.lookedUp))
		}
	})
}

func TestScrollsReadYoungVideosAgainFirst(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w, api := young(t, db)
		w.young = []stage.Ref{{Platform: "tiktok", ExternalID: "v0006"}, {Platform: "tiktok", ExternalID: "v0005"}}
		w.service.cfg.MaxRefresh = 3
		w.complete(w.create(Start{}).ID)
		if got, want := api.asked(), "tiktok 1, tiktok 5, tiktok 6"; got != want {
			t.Errorf("asked for %q, want %q", got, want)
		}
	})
}

// TestScrollsReadAgainFirstWhatIsDeletedSoon reads it before young videos.
func TestScrollsReadAgainFirstWhatIsDeletedSoon(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w, api := young(t, db)
		w.young = []stage.Ref{{Platform: "tiktok", ExternalID: "v0006"}, {Platform: "tiktok", ExternalID: "v0005"}}
		w.due = []stage.Ref{{Platform: "tiktok", ExternalID: "v0004"}, {Platform: "tiktok", ExternalID: "v0006"}}
		w.service.cfg.MaxRefresh = 3
		w.complete(w.create(Start{}).ID)
		if got, want := api.asked(), "tiktok 4, tiktok 5, tiktok 6"; got != want {
			t.Errorf("asked for %q, want %q", got, want)
		}
	})
}
