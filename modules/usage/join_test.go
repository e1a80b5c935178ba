package usage

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

func TestEventGoesWithTheFirstWrite(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		who := caller(7, 70)
		event := api.Event{Op: "putRules", Status: "ok", Viewer: who, Units: 3, At: time.Now()}
		account := func(ctx context.Context, tx *store.Tx) error {
			return tx.Ent().Account.Create().SetID(db.NewID()).SetCreatedAt(1).Exec(ctx)
		}
		state := func() [3]int64 {
			return [3]int64{
				storetest.Count(t, db, "SELECT count(*) FROM accounts"),
				storetest.Count(t, db, "SELECT count(*) FROM usage_events WHERE status = 'ok'"),
				storetest.Count(t, db, "SELECT CAST(coalesce(sum(units), 0) AS BIGINT) FROM usage_counters WHERE account_id = 7 AND day = $1", Day(event.At)),
			}
		}
		expect := func(what string, want [3]int64) {
			t.Helper()
			if diff := cmp.Diff(want, state()); diff != "" {
				t.Errorf("%s: accounts, events and units (-want +got):\n%s", what, diff)
			}
		}

		ctx, joined := b.recorder.Join(as(who), func() api.Event { return event })
		failure := errors.New("no")
		err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return errors.Join(account(ctx, tx), failure) })
		if !errors.Is(err, failure) {
			t.Errorf("a write that fails: got error %v, want %v", err, failure)
		}
		expect("after a write that failed", [3]int64{0, 0, 0})
		if err := db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { tx.Unchanged(); return nil }); err != nil {
			t.Error(err)
		}
		expect("after a write that changed nothing", [3]int64{0, 0, 0})
		for range 2 {
			if err := db.Write(ctx, account); err != nil {
				t.Fatal(err)
			}
		}
		expect("after two writes", [3]int64{2, 1, 3})
		written := joined.Close()
		if written == nil || written.Units != 3 {
			t.Fatalf("got event %+v, want the one of the write", written)
		}
		if err := joined.Amend(ctx, api.Event{Op: "putRules", Status: "error", Viewer: who, At: event.At}); err != nil {
			t.Error(err)
		}
		expect("after the event was amended", [3]int64{2, 0, 0})

		late, joined := b.recorder.Join(as(who), func() api.Event { return event })
		if written := joined.Close(); written != nil {
			t.Errorf("without a write: got event %+v, want no written", written)
		}
		if err := db.Write(late, account); err != nil {
			t.Error(err)
		}
		expect("after a write behind the end of its call", [3]int64{3, 0, 0})
	})
}
