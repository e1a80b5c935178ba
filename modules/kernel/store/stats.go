package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
)

// PoolStats is the state of one pool of connections.
type PoolStats struct {
	// Pool is `reader`, `writer` or, on PostgreSQL, `postgres`.
	Pool             string
	Open, InUse, Max int
	WaitCount        int64
	WaitDuration     time.Duration
}

// Stats returns the state of every pool, for metrics.
func (db *DB) Stats() []PoolStats {
	if db.pg != nil {
		s := db.pg.Pool.Stat()
		return []PoolStats{{"postgres", int(s.TotalConns()), int(s.AcquiredConns()), int(s.MaxConns()), s.EmptyAcquireCount(), s.EmptyAcquireWaitTime()}}
	}
	r, w := db.reader.Stats(), db.writer.Stats()
	return []PoolStats{
		{"reader", r.OpenConnections, r.InUse, r.MaxOpenConnections, r.WaitCount, r.WaitDuration},
		{"writer", w.OpenConnections, w.InUse, w.MaxOpenConnections, w.WaitCount, w.WaitDuration},
	}
}

// Backup writes a whole, consistent copy of the SQLite database to a path where no
// file is yet, while others read and write, and beside it the marks of node numbers,
// without which ids could repeat after a restore. For PostgreSQL there is pg_dump.
func (db *DB) Backup(ctx context.Context, path string) error {
	marks, ok := db.nodes.(*sqlite.Nodes)
	if !ok {
		return errors.New("backup: PostgreSQL is backed up by its own tools, such as pg_dump")
	}
	if err := db.lite.Backup(ctx, path); err != nil {
		return fmt.Errorf("backup to %s: %w", path, err)
	}
	// After the rows: the marks are at or beyond every id of the copy.
	if err := marks.CopyTo(filepath.Dir(path)); err != nil {
		return fmt.Errorf("back up the marks of node numbers: %w", err)
	}
	return nil
}

// Watch hands see the text of every statement that is sent to the database, by Ent, by a
// hot statement or by the queue, until it is called with nil. It is for tests; see must be safe for
// concurrent use.
func (db *DB) Watch(see func(query string)) { db.watch.seen.Store(&see) }

// watch is below all that sends statements: SQLite's connections and pgx call it.
type watch struct {
	seen atomic.Pointer[func(query string)]
}

func (w *watch) see(query string) {
	if seen := w.seen.Load(); seen != nil && *seen != nil {
		(*seen)(query)
	}
}

// TraceQueryStart is called by pgx before a statement.
func (w *watch) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	w.see(data.SQL)
	return ctx
}

// TraceQueryEnd is called by pgx after a statement.
func (w *watch) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}
