package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// The states of a subscription. An account that never had one is StatusNone,
// and has no row.
const (
	StatusActive    = "active"
	StatusPastDue   = "past_due"
	StatusCancelled = "cancelled"
	StatusNone      = "none"
)

// Subscription is what an account has paid for.
type Subscription struct {
	// Plan is `standard` or `pro`, empty for an account that never had one.
	Plan string
	// Interval is `monthly` or `annual`, empty for a complimentary account.
	Interval string
	Status   string
	// External is the provider's id; empty if it renews nothing.
	External string
	// PeriodEnd is when the paid time ends; zero if no one has to pay.
	PeriodEnd time.Time
	// Limits are the account's own instead of its plan's: `name=value` in the words of the
	// configuration, separated by spaces.
	Limits string
}

// complimentary distinguishes a gift from what is paid for.
func (s Subscription) complimentary() bool { return s.Interval == "" }

// paying reports that the account pays for it, or that the provider tries to collect.
func (s Subscription) paying() bool {
	return s.Status == StatusActive && !s.complimentary() || s.renewing()
}

// renewing reports that the provider charges for it, or tries to.
func (s Subscription) renewing() bool {
	return s.External != "" && (s.Status == StatusActive || s.Status == StatusPastDue)
}

// Limits are what an account may use.
type Limits struct {
	// Plan and Status as in Subscription.
	Plan, Status string
	// Active reports whether the subscription is paid. The other limits are the account's own
	// and those of the plan either way, and of `standard` for an account without one.
	Active                                 bool
	MaxFeedSize, Workspaces, ActiveScrolls int
	DailyUnits, MonthlyUnits               int64
	// MaxVideos of the library, FramedVideos among them, and MaxImportBytes of one file.
	MaxVideos, FramedVideos int
	MaxImportBytes          int64
}

// Subscriptions keeps what the accounts have paid for. It needs no other module,
// so that keys can ask it while billing asks keys.
type Subscriptions struct {
	db  *store.DB
	cfg Config
	now func() time.Time
}

// NewSubscriptions returns the subscriptions kept in db.
func NewSubscriptions(db *store.DB, cfg Config) *Subscriptions {
	return &Subscriptions{db: db, cfg: cfg, now: time.Now}
}

// Of returns the account's subscription.
func (s *Subscriptions) Of(ctx context.Context, accountID int64) (Subscription, error) {
	sub, err := s.find(ctx, s.db.Ent(), accountID)
	if err != nil {
		return Subscription{}, fmt.Errorf("load subscription of %d: %w", accountID, err)
	}
	return sub, nil
}

// Limits returns what the account may use.
func (s *Subscriptions) Limits(ctx context.Context, accountID int64) (Limits, error) {
	sub, err := s.Of(ctx, accountID)
	if err != nil {
		return Limits{}, err
	}
	plan, ok := s.cfg.Plan(sub.Plan)
	if !ok {
		plan = s.cfg.Standard
	}
	plan = plan.with(sub.Limits)
	return Limits{
		Plan: sub.Plan, Status: sub.Status, Active: sub.Status == StatusActive,
		MaxFeedSize: plan.MaxFeedSize, Workspaces: plan.Workspaces, ActiveScrolls: plan.ActiveScrolls,
		DailyUnits: plan.DailyUnits, MonthlyUnits: plan.MonthlyUnits,
		MaxVideos: plan.MaxVideos, FramedVideos: plan.FramedVideos, MaxImportBytes: plan.MaxImportBytes,
	}, nil
}

// Activate records a payment: the account has the plan until periodEnd, whatever
// it had before. A zero periodEnd means that no one has to pay again.
func (s *Subscriptions) Activate(ctx context.Context, tx *store.Tx, accountID int64, plan, interval string, periodEnd time.Time) error {
	if _, ok := s.cfg.Plan(plan); !ok {
		return fmt.Errorf("activate subscription of %d: no plan %q", accountID, plan)
	}
	sub := Subscription{Plan: plan, Interval: interval, Status: StatusActive, PeriodEnd: periodEnd}
	if err := s.put(ctx, tx, accountID, sub); err != nil {
		return fmt.Errorf("activate subscription of %d: %w", accountID, err)
	}
	return nil
}

// Grant gives the account the plan for nothing and without end. An account that
// pays keeps what it pays for, also while the provider still tries to collect: with
// its id forgotten, no one here could end the subscription or hear of its payment.
func (s *Subscriptions) Grant(ctx context.Context, tx *store.Tx, accountID int64, plan string) error {
	old, err := s.find(ctx, tx.Ent(), accountID)
	if err != nil {
		return fmt.Errorf("grant %q to %d: %w", plan, accountID, err)
	}
	if old.paying() {
		return nil
	}
	return s.Activate(ctx, tx, accountID, plan, "", time.Time{})
}

// Change gives the account another plan for nothing and without end, or ends what it has where
// plan is empty. It fails for an account that pays: its plan changes where it pays.
func (s *Subscriptions) Change(ctx context.Context, accountID int64, plan string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		old, err := s.find(ctx, tx.Ent(), accountID)
		switch {
		case err != nil:
			return fmt.Errorf("change the plan of %d: %w", accountID, err)
		case old.paying():
			return apierr.New(apierr.OperationError, "The account pays for its plan. Change or end the subscription at the payment provider; the server follows.")
		case plan != "":
			return s.Activate(ctx, tx, accountID, plan, "", time.Time{})
		case old.Status != StatusActive:
			return nil
		}
		return s.put(ctx, tx, accountID, Subscription{Plan: old.Plan, Status: StatusCancelled})
	})
}

// adopt records a subscription that the provider renews, as it is. replaced
// is the provider's id of an older one that has not ended. One that is over before
// it was claimed replaces nothing that is in force.
func (s *Subscriptions) adopt(ctx context.Context, tx *store.Tx, accountID int64, plan, interval string, state SubscriptionState) (replaced string, err error) {
	old, err := s.find(ctx, tx.Ent(), accountID)
	if err != nil {
		return "", err
	}
	if state.Status == StatusCancelled && (old.Status == StatusActive || old.Status == StatusPastDue) {
		return "", nil
	}
	if old.External != state.ID && old.Status != StatusCancelled {
		replaced = old.External
	}
	sub := Subscription{
		Plan: plan, Interval: interval, Status: state.Status,
		PeriodEnd: state.PeriodEnd, External: state.ID,
	}
	if state.Plan != "" && state.Interval != "" {
		sub.Plan, sub.Interval = state.Plan, state.Interval
	}
	if err := s.put(ctx, tx, accountID, sub); err != nil {
		return "", fmt.Errorf("adopt subscription of %d: %w", accountID, err)
	}
	return replaced, nil
}

// periodEnd is when a period that begins at a moment ends, by the calendar: the
// 31st is followed by the last day of a shorter month.
func periodEnd(from time.Time, interval string) time.Time {
	from = from.UTC()
	months := 1
	if interval == Annual {
		months = 12
	}
	end := from.AddDate(0, months, 0)
	if end.Day() != from.Day() { // AddDate ran over into the next month
		end = end.AddDate(0, 0, -end.Day())
	}
	return end
}
