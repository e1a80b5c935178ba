package billing

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/subscription"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// find returns the subscription, with StatusNone if there is no row.
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
	if row.ExternalID != nil {
		sub.External = *row.ExternalID
	}
	if row.Limits != nil {
		sub.Limits = *row.Limits
	}
	return sub, nil
}

// follow takes the provider's word for the subscriptions of an id, unless an
// answer to a later question is stored.
func (s *Subscriptions) follow(ctx context.Context, tx *store.Tx, state SubscriptionState, asked int64) (changed bool, err error) {
	ctx = viewer.System(ctx)
	rows, err := tx.Ent().Subscription.Query().Where(subscription.ExternalID(state.ID)).All(ctx)
	if err != nil {
		return false, fmt.Errorf("load subscription %s: %w", state.ID, err)
	}
	for _, row := range rows {
		change := tx.Ent().Subscription.Update().
			Where(subscription.ID(row.ID), subscription.ExternalID(state.ID), subscription.SyncedLT(asked)).
			SetStatus(state.Status).SetSynced(asked).SetUpdatedAt(s.now().UnixMilli())
		if !state.PeriodEnd.IsZero() {
			change.SetPeriodEnd(state.PeriodEnd.UnixMilli())
		}
		if state.Plan != "" && state.Interval != "" {
			change.SetPlan(state.Plan).SetInterval(state.Interval)
		}
		moved, err := change.Save(ctx)
		if err != nil {
			return false, fmt.Errorf("follow subscription %s: %w", state.ID, err)
		}
		differs := row.Status != state.Status || state.Plan != "" && (row.Plan != state.Plan || row.Interval != state.Interval)
		if moved == 0 || !differs {
			continue
		}
		changed = true
		if err := s.note(ctx, tx, row.AccountID, state.Status, state.ID); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// seen says that the provider was asked about a subscription, and answered nothing.
func (s *Subscriptions) seen(ctx context.Context, tx *store.Tx, external string, asked int64) error {
	return tx.Ent().Subscription.Update().
		Where(subscription.ExternalID(external), subscription.SyncedLT(asked)).
		SetSynced(asked).Exec(viewer.System(ctx))
}

// note audits a change of a subscription, and adds it to the account's feed.
func (s *Subscriptions) note(ctx context.Context, tx *store.Tx, accountID int64, status, detail string) error {
	feed.AppendTo(tx, accountID, feed.Change{Kind: feed.Subscription, Word: status})
	return audit.Write(ctx, tx, s.db.NewID(), audit.Entry{
		AccountID: accountID, Action: "subscription." + status, Subject: "subscription", Detail: detail,
	})
}

// staleSubscription is one that the provider should be asked about.
type staleSubscription struct {
	id       int64
	external string
}

// stale returns subscriptions that have not ended and were last asked about
// before a moment, by id.
func (s *Subscriptions) stale(ctx context.Context, before time.Time, after int64, limit int) ([]staleSubscription, error) {
	rows, err := s.db.Ent().Subscription.Query().
		Where(
			subscription.ExternalIDNotNil(), subscription.StatusNEQ(StatusCancelled),
			subscription.IDGT(after), subscription.SyncedLT(publicid.First(before)),
		).
		Order(subscription.ByID()).Limit(limit).
		All(viewer.System(ctx))
	if err != nil {
		return nil, fmt.Errorf("load stale subscriptions: %w", err)
	}
	out := make([]staleSubscription, len(rows))
	for i, row := range rows {
		out[i] = staleSubscription{row.ID, *row.ExternalID}
	}
	return out, nil
}

// Active returns which of the accounts have a paid subscription.
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
	var external *string
	if sub.External != "" {
		external = &sub.External
	}
	err := tx.Ent().Subscription.Create().
		SetID(s.db.NewID()).SetAccountID(accountID).
		SetPlan(sub.Plan).SetInterval(sub.Interval).SetStatus(sub.Status).
		SetNillablePeriodEnd(millis(sub.PeriodEnd)).SetNillableExternalID(external).SetSynced(0).
		SetCreatedAt(now).SetUpdatedAt(now).
		OnConflict(sql.ConflictColumns(subscription.FieldAccountID), sql.ResolveWith(func(u *sql.UpdateSet) {
			u.SetExcluded(subscription.FieldPlan).SetExcluded(subscription.FieldInterval).SetExcluded(subscription.FieldStatus).
				SetExcluded(subscription.FieldPeriodEnd).SetExcluded(subscription.FieldUpdatedAt).
				SetExcluded(subscription.FieldExternalID).SetExcluded(subscription.FieldSynced)
		})).
		Exec(viewer.As(ctx, accountID))
	if err != nil {
		return err
	}
	return s.note(ctx, tx, accountID, sub.Status, sub.Plan+" "+sub.Interval)
}

// setOwn stores an account's own limits.
func (s *Subscriptions) setOwn(ctx context.Context, tx *store.Tx, accountID int64, own string) error {
	change := tx.Ent().Subscription.Update().Where(subscription.AccountID(accountID)).SetUpdatedAt(s.now().UnixMilli()).SetLimits(own)
	if own == "" {
		change.ClearLimits()
	}
	if err := change.Exec(viewer.As(ctx, accountID)); err != nil {
		return fmt.Errorf("set limits of %d: %w", accountID, err)
	}
	return audit.Write(ctx, tx, s.db.NewID(), audit.Entry{AccountID: accountID, Action: "subscription.limits", Subject: "subscription", Detail: own})
}

// millis is null for the zero time.
func millis(at time.Time) *int64 {
	if at.IsZero() {
		return nil
	}
	value := at.UnixMilli()
	return &value
}
