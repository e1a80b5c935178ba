package scrolls

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestSeedsAreNotAskedBeforeTheirTime: what a site said of waiting holds for the
// next scroll too, and who is not there is not looked for every day.
func TestSeedsAreNotAskedBeforeTheirTime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.brief = stage.Brief{Name: "Beans", Competitors: []string{"@gone", "youtube:@busy", "@fine"}}
		w.serves = map[string][]string{"feed": {"tiktok", "youtube"}}
		now := time.Now()
		w.service.now = func() time.Time { return now }
		later := now.Add(time.Hour).UnixMilli()
		outcome := func(seed, platform string, status stage.Status, at *int64) stage.Outcome {
			return stage.Outcome{Seed: seed, Platform: platform, Status: status, RetryAt: at}
		}
		w.sources["feed"].outcomes = []stage.Outcome{
			outcome("gone", "tiktok", stage.NotFound, nil), outcome("gone", "youtube", stage.Empty, nil),
			outcome("busy", "youtube", stage.Quota, &later), outcome("fine", "tiktok", stage.OK, nil),
		}
		asked := func() (all []string) {
			for _, seed := range w.sources["feed"].seeds {
				if seed.Handle != "" {
					all = append(all, seed.Platform+"@"+seed.Handle)
				}
			}
			return all
		}
		entry := func(s *Scroll, seed, platform string) coverage.Entry {
			for _, c := range s.Progress.Coverage {
				if c.Seed == seed && c.Platform == platform {
					return c
				}
			}
			t.Errorf("got no entry for %s on %s, want one: %+v", seed, platform, s.Progress.Coverage)
			return coverage.Entry{}
		}
		first := w.complete(w.create(Start{}).ID)
		if want := []string{"@gone", "youtube@busy", "@fine"}; !slices.Equal(asked(), want) {
			t.Errorf("asked first: %v, want %v", asked(), want)
		}
		day := now.Add(24 * time.Hour).UnixMilli()
		if c := entry(first, "gone", "tiktok"); c.RetryAt == nil || *c.RetryAt != day {
			t.Errorf("gone: %+v, want RetryAt not nil and RetryAt %v", c, day)
		}
		second := w.complete(w.create(Start{}).ID)
		if want := []string{"youtube@gone", "@fine"}; !slices.Equal(asked(), want) {
			t.Errorf("asked at once: %v, want %v", asked(), want)
		}
		if c := entry(second, "busy", "youtube"); c.Outcome != "quota" || c.RetryAt == nil || *c.RetryAt != later {
			t.Errorf(`busy waits: %+v, want Outcome "quota", RetryAt not nil and RetryAt %v`, c, later)
		}
		if c := entry(second, "gone", "tiktok"); c.Outcome != "not_found" || *c.RetryAt != day {
			t.Errorf(`gone waits: %+v, want Outcome "not_found" and RetryAt %v`, c, day)
		}
		now = now.Add(25 * time.Hour)
		third := w.complete(w.create(Start{}).ID)
		if want := []string{"@gone", "youtube@busy", "@fine"}; !slices.Equal(asked(), want) {
			t.Errorf("asked a day later: %v, want %v", asked(), want)
		}
		week := now.Add(7 * 24 * time.Hour).UnixMilli()
		if c := entry(third, "gone", "tiktok"); c.RetryAt == nil || *c.RetryAt != week {
			t.Errorf("gone again: got %+v, want another try at %d", c, week)
		}
	})
}

// TestASourceThatOnlyWaitsIsNotAsked at all, and does not stop the others.
func TestASourceThatOnlyWaitsIsNotAsked(t *testing.T) {
	t.Parallel()
	cfg := quick()
	template := cfg.Templates[defaultTemplate]
	template.Sources = []string{"feed", "api"}
	cfg.Templates[defaultTemplate] = template
	w := setup(t, storetest.SQLite(t), cfg)
	w.brief = stage.Brief{Name: "Beans"}
	w.serves = map[string][]string{"api": {"youtube"}}
	later := time.Now().Add(time.Hour).UnixMilli()
	w.sources["api"] = &source{outcomes: []stage.Outcome{{Seed: "Beans", Platform: "youtube", Status: stage.Quota, RetryAt: &later}}}
	for range 2 {
		if done := w.complete(w.create(Start{}).ID); done.Status != Completed {
			t.Fatalf("%s, want %v: %v", done.Status, Completed, done.FailureCode)
		}
	}
	if w.calls["api"] != 1 || w.calls["feed"] != 2 {
		t.Errorf("calls %v, want api 1 and feed 2", w.calls)
	}
}

// TestWhatLiesThereWaitsForNoSite: the wait that a site asks for is no matter to a
// source that reads a folder, be there no other seed than those that wait.
func TestWhatLiesThereWaitsForNoSite(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := quick()
		cfg.Templates["competitors"] = Template{Kinds: []string{plan.Competitor}, Sources: []string{"feed", "api"}}
		w := setup(t, db, cfg)
		w.brief = stage.Brief{Name: "Beans", Competitors: []string{"https://www.tiktok.com/@rival"}}
		w.serves, w.offline = map[string][]string{"api": {"tiktok"}}, []string{"feed"}
		w.sources["api"] = &source{outcomes: []stage.Outcome{{Seed: "rival", Platform: "tiktok", Status: stage.NotFound}}}
		w.sources["feed"].records = nil
		w.complete(w.create(Start{Template: ptr("competitors")}).ID)
		rival := videos("tiktok", 1, 5)
		for i := range rival {
			rival[i].Seed, rival[i].Source.Handle = "rival", "rival"
		}
		w.sources["feed"].records = rival
		second := w.complete(w.create(Start{Template: ptr("competitors")}).ID)
		if w.calls["api"] != 1 || w.calls["feed"] != 2 || second.NewVideos != 5 {
			t.Errorf("calls %v, %d new videos, want api 1, feed 2 and NewVideos 5", w.calls, second.NewVideos)
		}
		if seeds := w.sources["feed"].seeds; len(seeds) != 1 || seeds[0].Handle != "rival" {
			t.Errorf(`the feed was asked for %+v, want 1 seed and Handle "rival"`, seeds)
		}
	})
}

// TestWhatDoesNotLieThereHidesNoAnswer: a folder without a seed's videos, or one
// that is not there, does not speak for the site that was asked.
func TestWhatDoesNotLieThereHidesNoAnswer(t *testing.T) {
	t.Parallel()
	fails := &stage.CallError{Stage: "feed", Failure: stage.SourceUnauthorized, Cause: errors.New("no folder")}
	for name, there := range map[string]source{
		"nothing": {outcomes: []stage.Outcome{{Seed: "rival", Platform: "tiktok", Status: stage.Empty}}},
		"broken":  {err: fails},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				cfg := quick()
				cfg.Templates["competitors"] = Template{Kinds: []string{plan.Competitor}, Sources: []string{"feed", "api"}}
				w := setup(t, db, cfg)
				w.brief = stage.Brief{Name: "Beans", Competitors: []string{"tiktok:rival", "youtube:tube"}}
				w.serves, w.offline = map[string][]string{"api": {"tiktok"}}, []string{"feed"}
				folder := there
				w.sources["feed"] = &folder
				w.sources["api"] = &source{outcomes: []stage.Outcome{{Seed: "rival", Platform: "tiktok", Status: stage.NotFound}}}
				for range 2 {
					entries := map[string]coverage.Entry{}
					for _, c := range w.complete(w.create(Start{Template: ptr("competitors")}).ID).Progress.Coverage {
						entries[c.Seed] = c
					}
					if c := entries["rival"]; c.Outcome != "not_found" || c.RetryAt == nil {
						t.Errorf("rival: got %+v, want not_found with another try", c)
					}
					want := map[string]string{"nothing": "unsupported", "broken": "misconfigured"}[name] // no other source looked
					if c := entries["tube"]; c.Outcome != want {
						t.Errorf("tube: got %+v, want %s", c, want)
					}
				}
				if w.calls["api"] != 1 {
					t.Errorf("the site was asked %d times, want 1", w.calls["api"])
				}
			})
		})
	}
}
