package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// riverInserter is the queue of PostgreSQL: River, shared by any number of processes.
type riverInserter struct{ client *river.Client[pgx.Tx] }

func newRiverInserter(pool *pgxpool.Pool) (*riverInserter, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{})
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
	opts := &river.InsertOpts{MaxAttempts: job.MaxAttempts, Queue: riverQueue(job.Kind), ScheduledAt: job.RunAt}
	if job.UniqueKey != "" {
		opts.UniqueOpts = river.UniqueOpts{ByArgs: true, ByState: riverAlive()}
	}
	return tx.pinned.Raw(func(any) error {
		_, err := r.client.InsertTx(ctx, tx.pgx, riverArgs{job.Kind, job.UniqueKey, args}, opts)
		return err
	})
}

// riverQueue: a queue a kind, because River bounds concurrency by queue.
func riverQueue(kind string) string { return strings.ReplaceAll(kind, ".", "_") }

// riverAlive lists the states of a job that is waiting or running.
func riverAlive() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}
}
