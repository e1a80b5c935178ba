package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/postgres"
)

// defaultAttempts is how often a job runs before it has failed for good.
const defaultAttempts = 3

// Job is a piece of work to be done later.
type Job struct {
	// Kind names the worker. It is a stable string, never the name of a Go type:
	// lower-case letters and digits, parted by one of `_`, `-` and `.`.
	Kind string
	// Args is kept as JSON, as it is at the time of Enqueue.
	Args any
	// RunAt is the earliest start. Zero means now.
	RunAt time.Time
	// UniqueKey, if set, drops the job silently while another of the same kind and
	// key is waiting or running.
	UniqueKey string
	// MaxAttempts counts every start but snoozed ones. Default 3.
	MaxAttempts int
}

// enqueuer writes a job in a transaction.
type enqueuer interface {
	enqueue(ctx context.Context, tx *Tx, job Job, args json.RawMessage) error
}

// Enqueue writes the job in the transaction: it runs after the commit, or never.
func (tx *Tx) Enqueue(ctx context.Context, job Job) error {
	if !ValidKind(job.Kind) {
		return fmt.Errorf("enqueue: kind %q is not lower-case words", job.Kind)
	}
	args, err := json.Marshal(job.Args)
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", job.Kind, err)
	}
	if job.MaxAttempts <= 0 {
		job.MaxAttempts = defaultAttempts
	}
	if err := tx.db.jobs.enqueue(ctx, tx, job, args); err != nil {
		return fmt.Errorf("enqueue %s: %w", job.Kind, err)
	}
	return nil
}

// ValidKind reports whether a kind is lower-case words; see [Job].
func ValidKind(kind string) bool {
	parted := true
	for _, c := range kind {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			parted = false
		case (c == '_' || c == '-' || c == '.') && !parted:
			parted = true
		default:
			return false
		}
	}
	return !parted && len(kind) <= 60
}

// queueOfAll is why jobs are written without a tenant.
const queueOfAll = "the queue works for all tenants"

// jobsTable writes jobs on SQLite.
type jobsTable struct {
	db  *DB
	add *Hot
}

func newJobsTable(db *DB) *jobsTable {
	return &jobsTable{db, db.HotTenantless(`INSERT INTO jobs (id, kind, args, unique_key, attempt, max_attempts, run_at, lease_until, last_error, created_at)
		VALUES ($1, $2, $3, $4, 0, $5, $6, 0, '', $7) ON CONFLICT (unique_key) DO NOTHING`, queueOfAll)}
}

func (j *jobsTable) enqueue(ctx context.Context, tx *Tx, job Job, args json.RawMessage) error {
	var unique any
	if job.UniqueKey != "" {
		unique = job.Kind + ":" + job.UniqueKey
	}
	now := time.Now()
	if job.RunAt.IsZero() {
		job.RunAt = now
	}
	_, err := j.add.ExecIn(ctx, tx, j.db.NewID(), job.Kind, string(args), unique, job.MaxAttempts, job.RunAt.UnixMilli(), now.UnixMilli())
	tx.wake = true
	return err
}

// riverJobs writes jobs on PostgreSQL.
type riverJobs struct{ *postgres.Inserter }

func (r riverJobs) enqueue(ctx context.Context, tx *Tx, job Job, args json.RawMessage) error {
	return tx.pinned.Raw(func(any) error {
		return r.Insert(ctx, tx.pgx, postgres.JobArgs{Name: job.Kind, Key: job.UniqueKey, Args: args}, job.RunAt, job.MaxAttempts)
	})
}
