// Package postgres is a PostgreSQL server: the pool of connections, and the one connection
// outside of it, whose session holds locks between processes.
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
	// unlockWait bounds the wait to give a lock or a number back.
	unlockWait = 5 * time.Second
	// processes is how many of them share a server's connections where the size of the
	// pool is not set; spare connections are left for commands, and for people.
	processes = 20
	spare     = 10
	// minPool and maxPool bound the size of the pool that follows from the share.
	minPool, maxPool = 3, 16
)

var errAddress = errors.New("database address: not a valid postgres:// address") // never shows the password

// ErrTaken is the error of a lock between processes that another one holds.
var ErrTaken = errors.New("another process holds the lock")

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

// TryLock takes a name and a number while no other process has them, and returns the
// function that gives them back, to be called once. It fails with ErrTaken at once where
// another process has them.
// They are free again when the process ends, however that is, and when its connection
// outside of the pool is lost. Calls of one process do not exclude each other.
func (s *Server) TryLock(ctx context.Context, name string, number int64) (leave func(), err error) {
	const key = "(hashtextextended($1, $2))"
	var holder *pgx.Conn
	err = s.Direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var held bool
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock"+key, name, number).Scan(&held); err != nil || !held {
			return err
		}
		holder = conn
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("take %s %d: %w", name, number, err)
	}
	if holder == nil {
		return nil, ErrTaken
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockWait)
		defer cancel()
		err := s.Direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			if conn != holder {
				return nil // it is lost, and the lock with it
			}
			_, err := conn.Exec(ctx, "SELECT pg_advisory_unlock"+key, name, number)
			return err
		})
		if err != nil {
			s.log.WarnContext(ctx, "a lock between processes is kept until the connection ends", "name", name, "error", err)
		}
	}, nil
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
