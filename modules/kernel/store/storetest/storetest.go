// Package storetest gives each test a database of its own, on both dialects.
//
// PostgreSQL is a scratch server named by SCROLLERY_TEST_POSTGRES_URL; where that
// is not set and the server's programs are installed, a server is started for the
// test binary and ends with it. A migrated template stays on the named server, one
// for each state of the migrations, so that a test costs a copy.
package storetest

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Each runs the test on SQLite and, where one is at hand, on PostgreSQL.
func Each(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	t.Run(store.SQLite, func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
	t.Run(store.Postgres, func(t *testing.T) {
		t.Parallel()
		test(t, Postgres(t))
	})
}

// SQLite returns a migrated, empty database in a folder of the test.
func SQLite(t testing.TB) *store.DB {
	t.Helper()
	return Open(t, SQLiteConfig(t))
}

// SQLiteConfig returns where a migrated, empty SQLite database lies.
func SQLiteConfig(t testing.TB) store.Config {
	t.Helper()
	dir := t.TempDir()
	WriteSQLite(t, dir)
	return store.Config{DataDir: dir}
}

// WriteSQLite puts a migrated, empty database into a data folder.
func WriteSQLite(t testing.TB, dir string) {
	t.Helper()
	file, err := sqliteTemplate()
	if err != nil {
		t.Fatalf("make SQLite template: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "scrollery.db"), file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Postgres returns a migrated, empty database that is dropped after the test. It
// skips the test if there is no server.
func Postgres(t testing.TB) *store.DB {
	t.Helper()
	return Open(t, PostgresConfig(t))
}

// Open opens the database for the length of the test, without migrating it.
func Open(t testing.TB, cfg store.Config) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), cfg, Log(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

// Copy returns where a copy of a database lies that nothing has open. A copy in SQLite has its
// folder without what else is in it; one in PostgreSQL is dropped after the test.
func Copy(t testing.TB, cfg store.Config) store.Config {
	t.Helper()
	if cfg.DatabaseURL == "" {
		file, err := os.ReadFile(filepath.Join(cfg.DataDir, "scrollery.db"))
		if err != nil {
			t.Fatal(err)
		}
		cfg.DataDir = t.TempDir()
		if err := os.WriteFile(filepath.Join(cfg.DataDir, "scrollery.db"), file, 0o600); err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	address, err := url.Parse(cfg.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	return postgresCopy(t, postgresServer(t), strings.TrimPrefix(address.Path, "/"))
}

// Log returns a logger that says nothing unless SCROLLERY_TEST_LOG is set.
func Log(testing.TB) *slog.Logger {
	if os.Getenv("SCROLLERY_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Long reports whether SCROLLERY_TEST_LONG asks for whole suites, as make heavy does. Without
// it, a test of many cases takes fewer.
func Long() bool { return os.Getenv("SCROLLERY_TEST_LONG") != "" }

// Heavy skips a test that takes minutes, unless whole suites are asked for.
func Heavy(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("make heavy runs it")
	}
}

// sqliteTemplate returns the bytes of a migrated database, made once a process.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "storetest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := migrated(store.Config{DataDir: dir}); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "scrollery.db"))
})

// migrated makes the database that cfg names, and closes it again.
func migrated(cfg store.Config) error {
	ctx := context.Background()
	db, err := store.Open(ctx, cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx); err != nil {
		db.Close()
		return err
	}
	return db.Close()
}
