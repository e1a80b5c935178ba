package store

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"time"

	"modernc.org/sqlite"
)

// OpenAt is Open with another clock.
func OpenAt(ctx context.Context, cfg Config, log *slog.Logger, now func() time.Time) (*DB, error) {
	return openAt(ctx, cfg, log, now)
}

// PoolShare is the size of a default pool on a server that admits so many connections.
func PoolShare(admitted int32) int32 { return poolShare(admitted) }

// SetBackoff replaces the wait after failed attempts.
func (q *Queue) SetBackoff(backoff func(attempt int) time.Duration) { q.backoff = backoff }

// Claims are the statements by which the embedded queue finds jobs.
func (q *Queue) Claims() []string {
	s := newSQLiteQueue(q)
	return []string{s.due.text, s.next.text}
}

// Backoff is the wait after a failed attempt, as it is in earnest.
func Backoff(attempt int) time.Duration { return backoff(attempt) }

// RowQuery is the SQL by which SQLite changes one row of a statement with rows.
func (s *Hot) RowQuery(row []any) (string, error) {
	args := make([]any, s.args)
	return s.rowQuery(0, args, row)
}

// CacheMisses is how many pages SQLite's writer has read because its cache lacked them.
func (db *DB) CacheMisses(ctx context.Context) (misses int, err error) {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close() //nolint:errcheck // gives the connection back
	err = conn.Raw(func(raw any) (err error) {
		misses, _, err = raw.(*hotConn).sqliteConn.(sqlite.DBStatus).Status(sqlite.DBStatusCacheMiss, false)
		return err
	})
	return misses, err
}

// ApartConns and ApartMost bound the connections of Apart.
const (
	ApartConns = apartConns
	ApartMost  = apartMost
)

// ReaderOf is the pool that a caller reads from.
func (db *DB) ReaderOf(ctx context.Context) *sql.DB { return db.readerOf(ctx) }

// Cached is how many bytes of pages a connection to SQLite has in its cache.
func Cached(conn *sql.Conn) (bytes int, err error) {
	err = conn.Raw(func(raw any) (err error) {
		bytes, _, err = raw.(*hotConn).Status(sqlite.DBStatusCacheUsed, false)
		return err
	})
	return bytes, err
}

// OnSync replaces how SQLite's log is written to the disk.
func (db *DB) OnSync(sync func(log *os.File) error) { db.wal.Sync = sync }

// OnCheckpoint replaces how it is copied into the database's file.
func (db *DB) OnCheckpoint(copy func() error) { db.wal.IntoDB = copy }

// Synchronous is SQLite's setting for what the writer commits outside of transactions.
func (db *DB) Synchronous(ctx context.Context) (setting int, err error) {
	err = db.writer.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&setting)
	return setting, err
}
