package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollery/scrollery/modules/kernel/store/access"
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
	if db.pool != nil {
		s := db.pool.Stat()
		return []PoolStats{{"postgres", int(s.TotalConns()), int(s.AcquiredConns()), int(s.MaxConns()), s.EmptyAcquireCount(), s.EmptyAcquireWaitTime()}}
	}
	r, w := db.reader.Stats(), db.writer.Stats()
	return []PoolStats{
		{"reader", r.OpenConnections, r.InUse, r.MaxOpenConnections, r.WaitCount, r.WaitDuration},
		{"writer", w.OpenConnections, w.InUse, w.MaxOpenConnections, w.WaitCount, w.WaitDuration},
	}
}

// Backlog is what waits of one kind of job.
type Backlog struct {
	Kind string
	// Jobs are due, and no process runs them.
	Jobs int
	// Oldest is how long the first of them has been due.
	Oldest time.Duration
}

// Backlogs returns what waits in the queue of all processes, without periodics. A kind
// without waiting jobs is missing.
func (db *DB) Backlogs(ctx context.Context) ([]Backlog, error) {
	query, args := `SELECT kind, count(*), CAST((EXTRACT(epoch FROM now() - min(scheduled_at)) * 1000) AS BIGINT) FROM river_job
		WHERE state = 'available' AND scheduled_at <= now() AND kind NOT LIKE '`+periodicQueue+`%' GROUP BY kind ORDER BY kind`, []any(nil)
	if db.pool == nil {
		query, args = `SELECT kind, count(*), $1 - min(run_at) FROM jobs WHERE run_at <= $1 AND lease_until BETWEEN 0 AND $1 GROUP BY kind ORDER BY kind`,
			[]any{time.Now().UnixMilli()}
	}
	rows, err := db.HotTenantless(query, queueOfAll).Query(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read the backlog: %w", err)
	}
	defer rows.Close()
	var all []Backlog
	for rows.Next() {
		var one Backlog
		var oldest int64
		if err := rows.Scan(&one.Kind, &one.Jobs, &oldest); err != nil {
			return nil, fmt.Errorf("read the backlog: %w", err)
		}
		one.Oldest = time.Duration(max(0, oldest)) * time.Millisecond
		all = append(all, one)
	}
	return all, rows.Err()
}

// Backup writes a whole, consistent copy of the SQLite database to a path where no
// file is yet, while others read and write, and beside it the marks of node numbers,
// without which ids could repeat after a restore. For PostgreSQL there is pg_dump.
func (db *DB) Backup(ctx context.Context, path string) error {
	marks, ok := db.nodes.(*fileNodes)
	if !ok {
		return errors.New("backup: PostgreSQL is backed up by its own tools, such as pg_dump")
	}
	// Through the writer: readers refuse the statement. Other writes wait meanwhile.
	if _, err := db.writer.ExecContext(ctx, "VACUUM INTO $1", path); err != nil {
		return fmt.Errorf("backup to %s: %w", path, err)
	}
	// After the rows: the marks are at or beyond every id of the copy.
	if err := marks.copyTo(filepath.Dir(path)); err != nil {
		return fmt.Errorf("back up the marks of node numbers: %w", err)
	}
	return nil
}

// copyTo writes the marks of all numbers into another data folder.
func (f *fileNodes) copyTo(dir string) error {
	marks, err := filepath.Glob(filepath.Join(f.dir, "nodes", "[0-9][0-9][0-9]"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "nodes"), 0o700); err != nil {
		return err
	}
	for _, mark := range marks {
		text, err := os.ReadFile(mark)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "nodes", filepath.Base(mark)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Watch hands see the text of every statement that is sent to the database, by Ent, by a
// hot statement or by the queue, until it is called with nil. Statements that stay
// prepared are seen when they are prepared. It is for tests; see must be safe for
// concurrent use.
func (db *DB) Watch(see func(query string)) { db.watch.seen.Store(&see) }

// watch is below all that sends statements: SQLite's connections and pgx call it.
type watch struct {
	seen   atomic.Pointer[func(query string)]
	access access.Changes
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
func (w *watch) TraceQueryEnd(_ context.Context, conn *pgx.Conn, _ pgx.TraceQueryEndData) {
	w.access.Ended(conn.PgConn())
}

// OnAccess has listener called whenever rows of an account may have changed by which its
// calls are admitted, on PostgreSQL: before a transaction of this process that changed
// them returns, and soon after one of another process was committed. While the connection
// outside of the pool is lost, changes of others are missed. It must return at once, and is
// called until the database is closed.
func (db *DB) OnAccess(listener func(account int64)) {
	db.watch.access.Listen(listener)
	if db.direct != nil {
		db.direct.Watch(access.Channel, db.watch.access.Notified)
	}
}
