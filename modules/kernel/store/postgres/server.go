// Package postgres is a PostgreSQL server: the pool of connections, the one connection outside of
// it, and the leases of processes on it: numbers, locks, and that they live.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/scrollery/scrollery/modules/kernel/store/direct"
)

const (
	// unlockWait bounds the wait to give a lease or a number back.
	unlockWait = 5 * time.Second
	// processes is how many of them share a server's connections where the size of the
	// pool is not set; spare connections are left for commands, and for people.
	processes = 20
	spare     = 10
	// minPool and maxPool bound the size of the pool that follows from the share.
	minPool, maxPool = 3, 16
)

var errAddress = errors.New("database address: not a valid postgres:// address") // never shows the password

// Config says which server, and what it may be asked for; see the store's configuration.
type Config struct {
	URL, DirectURL                string
	MaxConns                      int
	StatementTimeout, LockTimeout time.Duration
	// Tracer sees every statement.
	Tracer pgx.QueryTracer
}

// Server is an open database. It is safe for concurrent use.
type Server struct {
	Pool *pgxpool.Pool
	// Direct is the connection outside of the pool.
	Direct *direct.Conn
	// BeginWith begins a transaction where the session's settings cannot; else empty.
	BeginWith string

	cfg Config
	own *pgx.ConnConfig // of Direct, without its settings
	log *slog.Logger
}

// Open opens the connection outside of the pool, then the pool.
func Open(ctx context.Context, cfg Config, log *slog.Logger) (*Server, error) {
	of, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, errAddress
	}
	s := &Server{cfg: cfg, log: log, own: of.ConnConfig.Copy()}
	if cfg.DirectURL != "" {
		if s.own, err = pgx.ParseConfig(cfg.DirectURL); err != nil {
			return nil, errAddress
		}
	}
	if s.Direct, err = direct.Open(ctx, s.own); err != nil {
		return nil, err
	}
	s.limit(of)
	of.ConnConfig.Tracer = cfg.Tracer
	if of.MaxConns = int32(cfg.MaxConns); of.MaxConns == 0 {
		of.MaxConns, err = s.share(ctx)
	}
	if err == nil {
		s.Pool, err = pgxpool.NewWithConfig(ctx, of)
	}
	if err == nil {
		if err = s.Pool.Ping(ctx); err != nil {
			s.Pool.Close()
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect to PostgreSQL: %w", err), s.Direct.Close())
	}
	return s, nil
}

// Close closes every connection.
func (s *Server) Close() error {
	s.Pool.Close()
	return s.Direct.Close()
}

// limit sets the time limits of statements. A pooler of transactions takes no settings
// of sessions: there they are part of each transaction's begin, and no statement keeps
// a name on a server connection that the next client gets.
func (s *Server) limit(cfg *pgxpool.Config) {
	limits := map[string]time.Duration{"statement_timeout": s.cfg.StatementTimeout, "lock_timeout": s.cfg.LockTimeout}
	if s.cfg.DirectURL == "" {
		for name, limit := range limits {
			cfg.ConnConfig.RuntimeParams[name] = strconv.FormatInt(limit.Milliseconds(), 10)
		}
		return
	}
	if cfg.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	s.BeginWith = "BEGIN ISOLATION LEVEL READ COMMITTED"
	for name, limit := range limits {
		s.BeginWith += fmt.Sprintf("; SET LOCAL %s = %d", name, limit.Milliseconds())
	}
}

// share is the size of a pool of which twenty fit into the server, each with its
// process's connection outside of the pool.
func (s *Server) share(ctx context.Context) (size int32, err error) {
	err = s.Direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int").Scan(&size)
	})
	return PoolShare(size), err
}

// PoolShare is the size of a pool on a server that admits so many connections.
func PoolShare(admitted int32) int32 { return min(max((admitted-spare)/processes-1, minPool), maxPool) }

// LockTimeout reports whether another transaction held a lock for too long.
func LockTimeout(err error) bool {
	var fault *pgconn.PgError
	return errors.As(err, &fault) && fault.Code == "55P03" // lock_not_available
}

// Conflict reports whether PostgreSQL gave the transaction up for another's sake.
func Conflict(err error) bool {
	var fault *pgconn.PgError
	if !errors.As(err, &fault) {
		return false
	}
	return fault.Code == "40001" || fault.Code == "40P01" // serialization_failure, deadlock_detected
}
