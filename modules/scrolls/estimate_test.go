package scrolls

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestEstimateIsWhatTheScrollDoes compares an estimate with the scroll that follows it.
func TestEstimateIsWhatTheScrollDoes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.unusable = []string{"youtube", "tiktok", "instagram", "ytdlp"}
		w.rules = []stage.Rule{{ID: "rule_1", Text: "Prefer moka pots"}}
		prompt := "latte art"
		e, err := w.service.Estimate(tenant(), &prompt, nil)
		if err != nil {
			t.Fatal(err)
		}
		if scrolls, records := w.count("scrolls"), w.count("fake_charges"); scrolls+records > 0 || len(w.read) > 0 || len(w.calls) > 0 {
			t.Errorf("got %d scrolls and %d charges after an estimate, %v read and %v called; want none", scrolls, records, w.read, w.calls)
		}
		done := w.complete(w.create(Start{Prompt: &prompt}).ID)
		if diff := cmp.Diff(done.Progress.Plan.Seeds, e.Seeds); diff != "" {
			t.Errorf("the seeds of the estimate differ from those of the scroll (-want +got):\n%s", diff)
		}
		if one := e.Sources[0]; one.Source != "feed" || one.Seeds != len(w.sources["feed"].seeds) {
			t.Errorf("got the estimate %+v, want %d seeds of feed, as it was asked", one, len(w.sources["feed"].seeds))
		}
	})
}

func TestEstimateSaysWhatHoldsAScrollBack(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Millisecond)
	soon, hour, day := now.UnixMilli(), now.Add(time.Hour).UnixMilli(), now.Add(24*time.Hour).UnixMilli()
	full := func(at *int64) QuotaLeft { return QuotaLeft{Name: "units", Limit: 100, Left: 3, RetryAt: at} }
	type answer struct {
		Obstacles []string
		NextAt    *int64
	}
	cases := map[string]struct {
		given func(w *world)
		want  answer
	}{
		"nothing": {func(*world) {}, answer{nil, &soon}},
		"the budget": {
			func(w *world) { w.spent = true }, answer{[]string{"budget_spent"}, &hour},
		},
		"an active scroll, which may end at any time": {
			func(w *world) { w.create(Start{}) }, answer{[]string{"scroll_active_limit"}, nil},
		},
		"no source": {
			func(w *world) { w.unusable = append(w.unusable, "feed", "youtube") }, answer{[]string{"no_sources"}, nil},
		},
		"the quotas of every source, until the first is renewed": {
			func(w *world) {
				w.quotas = map[string]QuotaLeft{"feed": full(&day), "youtube": full(&hour)}
			}, answer{[]string{"source_quota_exceeded"}, &hour},
		},
		"not the quota of one source of two": {
			func(w *world) { w.quotas = map[string]QuotaLeft{"feed": full(&day)} }, answer{nil, &soon},
		},
		"quotas that are smaller than the plan": {
			func(w *world) {
				w.quotas = map[string]QuotaLeft{"feed": {Name: "units", Limit: 2, Left: 2}, "youtube": {Name: "units", Limit: 2, Left: 2}}
			}, answer{[]string{"source_quota_exceeded"}, nil},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t, storetest.SQLite(t), quick())
			w.sources["youtube"] = w.sources["feed"]
			w.unusable = []string{"tiktok", "instagram", "ytdlp"}
			w.service.now = func() time.Time { return now }
			c.given(w)
			e, err := w.service.Estimate(tenant(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, answer{e.Obstacles, e.NextAt}); diff != "" {
				t.Errorf("want - and got +:\n%s", diff)
			}
			if e.MinUnits != 100 || e.MaxUnits != 350 || e.MaxActive != 1 {
				t.Errorf("units %d to %d, %d scrolls at once; want 100 to 350, 1", e.MinUnits, e.MaxUnits, e.MaxActive)
			}
		})
	}
}
