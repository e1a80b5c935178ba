package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// probeBusy bounds the wait of a probe for another write on SQLite.
	probeBusy = 1500 * time.Millisecond
	// checkTimeout bounds a check of the whole file; recheckAfter is the least time
	// between two of them.
	checkTimeout = 10 * time.Minute
	recheckAfter = time.Second
	// forget is how long damage that PostgreSQL reported counts.
	forget = time.Minute
)

// ErrReplaced is the error of a probe that finds another file at the database's path.
var ErrReplaced = errors.New("the database file is not the one that was opened: put it back, or restart")

// health is what probes know of a database.
type health struct {
	// opened is the SQLite file that the connections hold open.
	opened os.FileInfo

	mu sync.Mutex
	// prober is a connection of its own: a backup occupies the writer for minutes.
	prober *sql.DB
	// damage is what a statement or the last check met; nil for none.
	damage   error
	at       time.Time
	checking bool
	checked  time.Time // the end of the last check
	checks   time.Duration
	closed   bool
}

// Probe writes a row and commits it. It fails when the database is away, takes no
// writes, is not the file that was opened, or is damaged. It gives up when ctx ends;
// on SQLite after another 1.5 seconds at most.
func (db *DB) Probe(ctx context.Context) error {
	if err := db.known(); err != nil {
		return err
	}
	if db.pool != nil {
		// A row of the table of marks, below all numbers.
		_, err := db.pool.Exec(ctx, "INSERT INTO node_numbers VALUES (-1, 0) ON CONFLICT (number) DO UPDATE SET used_until = 0")
		if err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		return nil
	}
	if err := db.sameFile(); err != nil {
		return err
	}
	prober, err := db.probeConn()
	if err != nil {
		return err
	}
	// The user version is part of the first page and used by nothing else.
	if _, err := prober.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", time.Now().Unix()&0x7fffffff)); err != nil {
		db.Suspect(err)
		return fmt.Errorf("probe: %w", err)
	}
	return nil
}

func (db *DB) probeConn() (*sql.DB, error) {
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	if db.health.closed {
		return nil, errors.New("probe: the database is closed")
	}
	if db.health.prober == nil {
		dsn := sqliteDSN(db.sqlitePath(), 64, fmt.Sprintf("_pragma=busy_timeout(%d)&_txlock=immediate", probeBusy.Milliseconds()))
		db.health.prober = sql.OpenDB(connector{address: dsn, watch: &db.watch})
		db.health.prober.SetMaxOpenConns(1)
	}
	return db.health.prober, nil
}

// sameFile compares the file at the path with the one that is open.
func (db *DB) sameFile() error {
	now, err := os.Stat(db.sqlitePath())
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: there is none now", ErrReplaced)
	}
	if err != nil {
		return err
	}
	if !os.SameFile(db.health.opened, now) {
		return ErrReplaced
	}
	return nil
}

func (db *DB) closeHealth() error {
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	db.health.closed = true
	if db.health.prober == nil {
		return nil
	}
	return db.health.prober.Close()
}

// Suspect takes note of an error that says that stored data is damaged, and ignores
// all others. Probes fail from then on: on SQLite until a check of the whole file
// finds nothing, on PostgreSQL for a minute.
func (db *DB) Suspect(err error) {
	if !damaged(err) {
		return
	}
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	if db.health.damage == nil {
		db.log.Error("stored data is damaged", "error", err)
	}
	db.health.damage, db.health.at = err, time.Now()
}

func damaged(err error) bool {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		code := lite.Code() & 0xff
		return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && strings.HasPrefix(pg.Code, "XX00") && pg.Code != "XX000"
}

// known returns the damage that is known, and starts a check where one is due.
func (db *DB) known() error {
	h := &db.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.damage == nil {
		return nil
	}
	if db.pool != nil {
		if time.Since(h.at) > forget {
			h.damage = nil
		}
		return h.damage
	}
	if !h.checking && !h.closed && time.Since(h.checked) > recheckAfter+10*h.checks {
		h.checking = true
		go db.recheck()
	}
	return h.damage
}

func (db *DB) recheck() {
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	began := time.Now()
	err := db.QuickCheck(ctx)
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	db.health.checking, db.health.checked, db.health.checks = false, time.Now(), time.Since(began)
	if err == nil && !db.health.at.After(began) {
		db.log.Info("a check of the whole database finds no damage")
		db.health.damage = nil
	}
}

// QuickCheck reads a whole SQLite file and returns what is damaged of it; nil on
// PostgreSQL, which has tools of its own. A connection of its own reads the file, and
// not what others have in memory.
func (db *DB) QuickCheck(ctx context.Context) error {
	if db.pool != nil {
		return nil
	}
	reader := sql.OpenDB(connector{address: sqliteDSN(db.sqlitePath(), readerCache, "_pragma=query_only(1)"), watch: &db.watch})
	rows, err := reader.QueryContext(ctx, "PRAGMA quick_check(5)")
	if err != nil {
		return errors.Join(fmt.Errorf("check the database: %w", err), reader.Close())
	}
	var faults []error
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			faults = append(faults, err)
		} else if line != "ok" {
			faults = append(faults, errors.New(strings.TrimPrefix(line, "*** in database main ***\n")))
		}
	}
	faults = append(faults, rows.Err(), rows.Close(), reader.Close())
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("the database is damaged: %w", err)
	}
	return nil
}

// Server is what a PostgreSQL server says of itself.
type Server struct {
	// Now is the server's clock.
	Now time.Time
	// MaxConnections that ordinary users may open; Used by all of its clients now.
	MaxConnections, Used int
	// Pool is the most connections that this process opens.
	Pool int
}

// Server asks the PostgreSQL server; ok is false on SQLite.
func (db *DB) Server(ctx context.Context) (s Server, ok bool, err error) {
	if db.pool == nil {
		return Server{}, false, nil
	}
	s.Pool = int(db.pool.Config().MaxConns)
	err = db.pool.QueryRow(ctx, `SELECT clock_timestamp(),
		current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')`).Scan(&s.Now, &s.MaxConnections, &s.Used)
	if err != nil {
		return s, true, fmt.Errorf("ask the database server: %w", err)
	}
	return s, true, nil
}
