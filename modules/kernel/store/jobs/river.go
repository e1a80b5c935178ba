package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/scrollery/scrollery/modules/kernel/store/direct"
	"github.com/scrollery/scrollery/modules/kernel/store/postgres"
)

// periodicQueue is the prefix of the queues in which periodics run.
const periodicQueue = "periodic-"

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
	client, err := river.NewClient(direct.Driver{Driver: riverpgxv5.New(r.q.db.Postgres().Pool), Conn: r.q.db.Postgres().Direct}, r.config(id))
	if err != nil {
		return err
	}
	// Jobs are taken in this name, so it has to be seen alive before.
	if r.life, err = postgres.StartLife(ctx, r.q.db.Postgres().Direct, id, r.q.log); err != nil {
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
		river.AddWorkerArgs(workers, postgres.JobArgs{Name: kind}, &riverWorker{q: r.q, worker: worker})
		queues[postgres.JobQueue(kind)] = river.QueueConfig{MaxWorkers: worker.Concurrency}
		longest = max(longest, worker.Timeout)
	}
	var periodics []*river.PeriodicJob
	for _, periodic := range r.q.periodics {
		kind := periodicQueue + periodic.Kind
		river.AddWorkerArgs(workers, postgres.JobArgs{Name: kind}, &riverWorker{q: r.q, periodic: &periodic})
		queues[postgres.JobQueue(kind)] = river.QueueConfig{MaxWorkers: 1}
		longest = max(longest, periodic.Every)
		if periodic.Everywhere {
			continue // it is known for the sake of jobs that an earlier version left
		}
		periodics = append(periodics, river.NewPeriodicJob(river.PeriodicInterval(periodic.Every),
			func() (river.JobArgs, *river.InsertOpts) {
				return postgres.JobArgs{Name: kind, Args: json.RawMessage("null")},
					&river.InsertOpts{Queue: postgres.JobQueue(kind), MaxAttempts: 1, UniqueOpts: postgres.UniqueWhileAlive()}
			}, &river.PeriodicJobOpts{RunOnStart: true}))
	}
	return &river.Config{
		ID: id, Workers: workers, Queues: queues, PeriodicJobs: periodics, Logger: postgres.QuietRiver(r.q.log),
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
	river.WorkerDefaults[postgres.JobArgs]
	q        *Queue
	worker   Worker
	periodic *Periodic
}

func (w *riverWorker) Timeout(*river.Job[postgres.JobArgs]) time.Duration { return -1 }

func (w *riverWorker) Work(ctx context.Context, job *river.Job[postgres.JobArgs]) error {
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

// riverRetry spaces attempts as on SQLite.
type riverRetry struct{ q *Queue }

func (r riverRetry) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(r.q.backoff(job.Attempt))
}
