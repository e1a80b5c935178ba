package scrolls

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/plugins/stage"
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
		w.look = func(rec stage.Record) *stage.Finding {
			return &stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{Spoken: ptr("said")}}
		}
		scroll := w.create(Start{})
		if scroll.Status != Queued || scroll.Step != nil || scroll.StartedAt != nil || scroll.Template != nil {
			t.Fatalf("fresh scroll: got %+v, want it %s, without a step, a start and a template", scroll, Queued)
		}
		done := w.complete(scroll.ID)
		if done.Status != Completed || done.Step != nil || done.FailureCode != nil || done.StartedAt == nil || done.CompletedAt == nil {
			t.Errorf("got %+v, want it %s, without a step and a failure, with the times of its start and end", done, Completed)
		}
		if done.NewVideos != 12 || done.Attempts != 1 || done.Progress.Percent != 100 {
			t.Errorf("counts: %+v, want NewVideos 12, Attempts 1 and Percent 100", done)
		}
		if !slices.Equal(stages, Steps()) {
			t.Errorf("got the steps %v, want %v", stages, Steps())
		}
		p := done.Progress
		if p.Collected != 25 || p.Dropped != 5 || p.Reobserved != 0 || !slices.Equal(p.UnclearRules, []string{"be nice"}) ||
			!slices.Equal(p.DroppedByRule, []RuleDrops{{"rule_1", 5}}) {
			t.Errorf("got %+v, want 25 collected, 5 dropped by rule_1, none observed again, and one unclear rule", p)
		}
		// The twelve best of those that were kept: 9 to 20.
		if n := w.number("SELECT count(*) FROM fake_videos WHERE external_id BETWEEN 'v0009' AND 'v0020' AND evidence = 'said'"); n != 12 {
			t.Errorf("%d of the best 12 are archived with evidence, want 12", n)
		}
		if n := w.count("fake_videos"); n != 12 {
			t.Errorf("%d videos, want 12", n)
		}
		if n := w.number("SELECT sum(units) FROM fake_charges"); n != 12 {
			t.Errorf("%d units charged, want 12", n)
		}
		if n := w.count("scroll_records"); n != 0 {
			t.Errorf("%d records left, want 0", n)
		}
		if !slices.Equal(w.scores, []int64{scroll.ID}) {
			t.Errorf("got scores of the scrolls %v, want once of %d", w.scores, scroll.ID)
		}
		if total, err := w.history.Completed(tenant(), w.subject); err != nil || total != 1 {
			t.Errorf("history: got %d completed scrolls, %v; want 1", total, err)
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
		source.records, source.refreshes, source.gone = videos("tiktok", 20, 6), map[stage.Ref]stage.Record{}, map[stage.Ref]bool{}
		known := videos("tiktok", 1, 6)
		for _, rec := range known[:4] {
			source.gone[rec.Ref] = true
		}
		for _, rec := range known[3:5] { // one of them is found, and said not to be
			source.refreshes[rec.Ref] = rec
		}
		w.complete(w.create(Start{}).ID)
		if n := w.count("fake_videos"); n != 25-3 {
			t.Errorf("%d videos are left, want %v", n, 25-3)
		}
	})
}

func TestScrollSeenAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.sources["feed"].refreshes = map[stage.Ref]stage.Record{}
		w.complete(w.create(Start{}).ID)
		// The second run sees 11 to 30, may look up 3 and 4, and drops everything.
		w.sources["feed"].records = videos("tiktok", 11, 20)
		for _, rec := range videos("tiktok", 3, 2) {
			w.sources["feed"].refreshes[rec.Ref] = rec
		}
		w.screen = rankByNumber(func(int) string { return "prompt" })
		looked := 0
		w.look = func(rec stage.Record) *stage.Finding {
			looked++
			if rec.ExternalID == "v0012" {
				return &stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{Spoken: ptr("late")}}
			}
			return nil
		}
		second := w.complete(w.create(Start{}).ID)
		if second.NewVideos != 0 || second.Progress.Reobserved != 17 || second.Progress.Dropped != 5 || second.Progress.Collected != 20 {
			t.Errorf("second run: %+v, want NewVideos 0, Reobserved 17, Dropped 5 and Collected 20", second)
		}
		if n := w.number("SELECT count(*) FROM fake_observations WHERE stage = 'feed' AND scroll_id = $1", second.ID); n != 17 {
			t.Errorf("%d observations, want 17", n)
		}
		if n := w.number("SELECT count(*) FROM fake_videos WHERE evidence = 'late'"); n != 1 || looked != 17 {
			t.Errorf("got late evidence of %d videos and a look at %d, want 1 and 17", n, looked)
		}
		var sum coverage.Entry
		for _, c := range second.Progress.Coverage {
			sum.Returned, sum.Reobserved, sum.Dropped = sum.Returned+c.Returned, sum.Reobserved+c.Reobserved, sum.Dropped+c.Dropped
		}
		if sum.Returned != 20 || sum.Reobserved != 17 || sum.Dropped != 5 {
			t.Errorf("coverage: %+v, want Returned 20, Reobserved 17 and Dropped 5", second.Progress.Coverage)
		}
	})
}

func TestScrollFailures(t *testing.T) {
	t.Parallel()
	failed := func(failure stage.Failure, retry bool) error {
		return &stage.CallError{Stage: "x", Failure: failure, Retry: retry, Cause: errors.New("because")}
	}
	cases := map[string]struct {
		arrange  func(w *world)
		failure  string // empty: completed
		attempts int
	}{
		"no source is usable":              {func(w *world) { w.sources = nil }, "no_sources", 1},
		"source is unauthorized":           {func(w *world) { w.sources["feed"] = &source{err: failed(stage.SourceUnauthorized, false)} }, "source_unauthorized", 1},
		"source stays unavailable":         {func(w *world) { w.sources["feed"] = &source{err: failed(stage.SourceUnavailable, true)} }, "source_unavailable", 3},
		"source says so in its outcomes":   {func(w *world) { w.sources["feed"] = &source{outcomes: outcomes(stage.Quota)} }, "source_quota_exceeded", 1},
		"source has nothing":               {func(w *world) { w.sources["feed"] = &source{outcomes: outcomes(stage.Empty)} }, "", 1},
		"source broke in mid-stream":       {func(w *world) { w.sources["feed"].err = failed(stage.StageCrashed, true) }, "stage_crashed", 3},
		"source was cut off in mid-stream": {func(w *world) { w.sources["feed"].err = failed(stage.SourceQuota, false) }, "", 1},
		"source broke once": {func(w *world) {
			w.stageErr["feed"] = func(n int) error {
				if n == 1 {
					return failed(stage.StageCrashed, true)
				}
				return nil
			}
		}, "", 2},
		"one source fails beside another": {func(w *world) {
			w.service.cfg.Templates[defaultTemplate] = Template{Sources: []string{"broken", "feed"}}
			w.sources["broken"] = &source{err: failed(stage.StageCrashed, true)}
		}, "", 1},
		"screen crashes": {func(w *world) {
			w.stageErr["rules"] = func(int) error { return failed(stage.StageCrashed, true) }
		}, "stage_crashed", 3},
		"screen breaks the protocol": {func(w *world) {
			w.stageErr["rules"] = func(int) error { return failed(stage.StageProtocol, false) }
		}, "stage_protocol_error", 1},
		"screen times out": {func(w *world) {
			w.stageErr["rules"] = func(int) error { return failed(stage.StageTimeout, true) }
		}, "stage_timeout", 3},
		"our own fault":       {func(w *world) { w.scoreErr = errors.New("no more disk") }, "internal", 3},
		"a stage panics":      {func(w *world) { w.screen = func(stage.Record) stage.Verdict { panic("bug") } }, "internal", 3},
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
			if done.Status != want || failure != c.failure || done.Attempts != c.attempts || done.Step != nil || done.CompletedAt == nil {
				t.Errorf("%s %q after %d starts, want %s %q after %d", done.Status, failure, done.Attempts, want, c.failure, c.attempts)
			}
			if n := w.count("scroll_records"); n != 0 {
				t.Errorf("%d records left, want 0", n)
			}
			why := message(done).GetProgress().GetFailure()
			switch {
			case c.failure == "" && why != nil:
				t.Errorf("failure %v, want none", why)
			case c.failure != "" && (why.GetCause() == "" || why.Tries == nil || int(*why.Tries) != c.attempts):
				t.Errorf("failure %v, want a cause and %d tries", why, c.attempts)
			}
		})
	}
}

func TestAFailureNamesStepAndPlugin(t *testing.T) {
	t.Parallel()
	secret := &stage.CallError{Stage: "rules", Failure: stage.StageCrashed, Cause: errors.New("/srv/key at https://10.0.0.1 sk_live_1")}
	for name, c := range map[string]struct {
		arrange func(w *world)
		want    Failure
	}{
		"a plugin": {
			func(w *world) { w.stageErr["rules"] = func(int) error { return secret } },
			Failure{ptr(Screen), ptr("rules"), words("stage_crashed"), 1},
		},
		"a source that is not set up": {
			func(w *world) {
				w.sources["feed"] = &source{err: &stage.CallError{Stage: "feed", Failure: stage.SourceUnauthorized, Setup: true}}
			},
			Failure{ptr(Collect), ptr("feed"), "A setting or a secret of the plugin is missing or wrong.", 1},
		},
		"a source that rests": {
			func(w *world) {
				w.resting = []string{"feed"}
				w.stageErr["feed"] = func(int) error {
					until := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
					return &stage.CallError{Stage: "feed", Failure: stage.StageCrashed, Retry: true, RetryAt: &until}
				}
			},
			Failure{ptr(Collect), ptr("feed"), words("stage_crashed") + " It can be asked again at 2100-01-01T00:00:00Z.", 1},
		},
		"no source":     {func(w *world) { w.sources = nil }, Failure{ptr(Plan), nil, words("no_sources"), 1}},
		"the server":    {func(w *world) { w.scoreErr = errors.New("no more disk") }, Failure{ptr(Score), nil, words("internal"), 3}},
		"never started": {func(w *world) { w.setLimits(Limits{}) }, Failure{nil, nil, words("subscription_inactive"), 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t, storetest.SQLite(t), quick())
			scroll := w.create(Start{})
			c.arrange(w)
			got := w.complete(scroll.ID).Progress.Failure
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a scroll of an earlier version has its code in words", func(t *testing.T) {
		got := (&Scroll{Status: Failed, FailureCode: ptr("stage_timeout"), Attempts: 3}).failure()
		if diff := cmp.Diff(&Failure{Cause: words("stage_timeout"), Tries: 3}, got); diff != "" {
			t.Errorf("failure (-want +got):\n%s", diff)
		}
	})
}

func outcomes(status stage.Status) []stage.Outcome {
	return []stage.Outcome{{Seed: "rival", Platform: "tiktok", Status: status, Asked: 10}}
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
		t.Errorf(`got %+v, want it %s as stage_timeout after 3 attempts`, done, Failed)
	}
}

func TestAScrollEndsAfterItsTime(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(w *world, id int64){
		"while a step works": func(*world, int64) {},
		"while it waits for another start": func(w *world, id int64) {
			w.exec("UPDATE scrolls SET status = 'running', attempt = 1, started_at = $1 WHERE id = $2", w.service.now().Add(-time.Hour).UnixMilli(), id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				cfg := quick()
				cfg.MaxTime = 100 * time.Millisecond
				cfg.Pause = func(ctx context.Context, step, point string) {
					if step == Observe && point == "begin" {
						<-ctx.Done()
					}
				}
				w := setup(t, db, cfg)
				scroll := w.create(Start{})
				start(w, scroll.ID)
				if done := w.complete(scroll.ID); done.Status != Failed || *done.FailureCode != "stage_timeout" || done.Attempts != 1 {
					t.Errorf("got %s %v after %d starts, want failed stage_timeout after 1", done.Status, *done.FailureCode, done.Attempts)
				}
			})
		})
	}
}

func TestAScrollWaitsForItsPlace(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	var leaves []func()
	for tenant := range w.service.cfg.Concurrency {
		leave, err := w.service.places.Enter(t.Context(), int64(-1-tenant))
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	scroll := w.create(Start{})
	ended := make(chan error)
	go func() { ended <- w.start(w.service, scroll.ID) }()
	select {
	case err := <-ended:
		t.Fatalf("got an end (%v) without a place, want a wait", err)
	case <-time.After(50 * time.Millisecond):
	}
	if got := w.load(scroll.ID).Status; got != Queued {
		t.Errorf("got %s without a place, want queued", got)
	}
	leaves[0]()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := w.load(scroll.ID).Status; got != Completed {
		t.Errorf("got %s with a place, want completed", got)
	}
}
