package store_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func TestProbeWrites(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for range 2 {
			if err := db.Probe(t.Context()); err != nil {
				t.Errorf("probe: %v", err)
			}
		}
		marker := map[string]string{
			store.SQLite:   "SELECT user_version FROM pragma_user_version",
			store.Postgres: "SELECT count(*) FROM node_numbers WHERE number = -1",
		}[db.Dialect()]
		if got := storetest.Count(t, db, marker); got == 0 {
			t.Errorf("nothing was written: got %v, want not 0", got)
		}
	})
}

func TestProbeNoticesAnotherFile(t *testing.T) {
	t.Parallel()
	cfg := storetest.SQLiteConfig(t)
	db := storetest.Open(t, cfg)
	path := filepath.Join(cfg.DataDir, "scrollery.db")
	aside := path + ".aside"
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(path, aside)
	if err := db.Probe(t.Context()); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("without the file: %v, want %v", err, store.ErrReplaced)
	}
	content, err := os.ReadFile(aside)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := db.Probe(t.Context()); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("with a copy in its place: %v, want %v", err, store.ErrReplaced)
	}
	move(aside, path)
	if err := db.Probe(t.Context()); err != nil {
		t.Errorf("with the file back: %v", err)
	}
}

// TestProbeTellsOfDamage overwrites a page and puts it back.
func TestProbeTellsOfDamage(t *testing.T) {
	t.Parallel()
	cfg := storetest.SQLiteConfig(t)
	first := storetest.Open(t, cfg)
	storetest.Exec(t, first, "CREATE TABLE filler (id INTEGER PRIMARY KEY, text TEXT)")
	storetest.Exec(t, first, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
		INSERT INTO filler SELECT i, hex(randomblob(200)) FROM n`)
	if err := first.Close(); err != nil { // the pages are in the file now, and not in the log
		t.Fatal(err)
	}
	path := filepath.Join(cfg.DataDir, "scrollery.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	put := func(at int, page []byte) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(page, int64(at)); err != nil {
			t.Fatal(err)
		}
		// Not closed before the database: that would free SQLite's locks of this process.
		t.Cleanup(func() { _ = file.Close() })
	}
	const page = 4096
	at := len(whole) - 20*page // a leaf of the filler
	if err := db.QuickCheck(t.Context()); err != nil {
		t.Errorf("the whole file: %v", err)
	}
	put(at, bytes.Repeat([]byte{0xee}, page))
	if err := db.QuickCheck(t.Context()); err == nil {
		t.Error("the check of a damaged file finds nothing, want an error")
	}
	err = db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Query(ctx, "SELECT max(length(text)) FROM filler")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	})
	if err == nil {
		t.Fatal("a statement reads the damaged page, want an error")
	}
	if db.Suspect(errors.New("another failure")); db.Probe(t.Context()) != nil {
		t.Errorf("after an error of another kind: got %v, want no damage", db.Probe(t.Context()))
	}
	if db.Suspect(err); db.Probe(t.Context()) == nil {
		t.Error("got no error from the probe of the damaged file, want one")
	}
	put(at, whole[at:at+page])
	for end := time.Now().Add(2 * time.Minute); db.Probe(t.Context()) != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("2 min after the page was put back: got %v, want no error", db.Probe(t.Context()))
		}
	}
}

// TestABackupHasTheMarks: the first id that is made on a copy is greater than the last
// one in it, though the clock stands where it was long before.
func TestABackupHasTheMarks(t *testing.T) {
	t.Parallel()
	cfg := storetest.SQLiteConfig(t)
	db := storetest.Open(t, cfg)
	var last int64
	for range 100 {
		last = db.NewID()
	}
	dir := t.TempDir()
	if err := db.Backup(t.Context(), filepath.Join(dir, "scrollery.db")); err != nil {
		t.Fatal(err)
	}
	early := time.Now().Add(-time.Hour)
	restored, err := store.OpenAt(t.Context(), store.Config{DataDir: dir}, slog.New(slog.DiscardHandler), func() time.Time { return early })
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	marks, err := filepath.Glob(filepath.Join(dir, "nodes", "[0-9][0-9][0-9]"))
	if err != nil || len(marks) < 1 {
		t.Errorf("marks in the copy: got %v, error %v; want at least 1", marks, err)
	}
	if id := restored.NewID(); id == last {
		t.Errorf("the copy: got id %d again, want another one than %d", id, last)
	}
	same := 0
	for _, mark := range marks {
		there, err := os.ReadFile(filepath.Join(cfg.DataDir, "nodes", filepath.Base(mark)))
		if err != nil {
			continue // the number of the restored database itself
		}
		if here, _ := os.ReadFile(mark); bytes.Equal(here, there) {
			same++
		}
	}
	if same == 0 {
		t.Errorf("no mark is the one of the original: got %v, want same not 0", same)
	}
}
