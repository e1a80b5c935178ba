package postgres

import (
	"context"
	"errors"
	"math"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// schemaClass is the first half of the advisory lock under which the schema changes.
const schemaClass = 0x5c0119

var errLockLost = errors.New("the connection was lost that holds the lock of the schema")

// Rebuilder is a pool of one connection, for migrations: when it is lost, the lock of the
// schema and the work end together.
func (s *Server) Rebuilder(ctx context.Context) (*pgxpool.Pool, error) {
	cfg := s.Pool.Config()
	cfg.ConnConfig, cfg.MaxConns, cfg.MinConns = s.own.Copy(), 1, 0
	cfg.MaxConnLifetime, cfg.MaxConnIdleTime = math.MaxInt64, math.MaxInt64
	cfg.ConnConfig.RuntimeParams["statement_timeout"], cfg.ConnConfig.RuntimeParams["lock_timeout"] = "0", "0"
	var connected atomic.Bool
	cfg.AfterConnect = func(context.Context, *pgx.Conn) error {
		if connected.Swap(true) {
			return errLockLost
		}
		return nil
	}
	return pgxpool.NewWithConfig(ctx, cfg)
}

// TrySchemaLock takes the lock of the schema, until the connection of the pool is closed.
func TrySchemaLock(ctx context.Context, pool *pgxpool.Pool) (held bool, err error) {
	err = pool.QueryRow(ctx, "SELECT pg_try_advisory_lock($1, 0)", schemaClass).Scan(&held)
	return held, err
}

// SchemaHolder describes the process that holds the lock of the schema.
func SchemaHolder(ctx context.Context, pool *pgxpool.Pool) (text string) {
	err := pool.QueryRow(ctx, `SELECT 'connection ' || a.pid || coalesce(' from ' || host(a.client_addr), '') || ' since ' || to_char(a.backend_start, 'HH24:MI:SS TZ')
		FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND l.classid = $1 AND l.objid = 0 AND l.objsubid = 2 AND l.granted
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`, schemaClass).Scan(&text)
	if err != nil {
		return "unknown"
	}
	return text
}
