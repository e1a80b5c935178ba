package app

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent/key"
	"github.com/scrollery/scrollery/ent/usagecounter"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/keys"
	"github.com/scrollery/scrollery/modules/usage"
)

// admissible stores an account with a key, a subscription, counters, a brief and a
// library, and returns how it is admitted by the statement and by queries of Ent.
func admissible(t testing.TB, db *store.DB) (byStatement, byEnt func(context.Context) (*api.Caller, error)) {
	t.Helper()
	now, account, hash := time.Now(), db.NewID(), []byte("the hash of a key")
	err := db.Write(viewer.System(t.Context()), func(ctx context.Context, tx *store.Tx) error {
		client, at := tx.Ent(), now.UnixMilli()
		client.Account.Create().SetID(account).SetCreatedAt(at).ExecX(ctx)
		client.Key.Create().SetID(db.NewID()).SetAccountID(account).SetHash(hash).SetScopes("library:read rules:read").SetHint("DEFG").SetCreatedAt(at).ExecX(ctx)
		client.Subscription.Create().SetID(db.NewID()).SetAccountID(account).SetPlan("pro").SetInterval("annual").SetStatus("active").SetCreatedAt(at).SetUpdatedAt(at).ExecX(ctx)
		for _, day := range []int{usage.Day(now), usage.Month(now)} {
			client.UsageCounter.Create().SetID(db.NewID()).SetAccountID(account).SetDay(day).SetUnits(7).ExecX(ctx)
		}
		client.Workspace.Create().SetID(db.NewID()).SetAccountID(account).SetCompetitors("[]").SetCanonicalID("website:example.com").
			SetCreatedAt(at).SetUpdatedAt(at).ExecX(ctx)
		client.Library.Create().SetID(db.NewID()).SetAccountID(account).SetRevision(3).ExecX(ctx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	plans := billing.Defaults()
	admission := newAdmission(db, usage.NewPending(), plans)
	byStatement = func(ctx context.Context) (*api.Caller, error) {
		const reads = -1 // of an event that there is not: no row is kept
		row, err := admission.inTables(ctx, hash, now, reads)
		return row.caller(now, plans), errors.Join(err, row.state.Check(now))
	}
	byEnt = func(ctx context.Context) (*api.Caller, error) {
		k, err := db.Ent().Key.Query().Where(key.Hash(hash)).Only(viewer.System(ctx))
		if err != nil {
			return nil, err
		}
		row := admitted{key: k.ID, account: k.AccountID, scopes: k.Scopes, state: keys.State{Found: true, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt}}
		ctx = viewer.As(ctx, k.AccountID)
		subscription, err := db.Ent().Subscription.Query().Only(ctx)
		if err != nil {
			return nil, err
		}
		row.plan, row.interval, row.status = subscription.Plan, subscription.Interval, subscription.Status
		counters, err := db.Ent().UsageCounter.Query().Where(usagecounter.DayIn(usage.Day(now), usage.Month(now))).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range counters {
			if c.Day == usage.Day(now) {
				row.spent.Daily = c.Units
			} else {
				row.spent.Monthly = c.Units
			}
		}
		workspace, err := db.Ent().Workspace.Query().Only(ctx)
		if err != nil {
			return nil, err
		}
		library, err := db.Ent().Library.Query().Only(ctx)
		if err != nil {
			return nil, err
		}
		row.at = viewer.AtAdmission{Workspace: true, Subject: *workspace.CanonicalID, LibraryRevision: library.Revision}
		return row.caller(now, plans), row.state.Check(now)
	}
	return byStatement, byEnt
}

func TestTheAdmissionStatementReadsWhatEntReads(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		byStatement, byEnt := admissible(t, db)
		want, err := byEnt(t.Context())
		if err != nil {
			t.Fatalf("by Ent: %v", err)
		}
		got, err := byStatement(t.Context())
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(viewer.Viewer{})); err != nil || diff != "" {
			t.Errorf("by the statement: error %v, caller, want - got +:\n%s", err, diff)
		}
	})
}

// BenchmarkAdmission admits a call by the statement, and by five queries of Ent:
// x-floor is how many times as much CPU time Ent takes. The statement stays hot while
// that is at least 1.3.
func BenchmarkAdmission(b *testing.B) {
	byStatement, byEnt := admissible(b, storetest.SQLite(b))
	spent := func(admit func(context.Context) (*api.Caller, error)) time.Duration {
		var before, after syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
			b.Fatal(err)
		}
		for range 50 {
			if _, err := admit(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
			b.Fatal(err)
		}
		return time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	}
	var hot, ent time.Duration
	for b.Loop() {
		hot, ent = hot+spent(byStatement), ent+spent(byEnt)
	}
	b.ReportMetric(float64(hot.Microseconds())/float64(b.N)/50, "cpu-µs/op")
	b.ReportMetric(float64(ent)/float64(hot), "x-floor")
	b.ReportMetric(0, "ns/op")
}
