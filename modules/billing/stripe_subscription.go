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

// Subscription asks the state of a subscription.
func (s *Stripe) Subscription(ctx context.Context, id string) (SubscriptionState, bool, error) {
	found, err := s.load(ctx, id)
	if missing(err) {
		return SubscriptionState{}, false, nil
	}
	if err != nil {
		return SubscriptionState{}, false, err
	}
	return s.state(found), true, nil
}

func (s *Stripe) load(ctx context.Context, id string) (found *stripe.Subscription, err error) {
	err = s.try(ctx, "load a subscription", func(ctx context.Context) (err error) {
		params := &stripe.SubscriptionParams{}
		params.AddExpand("latest_invoice")
		params.Context = ctx
		found, err = s.subscriptions.Get(id, params)
		return err
	})
	return found, err
}

// customerOf returns whom a subscription is charged to; nil for none, and where
// Stripe does not know it.
func (s *Stripe) customerOf(ctx context.Context, subscription string) (*string, error) {
	if subscription == "" {
		return nil, nil
	}
	found, err := s.load(ctx, subscription)
	if missing(err) || err == nil && found.Customer == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &found.Customer.ID, nil
}

func (s *Stripe) state(found *stripe.Subscription) SubscriptionState {
	state := SubscriptionState{ID: found.ID, Status: StatusPastDue}
	switch found.Status {
	case stripe.SubscriptionStatusActive, stripe.SubscriptionStatusTrialing:
		state.Status = StatusActive
	case stripe.SubscriptionStatusCanceled, stripe.SubscriptionStatusIncompleteExpired:
		state.Status = StatusCancelled
	}
	if found.CurrentPeriodEnd > 0 {
		state.PeriodEnd = time.Unix(found.CurrentPeriodEnd, 0)
	}
	if found.Items != nil && len(found.Items.Data) > 0 && found.Items.Data[0].Price != nil {
		state.Plan, state.Interval = s.planOf(found.Items.Data[0].Price)
	}
	return state
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

// End cancels a subscription now, and credits its customer with the rest of the
// time. Stripe would do so for time that was billed and never paid, too: a renewal
// that fails must be worth nothing.
func (s *Stripe) End(ctx context.Context, id string) error {
	found, err := s.load(ctx, id)
	if err != nil {
		return err
	}
	state, paid := s.state(found), found.LatestInvoice != nil && found.LatestInvoice.Status == stripe.InvoiceStatusPaid
	if state.Status == StatusCancelled {
		return nil
	}
	credit, key := state.Status == StatusActive && paid, "scrollery-end-"+id
	if !credit {
		key += "-unpaid" // another request than the one with a credit
	}
	err = s.try(ctx, "end a subscription", func(ctx context.Context) error {
		params := &stripe.SubscriptionCancelParams{InvoiceNow: stripe.Bool(credit), Prorate: stripe.Bool(credit)}
		params.Context = ctx
		params.SetIdempotencyKey(key)
		_, err := s.subscriptions.Cancel(id, params)
		return err
	})
	if !missing(err) {
		return err
	}
	// Stripe knows no way to cancel one twice.
	state, ok, failed := s.Subscription(ctx, id)
	if failed == nil && ok && state.Status == StatusCancelled {
		return nil
	}
	return errors.Join(err, failed)
}
