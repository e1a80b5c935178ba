package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store/direct"
)

const (
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

// openPostgres opens the connection outside of the pool, then the one pool that Ent,
// statements and the queue share.
func (db *DB) openPostgres(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(db.cfg.DatabaseURL)
	if err != nil {
		return errAddress
	}
	own := cfg.ConnConfig.Copy()
	if db.cfg.DirectURL != "" {
		if own, err = pgx.ParseConfig(db.cfg.DirectURL); err != nil {
			return errAddress
		}
	}
	if db.direct, err = direct.Open(ctx, own); err != nil {
		return err
	}
	db.own = own
	db.limit(cfg)
	cfg.ConnConfig.Tracer = &db.watch
	cfg.ConnConfig.OnNotice = db.watch.access.Notice
	if cfg.MaxConns = int32(db.cfg.MaxConns); cfg.MaxConns == 0 {
		cfg.MaxConns, err = db.share(ctx)
	}
	if err == nil {
		db.pool, err = pgxpool.NewWithConfig(ctx, cfg)
	}
	if err == nil {
		if err = db.pool.Ping(ctx); err != nil {
			db.pool.Close()
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("connect to PostgreSQL: %w", err), db.direct.Close())
	}
	db.writer = sql.OpenDB(patient{stdlib.GetPoolConnector(db.pool)})
	db.writer.SetMaxIdleConns(0) // the pool keeps them
	db.reader = db.writer
	db.driver = entsql.OpenDB(dialect.Postgres, db.writer)
	if db.jobs, err = newRiverInserter(db.pool, db.log); err != nil {
		return errors.Join(err, db.closePools())
	}
	return nil
}

// limit sets the time limits of statements. A pooler of transactions takes no settings
// of sessions: there they are part of each transaction's begin, and no statement keeps
// a name on a server connection that the next client gets.
func (db *DB) limit(cfg *pgxpool.Config) {
	limits := map[string]time.Duration{"statement_timeout": db.cfg.StatementTimeout, "lock_timeout": db.cfg.LockTimeout}
	if db.cfg.DirectURL == "" {
		for name, limit := range limits {
			cfg.ConnConfig.RuntimeParams[name] = strconv.FormatInt(limit.Milliseconds(), 10)
		}
		return
	}
	if cfg.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	db.beginWith = "BEGIN ISOLATION LEVEL READ COMMITTED"
	for name, limit := range limits {
		db.beginWith += fmt.Sprintf("; SET LOCAL %s = %d", name, limit.Milliseconds())
	}
}

// share is the size of a pool of which twenty fit into the server, each with its
// process's connection outside of the pool.
func (db *DB) share(ctx context.Context) (size int32, err error) {
	err = db.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int").Scan(&size)
	})
	return poolShare(size), err
}

// Alone takes a name and a number while no other process has them, and returns the
// function that gives them back, to be called once. It fails with ErrTaken at once where
// another process has them.
// They are free again when the process ends, however that is, and on PostgreSQL when its
// connection outside of the pool is lost. SQLite serves one process, which is always
// alone. Calls of one process do not exclude each other.
func (db *DB) Alone(ctx context.Context, name string, number int64) (leave func(), err error) {
	if db.direct == nil {
		return func() {}, nil
	}
	const key = "(hashtextextended($1, $2))"
	var holder *pgx.Conn
	err = db.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
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
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), nodeWait)
		defer cancel()
		err := db.direct.Use(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			if conn != holder {
				return nil // it is lost, and the lock with it
			}
			_, err := conn.Exec(ctx, "SELECT pg_advisory_unlock"+key, name, number)
			return err
		})
		if err != nil {
			db.log.WarnContext(ctx, "a lock between processes is kept until the connection ends", "name", name, "error", err)
		}
	}, nil
}

func poolShare(admitted int32) int32 { return min(max((admitted-spare)/processes-1, minPool), maxPool) }

// lockTimeout reports whether another transaction held a lock for too long.
func lockTimeout(err error) bool {
	var fault *pgconn.PgError
	return errors.As(err, &fault) && fault.Code == "55P03" // lock_not_available
}

// conflict reports whether PostgreSQL gave the transaction up for another's sake.
func conflict(err error) bool {
	var fault *pgconn.PgError
	if !errors.As(err, &fault) {
		return false
	}
	return fault.Code == "40001" || fault.Code == "40P01" // serialization_failure, deadlock_detected
}

// patience bounds the wait for a connection by the patience of ctx, as in
// apierr.WithPatience.
func patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if wait, ok := apierr.Patience(ctx); ok {
		return context.WithTimeout(ctx, wait)
	}
	return ctx, func() {}
}

// outOfPatience replaces the error of a wait that patience has ended.
func outOfPatience(ctx, waited context.Context, err error) error {
	if err == nil || waited.Err() == nil || ctx.Err() != nil {
		return err
	}
	return apierr.Busy(fmt.Errorf("no connection to the database was free: %w", err))
}

// patient makes connections, and waits no longer than the patience of the context.
type patient struct{ driver.Connector }

func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	waiting, cancel := patience(ctx)
	defer cancel()
	conn, err := p.Connector.Connect(waiting)
	return conn, outOfPatience(ctx, waiting, err)
}
