package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// soon is the longest wait that workers keep themselves, by looking at the time of jobs
// that can be had. Longer ones are kept by River's leader, who is missing for a while after
// its process was lost.
const soon = time.Minute

// Inserter writes jobs where River keeps them.
type Inserter struct{ client *river.Client[pgx.Tx] }

// NewInserter returns an inserter for transactions of the pool.
func NewInserter(pool *pgxpool.Pool, log *slog.Logger) (*Inserter, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: QuietRiver(log)})
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	return &Inserter{client}, nil
}

// JobArgs is what River keeps of a job.
type JobArgs struct {
	Name string          `json:"-"`
	Key  string          `json:"key" river:"unique"`
	Args json.RawMessage `json:"args"`
}

// Kind is the name of the job's worker.
func (a JobArgs) Kind() string { return a.Name }

// Insert writes a job that runs at the time or later, at most so often. One with a key is
// dropped silently while another of its kind and key waits or runs.
func (i *Inserter) Insert(ctx context.Context, tx pgx.Tx, job JobArgs, runAt time.Time, attempts int) error {
	wait := time.Until(runAt)
	opts := &river.InsertOpts{MaxAttempts: attempts, Queue: JobQueue(job.Name)}
	if wait > 0 {
		opts.ScheduledAt = runAt
	}
	if job.Key != "" {
		opts.UniqueOpts = UniqueWhileAlive()
	}
	inserted, err := i.client.InsertTx(ctx, tx, job, opts)
	if err != nil || wait <= 0 || wait > soon || inserted.UniqueSkippedAsDuplicate {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE river_job SET state = 'available' WHERE id = $1", inserted.Job.ID)
	return err
}

// JobQueue is the queue of a kind: there is one a kind, since River bounds concurrency by queue.
func JobQueue(kind string) string { return strings.ReplaceAll(kind, ".", "_") }

// UniqueWhileAlive has one job at a time that waits or runs, among those with the same key.
func UniqueWhileAlive() river.UniqueOpts {
	return river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}}
}

// QuietRiver is a log without River's account of its own routine: what a job did is logged
// by the queue.
func QuietRiver(log *slog.Logger) *slog.Logger { return slog.New(warnings{log.Handler()}) }

// warnings drops what is less than a warning.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
