// Package store opens the database, and is the only place where Ent's driver,
// the SQL drivers and the job queue meet.
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
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/scrollery/scrollery/ent"
	_ "github.com/scrollery/scrollery/ent/runtime" // hooks and interceptors: the tenant rule
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store/direct"
	"github.com/scrollery/scrollery/modules/kernel/store/wal"
)

// The dialects that [DB.Dialect] answers.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
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
	// apart answers the reads of [Apart] on SQLite; nil on PostgreSQL.
	apart *sql.DB
	// pool is beneath both on PostgreSQL; nil on SQLite, like what follows.
	pool   *pgxpool.Pool
	direct *direct.Conn
	own    *pgx.ConnConfig // of direct, without its settings
	// beginWith begins a transaction where the session's settings cannot; empty elsewhere.
	beginWith string
	jobs      enqueuer
	// hots are the hot statements by their texts.
	hots  sync.Map
	trace atomic.Pointer[Trace]
	watch watch
	// wal is SQLite's log, settled the version that [DB.Settled] saw on the disk.
	wal     *wal.Log
	settled atomic.Int64
	// wake signals the runner in this process that a job was committed.
	wake    chan struct{}
	health  health
	hints   hints
	version version
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
func (db *DB) Close() error {
	return errors.Join(db.nodes.close(db.ids.Last()), db.closeHealth(), db.version.close(), db.closePools())
}

func (db *DB) closePools() error {
	err := db.reader.Close()
	if db.writer != db.reader {
		err = errors.Join(err, db.writer.Close())
	}
	if db.apart != nil {
		err = errors.Join(err, db.apart.Close(), db.wal.Close())
	}
	if db.pool != nil {
		db.pool.Close()
		err = errors.Join(err, db.direct.Close())
	}
	return err
}

// Dialect is SQLite or Postgres.
func (db *DB) Dialect() string {
	if db.pool != nil {
		return Postgres
	}
	return SQLite
}

// NewID returns an id that no process ever made, greater than this one's last.
func (db *DB) NewID() int64 { return db.ids.New() }

// IDs returns why the ids of [DB.NewID] may repeat, nil while they do not. A write by
// [DB.Write] fails with it; who stores ids in another way asks before.
func (db *DB) IDs() error { return db.ids.Err() }

// Dir is the data folder.
func (db *DB) Dir() string { return db.cfg.DataDir }

// Ent returns the client for reads, and for single writes that need no
// transaction. Inside a Write use the transaction's own: on SQLite this one
// refuses to write there, as it would wait for itself.
func (db *DB) Ent() *ent.Client { return db.client }

// Ping reports whether the database answers reads.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	if err := db.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one); err != nil {
		return fmt.Errorf("ping %s: %w", db.Dialect(), err)
	}
	return nil
}
