package store_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// kibibytes is a table of many pages.
func kibibytes(t *testing.T, db *store.DB, rows int) {
	t.Helper()
	storetest.Exec(t, db, "CREATE TABLE kibibytes (id INTEGER PRIMARY KEY, text BLOB)")
	err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) INSERT INTO kibibytes SELECT i, zeroblob(1000) FROM n", rows)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestApartTakesNoOthersCache: a read of more than all caches hold leaves a reader's pages
// where they are, and itself holds few. It is not parallel, as tests that are would read
// meanwhile: the caches of a process are one.
func TestApartTakesNoOthersCache(t *testing.T) {
	db := storetest.SQLite(t)
	const rows, page = 48 << 10, 1 << 10
	kibibytes(t, db, rows)
	reader, err := db.ReaderOf(t.Context()).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close() //nolint:errcheck // gives the connection back
	read := func(conn interface {
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}, after, most int,
	) {
		t.Helper()
		var n int
		if err := conn.QueryRowContext(t.Context(), "SELECT sum(length(text)) FROM kibibytes WHERE id > $1 AND id <= $2", after, after+most).Scan(&n); err != nil || n != most*1000 {
			t.Fatalf("read after %d: got %d bytes, %v, want %d", after, n, err, most*1000)
		}
	}
	read(reader, 0, 2*page)
	warm, err := store.Cached(reader)
	if err != nil || warm < page<<10 {
		t.Fatalf("got %d bytes in the reader's cache, %v, want at least %d", warm, err, page<<10)
	}
	apart := db.ReaderOf(store.BulkReader(t.Context()))
	for after := 0; after < rows; after += page {
		read(apart, after, page)
		conn, err := apart.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept, err := store.Cached(conn)
		if err := errors.Join(err, conn.Close()); err != nil || kept > sqlite.BulkMost {
			t.Fatalf("after row %d: got %d bytes in the cache of a connection apart, %v, want at most %d", after, kept, err, sqlite.BulkMost)
		}
	}
	if open := apart.Stats().OpenConnections; open > sqlite.BulkConns {
		t.Errorf("got %d connections apart, want at most %d", open, sqlite.BulkConns)
	}
	if now, err := store.Cached(reader); err != nil || now != warm {
		t.Errorf("got %d bytes in the reader's cache afterwards, %v, want the %d from before", now, err, warm)
	}
}

// TestApartReadsBesideReaders: each way to read leaves the pool of readers alone.
func TestApartReadsBesideReaders(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	for range db.ReaderOf(t.Context()).Stats().MaxOpenConnections {
		conn, err := db.ReaderOf(t.Context()).Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // gives the connection back
	}
	ctx, cancel := context.WithTimeout(store.BulkReader(t.Context()), time.Minute)
	defer cancel()
	each := func(*int64) (bool, error) { return true, nil }
	rows := func(rows *sql.Rows, err error) error {
		return store.Scan(rows, err)(func(*sql.Rows) error { return nil })
	}
	fixed := db.HotTenantless("SELECT id FROM accounts WHERE id = $1", "a test")
	listed := db.HotTenantless("SELECT id FROM accounts WHERE id IN ({list:1})", "a test")
	for name, read := range map[string]func() error{
		"Ent":              func() error { _, err := db.Ent().Account.Query().Count(ctx); return err },
		"each row":         func() error { return store.Each(ctx, fixed, each, int64(1)) },
		"each of a list":   func() error { return store.Each(ctx, listed, each, []int64{1}) },
		"a query":          func() error { return rows(fixed.Query(ctx, int64(1))) },
		"a query of lists": func() error { return rows(listed.Query(ctx, []int64{1})) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // prepared at the second time
				if err := read(); err != nil {
					t.Errorf("while all readers are taken: %v", err)
				}
			}
		})
	}
}
