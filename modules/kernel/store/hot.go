package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Hot is a hot statement: SQL that a benchmark
// shows to be at least 1.3 times as fast as the same work through Ent. It adds
// the tenant itself; see [DB.Hot] for the marks in its text. It is safe for
// concurrent use.
type Hot struct {
	db     *DB
	text   string
	reason string // why it belongs to no tenant; empty for a tenant's statement
	template

	fields sync.Map // of rows, by type
}

// Hot returns the statement of a text, always the same one for the same text,
// so the number of texts must be bounded. Nothing is sent to the database before
// the first run. The text is SQL for both dialects, in which
//
//	$1                stands for the first argument, and may occur several times
//	{tenant}          is a condition: the row belongs to the viewer's account
//	{tenant:v}        the same for the table with the alias v
//	{owner} {owner:v} is the column with the account, for column lists and joins
//	{key}             are the columns of a row's key, for ON CONFLICT: the id, on PostgreSQL
//	                  with the account
//	{account}         is the viewer's account, for the values of an INSERT
//	{list:2}          is the second argument, an []int64 or []string, for IN (…)
//	{rows:1}          is the first argument, a [][]any, for the VALUES of an INSERT;
//	                  the account is added in front of each row
//	{values:1 BIGINT,TEXT,BYTES}  is a [][]any as it is, its columns cast to the types
//
// Hot panics when the text names the column of the account itself or lacks its
// mark: an INSERT needs {account} or {rows}, everything else {tenant}. A number in
// LIMIT must be part of the text: bound, SQLite prepares the statement again at
// every call.
func (db *DB) Hot(text string) *Hot { return db.hot(text, "") }

// HotTenantless returns a statement that runs for any viewer. The reason
// says why it belongs to no tenant: what it looks up comes before the tenant is
// known, or its rows belong to several.
func (db *DB) HotTenantless(text, reason string) *Hot {
	if reason == "" {
		panic("store: a statement without a tenant needs a reason: " + text)
	}
	return db.hot(text, reason)
}

func (db *DB) hot(text, reason string) *Hot {
	if known, ok := db.hots.Load(text); ok {
		return known.(*Hot)
	}
	parsed, err := parse(text, reason == "", db.Dialect() == Postgres)
	if err != nil {
		panic(fmt.Sprintf("store: %v: %s", err, text))
	}
	known, _ := db.hots.LoadOrStore(text, &Hot{db: db, text: text, reason: reason, template: parsed})
	return known.(*Hot)
}

// Hots returns every statement that was prepared so far, in no order.
func (db *DB) Hots() []*Hot {
	var all []*Hot
	db.hots.Range(func(_, s any) bool { all = append(all, s.(*Hot)); return true })
	return all
}

// Trace is called at every run of a hot statement.
type Trace func(ctx context.Context, s *Hot, args []any)

// Trace has every run traced, for tests that run the statements again; nil ends it.
func (db *DB) Trace(trace Trace) { db.trace.Store(&trace) }

// Text returns the text as it was prepared.
func (s *Hot) Text() string { return s.text }

// Tenantless returns why the statement belongs to no tenant, or "".
func (s *Hot) Tenantless() string { return s.reason }

// Expand returns the SQL and the values that a run sends to the database.
func (s *Hot) Expand(ctx context.Context, args ...any) (query string, values []any, err error) {
	account, err := s.account(ctx, args)
	if err != nil {
		return "", nil, err
	}
	return s.expand(account, args)
}

// account is the tenant that a run is for, 0 if it is for none.
func (s *Hot) account(ctx context.Context, args []any) (int64, error) {
	if trace := s.db.trace.Load(); trace != nil && *trace != nil {
		(*trace)(ctx, s, args)
	}
	if s.reason != "" {
		return 0, nil
	}
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return 0, errNoAccount
	}
	return account, nil
}

// byRows returns the rows of an INSERT that adds them one by one, on SQLite.
func (s *Hot) byRows(tx *Tx, args []any) (rows [][]any) {
	if s.byRow >= 0 && tx.pgx == nil && len(args) == s.args {
		rows, _ = args[s.byRow].([][]any)
	}
	return rows
}

var errNoAccount = errors.New("no account in the context: a tenant's statement needs one")

// rawRow is a row before it is typed: each value is an int64, a float64, a string, bytes, a
// bool or nil.
type rawRow = []driver.Value

// each runs the statement in a transaction, or outside of all if tx is nil.
func (s *Hot) each(ctx context.Context, tx *Tx, do func(columns []string, row rawRow) (more bool, err error), args []any) error {
	if s.db.pg != nil {
		rows, err := s.query(ctx, tx, args)
		return eachRow(rows, err, do)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// Without the caller's end, which costs SQLite two goroutines a read: a hot read is over
	// before it could be cut short. One with a list may be longer, and ends between two rows.
	rows, err := s.query(context.WithoutCancel(ctx), tx, args)
	if s.fixed {
		return eachRow(rows, err, do)
	}
	return eachRow(rows, err, func(columns []string, row rawRow) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return do(columns, row)
	})
}

func (s *Hot) query(ctx context.Context, tx *Tx, args []any) (*sql.Rows, error) {
	query, values, err := s.Expand(ctx, args...)
	switch {
	case err != nil:
		return nil, err
	case tx != nil:
		return tx.conn.QueryContext(ctx, query, values...)
	}
	return s.db.readerOf(ctx).QueryContext(ctx, query, values...)
}

// eachRow hands out the rows of a query of database/sql.
func eachRow(rows *sql.Rows, err error, do func(columns []string, row rawRow) (more bool, err error)) error {
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err is checked below
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	row, values, targets := make(rawRow, len(columns)), make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i, value := range values {
			row[i] = value
		}
		if more, err := do(columns, row); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}

// Query runs the statement outside of transactions: it sees what is committed,
// never what an open Write has done.
func (s *Hot) Query(ctx context.Context, args ...any) (*sql.Rows, error) {
	return s.query(ctx, nil, args)
}

// QueryIn runs the statement in a transaction.
func (s *Hot) QueryIn(ctx context.Context, tx *Tx, args ...any) (*sql.Rows, error) {
	return s.query(ctx, tx, args)
}

// ExecIn runs the statement in a transaction and returns how many rows it changed.
func (s *Hot) ExecIn(ctx context.Context, tx *Tx, args ...any) (changed int64, err error) {
	if rows := s.byRows(tx, args); len(rows) > 1 {
		return s.insertRows(ctx, tx, args, rows)
	}
	query, values, err := s.Expand(ctx, args...)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return 0, err
	}
	if tx.pgx == nil {
		ctx = context.WithoutCancel(ctx) // as for a read
	}
	result, err := tx.conn.ExecContext(ctx, query, values...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// ExecRows runs a statement without lists once for each row, whose values are its arguments,
// and returns how many rows of the database changed. It is prepared once, and PostgreSQL gets
// all rows at once.
func (s *Hot) ExecRows(ctx context.Context, tx *Tx, rows [][]any) (changed int64, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	if !s.fixed {
		return 0, fmt.Errorf("rows for a statement with lists: %s", s.text)
	}
	run := tx.prepared
	if tx.pgx != nil {
		run = tx.batched
	}
	return run(ctx, s.template.query, len(rows), func(i int) ([]any, error) {
		_, values, err := s.Expand(ctx, rows[i]...)
		return values, err
	})
}

// insertRows runs a statement with {rows:1} once a row: SQLite's parser takes longer over a
// statement of many rows than their writing does.
func (s *Hot) insertRows(ctx context.Context, tx *Tx, args []any, rows [][]any) (changed int64, err error) {
	account, err := s.account(ctx, args)
	if err != nil {
		return 0, err
	}
	first := slices.Clone(args)
	first[s.byRow] = rows[:1]
	query, _, err := s.render(account, first)
	if err != nil {
		return 0, err
	}
	return tx.prepared(ctx, query, len(rows), func(i int) ([]any, error) { return s.bindRow(account, args, rows[i]), nil })
}

// prepared executes a query n times, on SQLite.
func (tx *Tx) prepared(ctx context.Context, query string, n int, values func(i int) ([]any, error)) (changed int64, err error) {
	ctx = context.WithoutCancel(ctx) // as for a read
	stmt, err := tx.conn.PrepareContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer stmt.Close() //nolint:errcheck // the connection keeps it
	for i := range n {
		of, err := values(i)
		if err != nil {
			return 0, err
		}
		result, err := stmt.ExecContext(ctx, of...)
		if err != nil {
			return 0, err
		}
		rows, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		changed += rows
	}
	return changed, nil
}

// batched executes a query n times in one round trip, on PostgreSQL.
func (tx *Tx) batched(ctx context.Context, query string, n int, values func(i int) ([]any, error)) (changed int64, err error) {
	var batch pgx.Batch
	for i := range n {
		of, err := values(i)
		if err != nil {
			return 0, err
		}
		batch.Queue(query, of...).Exec(func(tag pgconn.CommandTag) error { changed += tag.RowsAffected(); return nil })
	}
	err = tx.pinned.Raw(func(any) error { return tx.pgx.SendBatch(ctx, &batch).Close() })
	return changed, err
}

// Scan calls scan for each row of a query and closes the rows. It takes the two
// results of a query, so that one can be written around the other.
func Scan(rows *sql.Rows, err error) func(scan func(*sql.Rows) error) error {
	return func(scan func(*sql.Rows) error) error {
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err is checked below
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}
