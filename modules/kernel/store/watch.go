package store

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// Watch hands see the text of every statement that is sent to the database, by Ent, by a
// hot statement or by the queue, until it is called with nil. Statements that stay
// prepared are seen when they are prepared. It is for tests; see must be safe for
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
