package usage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/usage/journal"
)

func TestRecordIsDurableWhenItReturns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		const callers, calls = 16, 40
		var group sync.WaitGroup
		for c := range callers {
			group.Go(func() {
				who := caller(int64(c%4+1), int64(c+1))
				for i := range calls {
					at := time.Date(2026, 1, 31, 23, 59, 59, 0, time.UTC).Add(time.Duration(i%2) * time.Second)
					e := api.Event{Op: "getHooks", Status: "ok", Viewer: who, Units: i % 3, At: at}
					if err := b.recorder.Record(context.Background(), e); err != nil {
						t.Error(err)
						return
					}
					if got := onDisk(t, db, who.KeyID); got != i+1 {
						t.Errorf("got %d events after %d calls, want as many", got, i+1)
						return
					}
				}
			})
		}
		group.Wait()
		b.tables(t)
		var want [2]int64 // units of one caller on either day
		for i := range calls {
			want[i%2] += int64(i % 3)
		}
		for account := range int64(4) {
			for day, sum := range map[int]int64{20260131: want[0], 20260100: want[0], 20260201: want[1], 20260200: want[1]} {
				t.Run(fmt.Sprintf("account %d, day %d", account+1, day), func(t *testing.T) {
					got := storetest.Count(t, db, "SELECT units FROM usage_counters WHERE account_id = $1 AND day = $2", account+1, day)
					if got != sum*callers/4 {
						t.Errorf("account %d, day %d: %d units, want %d", account+1, day, got, sum*callers/4)
					}
				})
			}
		}
	})
}

// onDisk counts the events of a key in the journal's files and in the table.
func onDisk(t *testing.T, db *store.DB, key int64) int {
	t.Helper()
	ids := map[int64]bool{}
	if db.Dialect() == store.SQLite {
		entries, err := journal.Read(JournalDir(db.Dir()))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			events, err := readEntry(entry)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.keyID == key {
					ids[e.id] = true
				}
			}
		}
	}
	storetest.Rows(t, db, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids[id] = true
		return err
	}, "SELECT id FROM usage_events WHERE key_id = $1", key)
	return len(ids)
}

func TestRecordOfNobodyCountsForNobody(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		for _, e := range []api.Event{
			{Op: "getHealth", Status: "ok", Units: 3, At: time.Now()},
			{Op: "getUsage", Status: "forbidden", At: time.Now()},
		} {
			if err := b.recorder.Record(context.Background(), e); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.recorder.writeSums(time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Count(t, db, "SELECT count(*) FROM usage_events WHERE account_id IS NULL AND key_id IS NULL"); got != 2 {
			t.Errorf("got %d events without a tenant, want 2", got)
		}
		if got := storetest.Count(t, db, "SELECT count(*) FROM usage_counters"); got != 0 {
			t.Errorf("%d counters, want 0", got)
		}
	})
}

func TestStopWritesWhatIsWaiting(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	cfg := Defaults()
	cfg.GroupSize = 3
	recorder := NewRecorder(db, cfg, NewPending(), slog.New(slog.DiscardHandler))

	// Before the start nothing is written: 3 callers fill the group, 2 wait for room.
	var ready, group sync.WaitGroup
	var written atomic.Int64
	for range 5 {
		ready.Add(1)
		group.Go(func() {
			ready.Done()
			err := recorder.Record(context.Background(), api.Event{Op: "getHealth", Status: "ok", Viewer: caller(1, 1), At: time.Now()})
			switch {
			case err == nil:
				written.Add(1)
			case !errors.Is(err, errStopped):
				t.Error(err)
			}
		})
	}
	ready.Wait()
	for waiting := 0; waiting < 3; {
		recorder.mu.Lock()
		waiting = len(recorder.gathering.events)
		recorder.mu.Unlock()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := recorder.Record(ctx, api.Event{Op: "x", Status: "ok", Viewer: caller(1, 1), At: time.Now()}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that leaves a full queue gets %v, want %v", err, context.Canceled)
	}
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if got := storetest.Count(t, db, "SELECT count(*) FROM usage_events"); got != written.Load() || got < 3 {
		t.Errorf("got %d events, want the %d that were answered, at least 3", got, written.Load())
	}
	if err := recorder.Record(context.Background(), api.Event{Viewer: caller(1, 1)}); !errors.Is(err, errStopped) {
		t.Errorf("after the stop: %v, want %v", err, errStopped)
	}
	if err := recorder.Stop(context.Background()); err != nil {
		t.Errorf("a second stop: %v", err)
	}
}

func TestStopOfARecorderThatNeverRan(t *testing.T) {
	t.Parallel()
	recorder := NewRecorder(storetest.SQLite(t), Defaults(), NewPending(), slog.New(slog.DiscardHandler))
	if err := recorder.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestAFailedWriteIsToldToItsCallers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		e := api.Event{Op: "getHealth", Status: "ok", Viewer: caller(1, 1), At: time.Now()}
		mend := func() { storetest.Exec(t, db, "ALTER TABLE gone RENAME TO usage_events") }
		if f := b.recorder.folder; f != nil {
			if err := f.journal.Close(); err != nil {
				t.Fatal(err)
			}
			mend = func() { b.tables(t) }
		} else {
			storetest.Exec(t, db, "ALTER TABLE usage_events RENAME TO gone")
		}
		if err := b.recorder.Record(context.Background(), e); err == nil {
			t.Error("an event that cannot be written was recorded, want an error")
		}
		if err := b.recorder.Check(); (err == nil) != (b.recorder.folder == nil) {
			t.Errorf("got %v from the check, want an error exactly where there is a journal", err)
		}
		mend()
		if err := b.recorder.Check(); err != nil {
			t.Errorf("the check after the repair: %v", err)
		}
		if err := b.recorder.Record(context.Background(), e); err != nil {
			t.Errorf("the recorder did not recover: %v", err)
		}
	})
}

// The floor is the same rows, one transaction an event.
func BenchmarkRecord(b *testing.B) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("group/%d", callers), func(b *testing.B) {
			bundle := setup(b, storetest.SQLite(b))
			hammer(b, callers, func(e api.Event) error { return bundle.recorder.Record(context.Background(), e) })
		})
		b.Run(fmt.Sprintf("one-by-one/%d", callers), func(b *testing.B) {
			rows := newRows(storetest.SQLite(b), NewPending())
			hammer(b, callers, func(e api.Event) error {
				return rows.add(context.Background(), []event{{rows.db.NewID(), e.Viewer.AccountID, e.Viewer.KeyID, e.Op, e.Status, int64(e.Units), e.At, nil}})
			})
		})
	}
}

func hammer(b *testing.B, callers int, record func(api.Event) error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var group sync.WaitGroup
	for c := range callers {
		group.Go(func() {
			e := api.Event{Op: "getHooks", Status: "ok", Viewer: caller(int64(c%8+1), int64(c+1)), Units: 1, At: time.Now()}
			for left.Add(-1) >= 0 {
				if err := record(e); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// A lone call adds to both counters, whichever of them is there already.
func TestLoneCallsOpenTheCountersTheyMiss(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		who := caller(7, 8)
		for _, day := range []int{30, 30, 31, 31, 31} {
			e := api.Event{Op: "getHooks", Status: "ok", Viewer: who, Units: 2, At: time.Date(2026, 1, day, 12, 0, 0, 0, time.UTC)}
			if err := b.recorder.Record(context.Background(), e); err != nil {
				t.Fatal(err)
			}
		}
		b.tables(t)
		for day, want := range map[int]int64{20260130: 4, 20260131: 6, 20260100: 10} {
			t.Run(fmt.Sprintf("day %d", day), func(t *testing.T) {
				if got := storetest.Count(t, db, "SELECT units FROM usage_counters WHERE account_id = 7 AND day = $1", day); got != want {
					t.Errorf("day %d: %d units, want %d", day, got, want)
				}
			})
		}
	})
}
