package scrolls

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestCoverageTellsOfChange(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	w.offline = []string{"feed"}
	w.sources["feed"].outcomes = []stage.Outcome{
		{Seed: "maker0", Platform: "tiktok", Status: stage.OK, Asked: 8, Returned: 8},
		{Seed: "rival", Platform: "tiktok", Status: stage.Partial, Asked: 8, Returned: 0},
	}
	first := w.complete(w.create(Start{}).ID)
	w.sources["feed"].records = slices.DeleteFunc(videos("tiktok", 1, 25), func(r stage.Record) bool { return r.Seed != "maker1" })
	w.sources["feed"].outcomes = []stage.Outcome{{Seed: "maker0", Platform: "tiktok", Status: stage.OK, Asked: 8}}
	second := w.complete(w.create(Start{}).ID)
	got := func(s *Scroll) map[string]string {
		outcomes := map[string]string{}
		for _, c := range s.Progress.Coverage {
			outcomes[c.Seed] = c.Outcome
		}
		return outcomes
	}
	if want := map[string]string{
		"maker0": "ok", "maker1": "ok", "maker2": "ok", "rival": "partial", "Beans": "unsupported", "espresso": "unsupported",
	}; !reflect.DeepEqual(got(first), want) {
		t.Errorf("first: %v, want %v", got(first), want)
	}
	// maker0 was answered for, maker2 is not even mentioned any more, and no one said
	// a word about rival.
	if want := map[string]string{
		"maker0": "changed", "maker1": "ok", "maker2": "changed", "rival": "empty", "Beans": "unsupported", "espresso": "unsupported",
	}; !reflect.DeepEqual(got(second), want) {
		t.Errorf("second: %v, want %v", got(second), want)
	}
}

// TestASeedWhoseVideosAnotherBroughtIsNotChanged: they are counted for the one that
// was quicker, and its source still found them.
func TestASeedWhoseVideosAnotherBroughtIsNotChanged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		ofSeed := func(seed string) []stage.Record {
			all := videos("tiktok", 1, 3)
			for i := range all {
				all[i].Seed = seed
			}
			return all
		}
		w.sources["feed"].records = ofSeed("rival")
		w.sources["feed"].outcomes = []stage.Outcome{{Seed: "rival", Platform: "tiktok", Status: stage.OK, Asked: 5, Returned: 3}}
		w.complete(w.create(Start{}).ID)
		w.sources["feed"].records = append(ofSeed("espresso"), ofSeed("rival")...)
		for _, c := range []struct {
			returned int
			want     string
		}{{3, "ok"}, {0, "changed"}} {
			t.Run(fmt.Sprintf("%d videos are %s", c.returned, c.want), func(t *testing.T) {
				w.sources["feed"].outcomes = []stage.Outcome{
					{Seed: "espresso", Platform: "tiktok", Status: stage.OK, Asked: 5, Returned: 3},
					{Seed: "rival", Platform: "tiktok", Status: stage.OK, Asked: 5, Returned: c.returned},
				}
				got := map[string]coverage.Entry{}
				for _, entry := range w.complete(w.create(Start{}).ID).Progress.Coverage {
					got[entry.Seed] = entry
				}
				if got["rival"].Outcome != c.want || got["rival"].Returned != 0 || got["espresso"].Outcome != "ok" || got["espresso"].Returned != 3 {
					t.Errorf(`the source returned %d: want outcome %s with 0 records, then ok with 3; got %+v`, c.returned, c.want, got)
				}
			})
		}
	})
}

func TestHandlesThatNobodyAnsweredForAreCovered(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	w.brief.Competitors = []string{"@rival", "@Other", "@Maker1"}
	rival := videos("tiktok", 100, 2)
	for i := range rival {
		rival[i].Seed, rival[i].Source.Handle = "rival", "rival"
	}
	w.sources["feed"].records = append(videos("tiktok", 1, 5), rival...)
	entries := func(s *Scroll) map[coverage.Key]coverage.Entry {
		out := map[coverage.Key]coverage.Entry{}
		for _, c := range s.Progress.Coverage {
			out[coverage.Key{Seed: strings.ToLower(c.Seed), Platform: c.Platform}] = c
		}
		return out
	}
	first := entries(w.complete(w.create(Start{}).ID))
	if c := first[coverage.Key{Seed: "other", Platform: ""}]; c.Outcome != "empty" || !c.Planned {
		t.Errorf("other: got %+v, want it planned and empty: %+v", c, first)
	}
	for _, handle := range []string{"rival", "maker1"} {
		t.Run(handle+" had videos", func(t *testing.T) {
			if c, ok := first[coverage.Key{Seed: handle, Platform: ""}]; ok {
				t.Errorf("%s had videos: %+v, want none", handle, c)
			}
		})
	}
	w.sources["feed"].records = videos("tiktok", 1, 5)
	second := entries(w.complete(w.create(Start{}).ID))
	if c := second[coverage.Key{Seed: "rival", Platform: "tiktok"}]; c.Outcome != "changed" {
		t.Errorf(`rival went silent: %+v in %+v, want "changed"`, c, second)
	}
	if c, ok := second[coverage.Key{Seed: "rival", Platform: ""}]; ok {
		t.Errorf("rival twice: %+v, want none", c)
	}
	at := time.Now().Add(time.Hour).UnixMilli()
	w.sources["feed"].err = &stage.CallError{Stage: "feed", Failure: stage.SourceQuota, RetryAt: &at}
	third := entries(w.complete(w.create(Start{}).ID))
	for _, handle := range []string{"rival", "other"} {
		t.Run(handle+" while the source is out", func(t *testing.T) {
			if c := third[coverage.Key{Seed: handle, Platform: ""}]; c.Outcome != "quota" || c.RetryAt == nil || *c.RetryAt != at {
				t.Errorf(`%s while the source is out: %+v in %+v, want Outcome "quota", RetryAt not nil and RetryAt %v`, handle, c, third, at)
			}
		})
	}
}

// TestSeedsOnAPlatformThatNobodyServesAreCovered: it is told that no one looked,
// and that there were videos when somebody did.
func TestSeedsOnAPlatformThatNobodyServesAreCovered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := quick()
		cfg.Templates["competitors"] = Template{Kinds: []string{plan.Competitor}, Sources: []string{"youtube", "tiktok", "feed"}, SeedLimit: 20}
		w := setup(t, db, cfg)
		w.brief.Competitors = []string{"https://www.tiktok.com/@rival", "tiktok:quiet", "youtube:tube", "instagram:rival"}
		w.serves = map[string][]string{"youtube": {"youtube"}, "tiktok": {"tiktok"}}
		w.offline, w.sources = []string{"feed"}, map[string]*source{
			"youtube": {outcomes: []stage.Outcome{{Seed: "tube", Platform: "youtube", Status: stage.Empty, Asked: 20}}},
		}
		entries := func() string {
			var all []string
			for _, c := range w.complete(w.create(Start{Template: ptr("competitors")}).ID).Progress.Coverage {
				all = append(all, fmt.Sprintf("%s %s %s %d", c.Platform, c.Seed, c.Outcome, c.Asked))
			}
			return strings.Join(all, ", ")
		}
		want := "instagram rival unsupported 20, tiktok quiet unsupported 20, tiktok rival unsupported 20, youtube tube empty 20"
		if got := entries(); got != want {
			t.Errorf("first: %s, want %s", got, want)
		}
		rival := videos("tiktok", 1, 3)
		for i := range rival {
			rival[i].Seed, rival[i].Source.Handle = "rival", "rival"
		}
		w.sources["tiktok"] = &source{records: rival, outcomes: []stage.Outcome{
			{Seed: "rival", Platform: "tiktok", Status: stage.OK, Asked: 20, Returned: 3},
			{Seed: "quiet", Platform: "tiktok", Status: stage.Empty, Asked: 20},
		}}
		w.sources["feed"] = &source{} // which could have had them
		w.complete(w.create(Start{Template: ptr("competitors")}).ID)
		delete(w.sources, "tiktok")
		want = "instagram rival unsupported 20, tiktok quiet unsupported 20, tiktok rival changed 20, youtube tube empty 20"
		if got := entries(); got != want {
			t.Errorf("after somebody looked: %s, want %s", got, want)
		}
	})
}

// TestCoverageIsOfThePlannedSeeds: each has an entry, also where the scroll failed, and
// a creator whom a source found is counted in the entry of the seed that led there.
func TestCoverageIsOfThePlannedSeeds(t *testing.T) {
	t.Parallel()
	quota := &stage.CallError{Stage: "api", Failure: stage.SourceQuota}
	for name, c := range map[string]struct {
		fault error
		want  []string
	}{
		"completed": {nil, []string{" Beans empty 0", "tiktok espresso ok 6", "tiktok rival empty 0", "youtube tube empty 0"}},
		"failed":    {quota, []string{"tiktok Beans quota 0", "tiktok espresso quota 0", "tiktok rival empty 0", "youtube tube unsupported 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t, storetest.SQLite(t), quick())
			cfg := quick()
			cfg.Templates[defaultTemplate] = Template{Sources: []string{"api"}}
			w.service = w.another(cfg)
			w.brief.Competitors = []string{"tiktok:rival", "youtube:tube"}
			api := &source{
				records: videos("tiktok", 1, 6), err: c.fault,
				outcomes: []stage.Outcome{
					{Seed: "maker0", Platform: "tiktok", Status: stage.OK, Asked: 2, Returned: 2},
					{Seed: "rival", Platform: "tiktok", Status: stage.Empty},
				},
			}
			for i := range api.records {
				api.records[i].Source.SeededBy = "espresso"
			}
			if c.fault != nil {
				w.serves, api.records = map[string][]string{"api": {"tiktok"}}, nil
			}
			w.sources = map[string]*source{"api": api}
			scroll := w.complete(w.create(Start{}).ID)
			if want := c.fault != nil; (scroll.Status == Failed) != want {
				t.Errorf("status %s, failed: want %v", scroll.Status, want)
			}
			var got []string
			for _, e := range scroll.Progress.Coverage {
				got = append(got, fmt.Sprintf("%s %s %s %d", e.Platform, e.Seed, e.Outcome, e.Returned))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}
