package jobs_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestWorkGoesOnWithoutItsConnection cuts the connection of a worker that renews its lease and
// listens: it does both again.
func TestWorkGoesOnWithoutItsConnection(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	b := start(t, db, jobs.Worker{Concurrency: 2})
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
	const count = 60
	var mu sync.Mutex
	done := map[string]int{}
	finished := make(chan struct{}, count)
	for _, db := range dbs {
		start(t, db, jobs.Worker{Concurrency: 4, Work: func(ctx context.Context, args json.RawMessage) error {
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
	made := map[int64]bool{}
	for i := range count {
		db := dbs[i%len(dbs)]
		enqueue(t, db, store.Job{Kind: "test", Args: i + 1, UniqueKey: fmt.Sprint(i)})
		made[db.NewID()] = true
	}
	for range count {
		select {
		case <-finished:
		case <-time.After(2 * time.Minute):
			t.Fatalf("got %d jobs done after 2 min, want %d", len(done), count)
		}
	}
	if len(made) != count {
		t.Errorf("got %d ids, want %d: each once", len(made), count)
	}
	find := "SELECT id FROM accounts WHERE created_at = $1 AND id <= $2"
	for round := range 200 {
		ids, err := store.Query[int64](t.Context(), dbs[round%3].HotTenantless(find, "a test"), 1, count)
		if err != nil || len(ids) != count {
			t.Fatalf("round %d: got %d rows, error %v; want %d", round, len(ids), err, count)
		}
	}
	for i := range 20 {
		if n, err := dbs[i%3].Ent().Account.Query().Count(t.Context()); err != nil || n != count {
			t.Fatalf("by Ent: got %d rows, error %v; want %d", n, err, count)
		}
	}
	for name, want := range map[string]string{"statement_timeout": "1min", "lock_timeout": "15s"} {
		t.Run(name, func(t *testing.T) {
			err := dbs[0].Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
				var got string
				if err := store.Scan(tx.Query(ctx, "SHOW "+name))(func(rows *sql.Rows) error { return rows.Scan(&got) }); err != nil {
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

// TestCommandBesideServer: a second process on the same data directory writes and
// reads, and its jobs are done by the first; only working is for one.
func TestCommandBesideServer(t *testing.T) {
	t.Parallel()
	cfg := storetest.SQLiteConfig(t)
	server, command := storetest.Open(t, cfg), storetest.Open(t, cfg)
	b := start(t, server, jobs.Worker{})
	if err := command.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	enqueue(t, command, store.Job{Kind: "test", Args: "from the command"})
	if got := receive(t, b.calls); got != `"from the command"` {
		t.Fatalf("got %s, want %q", got, "from the command")
	}
	second, err := jobs.NewQueue(command, nil, nil, storetest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := second.Start(ctx); err == nil {
		t.Error("two processes work on one data directory, want an error")
	}
}
