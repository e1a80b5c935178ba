package usage

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// asking is a recorder on PostgreSQL beside libraries: that of account 7 has revision 5,
// account 8 has none.
func asking(t *testing.T, start bool) *Recorder {
	t.Helper()
	one := storetest.PostgresConfig(t)
	one.MaxConns = 1
	db, cfg := storetest.Open(t, one), Defaults()
	cfg.Revisions = "libraries"
	storetest.Exec(t, db, "INSERT INTO libraries (id, account_id, revision) VALUES (1, 7, 5)")
	r := NewRecorder(db, cfg, NewPending(), slog.New(slog.DiscardHandler))
	if start {
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := r.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	return r
}

// counted are the events of an account and what they cost in the month and the day.
func counted(t *testing.T, db *store.DB, account int64, at time.Time) [3]int64 {
	t.Helper()
	const units = "SELECT CAST(coalesce(sum(units), 0) AS BIGINT) FROM usage_counters WHERE account_id = $1 AND day = $2"
	return [3]int64{
		storetest.Count(t, db, "SELECT count(*) FROM usage_events WHERE account_id = $1", account),
		storetest.Count(t, db, units, account, Month(at)), storetest.Count(t, db, units, account, Day(at)),
	}
}

func TestEventsOfQuestionsAreStoredWhereTheRevisionIsCurrent(t *testing.T) {
	t.Parallel()
	type asked struct {
		account, revision int64 // revision -1: no question
		stored            bool
		now               int64
	}
	for _, c := range []struct {
		name   string
		events []asked
		units  int64 // of each
		of     [2][3]int64
	}{
		{"one, current", []asked{{7, 5, true, 5}}, 3, [2][3]int64{{1, 3, 3}}},
		{"one, past", []asked{{7, 4, false, 5}}, 3, [2][3]int64{}},
		{"one without a library", []asked{{8, 0, true, 0}}, 3, [2][3]int64{{}, {1, 3, 3}}},
		{"one without a question", []asked{{7, -1, false, 0}}, 3, [2][3]int64{{1, 3, 3}}},
		{"one that costs nothing, current", []asked{{7, 5, true, 5}}, 0, [2][3]int64{{1, 0, 0}}},
		{"one that costs nothing, past", []asked{{7, 4, false, 5}}, 0, [2][3]int64{}},
		{"current ones of two accounts", []asked{{7, 5, true, 5}, {8, 0, true, 0}, {7, 5, true, 5}}, 3, [2][3]int64{{2, 6, 6}, {1, 3, 3}}},
		{"past ones beside others", []asked{{7, 4, false, 5}, {7, -1, false, 0}, {8, 1, false, 0}, {8, -1, false, 0}}, 3, [2][3]int64{{1, 3, 3}, {1, 3, 3}}},
		{"past and current", []asked{{7, 4, false, 5}, {7, 5, true, 5}, {7, 3, false, 5}, {7, -1, false, 0}}, 3, [2][3]int64{{2, 6, 6}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, at, observed := asking(t, false), time.Now(), int64(0)
			r.cfg.Observe = func(events int) { observed += int64(events) }
			events := make([]event, len(c.events))
			for i, a := range c.events {
				events[i] = event{accountID: a.account, keyID: 70, op: "getHooks", status: "ok", units: c.units, at: at}
				if a.revision >= 0 {
					events[i].ask = newAsk(a.revision, 0)
				}
			}
			if err := r.write(events); err != nil {
				t.Fatal(err)
			}
			for i, a := range c.events {
				if a.revision < 0 {
					continue
				}
				if got := events[i].ask; got.stored != 0 != a.stored || got.now != a.now {
					t.Errorf("question %d: stored %d, revision %d, want stored %t, revision %d", i, got.stored, got.now, a.stored, a.now)
				}
			}
			if diff := cmp.Diff(c.of, [2][3]int64{counted(t, r.rows.db, 7, at), counted(t, r.rows.db, 8, at)}); diff != "" {
				t.Errorf("events and units of the accounts 7 and 8 (-want +got):\n%s", diff)
			}
			if want := c.of[0][0] + c.of[1][0]; observed != want {
				t.Errorf("%d events are said to be written, want %d", observed, want)
			}
		})
	}
}

// TestCallsAskOnce has a call ask, and be counted once, or as what became of it.
func TestCallsAskOnce(t *testing.T) {
	t.Parallel()
	r := asking(t, true)
	event := api.Event{Op: "getHooks", Status: "ok", Viewer: caller(7, 70), Units: 3, At: time.Now()}
	ctx, joined := r.Join(as(event.Viewer), func() api.Event { return event })
	for i, want := range []struct {
		account, revision int64
		ok                bool
		events            int64
	}{{8, 5, false, 0}, {7, 4, true, 0}, {7, 5, true, 1}, {7, 5, false, 1}} {
		now, ok, err := RecordAt(ctx, want.account, want.revision)
		if err != nil || ok != want.ok || ok && now != 5 {
			t.Errorf("question %d: got revision %d, asked %t, error %v, want 5, %t", i, now, ok, err, want.ok)
		}
		if got := counted(t, r.rows.db, 7, event.At)[0]; got != want.events {
			t.Errorf("after question %d: %d events, want %d", i, got, want.events)
		}
	}
	if joined.Close() == nil {
		t.Fatal("the call's event is not known to be stored, want it to be")
	}
	if err := joined.Amend(ctx, api.Event{Op: "getHooks", Status: "error", Viewer: event.Viewer, At: event.At}); err != nil {
		t.Error(err)
	}
	failed := storetest.Count(t, r.rows.db, "SELECT count(*) FROM usage_events WHERE status = 'error'")
	if got, want := counted(t, r.rows.db, 7, event.At), [3]int64{1, 0, 0}; got != want || failed != 1 {
		t.Errorf("after the call failed: got %v, %d failed, want %v, 1", got, failed, want)
	}
	if _, ok, _ := RecordAt(as(event.Viewer), 7, 5); ok {
		t.Error("a question without a call was asked, want not")
	}
}

// TestQuestionsHavePatience asks where no group is written, and where no connection is
// free: those who ask are refused, while the other events of their group wait on. None of
// it is an error of the recorder.
func TestQuestionsHavePatience(t *testing.T) {
	t.Parallel()
	r, at, logged := asking(t, false), time.Now(), bytes.Buffer{}
	r.log = slog.New(slog.NewTextHandler(&logged, nil))
	question := func(patience time.Duration) event {
		return event{accountID: 7, op: "getHooks", status: "ok", units: 3, at: at, ask: newAsk(5, patience)}
	}
	if err := r.store(t.Context(), question(20*time.Millisecond)); !apierr.IsBusy(err) {
		t.Errorf("no group is written: got error %v, want that of a busy service", err)
	}
	if got := len(r.gathering.events); got != 0 {
		t.Errorf("%d events wait after the caller left, want 0", got)
	}
	hold, held, release := errors.New("no commit"), make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	go func() {
		ended <- r.rows.db.Write(context.Background(), func(context.Context, *store.Tx) error {
			close(held)
			<-release
			return hold
		})
	}()
	<-held
	if err := r.write([]event{question(20 * time.Millisecond)}); !apierr.IsBusy(err) {
		t.Errorf("alone, no connection is free: got error %v, want that of a busy service", err)
	}
	others, _, err := r.join(event{accountID: 7, op: "getHooks", status: "ok", units: 3, at: at})
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1)
	go func() { refused <- r.store(t.Context(), question(500*time.Millisecond)) }()
	for count := 1; count == 1 && len(refused) == 0; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		count = len(others.events)
		r.mu.Unlock()
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-refused:
		if !apierr.IsBusy(err) {
			t.Errorf("no connection is free: got error %v, want that of a busy service", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("one who asks waits as long as the others of its group, want no longer than its patience")
	}
	close(release)
	if <-others.committed; others.err != nil {
		t.Errorf("the event that waits on: %v", others.err)
	}
	if err := <-ended; !errors.Is(err, hold) {
		t.Error(err)
	}
	if err := r.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if got, want := counted(t, r.rows.db, 7, at), [3]int64{1, 3, 3}; got != want {
		t.Errorf("got %v stored, want %v", got, want)
	}
	if logged.Len() > 0 {
		t.Errorf("the recorder logged, want nothing:\n%s", &logged)
	}
}
