package billing

import (
	"context"
	"errors"
	"time"

	"github.com/stripe/stripe-go/v76"
)

// What a price says of itself, so that it is known after its lookup key moved on
// to a newer price.
const (
	metaPlan     = "scrollery_plan"
	metaInterval = "scrollery_interval"
)

// Subscription asks how a subscription stands.
func (s *Stripe) Subscription(ctx context.Context, id string) (Standing, bool, error) {
	var found *stripe.Subscription
	err := s.try(ctx, "load a subscription", func(ctx context.Context) (err error) {
		params := &stripe.SubscriptionParams{}
		params.Context = ctx
		found, err = s.subscriptions.Get(id, params)
		return err
	})
	if missing(err) {
		return Standing{}, false, nil
	}
	if err != nil {
		return Standing{}, false, err
	}
	return s.standing(found), true, nil
}

func (s *Stripe) standing(found *stripe.Subscription) Standing {
	standing := Standing{ID: found.ID, Status: StatusPastDue}
	switch found.Status {
	case stripe.SubscriptionStatusActive, stripe.SubscriptionStatusTrialing:
		standing.Status = StatusActive
	case stripe.SubscriptionStatusCanceled, stripe.SubscriptionStatusIncompleteExpired:
		standing.Status = StatusCancelled
	}
	if found.CurrentPeriodEnd > 0 {
		standing.PeriodEnd = time.Unix(found.CurrentPeriodEnd, 0)
	}
	if found.Items != nil && len(found.Items.Data) > 0 && found.Items.Data[0].Price != nil {
		standing.Plan, standing.Interval = s.planOf(found.Items.Data[0].Price)
	}
	return standing
}

// planOf reads a price: by its lookup key, else by what setup wrote on it.
func (s *Stripe) planOf(price *stripe.Price) (planKey, interval string) {
	for _, plan := range []Plan{s.cfg.Standard, s.cfg.Pro} {
		for _, interval := range []string{Monthly, Annual} {
			if price.LookupKey != "" && price.LookupKey == plan.Lookup(interval) {
				return plan.Key, interval
			}
		}
	}
	planKey, interval = price.Metadata[metaPlan], price.Metadata[metaInterval]
	if _, ok := s.cfg.Plan(planKey); !ok || interval != Monthly && interval != Annual {
		return "", ""
	}
	return planKey, interval
}

// End cancels a subscription now, and credits the time that was paid for.
func (s *Stripe) End(ctx context.Context, id string) error {
	err := s.try(ctx, "end a subscription", func(ctx context.Context) error {
		params := &stripe.SubscriptionCancelParams{InvoiceNow: stripe.Bool(true), Prorate: stripe.Bool(true)}
		params.Context = ctx
		params.SetIdempotencyKey("scrollery-end-" + id)
		_, err := s.subscriptions.Cancel(id, params)
		return err
	})
	if !missing(err) {
		return err
	}
	// Stripe knows no way to cancel one twice, nor one of another account.
	standing, ok, failed := s.Subscription(ctx, id)
	if failed == nil && ok && standing.Status == StatusCancelled {
		return nil
	}
	return errors.Join(err, failed)
}
