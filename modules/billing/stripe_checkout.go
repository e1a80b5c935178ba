package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v76"
)

// Stripe takes no checkout that ends sooner or later than this.
const (
	stripeShortest = 31 * time.Minute
	stripeLongest  = 24*time.Hour - time.Minute
)

// Create opens a Checkout Session: a subscription at the price with the plan's
// lookup key, or one payment of credits. One that replaces another is sold to the
// same customer, since Stripe credits customers, not accounts.
func (s *Stripe) Create(ctx context.Context, order Order) (id, url string, err error) {
	ctx, cancel := context.WithTimeout(ctx, stripeTotal)
	defer cancel()
	now := s.now()
	ends := now.Add(min(max(order.ExpiresAt.Sub(now), stripeShortest), stripeLongest))
	marks := map[string]string{"scrollery_checkout": order.Reference, "scrollery_purpose": order.Purpose}
	params := &stripe.CheckoutSessionParams{
		SuccessURL:        stripe.String(s.cfg.BaseURL + CheckoutPath + "paid?session={CHECKOUT_SESSION_ID}"),
		CancelURL:         stripe.String(s.cfg.BaseURL + CheckoutPath + "left"),
		ClientReferenceID: stripe.String(order.Reference),
		ExpiresAt:         stripe.Int64(ends.Unix()),
		Metadata:          marks,
	}
	params.SetIdempotencyKey("scrollery-checkout-" + order.Reference)
	if order.Purpose == purposeSubscription {
		found, err := s.priceOf(ctx, order.Plan, order.Interval)
		if err != nil {
			return "", "", err
		}
		params.Mode = stripe.String(string(stripe.CheckoutSessionModeSubscription))
		params.LineItems = []*stripe.CheckoutSessionLineItemParams{{Price: stripe.String(found), Quantity: stripe.Int64(1)}}
		params.SubscriptionData = &stripe.CheckoutSessionSubscriptionDataParams{Metadata: marks}
		if params.Customer, err = s.customerOf(ctx, order.Replaces); err != nil {
			return "", "", err
		}
	} else {
		params.Mode = stripe.String(string(stripe.CheckoutSessionModePayment))
		params.LineItems = []*stripe.CheckoutSessionLineItemParams{{
			Quantity: stripe.Int64(1),
			PriceData: &stripe.CheckoutSessionLineItemPriceDataParams{
				Currency: stripe.String(string(stripe.CurrencyUSD)), UnitAmount: stripe.Int64(order.AmountCents),
				ProductData: &stripe.CheckoutSessionLineItemPriceDataProductDataParams{
					Name: stripe.String(fmt.Sprintf("%d Scrollery credits", order.AmountCents)),
				},
			},
		}}
		params.PaymentIntentData = &stripe.CheckoutSessionPaymentIntentDataParams{Metadata: marks}
	}
	made, err := s.open(ctx, params)
	if noCustomer(err) { // deleted, though the subscription still names it
		params.Customer = nil
		params.SetIdempotencyKey("scrollery-checkout-" + order.Reference + "-anew")
		made, err = s.open(ctx, params)
	}
	if err != nil {
		return "", "", err
	}
	return made.ID, made.URL, nil
}

func (s *Stripe) open(ctx context.Context, params *stripe.CheckoutSessionParams) (made *stripe.CheckoutSession, err error) {
	err = s.try(ctx, "open a checkout", func(ctx context.Context) (err error) {
		params.Context = ctx
		made, err = s.sessions.New(params)
		return err
	})
	return made, err
}

// priceOf finds the active price with the lookup key of a plan and interval.
func (s *Stripe) priceOf(ctx context.Context, planKey, interval string) (string, error) {
	plan, _ := s.cfg.Plan(planKey)
	found, err := s.lookUp(ctx, plan.Lookup(interval))
	if err == nil && found == nil {
		err = fmt.Errorf("stripe: no active price has the lookup key %q: run `scrollery admin billing setup`", plan.Lookup(interval))
	}
	if err != nil {
		return "", err
	}
	return found.ID, nil
}

// lookUp returns the active price with a lookup key, or nil.
func (s *Stripe) lookUp(ctx context.Context, key string) (found *stripe.Price, err error) {
	err = s.try(ctx, "look up a price", func(ctx context.Context) error {
		params := &stripe.PriceListParams{LookupKeys: []*string{&key}, Active: stripe.Bool(true)}
		params.Context, params.Limit, params.Single = ctx, stripe.Int64(1), true
		list := s.prices.List(params)
		found = nil
		if list.Next() {
			found = list.Price()
		}
		return list.Err()
	})
	return found, err
}

// State asks for the session. A payment under way is neither open nor paid: bank
// debits take days.
func (s *Stripe) State(ctx context.Context, id string) (Payment, error) {
	var found *stripe.CheckoutSession
	err := s.try(ctx, "load a checkout", func(ctx context.Context) (err error) {
		params := &stripe.CheckoutSessionParams{}
		params.AddExpand("subscription")
		params.AddExpand("payment_intent")
		params.Context = ctx
		found, err = s.sessions.Get(id, params)
		return err
	})
	if missing(err) { // of another account, or of the test checkout
		return Payment{State: Unknown}, nil
	}
	if err != nil {
		return Payment{}, err
	}
	payment := Payment{State: sessionState(found)}
	if found.CustomerDetails != nil {
		payment.Email = found.CustomerDetails.Email
	}
	if found.PaymentIntent != nil {
		payment.ID = found.PaymentIntent.ID
	}
	if found.Subscription != nil {
		payment.Subscription = s.state(found.Subscription)
	}
	return payment, nil
}

func sessionState(found *stripe.CheckoutSession) State {
	switch found.Status {
	case stripe.CheckoutSessionStatusExpired:
		return Expired
	case stripe.CheckoutSessionStatusOpen:
		return Open
	}
	if found.PaymentStatus != stripe.CheckoutSessionPaymentStatusUnpaid {
		return Paid
	}
	if intent := found.PaymentIntent; intent != nil &&
		(intent.Status == stripe.PaymentIntentStatusRequiresPaymentMethod || intent.Status == stripe.PaymentIntentStatusCanceled) {
		return Cancelled
	}
	if sub := found.Subscription; sub != nil &&
		(sub.Status == stripe.SubscriptionStatusIncompleteExpired || sub.Status == stripe.SubscriptionStatusCanceled) {
		return Cancelled
	}
	return Processing
}

// SessionOf finds the session of a payment intent.
func (s *Stripe) SessionOf(ctx context.Context, payment string) (id string, err error) {
	err = s.try(ctx, "find the checkout of a payment", func(ctx context.Context) error {
		params := &stripe.CheckoutSessionListParams{PaymentIntent: stripe.String(payment)}
		params.Context, params.Limit, params.Single = ctx, stripe.Int64(1), true
		list := s.sessions.List(params)
		id = ""
		if list.Next() {
			id = list.CheckoutSession().ID
		}
		return list.Err()
	})
	return id, err
}
