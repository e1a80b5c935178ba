package usage

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// plans is the need of the module, answered by small numbers.
type plans struct{}

func (plans) Budget(plan, _ string) (daily, monthly int64) {
	if plan == "pro" {
		return 200, 2000
	}
	return 10, 100
}

type bundle struct {
	db       *store.DB
	service  *Service
	recorder *Recorder
}

func setup(t testing.TB, db *store.DB) *bundle {
	t.Helper()
	recorder := NewRecorder(db, Defaults(), slog.New(slog.DiscardHandler))
	b := &bundle{db: db, service: New(db, Defaults(), recorder, plans{}), recorder: recorder}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := b.recorder.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return b
}

// tables has the tables include every event that was recorded.
func (b *bundle) tables(t testing.TB) {
	t.Helper()
	if err := b.recorder.storeAll(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// sums has the table include the sums.
func (b *bundle) sums(t testing.TB) {
	t.Helper()
	if err := b.recorder.rows.addSums(context.Background(), b.recorder.sums.take(), time.Now()); err != nil {
		t.Fatal(err)
	}
}

// insert stores events at once.
func (b *bundle) insert(t testing.TB, events []event) {
	t.Helper()
	for i := range events {
		events[i].id = b.db.NewID()
	}
	err := b.db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error { return b.recorder.rows.insert(ctx, tx, events) })
	if err != nil {
		t.Fatal(err)
	}
}

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
		storetest.Count(t, db, "SELECT CAST(coalesce(sum(units), 0) AS BIGINT) FROM usage_counters WHERE account_id = 7 AND day = $1", Month(time.Now())),
	}
}

// caller is a viewer with a key; two with the same account are one tenant.
func caller(account, key int64) *viewer.Viewer {
	return &viewer.Viewer{AccountID: account, KeyID: key, Plan: "standard", Interval: "monthly", Status: "active"}
}

func as(v *viewer.Viewer) context.Context { return viewer.NewContext(context.Background(), v) }
