package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		system := viewer.System(t.Context())
		create := func(tx *store.Tx) error {
			return tx.Ent().Account.Create().SetID(db.NewID()).SetCreatedAt(1).Exec(system)
		}
		count := func(t *testing.T) int {
			t.Helper()
			n, err := db.Ent().Account.Query().Count(system)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}

		t.Run("commits what was written", func(t *testing.T) {
			called := false
			err := db.Write(system, func(ctx context.Context, tx *store.Tx) error {
				tx.AfterCommit(func() { called = true })
				return create(tx)
			})
			if err != nil || count(t) != 1 || !called {
				t.Fatalf("got %v, %d rows, called: %t; want no error, 1 row and the call after the commit", err, count(t), called)
			}
		})
		t.Run("rolls back after an error", func(t *testing.T) {
			stop := errors.New("stop")
			err := db.Write(system, func(ctx context.Context, tx *store.Tx) error {
				tx.AfterCommit(func() { t.Error("got the call after a rollback, want none") })
				return errors.Join(create(tx), stop)
			})
			if !errors.Is(err, stop) || count(t) != 1 {
				t.Fatalf("got %v and %d rows, want %v and 1", err, count(t), stop)
			}
		})
		t.Run("rolls back after a panic", func(t *testing.T) {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("got no panic, want the one of the function")
					}
				}()
				_ = db.Write(system, func(ctx context.Context, tx *store.Tx) error {
					if err := create(tx); err != nil {
						t.Error(err)
					}
					panic("here")
				})
			}()
			if count(t) != 1 {
				t.Fatalf("rows %d, want 1", count(t))
			}
		})
		t.Run("writes nothing once the context has ended", func(t *testing.T) {
			ctx, cancel := context.WithCancel(system)
			err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				defer cancel()
				return create(tx)
			})
			if !errors.Is(err, context.Canceled) || count(t) != 1 {
				t.Fatalf("got %v and %d rows, want %v and 1", err, count(t), context.Canceled)
			}
		})
		t.Run("refuses a write inside a write", func(t *testing.T) {
			err := db.Write(system, func(ctx context.Context, tx *store.Tx) error {
				return db.Write(ctx, func(context.Context, *store.Tx) error { return nil })
			})
			if err == nil {
				t.Fatal("no error, want an error")
			}
		})
		t.Run("numbers placeholders alike", func(t *testing.T) {
			err := db.Write(system, func(ctx context.Context, tx *store.Tx) error {
				rows, err := tx.Query(ctx, "SELECT id FROM accounts WHERE created_at < $2 AND created_at > $1 AND created_at <> $2", 0, 2)
				if err != nil {
					return err
				}
				defer rows.Close()
				if !rows.Next() {
					t.Errorf("got no row, %v, want one", rows.Err())
				}
				return rows.Err()
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	})
}

// TestADatabaseWithoutRoomIsUnable: and SQLite's error names the file, since its own text does
// not say which disk is full.
func TestADatabaseWithoutRoomIsUnable(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		fill := `DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`
		if db.Dialect() == store.SQLite {
			storetest.Exec(t, db, "PRAGMA max_page_count = 1") // as many as there are
			fill = "CREATE TABLE filled AS SELECT randomblob(1000000) AS a"
		}
		err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, fill)
			return err
		})
		if !store.Unable(err) || store.Lost(err) {
			t.Errorf("got error %v, want one of a database that has no room and is not lost", err)
		}
		if db.Dialect() == store.SQLite && !strings.Contains(err.Error(), "scrollery.db: ") {
			t.Errorf("got error %v, want the path of the file in it", err)
		}
	})
	for name, err := range map[string]error{
		"a full disk of files":     fmt.Errorf("save: %w", &os.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}),
		"a lost server":            io.ErrUnexpectedEOF,
		"a disk that is read only": syscall.EROFS,
	} {
		if !store.Unable(err) {
			t.Errorf("%s: got another kind of error, want unable: %v", name, err)
		}
	}
	if err := errors.New("no such table"); store.Unable(err) || store.Unable(nil) {
		t.Errorf("got unable for %v or for none, want neither", err)
	}
}
