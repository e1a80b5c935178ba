package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// schemaClass is the first half of the advisory lock under which the schema changes.
const schemaClass = 0x5c0119

var errLockLost = errors.New("the connection was lost that holds the lock of the schema")

// migratePostgres does everything on one connection, which holds the lock: when it is
// lost, the lock and the work end together.
func (db *DB) migratePostgres(ctx context.Context) error {
	cfg := db.pool.Config()
	cfg.ConnConfig, cfg.MaxConns, cfg.MinConns = db.own.Copy(), 1, 0
	cfg.MaxConnLifetime, cfg.MaxConnIdleTime = math.MaxInt64, math.MaxInt64
	cfg.ConnConfig.RuntimeParams["statement_timeout"], cfg.ConnConfig.RuntimeParams["lock_timeout"] = "0", "0"
	var connected atomic.Bool
	cfg.AfterConnect = func(context.Context, *pgx.Conn) error {
		if connected.Swap(true) {
			return errLockLost
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := db.await(ctx, func() (held bool, err error) {
		err = pool.QueryRow(ctx, "SELECT pg_try_advisory_lock($1, 0)", schemaClass).Scan(&held)
		return held, err
	}, func() string { return schemaHolder(ctx, pool) }); err != nil {
		return err
	}
	if err := db.newer(ctx); err != nil {
		return err
	}
	conn := stdlib.OpenDBFromPool(pool)
	defer conn.Close() //nolint:errcheck // it holds nothing of its own
	if _, err := up(ctx, Postgres, goose.DialectPostgres, conn); err != nil {
		return err
	}
	queue, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	if _, err := queue.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	if _, err := pool.Exec(ctx, nodeTable); err != nil {
		return fmt.Errorf("make the table of node numbers: %w", err)
	}
	return db.startNode(ctx)
}

// schemaHolder describes the process that holds the lock of the schema.
func schemaHolder(ctx context.Context, pool *pgxpool.Pool) (text string) {
	err := pool.QueryRow(ctx, `SELECT 'connection ' || a.pid || coalesce(' from ' || host(a.client_addr), '') || ' since ' || to_char(a.backend_start, 'HH24:MI:SS TZ')
		FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.classid = $1 AND l.objid = 0 AND l.objsubid = 2 AND l.granted
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`, schemaClass).Scan(&text)
	if err != nil {
		return "unknown"
	}
	return text
}

// unmarked reports whether the number of this process has no mark yet, as where the
// table of marks is missing.
func (db *DB) unmarked() bool {
	p, is := db.nodes.(*postgresNodes)
	if !is {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until == 0
}
