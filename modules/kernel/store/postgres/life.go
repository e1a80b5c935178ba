package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollery/scrollery/modules/kernel/store/direct"
)

// workerPrefix begins the names of the workers' leases.
const workerPrefix = "worker "

// Life shows that this process works, by a lease, and hands on the jobs of those whose lease
// has expired. River by itself can only wait until a job must have timed out, and 15 seconds for
// its leader: life starts jobs whose time has come, and deposes a leader that is gone.
type Life struct {
	lease  lease
	log    *slog.Logger
	cancel context.CancelFunc
	ended  chan struct{}
}

// StartLife shows that the worker of an id lives, until [Life.End].
func StartLife(ctx context.Context, conn *direct.Conn, id string, log *slog.Logger) (*Life, error) {
	l := &Life{lease: newLease(conn, workerPrefix+id), log: log, ended: make(chan struct{})}
	if _, err := l.lease.take(ctx); err != nil {
		return nil, fmt.Errorf("show life: %w", err)
	}
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go l.loop(ctx)
	return l, nil
}

// End gives the lease up; jobs that still run are handed on.
func (l *Life) End() error {
	l.cancel()
	<-l.ended
	_ = l.lease.free(context.Background()) // else it expires
	return nil
}

func (l *Life) loop(ctx context.Context) {
	defer close(l.ended)
	ticker := time.NewTicker(leaseRound)
	defer ticker.Stop()
	for {
		// No one else takes a worker's name. One that was stopped for so long that its jobs were
		// handed on takes it again: what it does with them is fenced by their own rows.
		_, err := l.lease.take(ctx)
		if err == nil {
			err = l.lease.direct.Use(ctx, l.lead)
		}
		if err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "the jobs of lost workers cannot be looked for", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// absent is the condition that a worker's lease has expired.
func absent(worker string) string {
	return "NOT EXISTS (SELECT FROM leases WHERE name = '" + workerPrefix + "' || " + worker + " AND until >= clock_timestamp())"
}

// lead does what may not wait for River: it makes jobs available whose time has come, resigns for a
// leader that is gone, as River does it, and hands on the jobs of lost workers.
func (l *Life) lead(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `UPDATE river_job SET state = 'available' WHERE id IN (
		SELECT id FROM river_job WHERE state IN ('scheduled', 'retryable') AND scheduled_at <= now()
		ORDER BY scheduled_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`)
	if err != nil {
		return fmt.Errorf("start jobs whose time has come: %w", err)
	}
	_, err = conn.Exec(ctx, `WITH gone AS (SELECT leader_id FROM river_leader WHERE `+absent("leader_id")+` FOR UPDATE),
		told AS (SELECT pg_notify(concat(current_schema(), '.river_leadership'),
			json_build_object('leader_id', leader_id, 'action', 'resigned')::text) FROM gone)
		DELETE FROM river_leader USING told`)
	if err != nil {
		return fmt.Errorf("depose a lost leader: %w", err)
	}
	tag, err := conn.Exec(ctx, `UPDATE river_job SET
		state = (CASE WHEN attempt >= max_attempts THEN 'discarded' ELSE 'available' END)::river_job_state,
		finalized_at = CASE WHEN attempt >= max_attempts THEN now() END,
		scheduled_at = CASE WHEN attempt >= max_attempts THEN scheduled_at ELSE now() END,
		errors = array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt, 'error', 'its run was lost with its process', 'trace', ''))
		WHERE state = 'running' AND `+absent("attempted_by[array_upper(attempted_by, 1)]"))
	if err != nil {
		return fmt.Errorf("hand on the jobs of lost workers: %w", err)
	}
	if rescued := tag.RowsAffected(); rescued > 0 {
		l.log.WarnContext(ctx, "jobs of a lost worker are handed on", "jobs", rescued)
	}
	_, err = conn.Exec(ctx, "DELETE FROM leases WHERE until < clock_timestamp() - $1::interval", time.Hour)
	return err
}
