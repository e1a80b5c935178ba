//go:build unix

package wal_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/scrollery/scrollery/modules/kernel/store/wal"
)

// indexed is a database with a log, by two connections, and the index of the log.
func indexed(t *testing.T) (writer, reader *sql.DB, index *wal.Index) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some.db")
	open := func() *sql.DB {
		db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		db.SetMaxOpenConns(1)
		return db
	}
	writer, reader = open(), open()
	exec(t, writer, "CREATE TABLE t (n INTEGER)")
	var n int
	if err := reader.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil {
		t.Fatal(err)
	}
	index, err := wal.OpenIndex(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	return writer, reader, index
}

func exec(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Errorf("%s: %v", query, err)
	}
}

func state(t *testing.T, index *wal.Index) uint64 {
	t.Helper()
	number, ok := index.State()
	if !ok {
		t.Fatal("got no state, want one")
	}
	return number
}

// TestEachCommitIsAnotherState: by each connection, and also where the log begins again.
func TestEachCommitIsAnotherState(t *testing.T) {
	t.Parallel()
	writer, reader, index := indexed(t)
	seen := map[uint64]string{state(t, index): "the beginning"}
	for i := range 300 {
		db := []*sql.DB{writer, reader}[i%2]
		exec(t, db, fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
		if i%50 == 0 {
			exec(t, reader, "PRAGMA wal_checkpoint(TRUNCATE)")
		}
		now, name := state(t, index), fmt.Sprint("insert ", i)
		if before, again := seen[now]; again {
			t.Fatalf("got the state of %s after %s, want another one", before, name)
		}
		seen[now] = name
	}
	before := state(t, index)
	var n int
	if err := reader.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil || n != 300 {
		t.Fatalf("got %d rows and error %v, want 300 and none", n, err)
	}
	tx, err := writer.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("DELETE FROM t"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if now := state(t, index); now != before {
		t.Errorf("got another state after a read and what was rolled back, want the same one")
	}
}

// TestAStateIsNeverNewerThanWhatIsRead: what was read after the state was asked for is
// current while the state stays the same, with others committing all the time.
func TestAStateIsNeverNewerThanWhatIsRead(t *testing.T) {
	t.Parallel()
	writer, reader, index := indexed(t)
	exec(t, writer, "INSERT INTO t VALUES (0)")
	var work sync.WaitGroup
	defer work.Wait()
	done := make(chan struct{})
	defer close(done)
	work.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-done:
				return
			default:
				exec(t, writer, "UPDATE t SET n = n + 1")
				if i%200 == 0 {
					exec(t, writer, "PRAGMA wal_checkpoint(RESTART)")
				}
			}
		}
	})
	read := func() (n int) {
		if err := reader.QueryRow("SELECT n FROM t").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 2_000 {
		before, ok := index.State()
		first := read()
		if again, ok2 := index.State(); !ok || !ok2 || again != before {
			continue // something may have been committed meanwhile
		}
		// Nothing was committed between the two looks: what is read between two more is the same.
		second := read()
		if now, ok := index.State(); ok && now == before && second != first {
			t.Fatalf("read %d, then %d in the same state, want the same number", first, second)
		}
	}
}

// TestWithoutAnIndexThereIsNothingToLookAt: neither a file that is missing nor one that is too short.
func TestWithoutAnIndexThereIsNothingToLookAt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "some.db")
	if _, err := wal.OpenIndex(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got error %v, want one that it is missing", err)
	}
	if err := os.WriteFile(path+"-shm", make([]byte, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := wal.OpenIndex(path); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a short file: got error %v, want %v", err, errors.ErrUnsupported)
	}
	if err := os.WriteFile(path+"-shm", make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	index, err := wal.OpenIndex(path)
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	if _, ok := index.State(); ok {
		t.Error("an index that is not filled: got a state, want none")
	}
}
