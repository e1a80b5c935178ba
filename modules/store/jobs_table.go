package store

import (
	"context"
	"encoding/json"
	"time"
)

// jobsTable is the queue of SQLite: rows in jobs, run by a process of this host.
type jobsTable struct{ db *DB }

func (j *jobsTable) enqueue(ctx context.Context, tx *Tx, job Job, args json.RawMessage) error {
	var unique any
	if job.UniqueKey != "" {
		unique = job.Kind + ":" + job.UniqueKey
	}
	now := time.Now()
	if job.RunAt.IsZero() {
		job.RunAt = now
	}
	_, err := tx.Exec(ctx, `INSERT INTO jobs (id, kind, args, unique_key, attempt, max_attempts, run_at, lease_until, last_error, created_at)
		VALUES ($1, $2, $3, $4, 0, $5, $6, 0, '', $7) ON CONFLICT (unique_key) DO NOTHING`,
		j.db.NewID(), job.Kind, string(args), unique, job.MaxAttempts, job.RunAt.UnixMilli(), now.UnixMilli())
	tx.wake = true
	return err
}
