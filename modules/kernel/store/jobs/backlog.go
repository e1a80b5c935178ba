package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Backlog is what waits of one kind of job.
type Backlog struct {
	Kind string
	// Jobs are due, and no process runs them.
	Jobs int
	// Oldest is how long the first of them has been due.
	Oldest time.Duration
}

// Backlogs returns what waits in the queue of all processes, without periodics. A kind
// without waiting jobs is missing.
func Backlogs(ctx context.Context, db *store.DB) ([]Backlog, error) {
	query, args := `SELECT kind, count(*) AS jobs, CAST((EXTRACT(epoch FROM now() - min(scheduled_at)) * 1000) AS BIGINT) AS oldest FROM river_job
		WHERE state = 'available' AND scheduled_at <= now() AND kind NOT LIKE '`+periodicQueue+`%' GROUP BY kind ORDER BY kind`, []any(nil)
	if db.Postgres() == nil {
		query, args = `SELECT kind, count(*) AS jobs, $1 - min(run_at) AS oldest FROM jobs
			WHERE run_at <= $1 AND lease_until BETWEEN 0 AND $1 GROUP BY kind ORDER BY kind`, []any{time.Now().UnixMilli()}
	}
	all, err := store.Query[Backlog](ctx, db.HotTenantless(query, queueOfAll), args...)
	if err != nil {
		return nil, fmt.Errorf("read the backlog: %w", err)
	}
	for i := range all {
		all[i].Oldest = max(0, all[i].Oldest*time.Millisecond) // the statement's are milliseconds
	}
	return all, nil
}
