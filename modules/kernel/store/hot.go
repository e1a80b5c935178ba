package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Hot is a hot statement: SQL that is parsed once, and that a benchmark
// shows to be at least 1.3 times as fast as the same work through Ent. It adds
// the tenant itself; see [DB.Hot] for the marks in its text. It is safe for
// concurrent use.
type Hot struct {
	db     *DB
	text   string
	reason string // why it belongs to no tenant; empty for a tenant's statement
	template

	once    sync.Once
	stmt    *sql.Stmt
	prepErr error
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

// account is the tenant that a run is for, 0 where it is for none.
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

// byRows returns the rows of a run that changes them one by one, on SQLite.
func (s *Hot) byRows(tx *Tx, args []any) (rows [][]any) {
	if s.byRow >= 0 && tx.pgx == nil && len(args) == s.args {
		rows, _ = args[s.byRow].([][]any)
	}
	return rows
}

var errNoAccount = errors.New("no account in the context: a tenant's statement needs one")

// Row is what [Hot.Each] hands out: each value is an int64, a float64, a string,
// bytes or nil.
type Row = []driver.Value

// Each runs the statement outside of transactions and hands do a row at a time,
// until do returns false. The row's values may be kept, the row may not. do must
// not write, nor take long: it may hold up those who write.
func (s *Hot) Each(ctx context.Context, do func(row Row) (more bool, err error), args ...any) error {
	if s.db.pool != nil {
		return s.eachPooled(ctx, do, args)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	query, values, err := s.Expand(ctx, args...)
	if err != nil {
		return err
	}
	// Without the caller's end: a hot read is over before it could be cut short, and
	// a context that can end costs a goroutine or two a read. One with a list may be
	// longer, and ends between two rows.
	conn, err := s.db.readerOf(ctx).Conn(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // gives the connection back
	each := do
	if !s.fixed {
		each = func(row Row) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			return do(row)
		}
	}
	return conn.Raw(func(raw any) error { return raw.(*hotConn).each(query, values, s.fixed, each) })
}

// EachIn is Each in a transaction. do may not use the transaction.
func (s *Hot) EachIn(ctx context.Context, tx *Tx, do func(row Row) (more bool, err error), args ...any) error {
	if tx.pgx != nil {
		rows, err := s.QueryIn(ctx, tx, args...)
		return eachRow(rows, err, do)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	query, values, err := s.Expand(ctx, args...)
	if err != nil {
		return err
	}
	return tx.pinned.Raw(func(raw any) error { return raw.(*hotConn).each(query, values, s.fixed, do) })
}

// eachPooled is Each by way of database/sql.
func (s *Hot) eachPooled(ctx context.Context, do func(row Row) (more bool, err error), args []any) error {
	rows, err := s.Query(ctx, args...)
	return eachRow(rows, err, do)
}

// eachRow hands out the rows of a query of database/sql.
func eachRow(rows *sql.Rows, err error, do func(row Row) (more bool, err error)) error {
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err is checked below
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	row, values, targets := make(Row, len(columns)), make([]any, len(columns)), make([]any, len(columns))
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
		if more, err := do(row); err != nil || !more {
			return err
		}
	}
	return rows.Err()
}

// Query runs the statement outside of transactions: it sees what is committed,
// never what an open Write has done.
func (s *Hot) Query(ctx context.Context, args ...any) (*sql.Rows, error) {
	query, values, err := s.Expand(ctx, args...)
	if err != nil {
		return nil, err
	}
	// pgx keeps the prepared statements of each connection.
	if reader := s.db.readerOf(ctx); s.db.pool != nil || !s.fixed || reader != s.db.reader {
		return reader.QueryContext(ctx, query, values...)
	}
	if s.once.Do(s.keep); s.prepErr != nil {
		return nil, s.prepErr
	}
	return s.stmt.QueryContext(ctx, values...)
}

func (s *Hot) keep() {
	// Not the caller's context: its end would spoil the statement for all others.
	s.stmt, s.prepErr = s.db.reader.PrepareContext(context.Background(), s.template.query)
	if s.prepErr != nil {
		s.prepErr = fmt.Errorf("prepare %q: %w", s.text, s.prepErr)
	}
}

// QueryIn runs the statement in a transaction.
func (s *Hot) QueryIn(ctx context.Context, tx *Tx, args ...any) (*sql.Rows, error) {
	query, values, err := s.Expand(ctx, args...)
	if err != nil {
		return nil, err
	}
	return tx.conn.QueryContext(ctx, query, values...)
}

// Exec runs the statement by itself, and commits it, on PostgreSQL; again where another
// transaction stands in its way, as [DB.Write] does. It returns how many rows it changed.
// On SQLite there is [DB.Apply].
func (s *Hot) Exec(ctx context.Context, args ...any) (changed int64, err error) {
	if inWrite(ctx) {
		return 0, errNested
	}
	err = s.db.tries(ctx, func() error {
		query, values, err := s.Expand(ctx, args...)
		if err != nil {
			return err
		}
		result, err := s.db.writer.ExecContext(ctx, query, values...)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	return changed, err
}

// ExecEach is Exec of a statement that returns rows, each of which do gets; some of them
// again where another transaction stood in its way.
func (s *Hot) ExecEach(ctx context.Context, do func(row Row) (more bool, err error), args ...any) error {
	if inWrite(ctx) {
		return errNested
	}
	return s.db.tries(ctx, func() error {
		query, values, err := s.Expand(ctx, args...)
		if err != nil {
			return err
		}
		rows, err := s.db.writer.QueryContext(ctx, query, values...)
		return eachRow(rows, err, do)
	})
}

// ExecIn runs the statement in a transaction and returns how many rows it changed.
func (s *Hot) ExecIn(ctx context.Context, tx *Tx, args ...any) (changed int64, err error) {
	if rows := s.byRows(tx, args); len(rows) > 0 {
		account, err := s.account(ctx, args)
		if err != nil {
			return 0, err
		}
		err = tx.pinned.Raw(func(raw any) error {
			changed, err = raw.(*hotConn).changeRows(&s.template, account, args, rows)
			return err
		})
		return changed, err
	}
	query, values, err := s.Expand(ctx, args...)
	if err != nil {
		return 0, err
	}
	if tx.pgx == nil && s.fixed { // stays prepared; a text with lists seldom recurs
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		err = tx.pinned.Raw(func(raw any) error {
			changed, err = raw.(*hotConn).change(query, values)
			return err
		})
		return changed, err
	}
	result, err := tx.conn.ExecContext(ctx, query, values...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
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
