package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/scrollery/scrollery/modules/kernel/store/direct"
	"github.com/scrollery/scrollery/modules/kernel/store/postgres"
)

const (
	// periodicQueue is the prefix of the queues in which periodics run.
	periodicQueue = "periodic-"
	// soon is the longest wait that workers keep themselves, by looking at the time
	// of jobs that can be had. Longer ones are kept by River's leader, who is missing
	// for a while after its process was lost.
	soon = time.Minute
)

// riverInserter writes jobs on PostgreSQL, where River keeps them.
type riverInserter struct{ client *river.Client[pgx.Tx] }

func newRiverInserter(pool *pgxpool.Pool, log *slog.Logger) (*riverInserter, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet(log)})
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	return &riverInserter{client}, nil
}

// riverArgs is what River keeps of a job.
type riverArgs struct {
	kind string
	Key  string          `json:"key" river:"unique"`
	Args json.RawMessage `json:"args"`
}

func (a riverArgs) Kind() string { return a.kind }

func (r *riverInserter) enqueue(ctx context.Context, tx *Tx, job Job, args json.RawMessage) error {
	wait := time.Until(job.RunAt)
	opts := &river.InsertOpts{MaxAttempts: job.MaxAttempts, Queue: riverQueueName(job.Kind)}
	if wait > 0 {
		opts.ScheduledAt = job.RunAt
	}
	if job.UniqueKey != "" {
		opts.UniqueOpts = uniqueWhileAlive()
	}
	return tx.pinned.Raw(func(any) error {
		inserted, err := r.client.InsertTx(ctx, tx.pgx, riverArgs{job.Kind, job.UniqueKey, args}, opts)
		if err != nil || wait <= 0 || wait > soon || inserted.UniqueSkippedAsDuplicate {
			return err
		}
		_, err = tx.pgx.Exec(ctx, "UPDATE river_job SET state = 'available' WHERE id = $1", inserted.Job.ID)
		return err
	})
}

// riverQueueName: a queue a kind, because River bounds concurrency by queue.
func riverQueueName(kind string) string { return strings.ReplaceAll(kind, ".", "_") }

func uniqueWhileAlive() river.UniqueOpts {
	return river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}}
}

// riverQueue works beside any number of other processes on one database.
type riverQueue struct {
	q      *Queue
	client *river.Client[pgx.Tx]
	life   *postgres.Life

	quit    chan struct{} // closed to end the periodics of this process
	stopped sync.Once
	local   sync.WaitGroup
}

func newRiverQueue(q *Queue) *riverQueue { return &riverQueue{q: q, quit: make(chan struct{})} }

func (r *riverQueue) start(ctx context.Context) error {
	host, _ := os.Hostname()
	id := fmt.Sprintf("%.60s-%d-%d", host, os.Getpid(), r.q.db.NewID())
	client, err := river.NewClient(direct.Driver{Driver: riverpgxv5.New(r.q.db.pg.Pool), Conn: r.q.db.pg.Direct}, r.config(id))
	if err != nil {
		return err
	}
	// Jobs are taken in this name, so it has to be seen alive before.
	if r.life, err = postgres.StartLife(ctx, r.q.db.pg.Direct, id, r.q.log); err != nil {
		return err
	}
	r.client = client
	if err := client.Start(r.q.halted); err != nil {
		return errors.Join(err, r.life.End())
	}
	for _, periodic := range r.q.periodics {
		if periodic.Everywhere {
			r.local.Go(func() { r.q.every(periodic, r.quit) })
		}
	}
	return nil
}

func (r *riverQueue) stop(ctx context.Context) error {
	r.stopped.Do(func() { close(r.quit) })
	if err := r.client.Stop(ctx); err != nil {
		return err
	}
	idle := make(chan struct{})
	go func() {
		r.local.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("periodics are still running: %w", ctx.Err())
	}
}

func (r *riverQueue) close() error { return r.life.End() }

func (r *riverQueue) config(id string) *river.Config {
	workers, queues, longest := river.NewWorkers(), map[string]river.QueueConfig{}, defaultTimeout
	for kind, worker := range r.q.workers {
		river.AddWorkerArgs(workers, riverArgs{kind: kind}, &riverWorker{q: r.q, worker: worker})
		queues[riverQueueName(kind)] = river.QueueConfig{MaxWorkers: worker.Concurrency}
		longest = max(longest, worker.Timeout)
	}
	var periodics []*river.PeriodicJob
	for _, periodic := range r.q.periodics {
		kind := periodicQueue + periodic.Kind
		river.AddWorkerArgs(workers, riverArgs{kind: kind}, &riverWorker{q: r.q, periodic: &periodic})
		queues[riverQueueName(kind)] = river.QueueConfig{MaxWorkers: 1}
		longest = max(longest, periodic.Every)
		if periodic.Everywhere {
			continue // it is known for the sake of jobs that an earlier version left
		}
		periodics = append(periodics, river.NewPeriodicJob(river.PeriodicInterval(periodic.Every),
			func() (river.JobArgs, *river.InsertOpts) {
				return riverArgs{kind: kind, Args: json.RawMessage("null")},
					&river.InsertOpts{Queue: riverQueueName(kind), MaxAttempts: 1, UniqueOpts: uniqueWhileAlive()}
			}, &river.PeriodicJobOpts{RunOnStart: true}))
	}
	return &river.Config{
		ID: id, Workers: workers, Queues: queues, PeriodicJobs: periodics, Logger: quiet(r.q.log),
		FetchCooldown: 10 * time.Millisecond, FetchPollInterval: pollEvery,
		RetryPolicy:                 riverRetry{r.q},
		RescueStuckJobsAfter:        longest + time.Hour, // lost workers are found by their life
		JobTimeout:                  -1,                  // Queue.run keeps the time
		CompletedJobRetentionPeriod: 10 * time.Minute,
		CancelledJobRetentionPeriod: KeepFailed, DiscardedJobRetentionPeriod: KeepFailed,
	}
}

// riverWorker does the jobs of one kind, or one periodic.
type riverWorker struct {
	river.WorkerDefaults[riverArgs]
	q        *Queue
	worker   Worker
	periodic *Periodic
}

func (w *riverWorker) Timeout(*river.Job[riverArgs]) time.Duration { return -1 }

func (w *riverWorker) Work(ctx context.Context, job *river.Job[riverArgs]) error {
	if w.periodic != nil {
		w.q.tick(ctx, *w.periodic)
		return nil
	}
	err := w.q.run(ctx, w.worker, job.Args.Args)
	var later *snoozed
	switch {
	case err == nil:
		return nil
	case errors.As(err, &later):
		return river.JobSnooze(later.wait)
	case w.q.failed(ctx, job.Kind, job.ID, job.Attempt, job.MaxAttempts, err):
		return river.JobCancel(err)
	}
	return err
}

// quiet is a log without River's account of its own routine. What a job did is logged
// by Queue.
func quiet(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

// warnings drops what is less than a warning.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

// riverRetry spaces attempts as on SQLite.
type riverRetry struct{ q *Queue }

func (r riverRetry) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(r.q.backoff(job.Attempt))
}
