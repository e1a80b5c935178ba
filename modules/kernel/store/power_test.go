package store_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

const addAccount = "INSERT INTO accounts (id, created_at) VALUES ($1, 1)"

// disk is what a power cut would leave of a database.
type disk struct {
	t   *testing.T
	dir string // of the database

	mu    sync.Mutex
	left  string // a copy of the database as it was when its log was last written to the disk
	turns int
	err   error // of the disk
}

// onDisk returns an empty database and its disk.
func onDisk(t *testing.T) (*store.DB, *disk) {
	t.Helper()
	cfg := storetest.SQLiteConfig(t)
	db, d := storetest.Open(t, cfg), &disk{t: t, dir: cfg.DataDir}
	db.OnSync(d.sync)
	return db, d
}

func (d *disk) sync(*os.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turns++
	if d.err != nil {
		return d.err
	}
	d.left = copyOf(d.t, d.dir, "", "-wal")
	return nil
}

// copyOf copies files of a database into a new folder.
func copyOf(t *testing.T, dir string, endings ...string) string {
	to := t.TempDir()
	for _, ending := range endings {
		data, err := os.ReadFile(filepath.Join(dir, "scrollery.db"+ending))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, "scrollery.db"+ending), data, 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}
	return to
}

// has reports whether files of a database have an account. It opens a copy of them.
func has(t *testing.T, dir string, account int64, endings ...string) bool {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(copyOf(t, dir, endings...), "scrollery.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a copy
	var found int
	if err := db.QueryRow("SELECT count(*) FROM accounts WHERE id = $1", account).Scan(&found); err != nil {
		t.Fatal(err)
	}
	return found == 1
}

// TestPowerCut cuts the power after each of many writes at once: what has returned is there.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	db, d := onDisk(t)
	add := db.HotTenantless(addAccount, "a test")
	writes := []func(ctx context.Context, id int64) error{
		func(ctx context.Context, id int64) error {
			return db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { _, err := tx.Exec(ctx, addAccount, id); return err })
		},
		func(ctx context.Context, id int64) error {
			return db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { _, err := add.ExecIn(ctx, tx, id); return err })
		},
		func(ctx context.Context, id int64) error {
			return db.Apply(ctx, func(run store.Run) error { _, err := run(add, id); return err })
		},
	}
	var all sync.WaitGroup
	for i, write := range writes {
		all.Go(func() {
			for n := range 8 {
				id := int64(100*i + n + 1)
				if err := write(t.Context(), id); err != nil {
					t.Error(err)
				}
				d.mu.Lock()
				left := d.left
				d.mu.Unlock()
				if left == "" || !has(t, left, id, "", "-wal") {
					t.Errorf("way %d: a power cut loses write %d, which has returned", i, n)
				}
			}
		})
	}
	all.Wait()
	if setting, err := db.Synchronous(t.Context()); err != nil || setting != 2 {
		t.Errorf("a statement outside of transactions runs with synchronous %d (%v), want 2: FULL", setting, err)
	}
}

// TestWhoWaitsForTheDisk counts turns of the disk.
func TestWhoWaitsForTheDisk(t *testing.T) {
	t.Parallel()
	db, d := onDisk(t)
	write := func(do func(ctx context.Context, tx *store.Tx) error) func() error {
		return func() error { return db.Write(t.Context(), do) }
	}
	insert := func(id int64, more func(tx *store.Tx)) func() error {
		return write(func(ctx context.Context, tx *store.Tx) error {
			more(tx)
			_, err := tx.Exec(ctx, addAccount, id)
			return err
		})
	}
	stop := errors.New("stop")
	for _, c := range []struct {
		name  string
		do    func() error
		err   error
		turns int
	}{
		{"a write", insert(1, func(*store.Tx) {}), nil, 1},
		{"a write that no one awaits", insert(2, (*store.Tx).Unawaited), nil, 0},
		{"the next one, and with it the last", insert(3, func(*store.Tx) {}), nil, 1},
		{"a transaction without a change", write(func(context.Context, *store.Tx) error { return nil }), nil, 0},
		{"one that is rolled back", write(func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, addAccount, 4)
			return errors.Join(err, stop)
		}), stop, 0},
	} {
		d.turns = 0
		if err := c.do(); !errors.Is(err, c.err) {
			t.Errorf("%s: got error %v, want %v", c.name, err, c.err)
		}
		if d.turns != c.turns {
			t.Errorf("%s: got %d turns of the disk, want %d", c.name, d.turns, c.turns)
		}
	}
	for id, want := range map[int64]bool{1: true, 2: true, 3: true, 4: false} {
		if got := has(t, d.left, id, "", "-wal"); got != want {
			t.Errorf("a power cut leaves account %d: %t, want %t", id, got, want)
		}
	}
}

// TestWhatIsToldIsOnTheDisk: a reader can see a write before it is there, of this process or
// of another one, but not tell of it.
func TestWhatIsToldIsOnTheDisk(t *testing.T) {
	t.Parallel()
	db, d := onDisk(t)
	other := storetest.Open(t, store.Config{DataDir: d.dir})
	for i, by := range []*store.DB{db, other, nil} {
		if by != nil {
			err := by.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
				tx.Unawaited()
				_, err := tx.Exec(ctx, addAccount, i+1)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		d.turns = 0
		if err := db.Settled(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := min(1, 2-i); d.turns != want {
			t.Errorf("reader %d: got %d turns of the disk, want %d", i, d.turns, want)
		}
		for id := range min(i+1, 2) {
			if !has(t, d.left, int64(id)+1, "", "-wal") {
				t.Errorf("reader %d tells of account %d, which a power cut would undo", i, id+1)
			}
		}
	}
}

// TestADiskThatFails: what the log's file cannot keep goes into the database's; where that
// fails too, the writer hears that it is not known.
func TestADiskThatFails(t *testing.T) {
	t.Parallel()
	db, d := onDisk(t)
	d.err = errors.New("the disk is gone")
	write := func(id int64) error {
		return db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error { _, err := tx.Exec(ctx, addAccount, id); return err })
	}
	if err := write(1); err != nil {
		t.Fatal(err)
	}
	if !has(t, d.dir, 1, "") {
		t.Error("a write has returned that is neither in the log on the disk nor in the database's file")
	}
	db.OnCheckpoint(func() error { return d.err })
	if err := write(2); !errors.Is(err, apierr.ErrUnknown) || !errors.Is(err, d.err) {
		t.Errorf("neither can be written: got %v, want %v and %v", err, apierr.ErrUnknown, d.err)
	}
}
