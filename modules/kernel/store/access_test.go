package store_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// told collects the accounts of changes.
type told struct {
	mu       sync.Mutex
	accounts []int64
	more     chan struct{}
}

func listen(db *store.DB) *told {
	l := &told{more: make(chan struct{}, 1000)}
	db.OnAccess(func(account int64) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.accounts = append(l.accounts, account)
		l.more <- struct{}{}
	})
	return l
}

func (l *told) has(account int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.accounts, account)
}

// await fails the test where the account is not told within a time.
func (l *told) await(t *testing.T, account int64, within time.Duration) {
	t.Helper()
	for end := time.After(within); !l.has(account); {
		select {
		case <-l.more:
		case <-end:
			t.Fatalf("after %v: got no word of account %d, want one", within, account)
		}
	}
}

// listening waits until all databases listen: told of an account that is written until then.
func listening(t *testing.T, by *store.DB, all ...*told) {
	t.Helper()
	for account := int64(1_000_000); ; account++ {
		addKey(t, by, account)
		heard := func() bool {
			return !slices.ContainsFunc(all, func(l *told) bool { return !l.has(account) })
		}
		for range 20 {
			if heard() {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		if account > 1_000_050 {
			t.Fatal("no database listens, want all to")
		}
	}
}

func addKey(t *testing.T, db *store.DB, account int64) {
	t.Helper()
	id := db.NewID()
	err := db.Ent().Key.Create().SetID(id).SetAccountID(account).SetHash([]byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24), byte(id >> 32)}).
		SetScopes("").SetHint("").SetCreatedAt(1).Exec(viewer.As(t.Context(), account))
	if err != nil {
		t.Fatal(err)
	}
}

// TestAccessIsTold changes what admission goes by: the process that does it is told before
// the write returns, the other one soon after, and none before the commit.
func TestAccessIsTold(t *testing.T) {
	t.Parallel()
	direct := storetest.PostgresConfig(t)
	for name, cfg := range map[string]store.Config{"direct": direct, "by a pooler": storetest.PgBouncer(t, direct, 3)} {
		t.Run(name, func(t *testing.T) {
			here, there := storetest.Open(t, cfg), storetest.Open(t, cfg)
			atHome, abroad := listen(here), listen(there)
			b := start(t, there, store.Worker{Concurrency: 2}) // which listens by the same connection
			listening(t, here, abroad)
			for _, c := range []struct {
				name  string
				write func(account int64) error
			}{
				{"alone", func(account int64) error { addKey(t, here, account); return nil }},
				{"in a transaction", func(account int64) error {
					return here.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
						_, err := tx.Exec(ctx, "INSERT INTO subscriptions (id, account_id, plan, interval, status, created_at, updated_at) VALUES ($1, $2, 'pro', 'monthly', 'active', 1, 1)", here.NewID(), account)
						if atHome.has(account) {
							t.Error("the change was told before its commit, want after")
						}
						return err
					})
				}},
			} {
				t.Run(c.name, func(t *testing.T) {
					account := here.NewID()
					if err := c.write(account); err != nil {
						t.Fatal(err)
					}
					if !atHome.has(account) {
						t.Error("the write returned before its process was told, want after")
					}
					abroad.await(t, account, wait)
				})
			}
			t.Run("rolled back", func(t *testing.T) {
				failed, account, none, later := errors.New("given up"), here.NewID(), here.NewID(), here.NewID()
				addKey(t, here, account)
				err := here.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
					_, err := tx.Exec(ctx, "UPDATE keys SET scopes = 'none', account_id = $1 WHERE account_id = $2", none, account)
					return errors.Join(err, failed)
				})
				if !errors.Is(err, failed) {
					t.Fatal(err)
				}
				addKey(t, here, later)
				abroad.await(t, later, wait)
				if abroad.has(none) {
					t.Error("another process was told of a change that was not committed")
				}
			})
			t.Run("jobs come as before", func(t *testing.T) {
				quick := 0
				for i := range 10 {
					from, account := time.Now(), here.NewID()
					enqueue(t, here, store.Job{Kind: "test", Args: i})
					receive(t, b.calls)
					if time.Since(from) < 500*time.Millisecond {
						quick++
					}
					addKey(t, here, account)
					abroad.await(t, account, wait)
				}
				// The queue notifies of one job a second; it looks for the others each second.
				if quick < 4 {
					t.Errorf("%d of 10 jobs were taken in half a second, want at least 4: the queue is not notified", quick)
				}
			})
		})
	}
}

// TestAccessIsToldAgain cuts the connections that listen: the processes listen again.
func TestAccessIsToldAgain(t *testing.T) {
	t.Parallel()
	cfg := storetest.PostgresConfig(t)
	here, there := storetest.Open(t, cfg), storetest.Open(t, cfg)
	abroad := listen(there)
	listening(t, here, abroad)
	cut := storetest.Count(t, here, `SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, 0x5c0118)
	if cut != 2 {
		t.Fatalf("%d connections were cut, want 2", cut)
	}
	abroad.mu.Lock()
	abroad.accounts = nil
	abroad.mu.Unlock()
	listening(t, here, abroad)
}
