package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
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

// TestWorkGoesOnWithoutItsConnection cuts the connection of a worker that renews its lease and
// listens: it does both again.
func TestWorkGoesOnWithoutItsConnection(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	b := start(t, db, store.Worker{Concurrency: 2})
	const lease = "SELECT count(*) FROM leases WHERE name LIKE 'worker %' AND until >= clock_timestamp()"
	for i := range 20 {
		enqueue(t, db, store.Job{Kind: "test", Args: i})
		receive(t, b.calls)
	}
	if cut := storetest.Count(t, db, "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND query ~ 'leases|LISTEN|^SELECT 1$'"); cut != 1 {
		t.Fatalf("%d connections were cut, want 1", cut)
	}
	for range 20 {
		enqueue(t, db, store.Job{Kind: "test", Args: "after"})
		receive(t, b.calls)
	}
	if held := storetest.Count(t, db, lease); held != 1 {
		t.Errorf("got %d leases of workers, want 1", held)
	}
	if err := b.queue.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if held := storetest.Count(t, db, lease); held != 0 {
		t.Errorf("after the worker's end: got %d leases, want 0", held)
	}
}

// TestPgBouncer works by a pooler of transactions with fewer server connections than
// clients.
func TestPgBouncer(t *testing.T) {
	t.Parallel()
	cfg := storetest.PgBouncer(t, storetest.EmptyPostgresConfig(t), 3)
	var all sync.WaitGroup
	var dbs []*store.DB
	for range 3 {
		db := storetest.Open(t, cfg)
		dbs = append(dbs, db)
		all.Go(func() {
			if err := db.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	if all.Wait(); t.Failed() {
		return
	}
	const jobs = 60
	var mu sync.Mutex
	done := map[string]int{}
	finished := make(chan struct{}, jobs)
	for _, db := range dbs {
		start(t, db, store.Worker{Concurrency: 4, Work: func(ctx context.Context, args json.RawMessage) error {
			if err := record(ctx, db, args); err != nil {
				return err
			}
			mu.Lock()
			done[string(args)]++
			mu.Unlock()
			finished <- struct{}{}
			return nil
		}})
	}
	check := unique(t)
	for i := range jobs {
		db := dbs[i%len(dbs)]
		enqueue(t, db, store.Job{Kind: "test", Args: i + 1, UniqueKey: fmt.Sprint(i)})
		check(made(db, 10))
	}
	for range jobs {
		select {
		case <-finished:
		case <-time.After(2 * time.Minute):
			t.Fatalf("got %d jobs done after 2 min, want %d", len(done), jobs)
		}
	}
	find := "SELECT id FROM accounts WHERE created_at = $1 AND id <= $2"
	for round := range 200 {
		ids, err := store.Query[int64](t.Context(), dbs[round%3].HotTenantless(find, "a test"), 1, jobs)
		if err != nil || len(ids) != jobs {
			t.Fatalf("round %d: got %d rows, error %v; want %d", round, len(ids), err, jobs)
		}
	}
	for i := range 20 {
		if n, err := dbs[i%3].Ent().Account.Query().Count(t.Context()); err != nil || n != jobs {
			t.Fatalf("by Ent: got %d rows, error %v; want %d", n, err, jobs)
		}
	}
	for name, want := range map[string]string{"statement_timeout": "1min", "lock_timeout": "15s"} {
		t.Run(name, func(t *testing.T) {
			err := dbs[0].Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
				var got string
				if err := store.Scan(tx.Query(ctx, "SHOW "+name))(scanText(&got)); err != nil {
					return err
				}
				if got != want {
					t.Errorf("%s in a transaction: got %s, want %s", name, got, want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func scanText(text *string) func(*sql.Rows) error {
	return func(rows *sql.Rows) error { return rows.Scan(text) }
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
