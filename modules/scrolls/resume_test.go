package scrolls

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// hang makes a worker stop dead at one point of a stage, like a process that was
// killed or cut off from the world: nothing of it runs on until the test says so.
type hang struct {
	stage, point string
	once         sync.Once
	reached      chan struct{}
	goOn         chan struct{}
}

func hangAt(stage, point string) *hang {
	return &hang{stage: stage, point: point, reached: make(chan struct{}), goOn: make(chan struct{})}
}

func (h *hang) pause(_ context.Context, stage, point string) {
	if stage != h.stage || point != h.point {
		return
	}
	h.once.Do(func() {
		close(h.reached)
		<-h.goOn
	})
}

// lost is a scroll whose worker hangs at a point, as if it were gone.
type lost struct {
	w      *world
	cfg    Config
	scroll int64
	hang   *hang
	ended  chan error
}

// loses starts a scroll, and returns once its worker hangs.
func (w *world) loses(cfg Config, step, point string) *lost {
	w.t.Helper()
	l := &lost{w: w, cfg: cfg, hang: hangAt(step, point), ended: make(chan error, 1)}
	cfg.Heartbeat, cfg.Stale, cfg.Pause = time.Hour, 2*time.Hour, l.hang.pause
	worker := w.another(cfg)
	l.scroll = w.create(Start{}).ID
	go func() { l.ended <- worker.work(tenant(), jobArgs{account, l.scroll, 1}) }()
	<-l.hang.reached
	return l
}

// takenOver has another worker do the scroll.
func (l *lost) takenOver() {
	l.w.t.Helper()
	other := l.w.another(l.cfg)
	other.now = func() time.Time { return time.Now().Add(time.Minute) }
	for range 2 {
		if err := other.Rescue(context.Background()); err != nil {
			l.w.t.Fatal(err)
		}
	}
	if err := other.work(tenant(), jobArgs{account, l.scroll, 2}); err != nil {
		l.w.t.Fatal(err)
	}
}

// goesOn lets the first worker go on to its end.
func (l *lost) goesOn() {
	l.w.t.Helper()
	close(l.hang.goOn)
	if err := <-l.ended; err != nil {
		l.w.t.Errorf("lost worker: %v", err)
	}
}

// TestScrollResumes loses a worker at every point of every stage, has another one
// finish the scroll, and then lets the lost one go on.
func TestScrollResumes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		screened := rankByNumber(func(n int) string {
			if n%5 == 0 {
				return "rule_1"
			}
			return ""
		})
		from := 1
		for _, stage := range Steps() {
			for _, point := range []string{"begin", "batch", "end"} {
				if point == "batch" && slices.Contains([]string{Plan, Observe, Evidence, Score}, stage) {
					continue // they have no batches in this script
				}
				t.Run(stage+" "+point, func(t *testing.T) {
					w.t = t
					w.screen = screened
					w.sources["feed"].records = videos("tiktok", from, 25)
					from += 25
					before := w.count("fake_videos")
					charged := w.number("SELECT coalesce(sum(units), 0) FROM fake_charges")

					lost := w.loses(quick(), stage, point)
					lost.takenOver()
					done := w.load(lost.scroll)
					if done.Status != Completed || done.Attempts != 2 || done.NewVideos != 20 || done.Progress.Percent != 100 {
						t.Errorf("after the second start: got %+v, want it %s at the second attempt, with 20 new videos and 100 percent", done, Completed)
					}
					lost.goesOn()
					if after := w.load(lost.scroll); !equal(done, after) {
						t.Errorf("after the lost worker: got %+v, want it as before: %+v", after, done)
					}
					if n := w.count("fake_videos") - before; n != 20 {
						t.Errorf("%d videos, want 20", n)
					}
					if n := w.number("SELECT coalesce(sum(units), 0) FROM fake_charges") - charged; n != 20 {
						t.Errorf("%d units charged, want 20", n)
					}
					if n := w.count("scroll_records"); n != 0 {
						t.Errorf("%d records left, want 0", n)
					}
					returned, added, dropped := 0, 0, 0
					for _, c := range done.Progress.Coverage {
						returned, added, dropped = returned+c.Returned, added+c.New, dropped+c.Dropped
					}
					if returned != 25 || added != 20 || dropped != 5 || done.Progress.Collected != 25 {
						t.Errorf("coverage: %+v, want returned 25, added 20, dropped 5 and Collected 25", done.Progress)
					}
				})
			}
		}
	})
}

func TestScrollOfAWorkerThatLivesIsLeftAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if db.Dialect() == store.SQLite {
			t.Skip("one process owns a SQLite file")
		}
		h := hangAt(Screen, "begin")
		cfg := quick()
		cfg.Pause = h.pause
		w := setup(t, db, cfg)
		scroll := w.create(Start{})
		ended := make(chan error, 1)
		go func() { ended <- w.service.work(tenant(), jobArgs{account, scroll.ID, 1}) }()
		<-h.reached
		other := w.another(quick())
		if err := other.work(tenant(), jobArgs{account, scroll.ID, 2}); err != nil {
			t.Errorf("another start: %v", err)
		}
		// The same job again, after the queue lost sight of it: later.
		if err := other.work(tenant(), jobArgs{account, scroll.ID, 1}); err == nil || w.load(scroll.ID).Attempts != 1 {
			t.Errorf("the same start: %v, want an error and Attempts 1", err)
		}
		close(h.goOn)
		if err := <-ended; err != nil || w.load(scroll.ID).Status != Completed {
			t.Errorf("got error %v, scroll %+v; want it %s", err, w.load(scroll.ID), Completed)
		}
	})
}

func TestScrollIsGivenUpAfterThreeLostWorkers(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	scroll := w.create(Start{})
	var hangs []*hang
	var all sync.WaitGroup
	for n := range 3 {
		h := hangAt(Collect, "begin")
		hangs = append(hangs, h)
		cfg := quick()
		cfg.Pause = h.pause
		lost := w.another(cfg)
		all.Go(func() { _ = lost.work(tenant(), jobArgs{account, scroll.ID, n + 1}) })
		<-h.reached
	}
	if err := w.start(w.service, scroll.ID); err != nil {
		t.Fatal(err)
	}
	if done := w.load(scroll.ID); done.Status != Failed || *done.FailureCode != "internal" || done.Attempts != 3 {
		t.Errorf(`got %+v, want it %s as internal after 3 attempts`, done, Failed)
	}
	for _, h := range hangs {
		close(h.goOn)
	}
	all.Wait()
}

// TestScrollIsReleasedWhenTheProcessStops in each step: at once, without costing a
// start, and the next process goes on at once after the last finished step.
func TestScrollIsReleasedWhenTheProcessStops(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		from := 1
		for _, step := range Steps() {
			for _, point := range []string{"begin", "batch", "end"} {
				if point == "batch" && !slices.Contains([]string{Collect, Screen, Archive}, step) {
					continue // it has no batches in this script
				}
				t.Run(step+" "+point, func(t *testing.T) {
					w.t = t
					w.sources["feed"].records = videos("tiktok", from, 25)
					from += 25
					ctx, stop := context.WithCancelCause(tenant())
					defer stop(nil)
					cfg := quick()
					cfg.Heartbeat, cfg.Stale = time.Hour, 2*time.Hour // no other way leads to the next start
					var stopped time.Time
					cfg.Pause = func(_ context.Context, at, when string) {
						if at == step && when == point && stopped.IsZero() {
							stopped = time.Now()
							stop(errors.New("the process is stopping"))
						}
					}
					scroll := w.create(Start{})
					if err := w.another(cfg).work(ctx, jobArgs{account, scroll.ID, 1}); err == nil || stopped.IsZero() {
						t.Fatalf("stopped %v: got no error, want one that the queue tries again", stopped)
					}
					if took := time.Since(stopped); took > releaseWithin {
						t.Errorf("the release took %v, want at most %v", took, releaseWithin)
					}
					down := w.load(scroll.ID)
					if down.Status != Running || down.Attempts != 0 {
						t.Errorf("released: status %s after %d starts, want running after 0", down.Status, down.Attempts)
					}
					calls := w.calls["feed"]
					cfg.Pause = nil
					if err := w.another(cfg).work(tenant(), jobArgs{account, scroll.ID, 1}); err != nil {
						t.Errorf("next process: %v", err)
					}
					done := w.load(scroll.ID)
					if done.Status != Completed || done.Attempts != 1 || done.NewVideos != 25 {
						t.Errorf("resumed: %s after %d starts with %d new videos, want completed after 1 with 25", done.Status, done.Attempts, done.NewVideos)
					}
					repeated := w.calls["feed"] != calls
					if want := slices.Index(Steps(), step) <= slices.Index(Steps(), Collect); repeated != want {
						t.Errorf("the sources are asked again: got %v, want %v", repeated, want)
					}
				})
			}
		}
	})
}

// TestALongTransactionLeavesAFreshHeartbeat: none can be written while it is open.
func TestALongTransactionLeavesAFreshHeartbeat(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		scroll := w.create(Start{})
		now := time.Now()
		w.service.now = func() time.Time { return now }
		r, _, err := w.service.claim(tenant(), jobArgs{account, scroll.ID, 1})
		if err != nil || r == nil {
			t.Fatalf("claim: got run %v, error %v; want one", r, err)
		}
		for _, must := range []bool{true, false} {
			t.Run(fmt.Sprintf("the state must be written: %v", must), func(t *testing.T) {
				r.written = now.Add(time.Hour) // nothing but must has the state written
				err := r.commit(tenant(), must, func(context.Context, *store.Tx, *state) error {
					now = now.Add(time.Minute)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if got := w.number("SELECT heartbeat_at FROM scrolls WHERE id = $1", scroll.ID); int64(got) != now.UnixMilli() {
					t.Errorf("must %v: the heartbeat is %d ms old, want 0", must, now.UnixMilli()-int64(got))
				}
			})
		}
	})
}

// TestRescueLooksTwice: a worker whose heartbeat was held up has time to write it.
func TestRescueLooksTwice(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	scroll := w.create(Start{})
	now := time.Now()
	w.service.now = func() time.Time { return now }
	r, _, err := w.service.claim(tenant(), jobArgs{account, scroll.ID, 1})
	if err != nil || r == nil {
		t.Fatalf("claim: got run %v, error %v; want one", r, err)
	}
	look := func(when string, want int) {
		t.Helper()
		now = now.Add(time.Minute)
		if err := w.service.Rescue(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := w.number("SELECT count(*) FROM jobs WHERE unique_key LIKE '%:2'"); got != want {
			t.Errorf("%s: %d jobs of a second start, want %d", when, got, want)
		}
	}
	look("first look", 0)
	if err := r.pulse(tenant()); err != nil {
		t.Fatal(err)
	}
	look("look after a heartbeat", 0)
	look("second look without another", 1)
}

func TestScrollCancelledWhileItRuns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, near := range []bool{true, false} {
			name := map[bool]string{true: "in this process", false: "from another process"}[near]
			t.Run(name, func(t *testing.T) {
				reached := make(chan struct{})
				cfg := quick()
				cfg.Heartbeat = 10 * time.Millisecond
				cfg.Pause = func(ctx context.Context, stage, point string) {
					if stage == Collect && point == "batch" {
						select {
						case reached <- struct{}{}:
						default:
						}
						<-ctx.Done() // a plugin at work notices nothing else
					}
				}
				w := &world{}
				if near {
					w = setup(t, db, cfg)
				} else {
					w = setup(t, storetest.SQLite(t), cfg)
				}
				scroll := w.create(Start{})
				ended := make(chan error, 1)
				go func() { ended <- w.service.work(tenant(), jobArgs{account, scroll.ID, 1}) }()
				<-reached
				by := w.service
				if !near {
					by = w.another(quick())
				}
				got, err := by.Cancel(tenant(), publicID(scroll.ID))
				if err != nil || got == nil || got.Status != Cancelled || got.Step != nil || got.CompletedAt == nil {
					t.Errorf("cancel: got %+v, error %v; want it %s, without a step and with the time of its end", got, err, Cancelled)
				}
				if err := <-ended; err != nil {
					t.Errorf("worker: %v", err)
				}
				if n := w.count("scroll_records"); n != 0 || w.load(scroll.ID).Status != Cancelled {
					t.Errorf("got %d records left and the scroll %+v, want none, and %v", n, w.load(scroll.ID), Cancelled)
				}
				if again, err := by.Cancel(tenant(), publicID(scroll.ID)); err != nil || !equal(again, got) {
					t.Errorf("cancelled again: got %+v, %v, want %+v as before", again, err, got)
				}
			})
		}
	})
}
