package store

import (
	"context"
	"database/sql"
	"strings"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
)

// openSQLite opens the file in the data folder.
func (db *DB) openSQLite(ctx context.Context) (err error) {
	if db.lite, err = sqlite.Open(ctx, db.cfg.DataDir, db.watch.see, db.log); err != nil {
		return err
	}
	db.writer, db.reader, db.bulk = db.lite.Writer, db.lite.Readers, db.lite.Bulk
	db.driver = &router{
		writer: entsql.OpenDB(dialect.SQLite, db.writer),
		reader: entsql.Conn{ExecQuerier: db.reader},
		bulk:   entsql.Conn{ExecQuerier: db.bulk},
	}
	db.jobs = newJobsTable(db)
	return nil
}

// Bulk begins a time of many writes by this process, and end ends it, see
// [sqlite.File.BulkWrites]. On PostgreSQL it does nothing.
func (db *DB) Bulk(ctx context.Context) (end func(), err error) {
	if db.pg != nil {
		return func() {}, nil
	}
	return db.lite.BulkWrites(ctx)
}

type bulkKey struct{}

// BulkReader returns a context for a caller that reads much, one page after another, such as an
// export. On SQLite, what it reads outside of transactions goes to connections of their
// own: they hold little memory, give it back after the last read, and leave what others
// read in the caches of theirs. It must read no page before the rows of the last one are
// closed. On PostgreSQL nothing is different.
func BulkReader(ctx context.Context) context.Context { return context.WithValue(ctx, bulkKey{}, true) }

func isBulk(ctx context.Context) bool { return ctx.Value(bulkKey{}) != nil }

// readerOf is the pool of what a caller reads outside of transactions.
func (db *DB) readerOf(ctx context.Context) *sql.DB {
	if db.bulk != nil && isBulk(ctx) {
		return db.bulk
	}
	return db.reader
}

// router is Ent's driver outside of transactions: what reads goes to a pool of
// readers, everything else to the one writer. It looks at the text, because
// INSERT … RETURNING arrives as a query.
type router struct {
	writer       *entsql.Driver
	reader, bulk entsql.Conn
}

func (r *router) readerOf(ctx context.Context) entsql.Conn {
	if isBulk(ctx) {
		return r.bulk
	}
	return r.reader
}

func (r *router) Exec(ctx context.Context, query string, args, v any) error {
	driver, err := r.forWrite(ctx)
	if err != nil {
		return err
	}
	return driver.Exec(ctx, query, args, v)
}

func (r *router) Query(ctx context.Context, query string, args, v any) error {
	if isRead(query) {
		return r.readerOf(ctx).Query(ctx, query, args, v)
	}
	driver, err := r.forWrite(ctx)
	if err != nil {
		return err
	}
	return driver.Query(ctx, query, args, v)
}

func (r *router) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	driver, err := r.forWrite(ctx)
	if err != nil {
		return nil, err
	}
	return driver.ExecContext(ctx, query, args...)
}

func (r *router) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if isRead(query) {
		return r.readerOf(ctx).QueryContext(ctx, query, args...)
	}
	driver, err := r.forWrite(ctx)
	if err != nil {
		return nil, err
	}
	return driver.QueryContext(ctx, query, args...)
}

// Tx serves Ent's own multi-statement changes.
func (r *router) Tx(ctx context.Context) (dialect.Tx, error) {
	driver, err := r.forWrite(ctx)
	if err != nil {
		return nil, err
	}
	return driver.Tx(ctx)
}

// Close does nothing: DB.Close closes both pools.
func (r *router) Close() error    { return nil }
func (r *router) Dialect() string { return dialect.SQLite }

// forWrite refuses what would wait for ever for the transaction it is part of.
func (r *router) forWrite(ctx context.Context) (*entsql.Driver, error) {
	if inWrite(ctx) {
		return nil, errNested
	}
	return r.writer, nil
}

func isRead(query string) bool {
	query = strings.TrimLeft(query, " \t\r\n(")
	return len(query) >= 6 && strings.EqualFold(query[:6], "SELECT")
}
