package billing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v76"
)

// Setup makes the products and prices of the plans, and changes what differs.
// Run again, it changes nothing. A price cannot be changed in Stripe: a new one
// takes over the lookup key, and those who subscribed keep theirs.
func (s *Stripe) Setup(ctx context.Context) (report []string, err error) {
	for _, plan := range []Plan{s.cfg.Standard, s.cfg.Pro} {
		done, err := s.setUpProduct(ctx, plan)
		if err != nil {
			return report, err
		}
		report = append(report, done)
		for _, interval := range []string{Monthly, Annual} {
			done, err := s.setUpPrice(ctx, plan, interval)
			if err != nil {
				return report, err
			}
			report = append(report, done)
		}
	}
	return report, nil
}

// Check asks for what checkouts and events need: the prices, with the key, and an
// enabled webhook endpoint at url. It changes nothing. The signing secret of an endpoint
// cannot be read, so only its form is checked.
func (s *Stripe) Check(ctx context.Context, url string) error {
	for _, plan := range []Plan{s.cfg.Standard, s.cfg.Pro} {
		for _, interval := range []string{Monthly, Annual} {
			key := plan.Lookup(interval)
			found, err := s.lookUp(ctx, key)
			if err != nil {
				return err
			}
			if found == nil {
				return fmt.Errorf("stripe has no price %s: run `scrollery admin billing setup`", key)
			}
			if found.UnitAmount != plan.Cents(interval) {
				return fmt.Errorf("stripe has another amount for price %s: run `scrollery admin billing setup`", key)
			}
		}
	}
	secret := s.cfg.Stripe.WebhookSecret
	if secret == "" {
		return nil
	}
	if !strings.HasPrefix(secret, "whsec_") {
		return errors.New("the webhook secret is not a signing secret, which begins with whsec_")
	}
	return s.checkWebhook(ctx, url)
}

// maxEndpoints is how many endpoints of an account are looked at; Stripe permits 16.
const maxEndpoints = 100

func (s *Stripe) checkWebhook(ctx context.Context, url string) error {
	enabled := false
	err := s.try(ctx, "list webhooks", func(ctx context.Context) error {
		params := &stripe.WebhookEndpointListParams{}
		params.Context, params.Limit, params.Single = ctx, stripe.Int64(maxEndpoints), true
		all := s.webhooks.List(params)
		for all.Next() {
			one := all.WebhookEndpoint()
			enabled = enabled || one.URL == url && one.Status == "enabled"
		}
		return all.Err()
	})
	if err == nil && !enabled {
		return fmt.Errorf("stripe has no enabled webhook to %s", url)
	}
	return err
}

// productID is of our own making, so that it needs no search.
func productID(plan Plan) string { return "scrollery_" + plan.Key }

func (s *Stripe) setUpProduct(ctx context.Context, plan Plan) (string, error) {
	id, name := productID(plan), "Scrollery "+plan.Label
	var found *stripe.Product
	err := s.try(ctx, "load a product", func(ctx context.Context) (err error) {
		params := &stripe.ProductParams{}
		params.Context = ctx
		found, err = s.products.Get(id, params)
		return err
	})
	if err != nil && !missing(err) {
		return "", err
	}
	if err == nil && found.Name == name && found.Active {
		return "product " + id + ": unchanged", nil
	}
	known := err == nil
	err = s.try(ctx, "set up a product", func(ctx context.Context) (err error) {
		params := &stripe.ProductParams{Name: stripe.String(name)}
		params.Context = ctx
		if known {
			params.Active = stripe.Bool(true)
			_, err = s.products.Update(id, params)
			return err
		}
		params.ID = stripe.String(id)
		params.SetIdempotencyKey("scrollery-product-" + id + "-" + name)
		_, err = s.products.New(params)
		return err
	})
	if known {
		return "product " + id + ": changed", err
	}
	return "product " + id + ": made", err
}

func (s *Stripe) setUpPrice(ctx context.Context, plan Plan, interval string) (string, error) {
	key, cents := plan.Lookup(interval), plan.Cents(interval)
	every := stripe.PriceRecurringIntervalMonth
	if interval == Annual {
		every = stripe.PriceRecurringIntervalYear
	}
	found, err := s.lookUp(ctx, key)
	if err != nil {
		return "", err
	}
	if found != nil && found.UnitAmount == cents && found.Currency == stripe.CurrencyUSD &&
		found.Recurring != nil && found.Recurring.Interval == every && found.Recurring.IntervalCount == 1 {
		return "price " + key + ": unchanged", nil
	}
	taken := "none"
	if found != nil {
		taken = found.ID
	}
	err = s.try(ctx, "make a price", func(ctx context.Context) error {
		params := &stripe.PriceParams{
			Product: stripe.String(productID(plan)), Currency: stripe.String(string(stripe.CurrencyUSD)),
			UnitAmount: stripe.Int64(cents), LookupKey: stripe.String(key), TransferLookupKey: stripe.Bool(true),
			Recurring: &stripe.PriceRecurringParams{Interval: stripe.String(string(every))},
			Metadata:  map[string]string{metaPlan: plan.Key, metaInterval: interval},
		}
		params.Context = ctx
		params.SetIdempotencyKey(fmt.Sprintf("scrollery-price-%s-%d-%s", key, cents, taken))
		_, err := s.prices.New(params)
		return err
	})
	return fmt.Sprintf("price %s: made at %s", key, dollars(cents)), err
}
