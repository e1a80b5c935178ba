package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/sqlite"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

func TestPatientWritesGiveUpWhenAllConnectionsAreTaken(t *testing.T) {
	t.Parallel()
	eachConfig(t, func(t *testing.T, cfg store.Config) {
		cfg.MaxConns = 2
		db := storetest.Open(t, cfg)
		nothing := func(context.Context, *store.Tx) error { return nil }
		taken, release := make(chan struct{}), make(chan struct{})
		places := map[string]int{store.SQLite: 1, store.Postgres: 2}[db.Dialect()]
		var all sync.WaitGroup
		for range places {
			all.Go(func() {
				if err := db.Write(t.Context(), func(context.Context, *store.Tx) error {
					taken <- struct{}{}
					<-release
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
			<-taken
		}
		start := time.Now()
		err := db.Write(apierr.WithPatience(t.Context(), 200*time.Millisecond), nothing)
		if took := time.Since(start); !apierr.IsBusy(err) || took < 200*time.Millisecond {
			t.Errorf("with patience of 200 ms: got error %v after %v, want Busy, not sooner", err, took)
		}
		patient := make(chan error, 1)
		go func() { patient <- db.Write(t.Context(), nothing) }()
		close(release)
		if err := <-patient; err != nil {
			t.Errorf("without patience: %v", err)
		}
		all.Wait()
		if err := db.Write(apierr.WithPatience(t.Context(), 5*time.Second), nothing); err != nil {
			t.Errorf("with free connections: %v", err)
		}
	})
}

func TestTwentyDefaultPoolsFitTheServer(t *testing.T) {
	t.Parallel()
	cfg := storetest.PostgresConfig(t)
	cfg.MaxConns = 0
	server, _, err := storetest.Open(t, cfg).Server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if used := 20 * (server.Pool + 1); used > server.MaxConnections || server.Pool < 3 {
		t.Errorf("got pools of %d, which make %d connections of 20 processes; want pools of at least 3, and at most the server's %d connections", server.Pool, used, server.MaxConnections)
	}
	for admitted, want := range map[int32]int32{97: 3, 197: 8, 297: 13, 397: 16, 2000: 16, 20: 3} {
		t.Run(fmt.Sprintf("%d admitted", admitted), func(t *testing.T) {
			if got := store.PoolShare(admitted); got != want {
				t.Errorf("a server that admits %d: got a pool of %d, want %d", admitted, got, want)
			}
		})
	}
}

func TestStatementsHaveTheirTimeLimits(t *testing.T) {
	t.Parallel()
	cfg := storetest.PostgresConfig(t)
	cfg.StatementTimeout, cfg.LockTimeout = 2*time.Second, time.Second
	db := storetest.Open(t, cfg)
	start := time.Now()
	err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, "SELECT pg_sleep(30)")
		return err
	})
	if took := time.Since(start); err == nil || took > 10*time.Second {
		t.Errorf("a long statement: got error %v after %v, want one after 2 s", err, took)
	}
	held, release := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
			defer func() { <-release }()
			err := tx.Lock(ctx, "test", 1)
			close(held)
			return err
		})
	}()
	<-held
	err = db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error { return tx.Lock(ctx, "test", 1) })
	if !apierr.IsBusy(err) {
		t.Errorf("a long wait for a lock: got error %v, want Busy", err)
	}
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestBulkWritesLeaveMoreInTheLog reads the settings of the connection that writes: the
// length of the log, how many changed pages a transaction keeps in memory, and that each
// commit waits for the disk (2 is FULL).
func TestBulkWritesLeaveMoreInTheLog(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	settings := func(t *testing.T) (log, kept, sync int) {
		t.Helper()
		err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			err := store.Scan(tx.Query(ctx, "PRAGMA wal_autocheckpoint"))(func(rows *sql.Rows) error { return rows.Scan(&log) })
			if err != nil {
				return err
			}
			if err := store.Scan(tx.Query(ctx, "PRAGMA synchronous"))(func(rows *sql.Rows) error { return rows.Scan(&sync) }); err != nil {
				return err
			}
			return store.Scan(tx.Query(ctx, "PRAGMA cache_spill"))(func(rows *sql.Rows) error { return rows.Scan(&kept) })
		})
		if err != nil {
			t.Fatal(err)
		}
		return log, kept, sync
	}
	_, usual, _ := settings(t)
	for _, c := range []struct {
		name      string
		bulk      bool
		log, kept int
	}{
		{"before", false, 4000, usual},
		{"in bulk writes", true, 14000, 6000},
		{"after them", false, 4000, usual},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.bulk {
				end, err := db.Bulk(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer end()
			}
			log, kept, sync := settings(t)
			if log != c.log || kept != c.kept {
				t.Errorf("got a log of %d pages and %d changed ones kept, want %d and %d", log, kept, c.log, c.kept)
			}
			if sync != 2 {
				t.Errorf("got synchronous = %d, want 2", sync)
			}
		})
	}
	if usual == 0 || usual >= 6000 {
		t.Errorf("usually %d changed pages are kept, want fewer than in bulk writes", usual)
	}
}

// TestSettingsReplaceTheUsualOnes: a migration has no foreign keys, a probe waits briefly.
func TestSettingsReplaceTheUsualOnes(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]int{"foreign_keys(0)": 0, "foreign_keys(1)": 1, "busy_timeout(100)": 100, "query_only(1)": 1} {
		name, _, _ := strings.Cut(setting, "(")
		conn, err := sql.Open("sqlite", sqlite.DSN(filepath.Join(t.TempDir(), "a?b.db"), 64, setting))
		if err != nil {
			t.Fatal(err)
		}
		var got int
		if err := errors.Join(conn.QueryRow("PRAGMA "+name).Scan(&got), conn.Close()); err != nil || got != want {
			t.Errorf("with %s: got %d (%v), want %d", setting, got, err, want)
		}
	}
}

// TestReadersLeaveTheWriterItsCache is not parallel: the databases of other tests have room
// of their own in the pool of pages that all share.
func TestReadersLeaveTheWriterItsCache(t *testing.T) {
	db := storetest.SQLite(t)
	// A row a page, more than the caches of the writer and of a reader hold.
	storetest.Exec(t, db, `CREATE TABLE pages (id INTEGER PRIMARY KEY, body BLOB)`)
	storetest.Exec(t, db, `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 6000)
INSERT INTO pages SELECT id, zeroblob(3500) FROM n`)
	all := db.HotTenantless(`SELECT id, length(body) FROM pages`, "a test's own table")
	var readers []*sql.Rows // each has a connection
	for range 4 {
		rows, err := all.Query(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		readers = append(readers, rows)
	}
	for _, rows := range readers {
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Probe(t.Context()); err != nil { // as a server does before its first call
		t.Fatal(err)
	}
	before, err := db.CacheMisses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const pages, rounds = 50, 20
	one := db.HotTenantless(`UPDATE pages SET body = zeroblob(3500) WHERE id = $1`, "a test's own table")
	err = db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
		for i := range pages * rounds {
			if _, err := one.ExecIn(ctx, tx, i%pages*100); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	after, err := db.CacheMisses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := after - before; got > 4*pages {
		t.Errorf("got %d pages read for %d pages changed %d times each, want at most %d", got, pages, rounds, 4*pages)
	}
}
