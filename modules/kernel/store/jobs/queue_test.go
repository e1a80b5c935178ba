package jobs_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// wait is long enough for anything that happens at all.
const wait = 2 * time.Minute

// bench is a queue with one worker whose calls come out of a channel.
type bench struct {
	db    *store.DB
	queue *jobs.Queue
	calls chan string // the args of each run
}

// start runs a queue with one worker of the kind "test".
func start(t *testing.T, db *store.DB, worker jobs.Worker, periodics ...jobs.Periodic) *bench {
	t.Helper()
	b := &bench{db: db, calls: make(chan string, 1000)}
	work := worker.Work
	worker.Kind = "test"
	worker.Work = func(ctx context.Context, args json.RawMessage) error {
		b.calls <- string(args)
		if work == nil {
			return nil
		}
		return work(ctx, args)
	}
	queue, err := jobs.NewQueue(db, []jobs.Worker{worker}, periodics, storetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	b.queue = queue
	queue.SetBackoff(func(int) time.Duration { return 20 * time.Millisecond })
	if err := queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := queue.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func enqueue(t *testing.T, db *store.DB, jobs ...store.Job) {
	t.Helper()
	err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		for _, job := range jobs {
			if err := tx.Enqueue(ctx, job); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(wait):
		t.Fatalf("got nothing within %v, want a value", wait)
		panic("unreachable")
	}
}

// settled waits until no job is alive, and returns how many failed for good.
func settled(t *testing.T, db *store.DB) (failed int) {
	t.Helper()
	alive, dead := "SELECT count(*) FROM jobs WHERE lease_until >= 0", "SELECT count(*) FROM jobs WHERE lease_until < 0"
	if db.Dialect() == store.Postgres {
		alive = "SELECT count(*) FROM river_job WHERE kind NOT LIKE 'periodic-%' AND state IN ('available','pending','retryable','running','scheduled')"
		dead = "SELECT count(*) FROM river_job WHERE state IN ('cancelled','discarded')"
	}
	for deadline := time.Now().Add(wait); ; time.Sleep(5 * time.Millisecond) {
		if scan(t, db, alive) == 0 {
			return scan(t, db, dead)
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %d jobs still alive after %v, want 0", scan(t, db, alive), wait)
		}
	}
}

func scan(t *testing.T, db *store.DB, query string) int {
	t.Helper()
	return int(storetest.Count(t, db, query))
}

func TestQueue(t *testing.T) {
	t.Parallel()
	cases := map[string]func(t *testing.T, db *store.DB){
		"runs after the commit, with its arguments": func(t *testing.T, db *store.DB) {
			b := start(t, db, jobs.Worker{})
			err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
				if err := tx.Enqueue(ctx, store.Job{Kind: "test", Args: map[string]any{"id": "a<b", "n": 1 << 60}}); err != nil {
					return err
				}
				select {
				case <-b.calls:
					t.Error("got a run before the commit, want it after")
				case <-time.After(50 * time.Millisecond):
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var args struct {
				ID string `json:"id"`
				N  int64  `json:"n"`
			}
			if err := json.Unmarshal([]byte(receive(t, b.calls)), &args); err != nil || args.ID != "a<b" || args.N != 1<<60 {
				t.Fatalf("got the arguments %+v, %v, want a<b and 1<<60", args, err)
			}
			if failed := settled(t, db); failed != 0 {
				t.Errorf("got %d failed jobs, want 0", failed)
			}
		},
		"never runs after a rollback": func(t *testing.T, db *store.DB) {
			b := start(t, db, jobs.Worker{})
			_ = db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
				return errors.Join(tx.Enqueue(ctx, store.Job{Kind: "test", Args: "lost"}), errors.New("stop"))
			})
			enqueue(t, db, store.Job{Kind: "test", Args: "kept"})
			if got := receive(t, b.calls); got != `"kept"` {
				t.Fatalf("ran %s, want %q", got, `"kept"`)
			}
			settled(t, db)
		},
		"runs what was written before the start": func(t *testing.T, db *store.DB) {
			enqueue(t, db, store.Job{Kind: "test", Args: 1})
			receive(t, start(t, db, jobs.Worker{}).calls)
		},
		"keeps a key unique while waiting or running": func(t *testing.T, db *store.DB) {
			release := make(chan struct{})
			job := store.Job{Kind: "test", UniqueKey: "k"}
			enqueue(t, db, job, job, store.Job{Kind: "other", UniqueKey: "k"})
			b := start(t, db, jobs.Worker{Concurrency: 4, Work: func(context.Context, json.RawMessage) error {
				<-release
				return nil
			}})
			receive(t, b.calls)
			enqueue(t, db, job, store.Job{Kind: "test", UniqueKey: "l"})
			receive(t, b.calls)
			close(release)
			for range 2000 { // the key is free again soon after the end
				enqueue(t, db, job)
				select {
				case <-b.calls:
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
			t.Fatal("got no run of the key in 2000 tries, want one soon after the end")
		},
		"snoozes without using up attempts": func(t *testing.T, db *store.DB) {
			var runs atomic.Int32
			b := start(t, db, jobs.Worker{Work: func(context.Context, json.RawMessage) error {
				if runs.Add(1) <= 4 {
					return jobs.Snooze(10 * time.Millisecond)
				}
				return nil
			}})
			enqueue(t, db, store.Job{Kind: "test", MaxAttempts: 1})
			for range 5 {
				receive(t, b.calls)
			}
			if failed := settled(t, db); failed != 0 || len(b.calls) != 0 {
				t.Errorf("got %d failed jobs and %d more runs, want 0 of each", failed, len(b.calls))
			}
		},
		"never runs again after a cancel": func(t *testing.T, db *store.DB) {
			b := start(t, db, jobs.Worker{Work: func(context.Context, json.RawMessage) error {
				return fmt.Errorf("look: %w", jobs.Cancel(errors.New("no such thing")))
			}})
			enqueue(t, db, store.Job{Kind: "test", UniqueKey: "k"})
			receive(t, b.calls)
			if failed := settled(t, db); failed != 1 || len(b.calls) != 0 {
				t.Errorf("got %d failed jobs and %d more runs, want 1 and 0", failed, len(b.calls))
			}
			enqueue(t, db, store.Job{Kind: "test", UniqueKey: "k"})
			receive(t, b.calls)
		},
		"tries again until attempts are used up": func(t *testing.T, db *store.DB) {
			b := start(t, db, jobs.Worker{Work: func(context.Context, json.RawMessage) error { return errors.New("no luck") }})
			enqueue(t, db, store.Job{Kind: "test", MaxAttempts: 3})
			for range 3 {
				receive(t, b.calls)
			}
			if failed := settled(t, db); failed != 1 || len(b.calls) != 0 {
				t.Errorf("got %d failed jobs and %d runs after the third, want 1 and 0", failed, len(b.calls))
			}
		},
		"survives a panic and tries again": func(t *testing.T, db *store.DB) {
			var runs atomic.Int32
			b := start(t, db, jobs.Worker{Work: func(context.Context, json.RawMessage) error {
				if runs.Add(1) == 1 {
					panic("here")
				}
				return nil
			}})
			enqueue(t, db, store.Job{Kind: "test"})
			receive(t, b.calls)
			receive(t, b.calls)
			if failed := settled(t, db); failed != 0 {
				t.Errorf("got %d failed jobs, want 0", failed)
			}
		},
		"ends the context at the timeout": func(t *testing.T, db *store.DB) {
			ended := make(chan error, 10)
			start(t, db, jobs.Worker{Timeout: 30 * time.Millisecond, Work: func(ctx context.Context, _ json.RawMessage) error {
				<-ctx.Done()
				ended <- ctx.Err()
				return ctx.Err()
			}})
			enqueue(t, db, store.Job{Kind: "test", MaxAttempts: 2})
			for range 2 {
				if err := receive(t, ended); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
			}
			if failed := settled(t, db); failed != 1 {
				t.Errorf("got %d failed jobs, want 1", failed)
			}
		},
		"bounds what runs at once": func(t *testing.T, db *store.DB) {
			var now, most atomic.Int32
			full := make(chan struct{})
			var once sync.Once
			start(t, db, jobs.Worker{Concurrency: 3, Work: func(context.Context, json.RawMessage) error {
				n := now.Add(1)
				defer now.Add(-1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				if n == 3 {
					once.Do(func() { close(full) })
				}
				select { // the first three meet; then each takes a moment
				case <-full:
					time.Sleep(2 * time.Millisecond)
				case <-time.After(wait):
				}
				return nil
			}})
			var jobs []store.Job
			for i := range 20 {
				jobs = append(jobs, store.Job{Kind: "test", Args: i})
			}
			enqueue(t, db, jobs...)
			settled(t, db)
			if most.Load() != 3 {
				t.Errorf("%d ran at once, want 3", most.Load())
			}
		},
		"waits for its time": func(t *testing.T, db *store.DB) {
			b := start(t, db, jobs.Worker{})
			at := time.Now().Add(300 * time.Millisecond)
			enqueue(t, db, store.Job{Kind: "test", RunAt: at})
			receive(t, b.calls)
			if time.Now().Before(at.Add(-time.Millisecond)) {
				t.Errorf("got a run %v before its time, want it then", time.Until(at))
			}
		},
		"stops when the running jobs have ended": func(t *testing.T, db *store.DB) {
			release, done := make(chan struct{}), make(chan struct{})
			b := start(t, db, jobs.Worker{Work: func(ctx context.Context, _ json.RawMessage) error {
				<-release
				close(done)
				return ctx.Err()
			}})
			enqueue(t, db, store.Job{Kind: "test"})
			receive(t, b.calls)
			stopped := make(chan error)
			go func() { stopped <- b.queue.Stop(context.Background()) }()
			select {
			case <-stopped:
				t.Fatal("got an end of Stop while a job runs, want it to wait")
			case <-time.After(50 * time.Millisecond):
			}
			close(release)
			if err := receive(t, stopped); err != nil {
				t.Fatal(err)
			}
			receive(t, done)
			if failed := settled(t, db); failed != 0 {
				t.Errorf("got %d failed jobs, want 0", failed)
			}
		},
		"cancels jobs that do not end, and runs them again": func(t *testing.T, db *store.DB) {
			b := start(t, db, jobs.Worker{Work: func(ctx context.Context, _ json.RawMessage) error {
				<-ctx.Done()
				return errors.New("cut short")
			}})
			enqueue(t, db, store.Job{Kind: "test", MaxAttempts: 1})
			receive(t, b.calls)
			impatient, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := b.queue.Stop(impatient); err != nil {
				t.Fatal(err)
			}
			receive(t, start(t, db, jobs.Worker{}).calls)
			if failed := settled(t, db); failed != 0 {
				t.Errorf("got %d failed jobs, want 0", failed)
			}
		},
		"runs periodics from the start": func(t *testing.T, db *store.DB) {
			runs := make(chan struct{}, 100)
			start(t, db, jobs.Worker{}, jobs.Periodic{Kind: "sweep", Every: 200 * time.Millisecond, Run: func(context.Context) error {
				runs <- struct{}{}
				return errors.New("is only logged")
			}})
			for range 3 {
				receive(t, runs)
			}
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, test)
		})
	}
}

// TestJobsWithoutAPlaceCostNothing: the embedded queue looks at the jobs of those kinds alone
// that have a place, in the order in which they are due.
func TestJobsWithoutAPlaceCostNothing(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	b := start(t, db, jobs.Worker{})
	for i, query := range b.queue.Claims() {
		var plan []string
		storetest.Rows(t, db, func(rows *sql.Rows) error {
			var id, parent, unused int
			var step string
			err := rows.Scan(&id, &parent, &unused, &step)
			plan = append(plan, step)
			return err
		}, "EXPLAIN QUERY PLAN "+query, 1, `["a"]`, `[]`)
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, "(kind=? AND run_at") || strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("plan %d: got\n%s\nwant jobs found by kind and time, and no sorting", i, text)
		}
	}
}

// TestFailedJobsAreForgotten: those that failed for good are deleted once their time is over.
func TestFailedJobsAreForgotten(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	b := start(t, db, jobs.Worker{Work: func(context.Context, json.RawMessage) error { return jobs.Cancel(errors.New("no such thing")) }})
	enqueue(t, db, store.Job{Kind: "test"}, store.Job{Kind: "test"})
	receive(t, b.calls)
	receive(t, b.calls)
	if failed := settled(t, db); failed != 2 {
		t.Fatalf("got %d failed jobs, want 2", failed)
	}
	if err := b.queue.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, db, "UPDATE jobs SET run_at = 1 WHERE id = (SELECT min(id) FROM jobs)")
	if err := b.queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(wait); settled(t, db) != 1; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got %d failed jobs after %v, want 1: the other's time is over", settled(t, db), wait)
		}
	}
}

func TestNewQueueRefuses(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	work := func(context.Context, json.RawMessage) error { return nil }
	run := func(context.Context) error { return nil }
	for name, c := range map[string]struct {
		workers   []jobs.Worker
		periodics []jobs.Periodic
	}{
		"two workers of a kind":       {workers: []jobs.Worker{{Kind: "a", Work: work}, {Kind: "a", Work: work}}},
		"a kind that is no name":      {workers: []jobs.Worker{{Kind: "A b", Work: work}}},
		"a worker without work":       {workers: []jobs.Worker{{Kind: "a"}}},
		"a periodic without a rhythm": {periodics: []jobs.Periodic{{Kind: "a", Run: run}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := jobs.NewQueue(db, c.workers, c.periodics, storetest.Log(t)); err == nil {
				t.Error("no error, want an error")
			}
		})
	}
}

// The waits are what tells how long a number of attempts lasts.
func TestAttemptsOutlastWhatTheyShould(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, time.Second, time.Minute, 24 * time.Hour, 7 * 24 * time.Hour} {
		t.Run(d.String(), func(t *testing.T) {
			attempts, lasted, last := jobs.AttemptsOver(d), time.Duration(0), time.Duration(0)
			for attempt := 1; attempt < attempts; attempt++ {
				last = jobs.Backoff(attempt)
				lasted += last
			}
			if lasted < d || lasted-last > d*5/4 {
				t.Errorf("%d attempts last for %v, want %v and little more", attempts, lasted, d)
			}
		})
	}
	for attempt, middle := range map[int]time.Duration{1: time.Second, 4: 16 * time.Second, 60: time.Hour, 1000: time.Hour} {
		t.Run(fmt.Sprintf("attempt %d", attempt), func(t *testing.T) {
			for range 100 {
				if got := jobs.Backoff(attempt); got < middle*9/10 || got > middle*11/10+1 {
					t.Errorf("%v after attempt %d, want a tenth around %v", got, attempt, middle)
				}
			}
		})
	}
}

// TestALostLeaderDelaysNothing: River itself waits until its lease has ended.
func TestALostLeaderDelaysNothing(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	ghost := func(statement string) {
		t.Helper()
		err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, statement)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ghost("INSERT INTO river_leader (elected_at, expires_at, leader_id) VALUES (now(), now() + interval '1 hour', 'lost')")
	enqueue(t, db, store.Job{Kind: "test", RunAt: time.Now().Add(time.Hour)})
	began := time.Now()
	elected, everywhere := make(chan struct{}, 1000), make(chan struct{}, 1000)
	run := func(runs chan struct{}) func(context.Context) error {
		return func(context.Context) error {
			runs <- struct{}{}
			return nil
		}
	}
	b := start(t, db, jobs.Worker{},
		jobs.Periodic{Kind: "elected", Every: time.Second, Run: run(elected)},
		jobs.Periodic{Kind: "everywhere", Every: time.Hour, Everywhere: true, Run: run(everywhere)})
	receive(t, everywhere)
	ghost("UPDATE river_job SET scheduled_at = now() WHERE kind = 'test'")
	receive(t, b.calls)
	receive(t, elected)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v, want about 5 seconds", took)
	}
}
