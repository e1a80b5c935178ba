package billing

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/billing/stripetest"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func always(trouble stripetest.Trouble) func(stripetest.Request) stripetest.Trouble {
	return func(stripetest.Request) stripetest.Trouble { return trouble }
}

// once is trouble with the next request that the test does not skip.
func once(trouble stripetest.Trouble, of func(stripetest.Request) bool) func(stripetest.Request) stripetest.Trouble {
	var mu sync.Mutex
	done := false
	return func(r stripetest.Request) stripetest.Trouble {
		mu.Lock()
		defer mu.Unlock()
		if done || !of(r) {
			return stripetest.Trouble{}
		}
		done = true
		return trouble
	}
}

func anyRequest(stripetest.Request) bool { return true }

// Whatever Stripe does to it, a payment is credited once, and every call says in
// time that it may be tried again.
func TestStripeInTrouble(t *testing.T) {
	t.Parallel()
	const timeout = 250 * time.Millisecond // more than a busy machine needs
	for name, trouble := range map[string]stripetest.Trouble{
		"429": {Status: http.StatusTooManyRequests}, "500": {Status: http.StatusInternalServerError},
		"never": {Never: true}, "slower than we wait": {Wait: 3 * timeout},
		"done, the answer lost": {Done: true, Never: true}, "done, then 503": {Done: true, Status: http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, storetest.SQLite(t), func(c *Config) { c.Stripe.Timeout = timeout })
			s.inTrouble(t, trouble, stripeTries*timeout+5*time.Second)
		})
	}
}

func (s *shop) inTrouble(t *testing.T, trouble stripetest.Trouble, most time.Duration) {
	ctx := viewer.As(context.Background(), 7)
	s.Breaks(once(trouble, anyRequest))
	url, err := s.Topup(ctx, 500)
	if err != nil {
		t.Fatalf("once: %v", err)
	}
	session := stripetest.SessionOf(url)
	s.Pay(session, payer)
	events := s.Take("")
	s.Breaks(always(trouble))
	for what, ask := range map[string]func() error{
		"topup":   func() error { _, err := s.Topup(ctx, 500); return err },
		"confirm": func() error { _, _, err := s.ConfirmTopup(ctx, session); return err },
	} {
		began := time.Now()
		if err := ask(); !apierr.Is(err, apierr.TemporaryServiceError) || !apierr.As(err).Retryable {
			t.Errorf("%s: got %v, want a retryable %s", what, err, apierr.TemporaryServiceError)
		}
		if took := time.Since(began); took > most {
			t.Errorf("%s: got an answer after %v, want it within %v", what, took, most)
		}
	}
	s.deliver(t, http.StatusServiceUnavailable, events...)
	if got, err := s.ledger.Balance(ctx, 7); err != nil || got != 0 {
		t.Errorf("got a balance of %d, %v before Stripe said so, want 0", got, err)
	}
	s.Breaks(once(trouble, anyRequest))
	s.deliver(t, http.StatusOK, events...)
	s.Breaks(nil)
	if status, got, err := s.ConfirmTopup(ctx, session); err != nil || status != ClaimCompleted || got != 500 {
		t.Errorf("got %s, a balance of %d, %v; want %s and 500", status, got, err, ClaimCompleted)
	}
}

// A claim while Stripe is away takes nothing: the next one gets the key.
func TestStripeAwayDuringAClaim(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := openShop(t, db, func(c *Config) { c.Stripe.Timeout = 250 * time.Millisecond }), context.Background()
		url, token, err := s.Subscribe(ctx, "standard", Monthly)
		if err != nil {
			t.Fatal(err)
		}
		s.Pay(stripetest.SessionOf(url), payer)
		s.deliver(t, http.StatusOK, s.Take("")...) // the row says paid
		s.Breaks(always(stripetest.Trouble{Never: true}))
		if _, err := s.ClaimSubscription(ctx, token); !apierr.Is(err, apierr.TemporaryServiceError) {
			t.Error(err)
		}
		if n := storetest.Count(t, db, "SELECT count(*) FROM keys") + storetest.Count(t, db, "SELECT count(*) FROM accounts"); n != 0 {
			t.Errorf("%d rows, want 0", n)
		}
		s.Breaks(nil)
		if claim, err := s.ClaimSubscription(ctx, token); err != nil || claim.APIKey == "" {
			t.Errorf("got %+v, error %v; want a key", claim, err)
		}
	})
}

// All the questions of one call together are bounded, not only each.
func TestStripeSlowInEveryStep(t *testing.T) {
	t.Parallel()
	s := openShop(t, storetest.SQLite(t))
	s.Breaks(always(stripetest.Trouble{Never: true}))
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, _, err := s.Subscribe(ctx, "pro", Annual); !apierr.Is(err, apierr.TemporaryServiceError) {
		t.Error(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("a caller who waits for 300ms waited for %v, want at most %v", took, 10*time.Second)
	}
}

// The job that ends a replaced subscription does so whatever Stripe does to it,
// and never takes another account's for ended.
func TestStripeEndsAReplacedSubscription(t *testing.T) {
	t.Parallel()
	s := openShop(t, storetest.SQLite(t), func(c *Config) { c.Stripe.Timeout = 250 * time.Millisecond })
	end := func(id string) error {
		return Ender(s.Service).Work(context.Background(), []byte(fmt.Sprintf(`{"subscription":%q}`, id)))
	}
	removal := func(r stripetest.Request) bool { return r.Method == http.MethodDelete }
	for name, trouble := range map[string]stripetest.Trouble{
		"none": {}, "500": {Status: 500}, "done, the answer lost": {Done: true, Never: true},
	} {
		t.Run(name, func(t *testing.T) {
			sub, _, _ := s.subscription(t)
			s.Breaks(always(stripetest.Trouble{Status: 503}))
			if err := end(sub); err == nil || s.Text(sub, "status") != "active" {
				t.Errorf("while Stripe is down: got %v, %s, want an error, active", err, s.Text(sub, "status"))
			}
			s.Breaks(once(trouble, removal))
			for range 2 { // a job may run twice
				if err := end(sub); err != nil || s.Text(sub, "status") != "canceled" {
					t.Errorf("got error %v, subscription %s; want it canceled", err, s.Text(sub, "status"))
				}
			}
			s.Breaks(nil)
			s.Take("")
		})
	}
	sub, _, _ := s.subscription(t)
	s.Set(sub, "canceled") // by its owner, in Stripe
	if err := end(sub); err != nil {
		t.Errorf("ended before: %v", err)
	}
	if err := end("sub_of_another_account"); err == nil || !strings.Contains(err.Error(), "No such subscription") {
		t.Errorf(`unknown: %v, want an error and text with "No such subscription"`, err)
	}
}
