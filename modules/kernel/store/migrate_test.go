package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/flock"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// eachEmpty runs the test on databases that were never migrated.
func eachEmpty(t *testing.T, test func(t *testing.T, cfg store.Config)) {
	t.Helper()
	for dialect, config := range map[string]func(testing.TB) store.Config{
		store.SQLite:   func(t testing.TB) store.Config { return store.Config{DataDir: t.TempDir()} },
		store.Postgres: storetest.EmptyPostgresConfig,
	} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			test(t, config(t))
		})
	}
}

func TestProcessesMigrateAtOnce(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, cfg store.Config) {
		var all sync.WaitGroup
		var log lockedText
		for range 6 {
			all.Go(func() {
				db, err := store.Open(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)))
				if err != nil {
					t.Error(err)
					return
				}
				defer db.Close()
				if err := db.Migrate(t.Context()); err != nil {
					t.Error(err)
				}
				if err := db.RequireSchema(t.Context()); err != nil {
					t.Error(err)
				}
				if err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
					return tx.Ent().Account.Create().SetID(db.NewID()).SetCreatedAt(1).Exec(ctx)
				}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := log.String(); strings.Count(got, "schema of the database was changed") != 1 || !strings.Contains(got, `from="version 0" to="version `) {
			t.Errorf("got the log %s\nwant one line of the process that migrated, from version 0", got)
		}
	})
}

// TestANewFileIsOpenedBesideAnotherProcess: while one writes a file that is not yet in WAL,
// SQLite refuses at once to turn it to WAL.
func TestANewFileIsOpenedBesideAnotherProcess(t *testing.T) {
	t.Parallel()
	cfg := store.Config{DataDir: t.TempDir()}
	// It waits to commit where the store just looks at the file.
	other, err := sql.Open("sqlite", filepath.Join(cfg.DataDir, "scrollery.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		db, err := store.Open(t.Context(), cfg, storetest.Log(t))
		if err == nil {
			err = db.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("while another process writes: got error %v, want a wait", err)
	case <-time.After(50 * time.Millisecond):
	}
	if _, err := other.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("after the other has written: got error %v, want none", err)
	}
}

func TestMigrationWaitsForTheLockAndSaysSo(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, cfg store.Config) {
		free := holdSchema(t, cfg)
		var log lockedText
		db, err := store.Open(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })

		waiting, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- db.Migrate(waiting) }()
		for !strings.Contains(log.String(), "waiting for another process") {
			select {
			case err := <-ended:
				t.Fatalf("while the lock is held: got error %v, want it to wait", err)
			case <-time.After(5 * time.Millisecond):
			}
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("while the lock is held: got error %v, want the end of the context", err)
		}
		if got := log.String(); !strings.Contains(got, "waiting for another process") || !strings.Contains(got, "holder=") || strings.Contains(got, "holder=unknown") {
			t.Errorf("got log %q, want the wait and the holder", got)
		}
		if s, err := db.SchemaVersion(t.Context()); err != nil || s.Current != 0 {
			t.Errorf("while the lock is held: got schema %+v, error %v; want none", s, err)
		}

		done := make(chan error, 1)
		go func() { done <- db.Migrate(t.Context()) }()
		free()
		if err := <-done; err != nil {
			t.Errorf("after the lock was freed: %v", err)
		}
		if err := db.RequireSchema(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// holdSchema takes the lock of the schema as another process does.
func holdSchema(t *testing.T, cfg store.Config) (free func()) {
	t.Helper()
	if cfg.DatabaseURL == "" {
		lock, err := flock.Try(filepath.Join(cfg.DataDir, "migrate.lock"))
		if err != nil {
			t.Fatal(err)
		}
		return func() { _ = lock.Release() }
	}
	conn, err := pgx.Connect(t.Context(), cfg.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "SELECT pg_advisory_lock($1, 0)", 0x5c0119); err != nil {
		t.Fatal(err)
	}
	return func() { _ = conn.Close(context.Background()) }
}

func TestNewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		before, err := db.SchemaVersion(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		storetest.Exec(t, db, "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, $2)", before.Expected+5, true)
		for name, check := range map[string]func(context.Context) error{"migrate": db.Migrate, "require": db.RequireSchema} {
			t.Run(name, func(t *testing.T) {
				err := check(t.Context())
				if !errors.Is(err, store.ErrSchemaNew) || !strings.Contains(err.Error(), "install the newer release") {
					t.Errorf("got error %v, want ErrSchemaNew with what to do", err)
				}
			})
		}
	})
}

func TestOldSchemaIsNeverMigratedByTheCheck(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, cfg store.Config) {
		db := storetest.Open(t, cfg)
		if err := db.RequireSchema(t.Context()); !errors.Is(err, store.ErrSchemaOld) {
			t.Errorf("got error %v, want ErrSchemaOld", err)
		}
		if s, err := db.SchemaVersion(t.Context()); err != nil || s.Current != 0 {
			t.Errorf("got schema %+v, error %v; want none", s, err)
		}
	})
}

// lockedText is a log that several goroutines write to.
type lockedText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
