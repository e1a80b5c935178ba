package billing

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/billing/stripetest"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// later has the service see a later time.
func (s *shop) later(by time.Duration) {
	s.Service.now = func() time.Time { return time.Now().Add(by) }
}

func (s *shop) reconciled(t testing.TB) {
	t.Helper()
	if err := s.Updates.reconcileAll(context.Background()); err != nil {
		t.Error(err)
	}
}

// Bank debits take days: nothing is handed out before they arrive, and nothing
// when they do not, with events and without.
func TestStripePaymentsThatTakeDays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := openShop(t, db)
		for name, test := range map[string]struct{ events, arrives bool }{
			"arrives": {true, true}, "fails": {true, false}, "arrives unsaid": {false, true}, "fails unsaid": {false, false},
		} {
			t.Run(name, func(t *testing.T) {
				s.later(0)
				ctx := viewer.As(context.Background(), db.NewID())
				account, _, _ := viewer.Tenant(ctx)
				topup, err := s.Topup(ctx, 500)
				if err != nil {
					t.Fatal(err)
				}
				sub, token, err := s.Subscribe(context.Background(), "standard", Monthly)
				if err != nil {
					t.Fatal(err)
				}
				want := func(when, confirm, claim string, credits int64) {
					t.Helper()
					status, balance, err := s.ConfirmTopup(ctx, stripetest.SessionOf(topup))
					if err != nil || status != confirm || balance != credits {
						t.Errorf("%s, %s: got %s, balance %d, error %v; want %s and %d", name, when, status, balance, err, confirm, credits)
					}
					got, err := s.ClaimSubscription(context.Background(), token)
					if err != nil || got.Status != claim || (got.APIKey != "") != (claim == ClaimCompleted) {
						t.Errorf("%s, %s: got %+v, %v, want the status %s, and a key exactly where it is completed", name, when, got, err, claim)
					}
				}
				for _, url := range []string{topup, sub} {
					s.PayLater(stripetest.SessionOf(url), payer)
				}
				s.deliver(t, http.StatusOK, s.Take("")...)
				want("under way", ClaimPending, ClaimPending, 0)
				s.later(3 * 24 * time.Hour) // long after a checkout expires
				s.reconciled(t)
				want("days later", ClaimPending, ClaimPending, 0)
				for _, url := range []string{topup, sub} {
					if test.arrives {
						s.Succeed(stripetest.SessionOf(url))
					} else {
						s.Fail(stripetest.SessionOf(url))
					}
				}
				events := s.Take("")
				if test.events {
					s.deliver(t, http.StatusOK, append(events, events...)...)
				} else {
					s.later(4 * 24 * time.Hour)
					s.reconciled(t)
				}
				credited := map[bool]int64{true: 500}[test.arrives]
				if got, err := s.ledger.Balance(ctx, account); err != nil || got != credited {
					t.Errorf("%s: got a balance of %d, %v before anybody asked, want %d", name, got, err, credited)
				}
				if test.arrives {
					want("in the end", ClaimCompleted, ClaimCompleted, 500)
				} else {
					want("in the end", ClaimInvalidSession, ClaimInvalidSession, 0)
				}
			})
		}
	})
}

// Refunds and disputes of which no event arrives are found by asking.
func TestStripeReversalsLiveWithoutWebhooks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := openShop(t, db), viewer.As(context.Background(), 7)
		var sessions []string
		for range 3 {
			url, err := s.Topup(ctx, 1000)
			if err != nil {
				t.Fatal(err)
			}
			sessions = append(sessions, stripetest.SessionOf(url))
			s.Pay(sessions[len(sessions)-1], payer)
			if status, _, err := s.ConfirmTopup(ctx, sessions[len(sessions)-1]); status != ClaimCompleted {
				t.Fatalf("got %s, %v, want %s", status, err, ClaimCompleted)
			}
		}
		want := func(cents int64) {
			t.Helper()
			s.reconciled(t)
			if got, _ := s.ledger.Balance(ctx, 7); got != cents {
				t.Errorf("balance %d, want %d", got, cents)
			}
		}
		s.Refund(sessions[0], 100)
		s.Refund(sessions[0], 200)
		s.Dispute(sessions[1], 1000)
		want(1700)
		calls := s.Calls()
		want(1700)
		if s.Calls() != calls+2 {
			t.Errorf("%d requests to learn nothing new, want 2", s.Calls()-calls)
		}
		s.deliver(t, http.StatusOK, s.Take("")...) // after all
		want(1700)

		url, token, err := s.Signup(context.Background(), 600) // given back before its claim
		if err != nil {
			t.Fatal(err)
		}
		s.Pay(stripetest.SessionOf(url), payer)
		s.Refund(stripetest.SessionOf(url), 600)
		s.Take("")
		s.reconciled(t)
		if claim, err := s.ClaimSignup(context.Background(), token); err != nil || claim.Status != ClaimInvalidSession {
			t.Errorf("given back: got %+v, error %v; want it %s", claim, err, ClaimInvalidSession)
		}
	})
}

// A key of another Stripe account, set by mistake, ends nothing for good.
func TestAnotherStripeAccountEndsNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := openShop(t, db), context.Background()
		sub, account, _ := s.subscription(t)
		url, token, err := s.Subscribe(ctx, "pro", Monthly)
		if err != nil {
			t.Fatal(err)
		}
		s.Pay(stripetest.SessionOf(url), payer)
		lost := s.Take("")
		s.Breaks(func(r stripetest.Request) stripetest.Trouble {
			if strings.Contains(r.Path, "/subscriptions/") || strings.Contains(r.Path, "/sessions/") {
				return stripetest.Trouble{Status: http.StatusNotFound}
			}
			return stripetest.Trouble{}
		})
		s.later(24 * time.Hour)
		s.reconciled(t)
		s.deliver(t, http.StatusOK, lost[0])
		if done, err := s.Updates.SyncAll(ctx); err != nil || done.Unknown != 1 || done.Changed != 0 {
			t.Errorf("got %+v, error %v; want 1 unknown and none changed", done, err)
		}
		if claim, err := s.ClaimSubscription(ctx, token); err != nil || claim.Status != ClaimInvalidSession {
			t.Errorf("got %+v, error %v; want it %s", claim, err, ClaimInvalidSession)
		}
		s.wantSub(t, account, StatusActive)
		s.Breaks(nil)
		if claim, err := s.ClaimSubscription(ctx, token); err != nil || claim.APIKey == "" {
			t.Errorf("with the right key: got %+v, error %v; want a key", claim, err)
		}
		s.Set(sub, "past_due")
		if done, err := s.Updates.SyncAll(ctx); err != nil || done.Changed != 1 || done.Unknown != 0 {
			t.Errorf("got %+v, error %v; want 1 changed and none unknown", done, err)
		}
		s.wantSub(t, account, StatusPastDue)
	})
}

// Stripe's own end of a checkout counts, not ours: its shortest is longer than a
// lifetime that an operator may set.
func TestStripeTellsWhenACheckoutEnds(t *testing.T) {
	t.Parallel()
	s, ctx := openShop(t, storetest.SQLite(t), func(c *Config) { c.CheckoutTTL = time.Minute }), context.Background()
	url, token, err := s.Subscribe(ctx, "pro", Monthly)
	if err != nil {
		t.Fatal(err)
	}
	s.later(10 * time.Minute)
	if claim, err := s.ClaimSubscription(ctx, token); err != nil || claim.Status != ClaimPending {
		t.Errorf("got %+v, error %v; want it %s", claim, err, ClaimPending)
	}
	s.Pay(stripetest.SessionOf(url), payer)
	if claim, err := s.ClaimSubscription(ctx, token); err != nil || claim.APIKey == "" {
		t.Errorf("got %+v, error %v; want a key", claim, err)
	}
}

// What fails for ever holds up nothing; when no one answers, a run gives up soon.
func TestReconciliationGoesOn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := openShop(t, db), viewer.As(context.Background(), 7)
		broken, _, _ := s.subscription(t)
		fine, account, _ := s.subscription(t)
		paths := map[string]bool{"/v1/subscriptions/" + broken: true}
		for i := range 6 {
			url, err := s.Topup(ctx, 100)
			if err != nil {
				t.Fatal(err)
			}
			s.Pay(stripetest.SessionOf(url), payer)
			if i < 4 {
				paths["/v1/checkout/sessions/"+stripetest.SessionOf(url)] = true
			}
		}
		s.Set(fine, "past_due")
		s.Take("")
		s.Breaks(func(r stripetest.Request) stripetest.Trouble {
			if paths[r.Path] {
				return stripetest.Trouble{Status: http.StatusBadRequest}
			}
			return stripetest.Trouble{}
		})
		s.later(24 * time.Hour)
		if err := s.Updates.reconcileAll(context.Background()); err == nil || strings.Count(err.Error(), "reconcile ") != 5 {
			t.Errorf("five of them fail: %v, want an error and count 5", err)
		}
		if got, _ := s.ledger.Balance(ctx, 7); got != 200 {
			t.Errorf("balance %d, want 200", got)
		}
		s.wantSub(t, account, StatusPastDue)

		s.later(48 * time.Hour)
		s.Breaks(always(stripetest.Trouble{Status: http.StatusServiceUnavailable}))
		calls := s.Calls()
		if err := s.Updates.reconcileAll(context.Background()); err == nil || s.Calls()-calls != patience*stripeTries {
			t.Errorf("got %v after %d requests to a Stripe that is down, want an error after %d", err, s.Calls()-calls, patience*stripeTries)
		}
		s.Breaks(nil)
		s.later(72 * time.Hour)
		s.reconciled(t)
		if got, _ := s.ledger.Balance(ctx, 7); got != 600 {
			t.Errorf("balance %d, want 600", got)
		}
	})
}

// A subscription that was over before its claim does not take the place of one
// that is paid for.
func TestWhatIsOverReplacesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := openShop(t, db)
		old, name, _ := s.subscription(t)
		account, _ := publicid.Parse(publicid.Account, name)
		owner := viewer.NewContext(context.Background(), &viewer.Viewer{AccountID: account, KeyID: 1, Scopes: viewer.AllScopes()})
		buy := func() (session, token string) {
			url, token, err := s.Subscribe(owner, "standard", Annual)
			if err != nil {
				t.Fatal(err)
			}
			session = stripetest.SessionOf(url)
			s.Pay(session, payer)
			return session, token
		}
		session, token := buy()
		s.Set(s.Text(session, "subscription"), "canceled")
		claim, err := s.ClaimSubscription(context.Background(), token)
		if err != nil || claim.Status != ClaimCompleted || claim.AccountID != name {
			t.Errorf("got %+v, error %v; want it %s for account %v", claim, err, ClaimCompleted, name)
		}
		s.wantSub(t, name, StatusActive)
		if sub, _ := s.subscriptions.Of(owner, account); sub.External != old || sub.Plan != "pro" {
			t.Errorf(`got %+v, want the provider's subscription %v with plan pro`, sub, old)
		}
		session, token = buy()
		if claim, err := s.ClaimSubscription(context.Background(), token); err != nil || claim.Status != ClaimCompleted {
			t.Errorf("got %+v, error %v; want it %s", claim, err, ClaimCompleted)
		}
		if sub, _ := s.subscriptions.Of(owner, account); sub.External != s.Text(session, "subscription") || sub.Plan != "standard" {
			t.Errorf("got %+v, want the standard subscription %s", sub, s.Text(session, "subscription"))
		}
	})
}

// Invoices name their subscription in another place since 2025.
func TestInvoicesOfNewerVersionsAreRead(t *testing.T) {
	t.Parallel()
	s := openShop(t, storetest.SQLite(t))
	sub, account, _ := s.subscription(t)
	s.Set(sub, "past_due")
	s.Take("")
	s.deliver(t, http.StatusOK, stripetest.Event{ID: "evt_new", Body: []byte(`{"id":"evt_new","object":"event","type":"invoice.payment_failed","api_version":"2025-03-31.basil",
		"data":{"object":{"id":"in_1","object":"invoice","parent":{"type":"subscription_details","subscription_details":{"subscription":"` + sub + `"}}}}}`)})
	s.wantSub(t, account, StatusPastDue)
}
