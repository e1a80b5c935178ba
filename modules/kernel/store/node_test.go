package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

func eachConfig(t *testing.T, test func(t *testing.T, cfg store.Config)) {
	t.Helper()
	for dialect, config := range map[string]func(testing.TB) store.Config{store.SQLite: storetest.SQLiteConfig, store.Postgres: storetest.PostgresConfig} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			test(t, config(t))
		})
	}
}

// unique fails the test when an id was made before.
func unique(t *testing.T) func(ids []int64) {
	var mu sync.Mutex
	seen := map[int64]bool{}
	return func(ids []int64) {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			if seen[id] {
				t.Errorf("got id %d twice, want each once", id)
			}
			seen[id] = true
		}
	}
}

func made(db *store.DB, n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = db.NewID()
	}
	return ids
}

func nodeOf(id int64) int64 { return id >> 12 & publicid.MaxNode }

func TestProcessesAtOnceMakeDistinctIDs(t *testing.T) {
	t.Parallel()
	eachConfig(t, func(t *testing.T, cfg store.Config) {
		check := unique(t)
		moment := time.Now()
		still := func() time.Time { return moment } // every process makes ids of the same milliseconds
		for range 4 {
			var all sync.WaitGroup
			for range 13 {
				all.Go(func() {
					db, err := store.OpenAt(t.Context(), cfg, storetest.Log(t), still)
					if err != nil {
						t.Error(err)
						return
					}
					check(made(db, 5000))
					if err := db.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
	})
}

func TestIDsFollowTheMarkOfTheirNumber(t *testing.T) {
	t.Parallel()
	eachConfig(t, func(t *testing.T, cfg store.Config) {
		mark := time.Now().Add(time.Hour).UnixMilli() // the clock was an hour ahead
		first := storetest.Open(t, cfg)
		for node := range publicid.MaxNode + 1 {
			if cfg.DatabaseURL == "" {
				path := filepath.Join(cfg.DataDir, "nodes", fmt.Sprintf("%03d", node))
				if err := os.WriteFile(path, fmt.Appendf(nil, "%020d\n", mark), 0o600); err != nil {
					t.Fatal(err)
				}
				continue
			}
			storetest.Exec(t, first, "INSERT INTO node_numbers VALUES ($1, $2) ON CONFLICT (number) DO UPDATE SET used_until = $2", node, mark)
		}
		db := storetest.Open(t, cfg)
		if got, least := db.NewID(), publicid.First(time.UnixMilli(mark+1)); got < least {
			t.Errorf("the first id is %d, want at least %d, after the mark", got, least)
		}
	})
}

func TestClockSetBackMakesNoIDTwice(t *testing.T) {
	t.Parallel()
	eachConfig(t, func(t *testing.T, cfg store.Config) {
		check := unique(t)
		start := time.Now()
		for _, shift := range []time.Duration{0, -time.Minute, time.Minute, -time.Hour, 0, 0} {
			now := start.Add(shift)
			db, err := store.OpenAt(t.Context(), cfg, storetest.Log(t), func() time.Time { return now })
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range []time.Duration{0, 15 * time.Second, -30 * time.Second, time.Hour, -2 * time.Hour} {
				now = now.Add(step)
				check(made(db, 100))
			}
			if err := db.Write(t.Context(), func(context.Context, *store.Tx) error { return nil }); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestLostNumberIsReplacedAtItsMark(t *testing.T) {
	t.Parallel()
	cfg := storetest.PostgresConfig(t)
	check := unique(t)
	now := time.Now()
	clock := func() time.Time { return now }
	open := func() *store.DB {
		db, err := store.OpenAt(t.Context(), cfg, storetest.Log(t), clock)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	first := open()
	before := made(first, 10)
	check(before)
	lost := nodeOf(before[0])
	// As another process sets it that has the number. Numbers out of use are chosen at random: it
	// would come back once in 512 times.
	storetest.Exec(t, first, "UPDATE node_numbers SET used_until = used_until + 3600000 WHERE number = $1", lost)
	second, third := open(), open()
	for range 20 {
		now = now.Add(2 * time.Second)
		for _, db := range []*store.DB{first, second, third} {
			check(made(db, 500))
		}
	}
	if got := nodeOf(first.NewID()); got == lost {
		t.Errorf("the process whose mark another one changed has the number %d, want another number", got)
	}
	nodes := map[int64]bool{}
	for _, db := range []*store.DB{first, second, third} {
		nodes[nodeOf(db.NewID())] = true
	}
	if len(nodes) != 3 {
		t.Errorf("three processes hold the numbers %v, want 3", nodes)
	}
	if err := first.Write(t.Context(), func(context.Context, *store.Tx) error { return nil }); err != nil {
		t.Error(err)
	}
}
