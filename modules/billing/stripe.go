package billing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/charge"
	"github.com/stripe/stripe-go/v76/checkout/session"
	"github.com/stripe/stripe-go/v76/dispute"
	"github.com/stripe/stripe-go/v76/price"
	"github.com/stripe/stripe-go/v76/product"
	"github.com/stripe/stripe-go/v76/refund"
	"github.com/stripe/stripe-go/v76/subscription"
	"github.com/stripe/stripe-go/v76/webhookendpoint"

	"github.com/scrollery/scrollery/modules/kernel/fair"
)

const (
	// stripeTries is how often a request is sent before its failure is returned.
	stripeTries = 3
	// stripePause is the wait before the second try, and doubles.
	stripePause = 200 * time.Millisecond
	// stripeTotal bounds all requests and tries of one question together.
	stripeTotal = 20 * time.Second
)

// Stripe is the provider that takes money. It believes nothing but Stripe's own
// answers, and every write carries an idempotency key: sent twice, it is done once.
type Stripe struct {
	cfg           Config
	sessions      session.Client
	prices        price.Client
	products      product.Client
	subscriptions subscription.Client
	charges       charge.Client
	disputes      dispute.Client
	refunds       refund.Client
	webhooks      webhookendpoint.Client
	now           func() time.Time
	pause         time.Duration
}

var _ Remote = (*Stripe)(nil)

// NewStripe returns the provider. Nothing is asked of Stripe yet.
func NewStripe(cfg Config) *Stripe {
	config := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: cfg.Stripe.Timeout},
		MaxNetworkRetries: stripe.Int64(0), // retried here, 429 too
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
		EnableTelemetry:   stripe.Bool(false),
	}
	if cfg.Stripe.APIURL != "" {
		config.URL = stripe.String(cfg.Stripe.APIURL)
	}
	backend, key := stripe.GetBackendWithConfig(stripe.APIBackend, config), cfg.Stripe.SecretKey
	return &Stripe{
		cfg:           cfg,
		sessions:      session.Client{B: backend, Key: key},
		prices:        price.Client{B: backend, Key: key},
		products:      product.Client{B: backend, Key: key},
		subscriptions: subscription.Client{B: backend, Key: key},
		charges:       charge.Client{B: backend, Key: key},
		disputes:      dispute.Client{B: backend, Key: key},
		refunds:       refund.Client{B: backend, Key: key},
		webhooks:      webhookendpoint.Client{B: backend, Key: key},
		now:           time.Now,
		pause:         stripePause,
	}
}

// try sends a request until it is answered, or is not worth another try.
func (s *Stripe) try(ctx context.Context, what string, send func(ctx context.Context) error) error {
	defer fair.StepAside(ctx)() // Stripe may take long, which is not the account's other calls' wait
	ctx, cancel := context.WithTimeout(ctx, stripeTotal)
	defer cancel()
	for try := 1; ; try++ {
		err := send(ctx)
		if err == nil {
			return nil
		}
		if try == stripeTries || ctx.Err() != nil || !passing(err) {
			if !passing(err) {
				err = fmt.Errorf("%w: %w", errRefused, err)
			}
			return fmt.Errorf("stripe: %s: %w", what, err)
		}
		pause := s.pause << (try - 1)
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

// passing reports whether another try may succeed: Stripe is busy, broken or not reached.
func passing(err error) bool {
	var answer *stripe.Error
	if !errors.As(err, &answer) {
		return true
	}
	return answer.HTTPStatusCode == http.StatusTooManyRequests || answer.HTTPStatusCode == http.StatusConflict ||
		answer.HTTPStatusCode >= http.StatusInternalServerError
}

// noCustomer reports that Stripe refuses a request because its customer is gone.
func noCustomer(err error) bool {
	var answer *stripe.Error
	return errors.As(err, &answer) && answer.Code == stripe.ErrorCodeResourceMissing && answer.Param == "customer"
}

// missing reports that Stripe has no such object.
func missing(err error) bool {
	var answer *stripe.Error
	return errors.As(err, &answer) && answer.HTTPStatusCode == http.StatusNotFound
}
