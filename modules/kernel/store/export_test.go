package store

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"modernc.org/sqlite"

	"github.com/scrollery/scrollery/modules/kernel/store/postgres"
)

// OpenAt is Open with another clock.
func OpenAt(ctx context.Context, cfg Config, log *slog.Logger, now func() time.Time) (*DB, error) {
	return openAt(ctx, cfg, log, now)
}

// PoolShare is the size of a default pool on a server that admits so many connections.
func PoolShare(admitted int32) int32 { return postgres.PoolShare(admitted) }

// CacheMisses is how many pages SQLite's writer has read because its cache lacked them.
func (db *DB) CacheMisses(ctx context.Context) (misses int, err error) {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close() //nolint:errcheck // gives the connection back
	err = conn.Raw(func(raw any) (err error) {
		misses, _, err = raw.(sqlite.DBStatus).Status(sqlite.DBStatusCacheMiss, false)
		return err
	})
	return misses, err
}

// ReaderOf is the pool that a caller reads from.
func (db *DB) ReaderOf(ctx context.Context) *sql.DB { return db.readerOf(ctx) }

// Cached is how many bytes of pages a connection to SQLite has in its cache.
func Cached(conn *sql.Conn) (bytes int, err error) {
	err = conn.Raw(func(raw any) (err error) {
		bytes, _, err = raw.(sqlite.DBStatus).Status(sqlite.DBStatusCacheUsed, false)
		return err
	})
	return bytes, err
}
