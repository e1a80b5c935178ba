package usage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestCallersSeeTheirEarlierCallsAtOnce asks after each call, while batches are stored all
// the time.
func TestCallersSeeTheirEarlierCallsAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b, who, stop := setup(t, db), caller(7, 70), make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					b.tables(t)
				}
			}
		})
		at := time.Now()
		for i := range int64(99) {
			if err := b.recorder.Record(t.Context(), api.Event{Op: "getHooks", Status: "ok", Viewer: who, Units: 1, At: at}); err != nil {
				t.Fatal(err)
			}
			least := b.service.Unstored(7, at)
			tables, err := b.service.rows.spentAt(as(who), 7, at)
			if err != nil || least.Daily+tables.Daily < i+1 || least.Monthly+tables.Monthly < i+1 {
				t.Errorf("after %d calls: %+v and then %+v in the tables, error %v; want as many at least", i+1, least, tables, err)
			}
			if spent, err := b.service.spent(as(who), 7, at); err != nil || spent != (Spent{i + 1, i + 1}) {
				t.Errorf("after %d calls: got %+v spent, %v, want as many", i+1, spent, err)
			}
			if events, _, err := b.service.Events(as(who), 100, ""); err != nil || len(events) != int(i+1) {
				t.Errorf("after %d calls: got %d events, %v, want as many", i+1, len(events), err)
			}
			if t.Failed() {
				break
			}
		}
		close(stop)
		all.Wait()
	})
}

func TestReadsAreDurableSoon(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		for round := range int64(3) { // each begins a batch
			b.record(t, caller(7, 70), "getHooks", 3)
			want := [2]int64{3 * (round + 1), 3 * (round + 1)}
			end := time.Now().Add(2 * time.Minute)
			for got := stored(t, db); got != want; got = stored(t, db) {
				if time.Now().After(end) {
					t.Fatalf("round %d: got events and units %v, want %v", round, got, want)
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	})
}

// TestReadsDoNotWaitForTheWriter holds SQLite's writer, as another process does that
// imports, and expects calls to be recorded, counted and listed meanwhile.
func TestReadsDoNotWaitForTheWriter(t *testing.T) {
	t.Parallel()
	cfg := storetest.SQLiteConfig(t)
	db, other := storetest.Open(t, cfg), storetest.Open(t, cfg)
	b, who := setup(t, db), caller(7, 70)
	err := other.Write(t.Context(), func(context.Context, *store.Tx) error {
		for i := range 3 {
			b.record(t, who, "getHooks", 1)
			if spent, err := b.service.spent(as(who), 7, time.Now()); err != nil || spent != (Spent{int64(i) + 1, int64(i) + 1}) {
				t.Errorf("spent %+v, error %v, want %d units", spent, err, i+1)
			}
			if events, _, err := b.service.Events(as(who), 10, ""); err != nil || len(events) != i+1 {
				t.Errorf("%d events, error %v, want %d", len(events), err, i+1)
			}
			time.Sleep(batchEvery) // a batch waits for the writer by now
		}
		if got := b.recorder.count(); got != 3 {
			t.Errorf("while another process writes: %d events wait, want 3", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.tables(t)
	if diff := cmp.Diff([2]int64{3, 3}, stored(t, db)); diff != "" {
		t.Error("events and units in the end (-want +got):\n" + diff)
	}
}

func TestStopStoresWhatWaits(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := Defaults()
		cfg.GroupSize = 3 // several batches
		recorder := NewRecorder(db, cfg, slog.New(slog.DiscardHandler))
		b := &bundle{db: db, recorder: recorder}
		b.record(t, caller(7, 70), "getHooks", 10)
		for range 2 {
			if err := recorder.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([2]int64{10, 10}, stored(t, db)); diff != "" {
			t.Error("events and units after the stop (-want +got):\n" + diff)
		}
		for _, e := range []api.Event{{Viewer: caller(7, 70)}, {Op: "getHealth"}} {
			if err := recorder.Record(t.Context(), e); !errors.Is(err, errStopped) {
				t.Errorf("after the stop: got error %v, want %v", err, errStopped)
			}
		}
	})
}

// TestEventsWaitForTheDatabase breaks the table and mends it: calls go on meanwhile, the
// probe says so, and each event is stored once.
func TestEventsWaitForTheDatabase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		storetest.Exec(t, db, "ALTER TABLE usage_events RENAME TO gone")
		b.record(t, caller(7, 70), "getHooks", 2)
		if err := b.recorder.storeAll(t.Context()); err == nil || b.recorder.Check() == nil {
			t.Errorf("without a table: got %v from the batch and %v from the check, want errors", err, b.recorder.Check())
		}
		b.record(t, caller(7, 70), "getHooks", 3)
		storetest.Exec(t, db, "ALTER TABLE gone RENAME TO usage_events")
		b.tables(t)
		if err := b.recorder.Check(); err != nil {
			t.Errorf("the check after the repair: %v", err)
		}
		if diff := cmp.Diff([2]int64{5, 5}, stored(t, db)); diff != "" {
			t.Error("events and units after the repair (-want +got):\n" + diff)
		}
	})
}

// TestABatchOfUnknownEndIsStoredOnce has a batch committed whose commit is reported as
// failed, as when the connection is lost in it.
func TestABatchOfUnknownEndIsStoredOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b, who := setup(t, db), caller(7, 70)
		b.recorder.storing.Lock() // no other batch meanwhile
		b.record(t, who, "getHooks", 4)
		if err := b.recorder.storeBatch(t.Context(), b.recorder.next(4)); err != nil {
			t.Fatal(err)
		}
		b.record(t, who, "getHooks", 4)
		batch := b.recorder.next(4)
		err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error { return b.recorder.rows.insert(ctx, tx, batch) })
		if err != nil {
			t.Fatal(err)
		}
		b.recorder.committed(false)
		b.recorder.tried = true
		b.record(t, who, "getHooks", 1)
		b.recorder.storing.Unlock()
		b.tables(t)
		if diff := cmp.Diff([2]int64{9, 9}, stored(t, db)); diff != "" {
			t.Error("events and units (-want +got):\n" + diff)
		}
		if spent, err := b.service.spent(as(who), 7, time.Now()); err != nil || spent != (Spent{9, 9}) {
			t.Errorf("got %+v spent, error %v, want 9", spent, err)
		}
	})
}

func TestAsManyEventsWaitAsMay(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	cfg := Defaults()
	cfg.CommitTimeout = 50 * time.Millisecond
	recorder := NewRecorder(db, cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	recorder.waiting = make([]event, maxPending) // none of them is the first: no batch begins
	e := api.Event{Op: "getHooks", Status: "ok", Viewer: caller(7, 70), At: time.Now()}
	if err := recorder.Record(t.Context(), e); !apierr.IsBusy(err) {
		t.Errorf("without a place: got %v, want a busy service", err)
	}
	recorder.cfg.CommitTimeout = time.Minute
	waits := make(chan error)
	go func() { waits <- recorder.Record(t.Context(), e) }()
	for full := false; !full; {
		recorder.mu.Lock()
		full = recorder.room != nil
		recorder.mu.Unlock()
	}
	recorder.next(1)
	recorder.committed(true)
	if err := <-waits; err != nil {
		t.Errorf("once there is a place: %v", err)
	}
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
		b.sums(t)
		if got := storetest.Count(t, db, "SELECT count(*) FROM usage_events WHERE account_id IS NULL AND key_id IS NULL"); got != 2 {
			t.Errorf("got %d events without a tenant, want 2", got)
		}
		if got := storetest.Count(t, db, "SELECT count(*) FROM usage_counters"); got != 0 {
			t.Errorf("%d counters, want 0", got)
		}
	})
}

// TestManyCallersCountOnce has callers of four accounts cross the end of a month.
func TestManyCallersCountOnce(t *testing.T) {
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
				}
			})
		}
		group.Wait()
		b.tables(t)
		if got := storetest.Count(t, db, "SELECT count(*) FROM usage_events"); got != callers*calls {
			t.Errorf("got %d events, want %d", got, callers*calls)
		}
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

// TestEventsOfTableAndMemoryAreOneList stores some of the events between two pages.
func TestEventsOfTableAndMemoryAreOneList(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b, who := setup(t, db), caller(7, 70)
		b.record(t, caller(7, 71), "getTrends", 2) // another key's
		b.record(t, who, "getHooks", 2)
		b.tables(t)
		b.record(t, who, "getOutliers", 3)
		var got []string
		token := ""
		for pages := 0; pages == 0 || token != ""; pages++ {
			var events []Event
			var err error
			if events, token, err = b.service.Events(as(who), 2, token); err != nil || pages > 3 {
				t.Fatalf("got page %d, error %v; want at most 3 pages", pages, err)
			}
			for _, e := range events {
				got = append(got, e.Op+" "+e.Status)
			}
			if pages == 1 {
				b.tables(t)
			}
		}
		want := []string{"getOutliers ok", "getOutliers ok", "getOutliers ok", "getHooks ok", "getHooks ok"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error("events of all pages (-want +got):\n" + diff)
		}
	})
}

// BenchmarkInsert is what an event costs, alone and among others, commit included.
func BenchmarkInsert(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *store.DB{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		for _, size := range []int{1, 64, 500} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				bundle, events := setup(b, open(b)), make([]event, size)
				for b.Loop() {
					for i := range events {
						events[i] = event{accountID: int64(i%8 + 1), keyID: int64(i + 1), op: "getHooks", status: "ok", units: 1, at: time.Now()}
					}
					bundle.insert(b, events)
				}
			})
		}
	}
}
