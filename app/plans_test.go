package app

import (
	"context"
	"log/slog"
	"testing"

	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/usage"
)

// TestBudgetIsOfThePlan: a scheduled start is held against the budget of the
// tenant's own plan, daily and monthly.
func TestBudgetIsOfThePlan(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		cfg := billing.Defaults()
		p := plans{billing.NewSubscriptions(db, cfg), usage.New(db, usage.Defaults(), usage.NewRecorder(db, usage.Defaults(), slog.New(slog.DiscardHandler)), cfg), nil, nil}
		const poor, rich = 1, 2
		change := func(do func(ctx context.Context, tx *store.Tx) error) {
			t.Helper()
			if err := db.Write(viewer.System(context.Background()), do); err != nil {
				t.Fatal(err)
			}
		}
		change(func(ctx context.Context, tx *store.Tx) error {
			if err := p.subscriptions.Grant(ctx, tx, poor, cfg.Standard.Key); err != nil {
				return err
			}
			return p.subscriptions.Grant(ctx, tx, rich, cfg.Pro.Key)
		})
		spend := func(units int64) {
			t.Helper()
			for _, account := range []int64{poor, rich} {
				change(func(ctx context.Context, tx *store.Tx) error { return p.usage.Charge(ctx, tx, account, int(units)) })
			}
		}
		want := func(account int64, spent bool) {
			t.Helper()
			got, err := p.BudgetLeft(viewer.As(context.Background(), account))
			if err != nil || (got.Wait > 0) != spent || (got.Daily == 0) != spent {
				t.Errorf("account %d: left %+v, %v, want it spent: %v", account, got, err, spent)
			}
		}
		spend(cfg.Standard.DailyUnits - 1)
		want(poor, false)
		spend(1)
		want(poor, true)
		want(rich, false)
		spend(cfg.Pro.DailyUnits - cfg.Standard.DailyUnits)
		want(rich, true)
	})
}
