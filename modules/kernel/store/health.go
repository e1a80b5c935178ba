package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
)

const (
	// checkTimeout bounds a check of the whole file; recheckAfter is the least time
	// between two of them.
	checkTimeout = 10 * time.Minute
	recheckAfter = time.Second
	// forget is how long damage that PostgreSQL reported counts.
	forget = time.Minute
)

// health is what probes know of a database.
type health struct {
	mu sync.Mutex
	// damage is what a statement or the last check met; nil for none.
	damage   error
	at       time.Time
	checking bool
	checked  time.Time // the end of the last check
	checks   time.Duration
	closed   bool
}

// Probe writes a row and commits it, or sees that another write is committed meanwhile. It fails when the database is away, takes no
// writes, is not the file that was opened, or is damaged. It gives up when ctx ends;
// on SQLite after another 1.5 seconds at most.
func (db *DB) Probe(ctx context.Context) error {
	if err := db.known(); err != nil {
		return err
	}
	if db.pg != nil {
		// A row of the table of marks, below all numbers.
		_, err := db.pg.Pool.Exec(ctx, "INSERT INTO node_numbers VALUES (-1, 0) ON CONFLICT (number) DO UPDATE SET used_until = 0")
		if err != nil {
			return fmt.Errorf("probe: %w", err)
		}
		return nil
	}
	err := db.lite.Probe(ctx, db.commits.Load)
	db.Suspect(err)
	return err
}

// close ends the checks.
func (h *health) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
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
	var fault *pgconn.PgError
	if errors.As(err, &fault) {
		return strings.HasPrefix(fault.Code, "XX00") && fault.Code != "XX000"
	}
	return sqlite.Damaged(err)
}

// known returns the damage that is known, and starts a check where one is due.
func (db *DB) known() error {
	h := &db.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.damage == nil {
		return nil
	}
	if db.pg != nil {
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
	if db.pg != nil {
		return nil
	}
	return db.lite.QuickCheck(ctx)
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
	if db.pg == nil {
		return Server{}, false, nil
	}
	s.Pool = int(db.pg.Pool.Config().MaxConns)
	err = db.pg.Pool.QueryRow(ctx, `SELECT clock_timestamp(),
		current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')`).Scan(&s.Now, &s.MaxConnections, &s.Used)
	if err != nil {
		return s, true, fmt.Errorf("ask the database server: %w", err)
	}
	return s, true, nil
}
