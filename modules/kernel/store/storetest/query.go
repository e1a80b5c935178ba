package storetest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Count returns the number that a query selects, whosever rows it reads; 0 if
// it selects no row. Placeholders are $1, $2, ….
func Count(t testing.TB, db *store.DB, query string, args ...any) (n int64) {
	t.Helper()
	Rows(t, db, func(rows *sql.Rows) error { return rows.Scan(&n) }, query, args...)
	return n
}

// Rows calls scan for each row of a query, whosever rows it reads.
func Rows(t testing.TB, db *store.DB, scan func(*sql.Rows) error, query string, args ...any) {
	t.Helper()
	err := db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
		return store.Scan(tx.Query(ctx, query, args...))(scan)
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// Exec runs a statement on whosever rows it names.
func Exec(t testing.TB, db *store.DB, query string, args ...any) {
	t.Helper()
	err := db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}
