package billing

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/billing/stripetest"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// payer is an address as payers type them.
const payer = "Payer@Example.com"

// shop is a service that sells through the double.
type shop struct {
	*Service
	*stripetest.Double
	provider *Stripe
	hook     *Webhook
	ledger   *ledger
	smith    *locksmith
}

func openShop(t testing.TB, db *store.DB, change ...func(*Config)) *shop {
	t.Helper()
	s := &shop{
		Double: stripetest.New(t), smith: &locksmith{db: db},
		ledger: &ledger{done: map[string]bool{}, cents: map[int64]int64{}},
	}
	cfg := Defaults()
	cfg.Stripe = StripeConfig{SecretKey: stripetest.SecretKey, WebhookSecret: stripetest.WebhookSecret, APIURL: s.URL, Timeout: 5 * time.Second}
	for _, change := range change {
		change(&cfg)
	}
	s.provider = NewStripe(cfg)
	s.provider.pause = 5 * time.Millisecond
	s.Service = New(db, cfg, s.smith, s.ledger, s.provider, NewSubscriptions(db, cfg), storetest.Log(t))
	s.hook = NewWebhook(s.Service, cfg, storetest.Log(t))
	if _, err := s.provider.Setup(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) deliver(t testing.TB, want int, events ...stripetest.Event) {
	t.Helper()
	for _, event := range events {
		s.send(t, want, stripetest.Sign(WebhookPath, event, stripetest.WebhookSecret, time.Now()))
	}
}

func (s *shop) send(t testing.TB, want int, r *http.Request) {
	t.Helper()
	w := httptest.NewRecorder()
	s.hook.ServeHTTP(w, r)
	if w.Code != want {
		t.Errorf("webhook: %d %s, want %d", w.Code, w.Body, want)
	}
}

func (s *shop) subscription(t testing.TB) (id, account string, token string) {
	t.Helper()
	url, token, err := s.Subscribe(context.Background(), "pro", Monthly)
	if err != nil {
		t.Fatal(err)
	}
	s.Pay(stripetest.SessionOf(url), payer)
	claim, err := s.ClaimSubscription(context.Background(), token)
	if err != nil || claim.Status != ClaimCompleted {
		t.Fatalf("got %+v, error %v; want it %s", claim, err, ClaimCompleted)
	}
	return s.Text(stripetest.SessionOf(url), "subscription"), claim.AccountID, token
}

func (s *shop) wantSub(t testing.TB, account, status string) {
	t.Helper()
	id, _ := publicid.Parse(publicid.Account, account)
	sub, err := s.subscriptions.Of(context.Background(), id)
	if err != nil || sub.Status != status {
		t.Errorf("subscription %+v, %v; want %s", sub, err, status)
	}
}

func TestStripeSetupIsIdempotent(t *testing.T) {
	t.Parallel()
	s := openShop(t, storetest.SQLite(t))
	report, err := s.provider.Setup(context.Background())
	if err != nil || len(report) != 6 {
		t.Fatalf("got %q, %v, want 6 lines", report, err)
	}
	for _, line := range report {
		if !strings.HasSuffix(line, ": unchanged") {
			t.Errorf("got %q, want it unchanged", line)
		}
	}
	s.provider.cfg.Pro.MonthlyCents = 12_345
	report, err = s.provider.Setup(context.Background())
	if err != nil || !slices.Contains(report, "price scrollery_pro_monthly: made at $123.45") {
		t.Errorf("got %q, %v, want a new price of $123.45 for pro by the month", report, err)
	}
	found, err := s.provider.lookUp(context.Background(), "scrollery_pro_monthly")
	if err != nil || found.UnitAmount != 12_345 {
		t.Errorf("got %+v, %v, want a price of 12345 cents", found, err)
	}
}

// No webhook ever arrives.
func TestStripeSubscriptionsLiveWithoutWebhooks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := openShop(t, db)
		sub, account, token := s.subscription(t)
		s.wantSub(t, account, StatusActive)
		if again, err := s.ClaimSubscription(context.Background(), token); err != nil || again.Status != ClaimAlreadyClaimed || again.APIKey != "" {
			t.Errorf("again: got %+v, error %v; want it %s without a key", again, err, ClaimAlreadyClaimed)
		}
		for _, step := range []struct{ stripe, want string }{
			{"past_due", StatusPastDue}, {"active", StatusActive}, {"unpaid", StatusPastDue}, {"canceled", StatusCancelled},
		} {
			t.Run(step.stripe+" is "+step.want, func(t *testing.T) {
				s.Set(sub, step.stripe)
				if done, err := s.Updates.SyncAll(context.Background()); err != nil || done.Changed != 1 {
					t.Errorf("%s: got %+v, error %v; want 1 changed", step.stripe, done, err)
				}
				s.wantSub(t, account, step.want)
			})
		}
	})
}

func TestStripeWebhooks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := openShop(t, db)
		sub, account, _ := s.subscription(t)
		s.deliver(t, http.StatusOK, s.Take("")...)
		s.Set(sub, "past_due")
		late := s.Take("")
		s.Set(sub, "active")
		now := s.Take("")
		s.deliver(t, http.StatusOK, now...)
		s.deliver(t, http.StatusOK, late...) // the older one comes last
		s.wantSub(t, account, StatusActive)
		s.Set(sub, "canceled")
		ended := s.Take("")
		forged := stripetest.Sign(WebhookPath, ended[0], "whsec_of_somebody", time.Now())
		s.send(t, http.StatusBadRequest, forged)
		s.send(t, http.StatusBadRequest, stripetest.Sign(WebhookPath, ended[0], stripetest.WebhookSecret, time.Now().Add(-10*time.Minute)))
		unsigned := stripetest.Sign(WebhookPath, ended[0], stripetest.WebhookSecret, time.Now())
		unsigned.Header.Del("Stripe-Signature")
		s.send(t, http.StatusBadRequest, unsigned)
		s.wantSub(t, account, StatusActive)
		s.deliver(t, http.StatusOK, ended...)
		before := s.Calls()
		s.deliver(t, http.StatusOK, ended...)
		if s.Calls() != before {
			t.Errorf("got %d calls of Stripe after a replayed event, want %d as before", s.Calls(), before)
		}
		s.wantSub(t, account, StatusCancelled)
	})
}

func TestStripeTopupsAndTheirEnds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := openShop(t, db), viewer.As(context.Background(), 7)
		buy := func() string {
			url, err := s.Topup(ctx, 1000)
			if err != nil {
				t.Fatal(err)
			}
			s.Pay(stripetest.SessionOf(url), payer)
			return stripetest.SessionOf(url)
		}
		want := func(what string, cents int64) {
			t.Helper()
			if got, _ := s.ledger.Balance(ctx, 7); got != cents {
				t.Errorf("%s: balance %d, want %d", what, got, cents)
			}
		}
		first := buy()
		paid := s.Take("")
		s.deliver(t, http.StatusOK, paid...)
		s.deliver(t, http.StatusOK, paid...)
		want("webhook", 1000)
		if status, _, err := s.ConfirmTopup(ctx, first); err != nil || status != ClaimCompleted {
			t.Errorf("got %s, %v, want %s", status, err, ClaimCompleted)
		}
		want("confirmed too", 1000)

		second := buy() // its webhook is lost, and no one confirms
		lost := s.Take("")
		s.Service.now = func() time.Time { return time.Now().Add(time.Hour) }
		if err := s.Updates.reconcileAll(context.Background()); err != nil {
			t.Fatal(err)
		}
		want("reconciled", 2000)
		s.deliver(t, http.StatusOK, lost...)
		want("found again", 2000)

		s.Refund(first, 300)
		partial := s.Take("")
		s.Refund(first, 400)
		s.deliver(t, http.StatusOK, s.Take("")...)
		s.deliver(t, http.StatusOK, partial...)
		want("refunded", 1300)
		s.Dispute(first, 1000)
		s.deliver(t, http.StatusOK, s.Take("")...)
		want("disputed what was left", 1000)

		third := buy()
		s.Refund(third, 400)
		events := s.Take("")
		slices.Reverse(events)
		s.deliver(t, http.StatusOK, events...)
		want("refunded before it was credited", 1600)
		_ = second

		fourth := buy()
		s.Refund(fourth, 1000)
		events = s.Take("")
		slices.Reverse(events)
		s.deliver(t, http.StatusOK, events...)
		if status, _, err := s.ConfirmTopup(ctx, fourth); err != nil || status != ClaimInvalidSession {
			t.Errorf("given back before it was credited: got %v, error %v; want %s", status, err, ClaimInvalidSession)
		}
		want("given back", 1600)
	})
}

// A bank's inquiry takes nothing before it becomes a dispute, and that takes its
// amount once, whichever events arrive, in whatever order.
func TestStripeInquiriesThatEscalate(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := openShop(t, db)
		for name, order := range map[string][]string{
			"updated alone":   {"updated"},
			"withdrawn alone": {"funds_withdrawn"},
			"in order, twice": {"created", "updated", "funds_withdrawn", "created", "updated", "funds_withdrawn"},
			"backwards":       {"funds_withdrawn", "updated", "created"},
		} {
			t.Run(name, func(t *testing.T) {
				account := db.NewID()
				ctx := viewer.As(context.Background(), account)
				url, err := s.Topup(ctx, 1000)
				if err != nil {
					t.Fatal(err)
				}
				session := stripetest.SessionOf(url)
				s.Pay(session, payer)
				s.deliver(t, http.StatusOK, s.Take("")...)
				want := func(when string, cents int64) {
					t.Helper()
					if got, _ := s.ledger.Balance(ctx, account); got != cents {
						t.Errorf("%s: got a balance of %d, want %d", when, got, cents)
					}
				}
				events := map[string]stripetest.Event{}
				take := func() {
					for _, event := range s.Take("") {
						events[strings.TrimPrefix(event.Kind, "charge.dispute.")] = event
					}
				}
				inquiry := s.Inquire(session, 700)
				take()
				if order[0] == "created" {
					s.deliver(t, http.StatusOK, events["created"])
				}
				s.reconciled(t)
				want("while the bank only asks", 1000)
				s.Escalate(inquiry)
				take()
				for _, kind := range order {
					s.deliver(t, http.StatusOK, events[kind])
				}
				want("in the end", 300)
			})
		}
	})
}
