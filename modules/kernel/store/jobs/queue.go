package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

const (
	defaultTimeout = time.Minute
	// stopGrace is what cancelled jobs get to return, after Stop ran out of patience.
	stopGrace = 5 * time.Second
)

var (
	errStopping = errors.New("the process is stopping")
	errTimeout  = errors.New("the job's time is up")
)

// engine is what runs jobs on one dialect.
type engine interface {
	start(ctx context.Context) error
	// stop takes no more jobs and returns when those that run have ended, or when
	// ctx ends; then it is called again after they were cancelled.
	stop(ctx context.Context) error
	// close gives up what the engine holds; called once, last.
	close() error
}

// Queue runs jobs and periodics in this process. Only processes that work need
// one: [store.Tx.Enqueue] does without.
type Queue struct {
	db        *store.DB
	log       *slog.Logger
	workers   map[string]Worker
	periodics []Periodic
	// backoff is the wait after a failed attempt.
	backoff func(attempt int) time.Duration

	mu     sync.Mutex
	engine engine
	// halted ends the contexts of running jobs.
	halted context.Context
	halt   context.CancelCauseFunc
}

// NewQueue checks the workers and periodics; kinds are unique among each.
func NewQueue(db *store.DB, workers []Worker, periodics []Periodic, log *slog.Logger) (*Queue, error) {
	q := &Queue{db: db, log: log, workers: map[string]Worker{}, periodics: slices.Clone(periodics), backoff: backoff}
	for _, worker := range workers {
		if _, taken := q.workers[worker.Kind]; taken || !store.ValidKind(worker.Kind) || worker.Work == nil {
			return nil, fmt.Errorf("worker %q: the kind is taken or not lower-case words, or there is no Work", worker.Kind)
		}
		if worker.Timeout <= 0 {
			worker.Timeout = defaultTimeout
		}
		worker.Concurrency = max(worker.Concurrency, 1)
		q.workers[worker.Kind] = worker
	}
	taken := map[string]bool{}
	for _, periodic := range periodics {
		if taken[periodic.Kind] || !store.ValidKind(periodic.Kind) || periodic.Run == nil || periodic.Every <= 0 {
			return nil, fmt.Errorf("periodic %q: the kind is taken or not lower-case words, or Every or Run is missing", periodic.Kind)
		}
		taken[periodic.Kind] = true
	}
	return q, nil
}

// Start begins to work and returns at once. ctx bounds the start alone. On SQLite
// it fails while another process works on the data directory.
func (q *Queue) Start(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.engine != nil {
		return errors.New("start queue: it runs already")
	}
	q.halted, q.halt = context.WithCancelCause(context.WithoutCancel(ctx))
	var engine engine = newSQLiteQueue(q)
	if q.db.Postgres() != nil {
		engine = newRiverQueue(q)
	}
	if err := engine.start(ctx); err != nil {
		q.halt(errStopping)
		return fmt.Errorf("start queue: %w", err)
	}
	q.engine = engine
	return nil
}

// Stop takes no more jobs and waits for those that run. When ctx ends first, their
// contexts are cancelled, and they run again, as if this run had not been, in the
// next process.
func (q *Queue) Stop(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.engine == nil {
		return nil
	}
	engine := q.engine
	q.engine = nil
	err := engine.stop(ctx)
	q.halt(errStopping)
	if err != nil {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		err = engine.stop(grace)
	}
	if err := errors.Join(err, engine.close()); err != nil {
		return fmt.Errorf("stop queue: %w", err)
	}
	return nil
}

// run does one job in the bounds that its worker asks for. Of its errors, snoozed
// and cancelled are decisions; all others ask for another try.
func (q *Queue) run(ctx context.Context, worker Worker, args json.RawMessage) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(q.halted, func() { cancel(context.Cause(q.halted)) })()
	ctx, expire := context.WithTimeoutCause(ctx, worker.Timeout, errTimeout)
	defer expire()
	err = protected(func() error { return worker.Work(ctx, args) })
	switch {
	case err == nil:
		return nil
	case q.halted.Err() != nil: // whatever it says, it was cut short
		return Snooze(0)
	case errors.Is(context.Cause(ctx), errTimeout):
		return fmt.Errorf("%w after %v: %w", errTimeout, worker.Timeout, err)
	}
	return err
}

// protected turns a panic into an error.
func protected(work func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return work()
}

// tick runs a periodic once.
func (q *Queue) tick(ctx context.Context, periodic Periodic) {
	err := q.run(ctx, Worker{
		Timeout: max(periodic.Every, defaultTimeout),
		Work:    func(ctx context.Context, _ json.RawMessage) error { return periodic.Run(ctx) },
	}, nil)
	var later *snoozed
	if err != nil && !errors.As(err, &later) {
		q.db.Suspect(err)
		q.log.ErrorContext(ctx, "periodic failed", "kind", periodic.Kind, "error", err)
	}
}

// firstBeat is when the first runs of periodics begin: after a process that starts serves calls.
const firstBeat = 50 * time.Millisecond

// every runs a periodic in its rhythm until quit is closed; a run that takes longer
// skips beats.
func (q *Queue) every(periodic Periodic, quit <-chan struct{}) {
	select {
	case <-quit:
		return
	case <-time.After(firstBeat):
	}
	ticker := time.NewTicker(periodic.Every)
	defer ticker.Stop()
	for {
		q.tick(q.halted, periodic)
		select {
		case <-quit:
			return
		case <-ticker.C:
		}
	}
}

// failed reports a run that did not succeed, and whether the job is given up.
func (q *Queue) failed(ctx context.Context, kind string, id int64, attempt, maxAttempts int, err error) (final bool) {
	q.db.Suspect(err)
	var never *cancelled
	final = errors.As(err, &never) || attempt >= maxAttempts
	level, message := slog.LevelWarn, "job failed, to be tried again"
	if final {
		level, message = slog.LevelError, "job failed for good"
	}
	q.log.Log(ctx, level, message, "kind", kind, "job", id, "attempt", attempt, "of", maxAttempts, "error", err)
	return final
}

// backoff grows with the square: about 1, 4, 9, 16 seconds, and an hour at most.
func backoff(attempt int) time.Duration {
	least := leastBackoff(attempt)
	return least + rand.N(least*2/9+1)
}

// leastBackoff is a tenth below the middle.
func leastBackoff(attempt int) time.Duration {
	return min(time.Duration(attempt*attempt)*time.Second, time.Hour) * 9 / 10
}

// AttemptsOver is the MaxAttempts of a job that must not be given up before d has
// passed since its first start, however soon each attempt fails.
func AttemptsOver(d time.Duration) int {
	attempts := 1
	for ; d > 0; attempts++ {
		d -= leastBackoff(attempts)
	}
	return attempts
}
