// Package store opens the database, and is the only place where Ent's driver and
// the SQL drivers meet. Package jobs beneath it runs the jobs that transactions write.
//
// It answers on two databases with the same words: SQLite, one file in the data
// directory, and PostgreSQL. A change is one call of [DB.Write]: rows and the jobs
// that follow from them are committed together or not at all. Reads go through
// [DB.Ent], or through a [Statement] where the path is hot.
//
// The package keeps no table of its own but jobs, and knows nothing of what the
// modules store. It never runs ANALYZE or PRAGMA optimize: the SQLite build gathers
// histograms, and with those every prepared statement is prepared again at every
// call.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/scrollery/scrollery/ent"
	_ "github.com/scrollery/scrollery/ent/runtime" // hooks and interceptors: the tenant rule
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store/postgres"
	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
)

// The dialects that [DB.Dialect] answers.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// ErrTaken is the error of a lock between processes that another one holds or has taken over,
// ErrReplaced of a probe that finds another file at the database's path.
var (
	ErrTaken    = postgres.ErrTaken
	ErrReplaced = sqlite.ErrReplaced
)

// Config says where the data is stored.
type Config struct {
	// DatabaseURL is a postgres:// address. Empty, the default, means SQLite in
	// the data directory.
	DatabaseURL string
	// DataDir is the folder of everything that is kept on disk; made when missing.
	// Default ./data.
	DataDir string
	// DirectURL is set where DatabaseURL is a pooler of transactions, such as PgBouncer:
	// the address of the server itself, for the one connection of a process that holds
	// locks and listens, and for migrations. Default: DatabaseURL, which is the server.
	DirectURL string
	// MaxConns bounds the pool of connections to PostgreSQL; a process has one more
	// outside of it. Default 0: a twentieth of what the server admits, from 3 to 16.
	// SQLite has one writer and a fixed pool of readers.
	MaxConns int
	// StatementTimeout ends a statement on PostgreSQL that takes longer, LockTimeout one
	// that waits longer for a lock; 0: never. Default: 1 minute and 15 seconds.
	// Migrations have no limit. By a pooler of transactions they apply within
	// transactions alone.
	StatementTimeout, LockTimeout time.Duration
}

// Defaults returns the configuration of a single machine.
func Defaults() Config {
	return Config{DataDir: "./data", StatementTimeout: time.Minute, LockTimeout: 15 * time.Second}
}

// Validate reports what can be seen without opening anything.
func (c Config) Validate() error {
	var faults []error
	if c.DatabaseURL == "" && c.DataDir == "" {
		faults = append(faults, errors.New("data dir: empty, and no database address is given"))
	}
	if c.DatabaseURL != "" && !isPostgres(c.DatabaseURL) {
		faults = append(faults, errors.New("database address: only postgres:// is known; leave it empty for SQLite"))
	}
	if c.DirectURL != "" && (c.DatabaseURL == "" || !isPostgres(c.DirectURL)) {
		faults = append(faults, errors.New("direct database address: only postgres:// is known, beside a database address"))
	}
	if c.MaxConns < 0 || c.MaxConns > 1000 {
		faults = append(faults, fmt.Errorf("pool of %d connections: want 0 to 1000", c.MaxConns))
	}
	for name, limit := range map[string]time.Duration{"statement": c.StatementTimeout, "lock": c.LockTimeout} {
		if limit != 0 && (limit < time.Second || limit > time.Hour) {
			faults = append(faults, fmt.Errorf("%s timeout %v: want 0, or 1s to 1h", name, limit))
		}
	}
	return errors.Join(faults...)
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	cfg    Config
	log    *slog.Logger
	ids    *publicid.Maker
	nodes  nodes
	now    func() time.Time
	driver dialect.Driver
	client *ent.Client
	// reader answers statements; writer runs transactions. One pool on PostgreSQL.
	reader, writer *sql.DB
	// bulk answers the reads of [BulkReader] on SQLite; nil on PostgreSQL.
	bulk *sql.DB
	// lite is beneath on SQLite, pg on PostgreSQL; the other one is nil.
	lite *sqlite.File
	pg   *postgres.Server
	jobs enqueuer
	// hots are the hot statements by their texts.
	hots  sync.Map
	trace atomic.Pointer[Trace]
	watch watch
	// wake signals the runner in this process that a job was committed.
	wake   chan struct{}
	health health
	// listeners are called at each notification.
	listeners listeners
	// commits counts the transactions that this process has committed.
	commits atomic.Int64
}

// Open opens the database that cfg names, and holds a node number of it until it is
// closed. It does not migrate.
func Open(ctx context.Context, cfg Config, log *slog.Logger) (*DB, error) {
	return openAt(ctx, cfg, log, time.Now)
}

// openAt is Open with the clock that ids are made by.
func openAt(ctx context.Context, cfg Config, log *slog.Logger, now func() time.Time) (*DB, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	db := &DB{cfg: cfg, log: log, now: now, wake: make(chan struct{}, 1)}
	open := db.openSQLite
	if cfg.DatabaseURL != "" {
		open = db.openPostgres
	}
	if err := open(ctx); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := db.leaseNode(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), db.closePools())
	}
	db.client = ent.NewClient(ent.Driver(db.driver))
	return db, nil
}

// Close closes every connection and gives the node number back. Stop the queue first.
func (db *DB) Close() error { return errors.Join(db.nodes.Close(db.ids.Last()), db.closePools()) }

func (db *DB) closePools() error {
	db.health.close()
	if db.pg == nil {
		return db.lite.Close()
	}
	return errors.Join(db.writer.Close(), db.pg.Close())
}

// openPostgres opens the one pool that Ent, statements and the queue share.
func (db *DB) openPostgres(ctx context.Context) (err error) {
	db.pg, err = postgres.Open(ctx, postgres.Config{
		URL: db.cfg.DatabaseURL, DirectURL: db.cfg.DirectURL, MaxConns: db.cfg.MaxConns,
		StatementTimeout: db.cfg.StatementTimeout, LockTimeout: db.cfg.LockTimeout, Tracer: &db.watch,
	}, db.log)
	if err != nil {
		return err
	}
	db.writer = sql.OpenDB(patient{stdlib.GetPoolConnector(db.pg.Pool)})
	db.writer.SetMaxIdleConns(0) // the pool keeps them
	db.reader = db.writer
	db.driver = entsql.OpenDB(dialect.Postgres, db.writer)
	inserter, err := postgres.NewInserter(db.pg.Pool, db.log)
	if err != nil {
		return errors.Join(err, db.closePools())
	}
	db.jobs = riverJobs{inserter}
	return nil
}

// TryLock takes a name and a number while no one else has them, and returns the function that
// gives them back, to be called once. held is ctx until the lock is given back or lost. It fails
// with ErrTaken at once if they are held. SQLite serves one process, which is always alone: calls
// of one process exclude each other on PostgreSQL only, see [postgres.Server.TryLock].
func (db *DB) TryLock(ctx context.Context, name string, number int64) (held context.Context, leave func(), err error) {
	if db.pg == nil {
		return ctx, func() {}, nil
	}
	return db.pg.TryLock(ctx, name, number)
}

// Dialect is SQLite or Postgres.
func (db *DB) Dialect() string {
	if db.pg != nil {
		return Postgres
	}
	return SQLite
}

// Postgres is the server beneath, nil on SQLite. It is for what runs jobs.
func (db *DB) Postgres() *postgres.Server { return db.pg }

// Enqueued signals that a job was committed in this process; on SQLite alone.
func (db *DB) Enqueued() <-chan struct{} { return db.wake }

// NewID returns an id that no process ever made, greater than this one's last.
func (db *DB) NewID() int64 { return db.ids.New() }

// Dir is the data folder.
func (db *DB) Dir() string { return db.cfg.DataDir }

// Ent returns the client for reads, and for single writes that need no
// transaction. Inside a Write use the transaction's own: on SQLite this one
// refuses to write there, as it would wait for itself.
func (db *DB) Ent() *ent.Client { return db.client }
