package store

import (
	"context"
	"fmt"
)

// Run runs a tenantless statement within [DB.Apply]. Each value is an int, an int64,
// a string or nil. It returns how many rows the statement changed.
type Run func(s *Hot, values ...any) (changed int64, err error)

// Apply runs statements in one transaction and commits it when do returns nil: for
// the few writes that come with every call, as beginning a transaction through
// database/sql costs more than they do. ctx bounds the wait for the writer; what
// has begun is completed. Everything else is as with [DB.Write]: do may run again,
// and must not call Write or Apply.
func (db *DB) Apply(ctx context.Context, do func(run Run) error) error {
	if db.pool != nil { // pgx keeps the prepared statements of each connection
		return db.Write(ctx, func(ctx context.Context, tx *Tx) error {
			return do(func(s *Hot, values ...any) (int64, error) { return s.ExecIn(ctx, tx, values...) })
		})
	}
	if inWrite(ctx) {
		return errNested
	}
	return db.tries(ctx, func() error {
		conn, err := db.writer.Conn(ctx)
		if err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer conn.Close() //nolint:errcheck // gives the connection back
		return conn.Raw(func(raw any) error { return raw.(*hotConn).transact(do) })
	})
}
