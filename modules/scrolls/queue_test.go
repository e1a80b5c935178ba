package scrolls

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// queue starts the workers and periodics of a service.
func (w *world) queue(service *Service) *jobs.Queue {
	w.t.Helper()
	queue, err := jobs.NewQueue(w.db, service.Workers(), service.Periodics(), storetest.Log(w.t))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := queue.Start(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { stop(w.t, queue, time.Second) })
	return queue
}

func stop(t testing.TB, queue *jobs.Queue, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := queue.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// await follows the scroll to its end.
func (w *world) await(id int64) *Scroll {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(tenant(), 2*time.Minute)
	defer cancel()
	var last *Scroll
	if err := w.service.Watch(ctx, publicID(id), func(s *Scroll) error { last = s; return nil }); err != nil {
		w.t.Fatalf("watch: %v; %+v", err, last)
	}
	return last
}

func TestQueueRunsScrolls(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		w.stageErr["feed"] = func(n int) error {
			if n == 1 {
				return &stage.CallError{Stage: "feed", Failure: stage.StageCrashed, Retry: true, Cause: errors.New("gone")}
			}
			return nil
		}
		w.queue(w.service)
		if done := w.await(w.create(Start{}).ID); done.Status != Completed || done.Attempts != 2 || done.NewVideos != 25 {
			t.Errorf("got %+v, want it %s at the second attempt with 25 new videos", done, Completed)
		}
	})
}

func TestQueueResumesWhatItPutDown(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		reached := make(chan struct{}, 1)
		cfg := quick()
		cfg.Pause = func(ctx context.Context, stage, point string) {
			if stage == Evidence && point == "begin" {
				reached <- struct{}{}
				<-ctx.Done()
			}
		}
		w := setup(t, db, cfg)
		scroll := w.create(Start{})
		first := w.queue(w.service)
		<-reached
		stop(t, first, time.Millisecond)
		if down := w.load(scroll.ID); down.Status != Running || *down.Step != Evidence {
			t.Errorf("put down: got %+v, want it %s at step %s", down, Running, Evidence)
		}
		next := quick()
		next.RescueEvery = 100 * time.Millisecond
		w.queue(w.another(next))
		if done := w.await(scroll.ID); done.Status != Completed || done.Attempts != 1 || w.calls["feed"] != 1 {
			t.Errorf("resumed: got %+v, want it %s at the first attempt, with one call of the feed", done, Completed)
		}
	})
}

func TestRescueFindsScrollsWithoutAJob(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := quick()
		cfg.RescueEvery = 50 * time.Millisecond
		w := setup(t, db, cfg)
		scroll := w.create(Start{})
		table := map[string]string{store.SQLite: "jobs", store.Postgres: "river_job"}[db.Dialect()]
		w.exec("DELETE FROM " + table)
		w.exec("UPDATE scrolls SET created_at = created_at - 60000")
		w.queue(w.service)
		if done := w.await(scroll.ID); done.Status != Completed {
			t.Errorf("%+v, want %v", done, Completed)
		}
	})
}

// slowStages are those of a world whose sources wait.
type slowStages struct {
	*world
	wait func(ctx context.Context)
}

func (s slowStages) Session(context.Context) (Stages, func(), error) { return s, func() {}, nil }

func (s slowStages) Collect(ctx context.Context, id string, run stage.Run, seeds []stage.Seed, emit func([]stage.Record) error) ([]stage.Outcome, error) {
	s.wait(ctx)
	return s.world.Collect(ctx, id, run, seeds, emit)
}

// TestSlowScrollsKeepNoOneWaiting: two tenants have as many slow scrolls as they may, and a
// third one's is run to its end beside them.
func TestSlowScrollsKeepNoOneWaiting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := quick()
		cfg.Concurrency = 2
		w := setup(t, db, cfg)
		w.setLimits(Limits{Active: true, ActiveScrolls: 3, MaxFeedSize: 100, Room: 1000})
		waiting, release := make(chan int64, 10), make(chan struct{})
		const third = account + 2
		w.service.needs.Stages = slowStages{w, func(ctx context.Context) {
			if of, _, _ := viewer.Tenant(ctx); of != third {
				waiting <- of
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
		}}
		w.queue(w.service)
		start := func(of int64) *Scroll {
			scroll, _, err := w.service.Create(viewer.As(context.Background(), of), Start{})
			if err != nil {
				t.Fatal(err)
			}
			return scroll
		}
		for range 3 {
			start(account)
			start(account + 1)
		}
		slow := map[int64]int{}
		for range 4 {
			slow[<-waiting]++
		}
		ctx, cancel := context.WithTimeout(viewer.As(context.Background(), third), 2*time.Minute)
		defer cancel()
		var last *Scroll
		if err := w.service.Watch(ctx, publicID(start(third).ID), func(s *Scroll) error { last = s; return nil }); err != nil || last.Status != Completed {
			t.Errorf("the third tenant's scroll: got %+v, %v; want it %s beside the slow ones", last, err, Completed)
		}
		if slow[account] != 2 || slow[account+1] != 2 || len(waiting) > 0 {
			t.Errorf("got the slow scrolls %v and %d more, want two of each tenant: a quarter of those that may have begun", slow, len(waiting))
		}
		close(release)
	})
}
