package store

import (
	"context"
	"fmt"
)

// Command is a write that is prepared once and then only bound. It is for the few
// writes that come with every call: parsing them costs more than making them.
type Command struct {
	db    *DB
	query string
}

// Command returns a command whose placeholders are written as `?` on SQLite and
// $1, $2, … on PostgreSQL. Nothing is sent to the database before its first run.
func (db *DB) Command(query string) *Command { return &Command{db: db, query: query} }

// Run is how a command is run within [DB.Apply]. Each value is an int64, a string
// or nil. It returns how many rows the command changed.
type Run func(c *Command, values ...any) (changed int64, err error)

// Apply runs commands in one transaction and commits it when do returns nil. ctx
// bounds the wait for the writer; what has begun is seen through. Everything else
// is as with [DB.Write]: do may run again, and must not call Write or Apply.
func (db *DB) Apply(ctx context.Context, do func(run Run) error) error {
	if db.pool != nil { // pgx keeps the prepared statements of each connection
		return db.Write(ctx, func(ctx context.Context, tx *Tx) error {
			return do(func(c *Command, values ...any) (int64, error) {
				result, err := tx.Exec(ctx, c.query, values...)
				if err != nil {
					return 0, err
				}
				return result.RowsAffected()
			})
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
