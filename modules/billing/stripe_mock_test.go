package billing

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76"
)

// mock starts Stripe's own mock, which knows every parameter of its API and
// refuses what is not one.
func mock(t *testing.T) (url string) {
	t.Helper()
	if testing.Short() {
		t.Skip("stripe-mock takes seconds to start")
	}
	path, err := exec.Command("go", "tool", "-n", "stripe-mock").Output()
	if err != nil {
		t.Skipf("no stripe-mock: %v", err)
	}
	run := exec.Command(strings.TrimSpace(string(path)), "-http-addr", "127.0.0.1:0")
	out, err := run.StdoutPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, address, ok := strings.Cut(lines.Text(), "Listening for HTTP at address: "); ok {
			return "http://" + address
		}
	}
	t.Fatal("got no address from stripe-mock, want one")
	return ""
}

// Every request that is ever sent is one that Stripe's description allows.
func TestStripeTakesEveryRequest(t *testing.T) {
	t.Parallel()
	cfg := Defaults()
	cfg.Stripe = StripeConfig{SecretKey: "sk_test_123", APIURL: mock(t), Timeout: 30 * time.Second}
	s, ctx := NewStripe(cfg), context.Background()
	ends := time.Now().Add(24 * time.Hour)
	for name, ask := range map[string]func() error{
		"setup": func() error { _, err := s.Setup(ctx); return err },
		"product": func() error { // the mock has every product already
			_, err := s.products.New(&stripe.ProductParams{ID: stripe.String("scrollery_pro"), Name: stripe.String("Scrollery Pro")})
			return err
		},
		"subscription": func() error {
			_, _, err := s.Create(ctx, Order{Reference: "1", Purpose: purposeSubscription, Plan: "pro", Interval: Annual, ExpiresAt: ends})
			return err
		},
		"subscription that replaces one": func() error {
			_, _, err := s.Create(ctx, Order{Reference: "3", Purpose: purposeSubscription, Plan: "pro", Interval: Annual, Replaces: "sub_123", ExpiresAt: ends})
			return err
		},
		"top-up": func() error {
			_, _, err := s.Create(ctx, Order{Reference: "2", Purpose: purposeTopup, AmountCents: 500, ExpiresAt: ends})
			return err
		},
		"state":                   func() error { _, err := s.State(ctx, "cs_test_123"); return err },
		"state of a subscription": func() error { _, _, err := s.Subscription(ctx, "sub_123"); return err },
		"end":                     func() error { return s.End(ctx, "sub_123") },
		"reversal":                func() error { _, err := s.Reversal(ctx, "ch_123"); return err },
		"reversals":               func() error { _, err := s.Reversals(ctx, time.Now().Add(-time.Hour)); return err },
		"disputes":                func() error { _, err := s.disputed(ctx, "ch_123"); return err },
		"session of":              func() error { _, err := s.SessionOf(ctx, "pi_123"); return err },
		"lookup a key":            func() error { _, err := s.lookUp(ctx, "scrollery_pro_annual"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := ask(); err != nil {
				t.Errorf("got %v, want no error", err)
			}
		})
	}
	_, err := s.prices.New(&stripe.PriceParams{Currency: stripe.String("usd"), Params: stripe.Params{Context: ctx}, Nickname: stripe.String("x"), BillingScheme: stripe.String("nonsense")})
	var refused *stripe.Error
	if !errors.As(err, &refused) {
		t.Errorf("got %v for a made-up billing scheme, want an error of Stripe", err)
	}
}
