package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// TestAlone: of two processes on one PostgreSQL one holds a name and number, until it gives
// them back or its lease expires.
func TestAlone(t *testing.T) {
	t.Parallel()
	if _, leave, err := storetest.SQLite(t).TryLock(t.Context(), "a", 1); err != nil {
		t.Errorf("SQLite: %v", err)
	} else {
		leave()
	}
	cfg := storetest.PostgresConfig(t)
	here, there := storetest.Open(t, cfg), storetest.Open(t, cfg)
	take := func(db *store.DB, name string, number int64, want error) (held context.Context, leave func()) {
		t.Helper()
		held, leave, err := db.TryLock(t.Context(), name, number)
		if !errors.Is(err, want) {
			t.Fatalf("%s %d: got %v, want %v", name, number, err, want)
		}
		return held, leave
	}
	_, leave := take(here, "a", 1, nil)
	take(here, "a", 1, store.ErrTaken)
	take(there, "a", 1, store.ErrTaken)
	take(there, "a", 2, nil)
	take(there, "b", 1, nil)
	leave()
	held, leave := take(there, "a", 1, nil)
	take(here, "a", 1, store.ErrTaken)
	expired, _ := take(there, "c", 1, nil)
	storetest.Exec(t, here, "UPDATE leases SET until = until - interval '1 minute' WHERE name IN ('a 1', 'c 1')")
	mine, give := take(here, "a", 1, nil)
	for name, lost := range map[string]context.Context{"taken over": held, "expired, and no one's": expired} {
		select {
		case <-lost.Done():
		case <-time.After(2 * time.Minute):
		}
		if got := context.Cause(lost); !errors.Is(got, store.ErrTaken) {
			t.Errorf("%s: the context of the one who held it ends with %v, want %v", name, got, store.ErrTaken)
		}
	}
	leave() // does not give back what is no longer its own
	take(there, "a", 1, store.ErrTaken)
	if mine.Err() != nil {
		t.Errorf("the context of the one who holds it: got %v, want none", mine.Err())
	}
	give()
	take(there, "a", 1, nil)
}

// TestContention: read, add one, write, from many at once, loses nothing.
func TestContention(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := viewer.As(t.Context(), tenantA)
		id := db.NewID()
		if err := db.Ent().UsageCounter.Create().SetID(id).SetAccountID(tenantA).SetDay(1).SetUnits(0).Exec(ctx); err != nil {
			t.Fatal(err)
		}
		const callers, times = 8, 10
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for range times {
					err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
						if err := tx.Lock(ctx, "counter", tenantA); err != nil {
							return err
						}
						counter, err := tx.Ent().UsageCounter.Get(ctx, id)
						if err != nil {
							return err
						}
						return tx.Ent().UsageCounter.UpdateOneID(id).SetUnits(counter.Units + 1).Exec(ctx)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if counter, err := db.Ent().UsageCounter.Get(ctx, id); err != nil || counter.Units != callers*times {
			t.Errorf("got counter %v, error %v; want %v units", counter, err, callers*times)
		}
	})
}

// TestDeadlock: two transactions that lock crosswise both succeed, one by its
// second try.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	var all, meet sync.WaitGroup
	meet.Add(2)
	tries := make(chan int64, 100)
	for _, first := range []int64{1, 2} {
		all.Go(func() {
			var once sync.Once
			err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
				tries <- first
				if err := tx.Lock(ctx, "cross", first); err != nil {
					return err
				}
				once.Do(func() { meet.Done(); meet.Wait() })
				return tx.Lock(ctx, "cross", 3-first)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(tries) < 3 {
		t.Errorf("%d tries: nothing was tried again, want at least 3", len(tries))
	}
}

func TestSQLiteFiles(t *testing.T) {
	t.Parallel()
	cfg := storetest.SQLiteConfig(t)
	db := storetest.Open(t, cfg)
	if _, err := db.Ent().Account.Query().Count(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Ent().Account.Create().SetID(7).SetCreatedAt(1).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("nobody else may read them", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(cfg.DataDir, "scrollery.db*"))
		if err != nil || len(files) < 2 {
			t.Fatalf("got the files %v, %v, want at least 2", files, err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: got the mode %v, %v, want no bit of group and others", file, info.Mode(), err)
			}
		}
	})
	t.Run("a backup is a whole database", func(t *testing.T) {
		dir := t.TempDir()
		if err := db.Backup(t.Context(), filepath.Join(dir, "scrollery.db")); err != nil {
			t.Fatal(err)
		}
		if n, err := storetest.Open(t, store.Config{DataDir: dir}).Ent().Account.Query().Count(t.Context()); err != nil || n != 1 {
			t.Fatalf("got %d rows, %v, want 1", n, err)
		}
		if err := db.Backup(t.Context(), filepath.Join(dir, "scrollery.db")); err == nil {
			t.Error("a file was overwritten, want an error")
		}
	})
	t.Run("a write beside the open transaction is refused", func(t *testing.T) {
		err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			return db.Ent().Account.Create().SetID(8).SetCreatedAt(1).Exec(ctx)
		})
		if err == nil {
			t.Error("no error, want an error")
		}
	})
}

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]store.Config{
		"nothing": {}, "another database": {DatabaseURL: "mysql://x"},
		"max conns": {DataDir: "x", MaxConns: -1},
	} {
		t.Run(name, func(t *testing.T) {
			if cfg.Validate() == nil {
				t.Error("got no error, want a refusal")
			}
		})
	}
	if err := store.Defaults().Validate(); err != nil {
		t.Error(err)
	}
}
