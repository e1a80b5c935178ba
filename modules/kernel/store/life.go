package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
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

// life shows that this process lives, by a lock that PostgreSQL frees when the
// connection is gone, and hands on the jobs of those whose lock is gone. River by
// itself can only wait until a job must have timed out, and 15 seconds for its leader:
// life starts jobs whose time has come, and deposes a leader that is gone.
type life struct {
	pool   *pgxpool.Pool
	id     string
	log    *slog.Logger
	cancel context.CancelFunc
	ended  chan struct{}
}

func startLife(ctx context.Context, pool *pgxpool.Pool, id string, log *slog.Logger) (*life, error) {
	l := &life{pool: pool, id: id, log: log, ended: make(chan struct{})}
	conn, err := l.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("show life: %w", err)
	}
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go l.loop(ctx, conn)
	return l, nil
}

// end gives the lock up; jobs that still run are handed on.
func (l *life) end() error {
	l.cancel()
	<-l.ended
	return nil
}

// connect takes the lock on a connection outside of the pool.
func (l *life) connect(ctx context.Context) (*pgx.Conn, error) {
	cfg := l.pool.Config().ConnConfig.Copy()
	// A host that vanished without a word is missed in about 12 seconds.
	for name, value := range map[string]string{"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3"} {
		cfg.RuntimeParams[name] = value
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1, hashtext($2))", lifeClass, l.id); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

func (l *life) loop(ctx context.Context, conn *pgx.Conn) {
	defer close(l.ended)
	defer func() {
		if conn != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = conn.Close(ctx)
		}
	}()
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
		var err error
		if conn == nil || conn.IsClosed() {
			if conn, err = l.connect(ctx); err != nil {
				conn = nil
			}
		}
		if err == nil {
			missed, err = l.rescue(ctx, conn, missed)
		}
		if err != nil && ctx.Err() == nil {
			missed = nil
			l.log.WarnContext(ctx, "the jobs of lost workers cannot be looked for", "error", err)
		}
	}
}

// rescue hands on the jobs among missed whose worker is still missing, and returns
// those that are missing one now.
func (l *life) rescue(ctx context.Context, conn *pgx.Conn, missed []int64) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := lead(ctx, conn); err != nil {
		return nil, err
	}
	lost := "state = 'running' AND " + missing("attempted_by[array_upper(attempted_by, 1)]")
	if len(missed) > 0 {
		tag, err := conn.Exec(ctx, `UPDATE river_job SET
			state = (CASE WHEN attempt >= max_attempts THEN 'discarded' ELSE 'available' END)::river_job_state,
			finalized_at = CASE WHEN attempt >= max_attempts THEN now() END,
			scheduled_at = CASE WHEN attempt >= max_attempts THEN scheduled_at ELSE now() END,
			errors = array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt, 'error', 'its run was lost with its process', 'trace', ''))
			WHERE id = ANY($2) AND `+lost, lifeClass, missed)
		if err != nil {
			return nil, err
		}
		if rescued := tag.RowsAffected(); rescued > 0 {
			l.log.WarnContext(ctx, "jobs of a lost worker are handed on", "jobs", rescued)
		}
	}
	rows, err := conn.Query(ctx, "SELECT id FROM river_job WHERE "+lost, lifeClass)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// missing is the condition that no process holds the lock of a worker; $1 is lifeClass.
func missing(worker string) string {
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
	_, err = conn.Exec(ctx, `WITH gone AS (SELECT leader_id FROM river_leader WHERE `+missing("leader_id")+` FOR UPDATE),
		told AS (SELECT pg_notify(concat(current_schema(), '.river_leadership'),
			json_build_object('leader_id', leader_id, 'action', 'resigned')::text) FROM gone)
		DELETE FROM river_leader USING told`, lifeClass)
	if err != nil {
		return fmt.Errorf("depose a lost leader: %w", err)
	}
	return nil
}
