package sqlite

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRestoreIsFinishedFromEveryStep cuts the moves of a restore off after each of them, also where
// the data folder had no file of a name.
func TestRestoreIsFinishedFromEveryStep(t *testing.T) {
	t.Parallel()
	m := Moves{Part: ".restore", Aside: "aside", Away: []string{Name, Name + "-wal", "sandbox"}, Put: []string{Name, "sandbox", "tokens"}}
	for cut := range len(m.Away) + len(m.Put) + 1 {
		t.Run(strconv.Itoa(cut), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(text string, path ...string) {
				path = append([]string{dir}, path...)
				name := filepath.Join(path...)
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range m.Away {
				write("old", name)
			}
			for _, name := range m.Put {
				write("new", m.Part, name)
			}
			if err := m.Begin(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(dir, m.Aside), 0o700); err != nil {
				t.Fatal(err)
			}
			for i, name := range append(append([]string(nil), m.Away...), m.Put...) {
				if i == cut {
					break
				}
				from, to := dir, filepath.Join(dir, m.Aside)
				if i >= len(m.Away) {
					from, to = filepath.Join(dir, m.Part), dir
				}
				if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := Finish(dir); err != nil {
					t.Fatal(err)
				}
			}
			got := map[string]string{}
			err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				name, err := filepath.Rel(dir, path)
				text, readErr := os.ReadFile(path)
				got[name] = string(text)
				return errors.Join(err, readErr)
			})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{
				"aside/" + Name: "old", "aside/" + Name + "-wal": "old", "aside/sandbox": "old", Name: "new", "sandbox": "new", "tokens": "new",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestVacuumFinishesARestore that was cut off before its database was put in place; without one it
// says that there is none, and makes no folder.
func TestVacuumFinishesARestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, missing := range []string{dir, filepath.Join(dir, "missing")} {
		if err := Vacuum(t.Context(), missing); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v, want that there is none", missing, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no folder made", err)
	}
	m := Moves{Part: ".restore", Aside: "aside", Put: []string{Name}}
	if err := os.Mkdir(filepath.Join(dir, m.Part), 0o700); err != nil {
		t.Fatal(err)
	}
	made := open(t, filepath.Join(dir, m.Part, Name))
	if _, err := made.ExecContext(t.Context(), "CREATE TABLE t (n)"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(made.Close(), m.Begin(dir)); err != nil {
		t.Fatal(err)
	}
	if err := Vacuum(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, filepath.Join(dir, Name)).ExecContext(t.Context(), "INSERT INTO t VALUES (1)"); err != nil {
		t.Errorf("got %v, want the database of the restore", err)
	}
}

// TestTheLogIsNotEmptiedBesideAReader: old pages stay in it, so that is no success.
func TestTheLogIsNotEmptiedBesideAReader(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), Name)
	writer, reader := open(t, path), open(t, path)
	if _, err := writer.ExecContext(t.Context(), "CREATE TABLE t (n)"); err != nil {
		t.Fatal(err)
	}
	tx, err := reader.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.ExecContext(t.Context(), "INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if err := emptyLog(t.Context(), writer); !errors.Is(err, ErrInUse) {
		t.Errorf("beside a reader: got %v, want ErrInUse", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := emptyLog(t.Context(), writer); err != nil {
		t.Errorf("alone: got %v, want none", err)
	}
}

// open opens a database with one connection, which waits for no one.
func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	pool := sql.OpenDB(connector{
		address: DSN(path, 64, "busy_timeout(1)"), see: func(string) {}, same: func() error { return nil },
	})
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}
