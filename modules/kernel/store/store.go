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
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/scrollery/scrollery/ent"
	_ "github.com/scrollery/scrollery/ent/runtime" // hooks and interceptors: the tenant rule
	"github.com/scrollery/scrollery/modules/kernel/publicid"
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
	// MaxConns bounds the connections to PostgreSQL. Default 0: four a CPU, at
	// least 16. SQLite has one writer and a fixed pool of readers.
	MaxConns int
}

// Defaults returns the configuration of a single machine.
func Defaults() Config { return Config{DataDir: "./data"} }

// Validate reports what can be seen without opening anything.
func (c Config) Validate() error {
	var faults []error
	if c.DatabaseURL == "" && c.DataDir == "" {
		faults = append(faults, errors.New("data dir: empty, and no database address is given"))
	}
	if c.DatabaseURL != "" && !isPostgres(c.DatabaseURL) {
		faults = append(faults, errors.New("database address: only postgres:// is known; leave it empty for SQLite"))
	}
	if c.MaxConns < 0 {
		faults = append(faults, errors.New("max conns: negative"))
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
	// pool is beneath both on PostgreSQL; nil on SQLite.
	pool *pgxpool.Pool
	jobs enqueuer
	// hots are the hot statements by their texts.
	hots  sync.Map
	trace atomic.Pointer[Trace]
	// wake signals the runner in this process that a job was committed.
	wake   chan struct{}
	health health
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
	return errors.Join(db.nodes.close(db.ids.Last()), db.closeHealth(), db.closePools())
}

func (db *DB) closePools() error {
	err := db.reader.Close()
	if db.writer != db.reader {
		err = errors.Join(err, db.writer.Close())
	}
	if db.pool != nil {
		db.pool.Close()
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
