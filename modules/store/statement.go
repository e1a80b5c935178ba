package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"github.com/scrollery/scrollery/modules/viewer"
)

// Statement is a read that is prepared once a connection and then only bound. A
// number in LIMIT must stand in the text: bound, SQLite prepares the statement
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

// Query runs the statement. args are $2 onwards, or $1 onwards for one of
// PrepareSystem. It sees what is committed, never what an open Write has done.
func (s *Statement) Query(ctx context.Context, args ...any) (*sql.Rows, error) {
	if s.fault != nil {
		return nil, s.fault
	}
	if s.tenant {
		account, all, ok := viewer.Tenant(ctx)
		if !ok || all {
			return nil, errNoAccount
		}
		args = append([]any{account}, args...)
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
