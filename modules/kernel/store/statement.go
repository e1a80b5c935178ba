package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Statement is a read that is prepared once a connection and then only bound. A
// number in LIMIT must be part of the text: bound, SQLite prepares the statement
// again at every call. It is safe for concurrent use.
type Statement struct {
	db     *DB
	query  string
	tenant bool
	fault  error

	once    sync.Once
	stmt    *sql.Stmt
	prepErr error
}

// Prepare returns a statement in which $1 is always the account of the viewer. A
// query that does not hold `account_id = $1` is refused at its first use. Nothing
// is sent to the database before that, so a statement may be made at any time.
func (db *DB) Prepare(query string) *Statement {
	s := &Statement{db: db, query: query, tenant: true}
	if !regexp.MustCompile(`(?i)\baccount_id\s*=\s*\$1(\D|$)`).MatchString(query) {
		s.fault = fmt.Errorf("statement without account_id = $1: %s", query)
	}
	return s
}

// PrepareSystem returns a statement that belongs to no tenant. Only admission and
// health may use it.
func (db *DB) PrepareSystem(query string) *Statement {
	return &Statement{db: db, query: query}
}

// Row is what [Statement.Each] hands out: each value is an int64, a float64, a
// string, bytes or nil.
type Row = []driver.Value

// Each runs the statement and hands do a row at a time, until it wants no more.
// The row's values may be kept, the row may not. args are as for [Statement.Query]. do must not write, nor take long: it may
// hold up those who do.
func (s *Statement) Each(ctx context.Context, do func(row Row) (more bool, err error), args ...any) error {
	if s.db.pool != nil {
		return s.eachPooled(ctx, do, args)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	args, err := s.bind(ctx, args)
	if err != nil {
		return err
	}
	// Every commit empties the readers' page caches, as they cannot know what it
	// changed. The writer knows; it reads while it has nothing to write.
	pool := s.db.reader
	if s.db.writer.Stats().InUse == 0 {
		pool = s.db.writer
	}
	// Without the caller's end: a hot read is over before it could be cut short, and
	// a context that can end costs a goroutine or two a read.
	conn, err := pool.Conn(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // gives the connection back
	return conn.Raw(func(raw any) error { return raw.(*hotConn).each(s.query, args, do) })
}

// eachPooled is Each by way of database/sql.
func (s *Statement) eachPooled(ctx context.Context, do func(row Row) (more bool, err error), args []any) error {
	rows, err := s.Query(ctx, args...)
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

// bind checks the statement and puts the account before the arguments.
func (s *Statement) bind(ctx context.Context, args []any) ([]any, error) {
	if s.fault != nil || !s.tenant {
		return args, s.fault
	}
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return nil, errNoAccount
	}
	return append([]any{account}, args...), nil
}

// Query runs the statement. args are $2 onwards, or $1 onwards for one of
// PrepareSystem. It sees what is committed, never what an open Write has done.
func (s *Statement) Query(ctx context.Context, args ...any) (*sql.Rows, error) {
	args, err := s.bind(ctx, args)
	if err != nil {
		return nil, err
	}
	if s.db.pool != nil { // pgx keeps the prepared statements of each connection
		return s.db.reader.QueryContext(ctx, s.query, args...)
	}
	if s.once.Do(s.prepare); s.prepErr != nil {
		return nil, s.prepErr
	}
	return s.stmt.QueryContext(ctx, args...)
}

var errNoAccount = errors.New("no account in the context: a tenant's statement needs one")

func (s *Statement) prepare() {
	// Not the caller's context: its end would spoil the statement for all others.
	s.stmt, s.prepErr = s.db.reader.PrepareContext(context.Background(), s.query)
	if s.prepErr != nil {
		s.prepErr = fmt.Errorf("prepare %q: %w", s.query, s.prepErr)
	}
}
