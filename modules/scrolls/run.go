package scrolls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	changefeed "github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/plugins/stage"
)

// run is one start of a scroll by one worker.
type run struct {
	s           *Service
	id, account int64
	// attempt is the fencing token: every commit must match it.
	attempt int
	limits  Limits
	// until is when the scroll is ended; zero for an import.
	until time.Time
	// name is the template's.
	name     string
	template Template
	stages   Stages
	call     stage.Run
	seeds    []stage.Seed
	log      *slog.Logger
	place    *place

	// staged are the videos between the steps: the rows, or a batch of in.
	staged staging
	rows   *stagedRows
	// in are the readings of an import; nil for a scroll, and for one whose command is gone.
	in *intake
	// alone: a command's import, which nothing else of the process waits for.
	alone bool
	// atOnce is how many videos one transaction writes.
	atOnce int
	// room is how many more videos the library may have.
	room int

	mu      sync.Mutex // guards what follows
	state   state
	written time.Time
}

// Why the context of a step ended that took too long, or whose scroll did.
var (
	errDeadline = errors.New("the step took too long")
	errOvertime = errors.New("the scroll took too long")
)

// execute performs the steps that are left.
func (r *run) execute(ctx context.Context, cancel context.CancelCauseFunc) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	stop := r.beat(ctx, cancel)
	defer stop()
	stages, end, err := r.stages.Session(ctx)
	if err != nil {
		return fmt.Errorf("find the stages: %w", err)
	}
	defer end()
	r.stages = stages
	if err := (planning{r}).prepare(ctx); err != nil {
		return err
	}
	if r.name == importTemplate {
		return importing{r}.executeImport(ctx)
	}
	for step := r.state.step; ; step = nextStep(step) {
		if err := r.perform(ctx, step); err != nil {
			return err
		}
		if step == Score {
			return nil
		}
		if err := r.place.yield(ctx); err != nil {
			return err
		}
	}
}

// perform does one step within its deadline.
func (r *run) perform(ctx context.Context, step string) error {
	within, why := r.within(step), errDeadline
	if !r.until.IsZero() && r.until.Sub(r.s.now()) < within {
		within, why = r.until.Sub(r.s.now()), errOvertime
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, why)
	defer cancel()
	r.pause(ctx, step, "begin")
	started := time.Now()
	do := map[string]func(context.Context) error{
		Plan: planning{r}.plan, Collect: r.collect, Observe: r.observe, Screen: r.screen,
		Evidence: r.evidence, Archive: archiving{r}.archive, Score: archiving{r}.score,
	}[step]
	if r.name == youngTemplate && step != Observe && step != Score { // there is nothing to do it with
		do = func(ctx context.Context) error { return r.finish(ctx, step, nil) }
	}
	err := do(ctx)
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, errDeadline) || errors.Is(cause, errOvertime)) {
		err = &stage.CallError{Stage: step, Failure: stage.StageTimeout, Retry: cause == errDeadline, Cause: errors.Join(cause, err)}
	}
	if err != nil {
		return &stepError{step, err}
	}
	took := time.Since(started)
	r.s.cfg.Observer.Stepped(step, took)
	r.log.Debug("step finished", "step", step, "took", took.String())
	return nil
}

// scoredWithin is how many videos of an import are scored within one deadline of the step.
// That is far below the usual pace: a slow database is no fault of the import.
const scoredWithin = 50_000

// within is the deadline of a step. A scroll is bounded; an import has no bound, so the
// deadline of its scoring grows with the videos that it took.
func (r *run) within(step string) time.Duration {
	within := r.s.cfg.deadline(step)
	if step != Score || r.name != importTemplate {
		return within
	}
	now := r.snapshot()
	return within * time.Duration(1+(now.newVideos+now.progress.Reobserved)/scoredWithin)
}

func (r *run) pause(ctx context.Context, step, point string) {
	if r.s.cfg.Pause != nil {
		r.s.cfg.Pause(ctx, step, point)
	}
}

// beat writes the row's heartbeat, and ends the context when the worker no longer
// owns the scroll.
func (r *run) beat(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(r.s.cfg.Heartbeat)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			switch err := r.pulse(ctx); {
			case errors.Is(err, errLost):
				cancel(errLost)
				return
			case err != nil && ctx.Err() == nil:
				r.log.Warn("heartbeat failed", "error", err)
			}
		}
	})
	return func() { end(); done.Wait() }
}

const (
	// settleWithin bounds one try to write how a start ended, and releaseWithin that of a
	// process that stops: the queue has to be left time to release its job.
	settleWithin  = 5 * time.Second
	releaseWithin = 2 * time.Second
	// firstSettleWait and mostSettleWait are the waits between the tries.
	firstSettleWait = 100 * time.Millisecond
	mostSettleWait  = 5 * time.Second
	// againAfter is when a scroll is started again that the database or its disk stopped.
	againAfter = 5 * time.Second
)

// settle writes how a start ended, and returns the result for the queue.
func (r *run) settle(ctx context.Context, err error) error {
	var failed *stage.CallError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLost), errors.Is(err, errCancelled):
		return nil
	case ctx.Err() != nil:
		r.log.Info("scroll released; another start resumes it")
		return errors.Join(context.Cause(ctx), r.persist(ctx, r.release))
	case !errors.As(err, &failed) && store.Unable(err): // a plugin's own network is not meant
		r.log.Warn("the database or its disk cannot work; the scroll waits for it", "error", err)
		if err := r.persist(ctx, r.release); err != nil {
			return err
		}
		return jobs.Snooze(againAfter)
	}
	failure, level, what := internalFailure, slog.LevelError, "scroll failed"
	retry, retryAt := true, (*int64)(nil)
	if failed != nil {
		failure, level, what = string(failed.Failure), slog.LevelWarn, "stage failed"
		retry, retryAt = failed.Retry, failed.RetryAt
	}
	var logged sync.Once
	return r.persist(ctx, func(ctx context.Context) error {
		if r.taken(ctx) {
			return nil
		}
		logged.Do(func() { r.log.Log(ctx, level, what, "error", err, "failure", failure) })
		return r.retryOrFail(ctx, failure, err, retry, retryAt)
	})
}

// persist calls write until it succeeds, with growing waits while the database or its disk
// cannot work. It is called once if the queue stops.
func (r *run) persist(ctx context.Context, write func(ctx context.Context) error) error {
	within := settleWithin
	if ctx.Err() != nil {
		within = releaseWithin
	}
	for wait := firstSettleWait; ; wait = min(2*wait, mostSettleWait) {
		// It is little to write, and written even when the queue stops.
		try, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
		err := write(try)
		again := err != nil && (try.Err() != nil || store.Unable(err))
		cancel()
		if !again || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// taken reports whether the scroll was cancelled or has another worker meanwhile.
func (r *run) taken(ctx context.Context) bool {
	now, err := r.s.load(ctx, r.id)
	return err == nil && (now == nil || now.Status != Running || now.Attempts != r.attempt)
}

// retryOrFail starts the scroll again where that can help, or fails it.
func (r *run) retryOrFail(ctx context.Context, failure string, cause error, retry bool, retryAt *int64) error {
	now := r.s.now()
	wait := r.s.cfg.RetryAfter << (r.attempt - 1)
	if retryAt != nil {
		wait = max(wait, time.UnixMilli(*retryAt).Sub(now))
	}
	if !retry || r.attempt >= r.s.cfg.MaxAttempts || wait > r.s.cfg.RetryWithin {
		return r.fail(ctx, failure, cause)
	}
	return ignoreLost(r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := r.putDown(ctx, tx, r.attempt); err != nil {
			return err
		}
		return r.s.enqueue(ctx, tx, r.account, r.id, r.attempt+1, now.Add(wait))
	}))
}

// fail ends the scroll without success.
func (r *run) fail(ctx context.Context, failure string, cause error) error {
	return ignoreLost(r.end(ctx, Failed, failure, r.failureOf(failure, cause)))
}

// release puts the scroll down and takes the start back: the queue has to stop.
func (r *run) release(ctx context.Context) error {
	return ignoreLost(r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return r.putDown(ctx, tx, r.attempt-1)
	}))
}

func ignoreLost(err error) error {
	if errors.Is(err, errLost) {
		return nil
	}
	return err
}

// state is the part of a scroll's row that its worker writes.
type state struct {
	step, checkpoint string
	newVideos        int
	progress         Progress
	subject          string
	rulesVersion     int
}

// weights are the share of each step in the percentage, in the order of Steps.
func weights() []float64 { return []float64{2, 38, 12, 14, 14, 15, 5} }

// percent is the progress of a scroll that has done a fraction of a step. Only the
// end itself is 100.
func percent(step string, fraction float64) float64 {
	var sum float64
	for i, name := range Steps() {
		if name == step {
			return min(99, float64(int(sum+weights()[i]*min(1, max(0, fraction)))))
		}
		sum += weights()[i]
	}
	return 0
}

// commit runs do in a transaction that only the scroll's own worker can commit. do
// changes a copy of the state, which is valid once it is committed. With must, the
// state is written with it; otherwise at most every ProgressEvery.
func (r *run) commit(ctx context.Context, must bool, do func(ctx context.Context, tx *store.Tx, next *state) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var next state
	write := must || r.s.now().Sub(r.written) >= r.s.cfg.ProgressEvery
	err := r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		next = r.state
		next.progress = next.progress.clone()
		now := r.s.now().UnixMilli()
		// First, so that the row is locked before anything of it is written.
		if err := r.fence(ctx, tx, now); err != nil {
			return err
		}
		if err := do(ctx, tx, &next); err != nil {
			return err
		}
		// Dated again: no heartbeat could be written meanwhile, and a transaction that
		// took long must not look like a lost worker once it is committed.
		began := now
		now = r.s.now().UnixMilli()
		switch {
		case write:
			return r.save(ctx, tx, next, now)
		case now-began >= r.s.cfg.Heartbeat.Milliseconds():
			return r.fence(ctx, tx, now)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.state = next; write {
		r.written = r.s.now()
		r.s.signals.changed(r.id)
	}
	return nil
}

// note changes the progress, and writes it where that is due.
func (r *run) note(ctx context.Context, change func(next *state)) error {
	r.mu.Lock()
	r.state.progress = r.state.progress.clone()
	change(&r.state)
	due := r.s.now().Sub(r.written) >= r.s.cfg.ProgressEvery
	r.mu.Unlock()
	if !due {
		return nil
	}
	return r.commit(ctx, true, func(context.Context, *store.Tx, *state) error { return nil })
}

// finish writes the checkpoint of a step together with its last results.
func (r *run) finish(ctx context.Context, step string, do func(ctx context.Context, tx *store.Tx, next *state) error) error {
	r.pause(ctx, step, "end")
	return r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		if do != nil {
			if err := do(ctx, tx, next); err != nil {
				return err
			}
		}
		next.checkpoint, next.step = step, nextStep(step)
		if err := changefeed.Append(ctx, tx, changefeed.Change{Kind: changefeed.ScrollStage, Scroll: r.id, Word: next.step}); err != nil {
			return err
		}
		next.progress.raise(percent(step, 1))
		return nil
	})
}

// snapshot returns a copy of the state.
func (r *run) snapshot() state {
	r.mu.Lock()
	defer r.mu.Unlock()
	copied := r.state
	copied.progress = copied.progress.clone()
	return copied
}
