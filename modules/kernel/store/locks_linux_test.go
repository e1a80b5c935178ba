package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

const locksChild = "SCROLLERY_TEST_LOCKS_CHILD"

// sqliteLocks are the locks that SQLite holds as long as a database is open in WAL mode: on
// the file, so that no one removes the log, and on the log's index, so that no one takes
// himself for the first and builds it anew. By the ending of the file, `<type> <first> <last>`.
var sqliteLocks = map[string]string{
	"":     "READ 1073741826 1073742335",
	"-shm": "READ 128 128",
}

// TestSQLiteKeepsItsLocks: POSIX takes all locks of a process on a file from it as soon as
// the process closes any descriptor of the file. Each thing that this process does with a
// running database leaves SQLite its locks.
func TestSQLiteKeepsItsLocks(t *testing.T) {
	if text := os.Getenv(locksChild); text != "" {
		useAndClose(t, configOf(t, text))
		return
	}
	t.Parallel()
	cfg := store.Config{DataDir: t.TempDir()}
	db := storetest.Open(t, cfg)
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		do   func(ctx context.Context) error
	}{
		{"a migration", db.Migrate},
		{"a write", func(ctx context.Context) error { return addOne(ctx, db) }},
		{"a read", func(ctx context.Context) error { _, err := db.Ent().Account.Query().Count(ctx); return err }},
		{"a read of much", func(ctx context.Context) error {
			_, err := db.Ent().Account.Query().Count(store.BulkReader(ctx))
			return err
		}},
		{"a probe", db.Probe},
		{"a check of the whole file", db.QuickCheck},
		{"the schema's version", db.RequireSchema},
		{"bulk writes", func(ctx context.Context) error {
			end, err := db.Bulk(ctx)
			if err != nil {
				return err
			}
			defer end()
			return addOne(ctx, db)
		}},
		{"a checkpoint", func(ctx context.Context) error {
			return store.Scan(db.HotTenantless("PRAGMA wal_checkpoint(TRUNCATE)", "a test").Query(ctx))(func(rows *sql.Rows) error {
				var busy, pages, copied int
				return rows.Scan(&busy, &pages, &copied)
			})
		}},
		{"a backup", func(ctx context.Context) error { return db.Backup(ctx, filepath.Join(t.TempDir(), "scrollery.db")) }},
		{"a second one in this process", func(context.Context) error { useAndClose(t, cfg); return nil }},
		{"a second process", func(ctx context.Context) error {
			child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSQLiteKeepsItsLocks$")
			child.Env = append(os.Environ(), locksChild+"="+string(text))
			if out, err := child.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.do(t.Context()); err != nil {
				t.Fatal(err)
			}
			for ending, want := range sqliteLocks {
				path := filepath.Join(cfg.DataDir, "scrollery.db"+ending)
				if held := locksOn(t, path); !strings.Contains(held, want) {
					t.Errorf("this process holds the locks %q on %s, want %q among them", held, filepath.Base(path), want)
				}
			}
		})
	}
}

func configOf(t *testing.T, text string) (cfg store.Config) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// useAndClose opens the database, writes, probes it and closes it.
func useAndClose(t *testing.T, cfg store.Config) {
	t.Helper()
	db, err := store.Open(t.Context(), cfg, storetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []func(context.Context) error{db.RequireSchema, func(ctx context.Context) error { return addOne(ctx, db) }, db.Probe} {
		if err := do(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func addOne(ctx context.Context, db *store.DB) error {
	return db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO accounts (id, created_at) VALUES ($1, 1)", db.NewID())
		return err
	})
}

// locksOn lists the POSIX locks of this process on a file, as the kernel tells them of each
// descriptor that has the file open. /proc/locks lists those of all processes: it comes in
// parts, and what another process changes between two of them can leave a lock out.
func locksOn(t *testing.T, path string) string {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var held []string
	for _, fd := range open {
		if target, err := os.Readlink("/proc/self/fd/" + fd.Name()); err != nil || target != path {
			continue
		}
		text, err := os.ReadFile("/proc/self/fdinfo/" + fd.Name())
		if err != nil {
			continue // closed by now, as is the descriptor of the list itself
		}
		for line := range strings.Lines(string(text)) {
			// lock: 1: POSIX ADVISORY READ <pid> <major>:<minor>:<inode> <first> <last>
			if f := strings.Fields(line); len(f) == 9 && f[0] == "lock:" && f[2] == "POSIX" {
				held = append(held, f[4]+" "+f[7]+" "+f[8])
			}
		}
	}
	return strings.Join(held, ", ")
}
