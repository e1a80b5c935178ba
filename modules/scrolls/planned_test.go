package scrolls

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

func withPlanner() Config {
	cfg := quick()
	template := cfg.Templates[defaultTemplate]
	template.Plans = []string{"missing", "model"}
	cfg.Templates[defaultTemplate] = template
	return cfg
}

func terms(seeds []stage.Seed) (all []string) {
	for _, seed := range seeds {
		if seed.Kind == plan.Niche {
			all = append(all, seed.Term)
		}
	}
	return all
}

// TestPagesGiveTerms: what the tenant's own page says counts like the description.
func TestPagesGiveTerms(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.brief.Website, w.brief.AppStoreURL = "https://beans.co", "https://apps.apple.com/app/id1"
		w.pages = map[string]stage.Page{"https://beans.co": {URL: "https://beans.co", Title: "Beans", Text: "Grinders for moka pots"}}
		done := w.complete(w.create(Start{}).ID)
		plan := done.Progress.Plan
		if plan == nil || plan.Method != byKeywords || !slices.Equal(plan.Pages, []string{"https://beans.co"}) ||
			!slices.Equal(plan.Notes, []string{"could not read https://apps.apple.com/app/id1"}) {
			t.Fatalf("got the plan %+v, want one by keywords, with the page that was read and a note on the other", plan)
		}
		for _, word := range []string{"espresso", "moka pots"} {
			t.Run(word, func(t *testing.T) {
				if !slices.Contains(terms(plan.Seeds), word) {
					t.Errorf("got the terms %v, want %q among them", terms(plan.Seeds), word)
				}
			})
		}
		if asked := w.sources["feed"].seeds; !slices.Equal(asked, plan.Seeds) {
			t.Errorf("got the source asked for %v, want the planned %v", asked, plan.Seeds)
		}
		w.read, w.offline = nil, []string{"feed"}
		if w.complete(w.create(Start{}).ID); len(w.read) > 0 {
			t.Errorf("%v are read for a source that reads a folder, want none", w.read)
		}
	})
}

func TestPlanStage(t *testing.T) {
	t.Parallel()
	own := stage.Seed{Kind: plan.Own, Term: "Beans"}
	rival := stage.Seed{Kind: plan.Competitor, Handle: "rival"}
	term := func(text string) stage.Seed { return stage.Seed{Kind: plan.Niche, Term: text} }
	cases := map[string]struct {
		found  []stage.Seed
		err    error
		method string
		want   []stage.Seed
		notes  int
	}{
		"better terms": {
			found: []stage.Seed{term("latte art"), term("Latte Art"), {Kind: plan.Competitor, Handle: "stranger"}, {Kind: "own", Term: "me"}, term("moka")},
			want:  []stage.Seed{own, rival, term("latte art"), term("moka")}, method: "model",
		},
		"more than asked for": {
			found: []stage.Seed{term("1"), term("2"), term("3"), term("4"), term("5"), term("6"), term("7"), term("8"), term("9")},
			want:  []stage.Seed{own, rival, term("1"), term("2"), term("3"), term("4"), term("5"), term("6"), term("7"), term("8")}, method: "model",
		},
		"nothing": {want: []stage.Seed{own, rival, term("espresso")}, method: byKeywords, notes: 1},
		"failure": {err: errors.New("down"), found: []stage.Seed{term("half")}, want: []stage.Seed{own, rival, term("espresso")}, method: byKeywords, notes: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t, storetest.SQLite(t), withPlanner())
			w.planner = func(seeds []stage.Seed) ([]stage.Seed, error) {
				if !slices.Contains(seeds, rival) {
					t.Errorf("the stage does not see what is known: %v, want with %v", seeds, rival)
				}
				return c.found, c.err
			}
			plan := w.complete(w.create(Start{}).ID).Progress.Plan
			if plan.Method != c.method || len(plan.Notes) != c.notes || !slices.Equal(plan.Seeds, c.want) {
				t.Errorf("%+v, want %s, %d notes and %+v", plan, c.method, c.notes, c.want)
			}
		})
	}
}

// TestPlanIsMadeOnce: another start looks where the first one did, and pays no model again.
func TestPlanIsMadeOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := withPlanner()
		w := setup(t, db, cfg)
		answers := [][]stage.Seed{{{Kind: plan.Niche, Term: "first"}}, {{Kind: plan.Niche, Term: "second"}}}
		w.planner = func([]stage.Seed) ([]stage.Seed, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			next := answers[0]
			answers = answers[1:]
			return next, nil
		}
		failed := false
		cfg.Pause = func(_ context.Context, stage, point string) {
			if stage == Collect && point == "end" && !failed {
				failed = true
				panic("cut off")
			}
		}
		w.service = w.another(cfg)
		done := w.complete(w.create(Start{}).ID)
		if done.Status != Completed || done.Attempts != 2 || !slices.Equal(terms(done.Progress.Plan.Seeds), []string{"first"}) {
			t.Errorf("got %s after %d starts with the plan %v, want it completed after 2, with the first", done.Status, done.Attempts, terms(done.Progress.Plan.Seeds))
		}
		if asked := w.sources["feed"].seeds; !slices.Equal(terms(asked), []string{"first"}) || w.calls["model"] != 1 {
			t.Errorf("got the source asked for %v and the model %d times, want the first plan and once", terms(asked), w.calls["model"])
		}
	})
}
