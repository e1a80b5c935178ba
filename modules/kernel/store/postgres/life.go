package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollery/scrollery/modules/kernel/store/direct"
)

const (
	// lifeClass is the first half of the advisory locks that mean "alive".
	lifeClass = 0x5c0117
	// lifeRound is the time between two looks at the others. A job is taken from a
	// worker that was missing in two of them.
	lifeRound = 2 * time.Second
	// firstRounds looks of a new process come sooner, firstRound apart: it is often
	// the successor of one that died.
	firstRounds = 3
	firstRound  = 300 * time.Millisecond
)

// Life shows that this process lives, by a lock that PostgreSQL frees when the
// connection is gone, and hands on the jobs of those whose lock is gone. River by
// itself can only wait until a job must have timed out, and 15 seconds for its leader:
// life starts jobs whose time has come, and deposes a leader that is gone.
type Life struct {
	direct *direct.Conn
	id     string
	log    *slog.Logger
	cancel context.CancelFunc
	ended  chan struct{}
	conn   *pgx.Conn // that holds the lock
}

// StartLife shows that the worker of an id lives, until [Life.End].
func StartLife(ctx context.Context, conn *direct.Conn, id string, log *slog.Logger) (*Life, error) {
	l := &Life{direct: conn, id: id, log: log, ended: make(chan struct{})}
	if err := l.use(ctx, func(context.Context, *pgx.Conn) error { return nil }); err != nil {
		return nil, fmt.Errorf("show life: %w", err)
	}
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go l.loop(ctx)
	return l, nil
}

// End gives the lock up; jobs that still run are handed on.
func (l *Life) End() error {
	l.cancel()
	<-l.ended
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = l.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error { // it may be lost, and the lock with it
		_, err := conn.Exec(ctx, "SELECT pg_advisory_unlock($1, hashtext($2))", lifeClass, l.id)
		return err
	})
	return nil
}

// use calls do with the connection, which has the lock.
func (l *Life) use(ctx context.Context, do func(ctx context.Context, conn *pgx.Conn) error) error {
	return l.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if conn != l.conn {
			// While the server has not noticed the end of the connection before, that one
			// holds the lock, and this process is seen.
			var held bool
			if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1, hashtext($2))", lifeClass, l.id).Scan(&held); err != nil {
				return err
			}
			if held {
				l.conn = conn
			}
		}
		return do(ctx, conn)
	})
}

func (l *Life) loop(ctx context.Context) {
	defer close(l.ended)
	ticker := time.NewTicker(firstRound)
	defer ticker.Stop()
	var missed []int64
	for round := 1; ; round++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if round == firstRounds {
			ticker.Reset(lifeRound)
		}
		err := l.use(ctx, lead)
		if err == nil {
			missed, err = l.rescue(ctx, missed)
		}
		if err != nil && ctx.Err() == nil {
			missed = nil
			l.log.WarnContext(ctx, "the jobs of lost workers cannot be looked for", "error", err)
		}
	}
}

// rescue hands on the jobs among missed whose worker is still missing, and returns
// those that are missing one now.
func (l *Life) rescue(ctx context.Context, missed []int64) (missing []int64, err error) {
	lost := "state = 'running' AND " + absent("attempted_by[array_upper(attempted_by, 1)]")
	if len(missed) > 0 {
		err := l.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			tag, err := conn.Exec(ctx, `UPDATE river_job SET
				state = (CASE WHEN attempt >= max_attempts THEN 'discarded' ELSE 'available' END)::river_job_state,
				finalized_at = CASE WHEN attempt >= max_attempts THEN now() END,
				scheduled_at = CASE WHEN attempt >= max_attempts THEN scheduled_at ELSE now() END,
				errors = array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt, 'error', 'its run was lost with its process', 'trace', ''))
				WHERE id = ANY($2) AND `+lost, lifeClass, missed)
			if rescued := tag.RowsAffected(); err == nil && rescued > 0 {
				l.log.WarnContext(ctx, "jobs of a lost worker are handed on", "jobs", rescued)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err = l.use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, "SELECT id FROM river_job WHERE "+lost, lifeClass)
		if err != nil {
			return err
		}
		missing, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
	return missing, err
}

// absent is the condition that no process holds the lock of a worker; $1 is lifeClass.
func absent(worker string) string {
	return `NOT EXISTS (
		SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND objsubid = 2 AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND objid::bigint = hashtext(` + worker + `)::bigint & 4294967295)`
}

// lead does what may not wait for River's leader: it makes jobs available whose time
// has come, and resigns for a leader that is gone, as River does it.
func lead(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `UPDATE river_job SET state = 'available' WHERE id IN (
		SELECT id FROM river_job WHERE state IN ('scheduled', 'retryable') AND scheduled_at <= now()
		ORDER BY scheduled_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`)
	if err != nil {
		return fmt.Errorf("start jobs whose time has come: %w", err)
	}
	_, err = conn.Exec(ctx, `WITH gone AS (SELECT leader_id FROM river_leader WHERE `+absent("leader_id")+` FOR UPDATE),
		told AS (SELECT pg_notify(concat(current_schema(), '.river_leadership'),
			json_build_object('leader_id', leader_id, 'action', 'resigned')::text) FROM gone)
		DELETE FROM river_leader USING told`, lifeClass)
	if err != nil {
		return fmt.Errorf("depose a lost leader: %w", err)
	}
	return nil
}
