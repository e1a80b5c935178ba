// Package storetest gives each test a database of its own, on both dialects.
package storetest

import (
	"context"
	"log/slog"
	"testing"

	"github.com/scrollery/scrollery/modules/store"
)

// SQLite returns a migrated, empty database in a folder of the test.
func SQLite(t testing.TB) *store.DB {
	t.Helper()
	return open(t, store.Config{DataDir: t.TempDir()})
}

// Each runs the test on SQLite and, where one is at hand, on PostgreSQL.
func Each(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	t.Run(store.SQLite, func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
}

func open(t testing.TB, cfg store.Config) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if err := db.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return db
}
