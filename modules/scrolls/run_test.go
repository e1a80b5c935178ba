package scrolls

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/record"
	"github.com/scrollery/scrollery/modules/store"
	"github.com/scrollery/scrollery/modules/store/storetest"
)

func TestScrollRunsFromPlanToScore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var stages []string
		cfg := quick()
		cfg.Pause = func(_ context.Context, stage, point string) {
			if point == "begin" {
				stages = append(stages, stage)
			}
		}
		w := setup(t, db, cfg)
		w.setLimits(Limits{Active: true, MaxFeedSize: 12, ActiveScrolls: 1})
		w.screen = rankByNumber(func(n int) string {
			if n > 20 {
				return "rule_1"
			}
			return ""
		})
		w.look = func(rec record.Record) *record.Finding {
			return &record.Finding{Ref: rec.Ref, Evidence: record.Evidence{Spoken: ptr("said")}}
		}
		scroll := w.create(Start{})
		if scroll.Status != Queued || scroll.Stage != nil || scroll.StartedAt != nil || scroll.Template != nil {
			t.Fatalf("fresh scroll: %+v", scroll)
		}
		done := w.complete(scroll.ID)
		if done.Status != Completed || done.Stage != nil || done.FailureCode != nil || done.StartedAt == nil || done.CompletedAt == nil {
			t.Errorf("completed scroll: %+v", done)
		}
		if done.NewVideos != 12 || done.Attempts != 1 || done.Progress.Percent != 100 {
			t.Errorf("counts: %+v", done)
		}
		if !slices.Equal(stages, Stages()) {
			t.Errorf("stages: %v", stages)
		}
		p := done.Progress
		if p.Collected != 25 || p.Dropped != 5 || p.Reobserved != 0 || !slices.Equal(p.UnclearRules, []string{"be nice"}) ||
			!slices.Equal(p.DroppedByRule, []RuleDrops{{"rule_1", 5}}) {
			t.Errorf("progress: %+v", p)
		}
		// The twelve best of those that were kept: 9 to 20.
		if n := w.number("SELECT count(*) FROM fake_videos WHERE external_id BETWEEN 'v0009' AND 'v0020' AND evidence = 'said'"); n != 12 {
			t.Errorf("%d of the best 12 are archived with evidence", n)
		}
		if n := w.count("fake_videos"); n != 12 {
			t.Errorf("%d videos", n)
		}
		if n := w.number("SELECT sum(units) FROM fake_charges"); n != 12 {
			t.Errorf("%d units charged", n)
		}
		if n := w.count("scroll_records"); n != 0 {
			t.Errorf("%d records left", n)
		}
		if !slices.Equal(w.scores, []int64{scroll.ID}) {
			t.Errorf("scored: %v", w.scores)
		}
		if total, ids, err := w.history.Completed(tenant(), w.subject, 5); err != nil || total != 1 || !slices.Equal(ids, []int64{scroll.ID}) {
			t.Errorf("completed: %d %v %v", total, ids, err)
		}
	})
}

// TestWhatIsGoneIsMarked: only what a source looked for and did not find, and what
// it found all the same stays.
func TestWhatIsGoneIsMarked(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		source := w.sources["feed"]
		w.complete(w.create(Start{}).ID)
		source.records, source.refreshes, source.gone = videos("tiktok", 20, 6), map[record.Ref]record.Record{}, map[record.Ref]bool{}
		known := videos("tiktok", 1, 6)
		for _, rec := range known[:4] {
			source.gone[rec.Ref] = true
		}
		for _, rec := range known[3:5] { // one of them is found, and said not to be
			source.refreshes[rec.Ref] = rec
		}
		w.complete(w.create(Start{}).ID)
		if n := w.count("fake_videos"); n != 25-3 {
			t.Errorf("%d videos are left", n)
		}
	})
}

func TestScrollSeenAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.sources["feed"].refreshes = map[record.Ref]record.Record{}
		w.complete(w.create(Start{}).ID)
		// The second run sees 11 to 30, may look up 3 and 4, and drops everything.
		w.sources["feed"].records = videos("tiktok", 11, 20)
		for _, rec := range videos("tiktok", 3, 2) {
			w.sources["feed"].refreshes[rec.Ref] = rec
		}
		w.screen = rankByNumber(func(int) string { return "prompt" })
		looked := 0
		w.look = func(rec record.Record) *record.Finding {
			looked++
			if rec.ExternalID == "v0012" {
				return &record.Finding{Ref: rec.Ref, Evidence: record.Evidence{Spoken: ptr("late")}}
			}
			return nil
		}
		second := w.complete(w.create(Start{}).ID)
		if second.NewVideos != 0 || second.Progress.Reobserved != 17 || second.Progress.Dropped != 5 || second.Progress.Collected != 20 {
			t.Errorf("second run: %+v", second)
		}
		if n := w.number("SELECT count(*) FROM fake_observations WHERE stage = 'observe' AND scroll_id = $1", second.ID); n != 17 {
			t.Errorf("%d observations", n)
		}
		if n := w.number("SELECT count(*) FROM fake_videos WHERE evidence = 'late'"); n != 1 || looked != 17 {
			t.Errorf("late evidence: %d, looked at %d", n, looked)
		}
		var sum Coverage
		for _, c := range second.Progress.Coverage {
			sum.Returned, sum.Reobserved, sum.Dropped = sum.Returned+c.Returned, sum.Reobserved+c.Reobserved, sum.Dropped+c.Dropped
		}
		if sum.Returned != 20 || sum.Reobserved != 17 || sum.Dropped != 5 {
			t.Errorf("coverage: %+v", second.Progress.Coverage)
		}
	})
}

func TestScrollFailures(t *testing.T) {
	t.Parallel()
	failed := func(failure record.Failure, retry bool) error {
		return &record.Error{Stage: "x", Failure: failure, Retry: retry, Cause: errors.New("because")}
	}
	cases := map[string]struct {
		arrange  func(w *world)
		failure  string // empty: completed
		attempts int
	}{
		"no source is usable":              {func(w *world) { w.sources = nil }, "no_sources", 1},
		"source is unauthorized":           {func(w *world) { w.sources["feed"] = &source{err: failed(record.SourceUnauthorized, false)} }, "source_unauthorized", 1},
		"source stays unavailable":         {func(w *world) { w.sources["feed"] = &source{err: failed(record.SourceUnavailable, true)} }, "source_unavailable", 3},
		"source says so in its outcomes":   {func(w *world) { w.sources["feed"] = &source{outcomes: outcomes(record.Quota)} }, "source_quota_exceeded", 1},
		"source has nothing":               {func(w *world) { w.sources["feed"] = &source{outcomes: outcomes(record.Empty)} }, "", 1},
		"source broke in mid-stream":       {func(w *world) { w.sources["feed"].err = failed(record.StageCrashed, true) }, "stage_crashed", 3},
		"source was cut off in mid-stream": {func(w *world) { w.sources["feed"].err = failed(record.SourceQuota, false) }, "", 1},
		"source broke once": {func(w *world) {
			w.stageErr["feed"] = func(n int) error {
				if n == 1 {
					return failed(record.StageCrashed, true)
				}
				return nil
			}
		}, "", 2},
		"one source fails beside another": {func(w *world) {
			w.service.cfg.Templates[defaultTemplate] = Template{Sources: []string{"broken", "feed"}}
			w.sources["broken"] = &source{err: failed(record.StageCrashed, true)}
		}, "", 1},
		"screen crashes": {func(w *world) {
			w.stageErr["rules"] = func(int) error { return failed(record.StageCrashed, true) }
		}, "stage_crashed", 3},
		"screen breaks the protocol": {func(w *world) {
			w.stageErr["rules"] = func(int) error { return failed(record.StageProtocol, false) }
		}, "stage_protocol_error", 1},
		"screen times out": {func(w *world) {
			w.stageErr["rules"] = func(int) error { return failed(record.StageTimeout, true) }
		}, "stage_timeout", 3},
		"our own fault":       {func(w *world) { w.scoreErr = errors.New("no more disk") }, "internal", 3},
		"a stage panics":      {func(w *world) { w.screen = func(record.Record) record.Verdict { panic("bug") } }, "internal", 3},
		"subscription lapsed": {func(w *world) { w.setLimits(Limits{MaxFeedSize: 250, ActiveScrolls: 1}) }, "subscription_inactive", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t, storetest.SQLite(t), quick())
			scroll := w.create(Start{})
			c.arrange(w)
			done := w.complete(scroll.ID)
			failure, want := "", Completed
			if done.FailureCode != nil {
				failure = *done.FailureCode
			}
			if c.failure != "" {
				want = Failed
			}
			if done.Status != want || failure != c.failure || done.Attempts != c.attempts || done.Stage != nil || done.CompletedAt == nil {
				t.Errorf("%s %q after %d starts, want %s %q after %d", done.Status, failure, done.Attempts, want, c.failure, c.attempts)
			}
			if n := w.count("scroll_records"); n != 0 {
				t.Errorf("%d records left", n)
			}
		})
	}
}

func outcomes(status record.Status) []record.Outcome {
	return []record.Outcome{{Seed: "rival", Platform: "tiktok", Status: status, Asked: 10}}
}

func TestScrollStageDeadline(t *testing.T) {
	t.Parallel()
	cfg := quick()
	cfg.Deadlines = map[string]time.Duration{Observe: time.Millisecond}
	cfg.Pause = func(ctx context.Context, stage, point string) {
		if stage == Observe && point == "begin" {
			<-ctx.Done()
		}
	}
	w := setup(t, storetest.SQLite(t), cfg)
	if done := w.complete(w.create(Start{}).ID); done.Status != Failed || *done.FailureCode != "stage_timeout" || done.Attempts != 3 {
		t.Errorf("%+v", done)
	}
}

func TestCoverageTellsOfChange(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	w.sources["feed"].outcomes = []record.Outcome{
		{Seed: "maker0", Platform: "tiktok", Status: record.OK, Asked: 8, Returned: 8},
		{Seed: "rival", Platform: "tiktok", Status: record.Partial, Asked: 8, Returned: 0},
	}
	first := w.complete(w.create(Start{}).ID)
	w.sources["feed"].records = slices.DeleteFunc(videos("tiktok", 1, 25), func(r record.Record) bool { return r.Seed != "maker1" })
	w.sources["feed"].outcomes = []record.Outcome{{Seed: "maker0", Platform: "tiktok", Status: record.OK, Asked: 8}}
	second := w.complete(w.create(Start{}).ID)
	got := func(s *Scroll) map[string]string {
		outcomes := map[string]string{}
		for _, c := range s.Progress.Coverage {
			outcomes[c.Seed] = c.Outcome
		}
		return outcomes
	}
	if want := map[string]string{"maker0": "ok", "maker1": "ok", "maker2": "ok", "rival": "partial"}; !reflect.DeepEqual(got(first), want) {
		t.Errorf("first: %v", got(first))
	}
	// maker0 was answered for, maker2 is not even mentioned any more, and nobody said
	// a word about rival.
	if want := map[string]string{"maker0": "changed", "maker1": "ok", "maker2": "changed", "rival": "empty"}; !reflect.DeepEqual(got(second), want) {
		t.Errorf("second: %v", got(second))
	}
}

// TestASeedWhoseVideosAnotherBroughtIsNotChanged: they are counted for the one that
// was quicker, and its source still found them.
func TestASeedWhoseVideosAnotherBroughtIsNotChanged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		ofSeed := func(seed string) []record.Record {
			all := videos("tiktok", 1, 3)
			for i := range all {
				all[i].Seed = seed
			}
			return all
		}
		w.sources["feed"].records = ofSeed("rival")
		w.sources["feed"].outcomes = []record.Outcome{{Seed: "rival", Platform: "tiktok", Status: record.OK, Asked: 5, Returned: 3}}
		w.complete(w.create(Start{}).ID)
		w.sources["feed"].records = append(ofSeed("kettle"), ofSeed("rival")...)
		for _, c := range []struct {
			returned int
			want     string
		}{{3, "ok"}, {0, "changed"}} {
			w.sources["feed"].outcomes = []record.Outcome{
				{Seed: "kettle", Platform: "tiktok", Status: record.OK, Asked: 5, Returned: 3},
				{Seed: "rival", Platform: "tiktok", Status: record.OK, Asked: 5, Returned: c.returned},
			}
			got := map[string]Coverage{}
			for _, entry := range w.complete(w.create(Start{}).ID).Progress.Coverage {
				got[entry.Seed] = entry
			}
			if got["rival"].Outcome != c.want || got["rival"].Returned != 0 || got["kettle"].Outcome != "ok" || got["kettle"].Returned != 3 {
				t.Errorf("where the source returned %d: %+v", c.returned, got)
			}
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
	entries := func(s *Scroll) map[coverageKey]Coverage {
		out := map[coverageKey]Coverage{}
		for _, c := range s.Progress.Coverage {
			out[coverageKey{strings.ToLower(c.Seed), c.Platform}] = c
		}
		return out
	}
	first := entries(w.complete(w.create(Start{}).ID))
	if c := first[coverageKey{"other", ""}]; c.Outcome != "empty" || !c.Planned {
		t.Errorf("other: %+v in %+v", c, first)
	}
	for _, handle := range []string{"rival", "maker1"} {
		if c, ok := first[coverageKey{handle, ""}]; ok {
			t.Errorf("%s had videos: %+v", handle, c)
		}
	}
	w.sources["feed"].records = videos("tiktok", 1, 5)
	second := entries(w.complete(w.create(Start{}).ID))
	if c := second[coverageKey{"rival", "tiktok"}]; c.Outcome != "changed" {
		t.Errorf("rival went silent: %+v in %+v", c, second)
	}
	if c, ok := second[coverageKey{"rival", ""}]; ok {
		t.Errorf("rival twice: %+v", c)
	}
	at := time.Now().Add(time.Hour).UnixMilli()
	w.sources["feed"].err = &record.Error{Stage: "feed", Failure: record.SourceQuota, RetryAt: &at}
	third := entries(w.complete(w.create(Start{}).ID))
	for _, handle := range []string{"rival", "other"} {
		if c := third[coverageKey{handle, ""}]; c.Outcome != "quota" || c.RetryAt == nil || *c.RetryAt != at {
			t.Errorf("%s while the source is out: %+v in %+v", handle, c, third)
		}
	}
}
