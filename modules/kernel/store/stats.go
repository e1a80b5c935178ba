package store

import (
	"context"
	"errors"
	"fmt"
	"time"
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

// Backup writes a whole, consistent copy of the SQLite database to a path where no
// file is yet, while others read and write. For PostgreSQL there is pg_dump.
func (db *DB) Backup(ctx context.Context, path string) error {
	if db.pool != nil {
		return errors.New("backup: PostgreSQL is backed up by its own tools, such as pg_dump")
	}
	// Through the writer: readers refuse the statement. Other writes wait meanwhile.
	if _, err := db.writer.ExecContext(ctx, "VACUUM INTO $1", path); err != nil {
		return fmt.Errorf("backup to %s: %w", path, err)
	}
	return nil
}
