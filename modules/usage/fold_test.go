package usage

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// record records calls of an account, of a unit each.
func (b *bundle) record(t testing.TB, who *viewer.Viewer, op string, calls int) {
	t.Helper()
	for range calls {
		e := api.Event{Op: op, Status: "ok", Viewer: who, Units: 1, At: time.Now()}
		if err := b.recorder.Record(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
}

// stored is what the tables have of account 7: events, and units of this month.
func stored(t *testing.T, db *store.DB) [2]int64 {
	t.Helper()
	return [2]int64{
		storetest.Count(t, db, "SELECT count(*) FROM usage_events WHERE account_id = 7"),
		storetest.Count(t, db, "SELECT coalesce(sum(units), 0) FROM usage_counters WHERE account_id = 7 AND day = $1", Month(time.Now())),
	}
}

// TestReadsDoNotWaitForTheWriter holds SQLite's writer, as another process does that
// imports, and expects calls to be recorded, admitted and listed meanwhile.
func TestReadsDoNotWaitForTheWriter(t *testing.T) {
	t.Parallel()
	cfg := storetest.SQLiteConfig(t)
	db, other := storetest.Open(t, cfg), storetest.Open(t, cfg)
	b, who := setup(t, db), caller(7, 70)
	began, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- other.Write(context.Background(), func(context.Context, *store.Tx) error {
			close(began)
			<-release
			return nil
		})
	}()
	<-began
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.record(t, who, "getHooks", 3)
		if spent, err := b.service.rows.spentAt(as(who), b.service.pending, 7, time.Now()); err != nil || spent != (Spent{3, 3}) {
			t.Errorf("spent %+v, error %v, want 3 units", spent, err)
		}
		if events, _, err := b.service.Events(as(who), 10, ""); err != nil || len(events) != 3 {
			t.Errorf("%d events, error %v, want 3", len(events), err)
		}
	}()
	select {
	case <-done:
	case <-time.After(8 * time.Second): // the writer would wait for 10
		t.Error("got no end of the calls within 8 s, want them not to wait for the write of another process")
	}
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-done
	b.tables(t)
	if diff := cmp.Diff([2]int64{3, 3}, stored(t, db)); diff != "" {
		t.Error("events and units in the end (-want +got):\n" + diff)
	}
}

// TestKilledBetweenAnswerAndTables brings back the journal's files as they were before
// and after the events were stored: in the end each event is stored once.
func TestKilledBetweenAnswerAndTables(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	dir := JournalDir(db.Dir())
	b, who := setup(t, db), caller(7, 70)
	b.record(t, who, "getHooks", 700) // more than a chunk
	before, err := os.ReadFile(filepath.Join(dir, "000-0"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([2]int64{0, 0}, stored(t, db)); diff != "" {
		t.Fatal("events and units before they are stored (-want +got):\n" + diff)
	}
	// A process that was killed before it stored any, found by one that starts.
	if err := os.WriteFile(filepath.Join(dir, "005-0"), before, 0o600); err != nil {
		t.Fatal(err)
	}
	next := setup(t, db)
	if diff := cmp.Diff([2]int64{700, 700}, stored(t, db)); diff != "" {
		t.Error("events and units after the next start (-want +got):\n" + diff)
	}
	b.tables(t)
	if diff := cmp.Diff([2]int64{700, 700}, stored(t, db)); diff != "" {
		t.Error("events and units when they are stored again (-want +got):\n" + diff)
	}
	b.record(t, who, "getHooks", 5)
	// One that was killed after it stored them, and before it emptied the file.
	if err := os.WriteFile(filepath.Join(dir, "006-0"), before, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := next.recorder.folder.journal.Adopt(next.recorder.folder.take); err != nil {
		t.Fatal(err)
	}
	b.tables(t)
	if diff := cmp.Diff([2]int64{705, 705}, stored(t, db)); diff != "" {
		t.Error("events and units after another kill (-want +got):\n" + diff)
	}
}

func TestTwoProcessesRecordBesideEachOther(t *testing.T) {
	t.Parallel()
	cfg := storetest.SQLiteConfig(t)
	first, second := setup(t, storetest.Open(t, cfg)), setup(t, storetest.Open(t, cfg))
	first.recorder.folder.every = time.Millisecond
	var all sync.WaitGroup
	for i, b := range []*bundle{first, second} {
		all.Go(func() { b.record(t, caller(7, int64(i+1)), "getHooks", 100) })
	}
	all.Wait()
	for _, b := range []*bundle{first, second} {
		if err := b.recorder.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([2]int64{200, 200}, stored(t, first.db)); diff != "" {
		t.Error("events and units of both (-want +got):\n" + diff)
	}
	if waiting, err := CheckJournal(cfg.DataDir); err != nil || waiting != 0 {
		t.Errorf("got %d events left, error %v; want none", waiting, err)
	}
}

// TestUnitsAreExactWhileTheyAreStored asks what is spent after each call, while events go
// into the tables all the time.
func TestUnitsAreExactWhileTheyAreStored(t *testing.T) {
	t.Parallel()
	b, who := setup(t, storetest.SQLite(t)), caller(7, 70)
	stop := make(chan struct{})
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
	for i := range int64(300) {
		e := api.Event{Op: "getHooks", Status: "ok", Viewer: who, Units: 1, At: at}
		if err := b.recorder.Record(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		if spent, err := b.service.rows.spentAt(as(who), b.service.pending, 7, at); err != nil || spent != (Spent{i + 1, i + 1}) {
			t.Errorf("after %d calls: got %+v spent, %v, want as many", i+1, spent, err)
			break
		}
	}
	close(stop)
	all.Wait()
}

// TestReadOfCountersAtEachMoment has a chunk stored before, while and after the tables
// are read.
func TestReadOfCountersAtEachMoment(t *testing.T) {
	t.Parallel()
	at := time.Now()
	for _, c := range []struct {
		name                       string
		begun, marked, storedAfter bool
		table                      int64
	}{
		{name: "nothing is stored"},
		{name: "begun, not stored", begun: true},
		{name: "stored, seen", begun: true, marked: true, table: 3},
		{name: "stored and forgotten, seen", begun: true, marked: true, storedAfter: true, table: 3},
		{name: "stored and forgotten, not seen", begun: true, storedAfter: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := NewPending()
			p.add([]event{{id: 1, accountID: 7, units: 2, at: at}, {id: 2, accountID: 7, units: 1, at: at}, {id: 3, accountID: 8, units: 9, at: at}})
			p.seal()
			p.add([]event{{id: 4, accountID: 7, units: 4, at: at}})
			if c.begun {
				p.begin()
			}
			spent, err := p.Read(at, func(mark int64) (Counters, error) {
				if want := int64(3); c.begun && mark != want || !c.begun && mark != 0 {
					t.Errorf("got mark %d, want 3 once it has begun and else 0 (begun: %t)", mark, c.begun)
				}
				if c.storedAfter {
					p.stored()
				}
				return Counters{AccountID: 7, Spent: Spent{c.table, c.table}, Marked: c.marked}, nil
			})
			if err != nil || spent != (Spent{7, 7}) {
				t.Errorf("got %+v, error %v, want 7 units", spent, err)
			}
		})
	}
}

func TestEventsOfTablesAndJournalAreOneList(t *testing.T) {
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

func TestEventsAreStoredSoon(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	recorder := NewRecorder(db, Defaults(), NewPending(), storetest.Log(t))
	recorder.folder.every = time.Millisecond
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	b := &bundle{db: db, recorder: recorder}
	b.record(t, caller(7, 70), "getHooks", 3)
	deadline := time.Now().Add(20 * time.Second)
	for stored(t, db) != [2]int64{3, 3} {
		if time.Now().After(deadline) {
			t.Fatalf("after 20 seconds: got %v, want 3 events and 3 units", stored(t, db))
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := recorder.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestEntriesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_790_000_000_123)
	want := []event{{1, 2, 3, "getHooks", "ok", 1, at, nil}, {1 << 62, 0, 0, "", "error", -5, at, nil}}
	entry := appendEntry(nil, want)
	got, err := readEntry(entry)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(event{})); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for cut := range len(entry) {
		events, err := readEntry(entry[:cut])
		if err == nil && len(events) > 1 {
			t.Errorf("an entry cut at %d: got %d events, want an error or at most one", cut, len(events))
		}
	}
}
