package scrolls

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestCollectStopsAtItsBound(t *testing.T) {
	t.Parallel()
	cfg := quick()
	cfg.MaxRecords = 9
	w := setup(t, storetest.SQLite(t), cfg)
	done := w.complete(w.create(Start{}).ID)
	if done.Status != Completed || done.Progress.Collected != 9 || done.NewVideos != 9 {
		t.Errorf("got %+v, want it %s with 9 records collected and 9 new videos", done, Completed)
	}
}

// TestTruncated: a source that had more than a bound let through is named with the setting.
func TestTruncated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most int // of the scroll
		own  int // of a call of the plugin
		want []Truncated
	}{
		"by the scroll":     {9, 1000, []Truncated{{"feed", "scrolls.max_records", 9, 14}}},
		"by the plugin":     {1000, 25, []Truncated{{"feed", "limits.records", 25, 50}}},
		"by nothing":        {1000, 26, nil},
		"a bound not known": {1000, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := quick()
			cfg.MaxRecords = c.most
			w := setup(t, storetest.SQLite(t), cfg)
			w.most = c.own
			if c.own == 25 {
				w.sources["feed"].outcomes = []stage.Outcome{{Seed: "rival", Platform: "tiktok", Status: stage.OK, Asked: 50, Returned: 50}}
			}
			done := w.complete(w.create(Start{}).ID)
			if diff := cmp.Diff(c.want, done.Progress.Truncated); diff != "" {
				t.Errorf("truncated (-want +got):\n%s", diff)
			}
			if got := message(done).GetProgress().GetTruncated(); len(got) != len(c.want) || len(got) > 0 && (got[0].GetSetting() != c.want[0].Setting || got[0].GetFound() != float64(c.want[0].Found)) {
				t.Errorf("shown as %v, want %v", got, c.want)
			}
		})
	}
}

func TestCollectKeepsTheKindsOfItsTemplate(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	records := videos("tiktok", 1, 4)
	records[0].Source.Kind, records[1].Source.Handle, records[1].Seed = plan.Competitor, "@RIVAL", ""
	records = append(records, records[0], stage.Record{Ref: stage.Ref{Platform: "tiktok"}}) // twice, and without an id
	w.sources["feed"].records = records
	done := w.complete(w.create(Start{Template: ptr("competitors")}).ID)
	if done.Progress.Collected != 4 || done.NewVideos != 2 {
		t.Errorf("%+v, want Collected 4 and NewVideos 2", done)
	}
	if len(w.sources["feed"].seeds) == 0 {
		t.Error("the source was asked for no seed, want at least one")
	}
	for _, seed := range w.sources["feed"].seeds {
		if seed.Kind != plan.Competitor {
			t.Errorf("asked for %+v, want %v", seed, plan.Competitor)
		}
	}
	if n := w.number("SELECT count(*) FROM fake_videos WHERE external_id IN ('v0001', 'v0002')"); n != 2 {
		t.Errorf("%d of the two competitors' videos, want 2", n)
	}
	// Without a kind in the template all are kept, the two known ones observed.
	done = w.complete(w.create(Start{}).ID)
	if done.NewVideos != 2 || done.Progress.Reobserved != 2 {
		t.Errorf("%+v, want NewVideos 2 and Reobserved 2", done)
	}
}

// TestFallback: a source that comes after another one is asked for what that one had nothing of, and
// a video that both have is the first one's.
func TestFallback(t *testing.T) {
	t.Parallel()
	cfg := quick()
	cfg.Templates[defaultTemplate] = Template{Sources: []string{"tool", "feed", "api"}}
	w := setup(t, storetest.SQLite(t), cfg)
	all := videos("youtube", 1, 6)
	for i := range all {
		all[i].Seed = "@rival"
	}
	w.sources["api"] = &source{records: all[:3], outcomes: []stage.Outcome{{Seed: "rival", Platform: "youtube", Status: stage.Partial, Asked: 3, Returned: 3}}}
	w.sources["feed"] = &source{outcomes: []stage.Outcome{}}
	w.sources["tool"] = &source{records: all, outcomes: []stage.Outcome{}}
	w.serves = map[string][]string{"api": {"youtube"}, "tool": {"youtube"}}
	w.behind = map[string][]string{"tool": {"api"}}
	done := w.complete(w.create(Start{}).ID)
	if done.Status != Completed {
		t.Fatalf("got %+v, want it %s", done, Completed)
	}
	handles := func(id string) (named int) {
		for _, seed := range w.sources[id].seeds {
			if plan.Handle(seed.Text()) == plan.Handle("@rival") {
				named++
			}
		}
		return named
	}
	if handles("api") == 0 || handles("tool") > 0 || len(w.sources["tool"].seeds) == 0 {
		t.Errorf("asked the first for %v, the fallback for %v; want the handle of the first alone, and the rest of both", w.sources["api"].seeds, w.sources["tool"].seeds)
	}
}
