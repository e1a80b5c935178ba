package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/subscription"
	"github.com/scrollery/scrollery/modules/store"
	"github.com/scrollery/scrollery/modules/viewer"
)

// find returns the subscription, with StatusNone where there is no row.
func (s *Subscriptions) find(ctx context.Context, client *ent.Client, accountID int64) (Subscription, error) {
	row, err := client.Subscription.Query().
		Where(subscription.AccountID(accountID)).
		Only(viewer.As(ctx, accountID))
	if ent.IsNotFound(err) {
		return Subscription{Status: StatusNone}, nil
	}
	if err != nil {
		return Subscription{}, err
	}
	sub := Subscription{Plan: row.Plan, Interval: row.Interval, Status: row.Status}
	if row.PeriodEnd != nil {
		sub.PeriodEnd = time.UnixMilli(*row.PeriodEnd)
	}
	return sub, nil
}

// Active tells which of the accounts have a paid subscription.
func (s *Subscriptions) Active(ctx context.Context, accountIDs []int64) (map[int64]bool, error) {
	rows, err := s.db.Ent().Subscription.Query().
		Where(subscription.AccountIDIn(accountIDs...), subscription.Status(StatusActive)).
		All(viewer.System(ctx))
	if err != nil {
		return nil, fmt.Errorf("load active subscriptions: %w", err)
	}
	active := make(map[int64]bool, len(rows))
	for _, row := range rows {
		active[row.AccountID] = true
	}
	return active, nil
}

func (s *Subscriptions) put(ctx context.Context, tx *store.Tx, accountID int64, sub Subscription) error {
	now := s.now().UnixMilli()
	return tx.Ent().Subscription.Create().
		SetID(s.db.NewID()).SetAccountID(accountID).
		SetPlan(sub.Plan).SetInterval(sub.Interval).SetStatus(sub.Status).
		SetNillablePeriodEnd(millis(sub.PeriodEnd)).
		SetCreatedAt(now).SetUpdatedAt(now).
		OnConflictColumns(subscription.FieldAccountID).
		Update(func(u *ent.SubscriptionUpsert) {
			u.UpdatePlan().UpdateInterval().UpdateStatus().UpdatePeriodEnd().UpdateUpdatedAt()
		}).
		Exec(viewer.As(ctx, accountID))
}

// move changes the status where it is one of from, and nothing otherwise.
func (s *Subscriptions) move(ctx context.Context, tx *store.Tx, accountID int64, to string, end *time.Time, from ...string) error {
	change := tx.Ent().Subscription.Update().
		Where(subscription.AccountID(accountID), subscription.StatusIn(from...)).
		SetStatus(to).SetUpdatedAt(s.now().UnixMilli())
	if end != nil {
		change.SetNillablePeriodEnd(millis(*end))
	}
	if err := change.Exec(viewer.As(ctx, accountID)); err != nil {
		return fmt.Errorf("set subscription of %d to %s: %w", accountID, to, err)
	}
	return nil
}

// millis is null for the zero time.
func millis(at time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	value := at.UnixMilli()
	return &value
}
