package billing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/fault"
	"github.com/scrollery/scrollery/modules/ident"
	"github.com/scrollery/scrollery/modules/store"
	"github.com/scrollery/scrollery/modules/store/storetest"
	"github.com/scrollery/scrollery/modules/viewer"
)

// shop is a service that sells through the double.
type shop struct {
	*Service
	*double
	provider *Stripe
	hook     *Webhook
	purse    *purse
	smith    *locksmith
}

func openShop(t testing.TB, db *store.DB) *shop {
	t.Helper()
	s := &shop{
		double: newDouble(t), smith: &locksmith{db: db},
		purse: &purse{done: map[string]bool{}, cents: map[int64]int64{}},
	}
	cfg := Defaults()
	cfg.Stripe = StripeConfig{SecretKey: "sk_test_double", WebhookSecret: doubleSecret, APIURL: s.URL, Timeout: 5 * time.Second}
	s.provider = NewStripe(cfg)
	s.Service = New(db, cfg, s.smith, s.purse, s.provider, NewSubscriptions(db, cfg), storetest.Log(t))
	s.hook = NewWebhook(s.Service, cfg, storetest.Log(t))
	if _, err := s.provider.Setup(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shop) deliver(t testing.TB, want int, events ...object) {
	t.Helper()
	for _, event := range events {
		s.send(t, want, s.sign(event, doubleSecret, time.Now()))
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

func sessionOf(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

func (s *shop) subscription(t testing.TB) (id, account string, token string) {
	t.Helper()
	url, token, err := s.Subscribe(context.Background(), "pro", Monthly)
	if err != nil {
		t.Fatal(err)
	}
	s.pay(sessionOf(url))
	claim, err := s.ClaimSubscription(context.Background(), token)
	if err != nil || claim.Status != ClaimCompleted {
		t.Fatalf("claim %+v, %v", claim, err)
	}
	return s.objects[sessionOf(url)]["subscription"].(string), claim.AccountID, token
}

func (s *shop) wantSub(t testing.TB, account, status string) {
	t.Helper()
	id, _ := ident.Parse(ident.Account, account)
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
		t.Fatal(report, err)
	}
	for _, line := range report {
		if !strings.HasSuffix(line, ": unchanged") {
			t.Error(line)
		}
	}
	s.provider.cfg.Pro.MonthlyCents = 12_345
	report, err = s.provider.Setup(context.Background())
	if err != nil || !slices.Contains(report, "price scrollery_pro_monthly: made at $123.45") {
		t.Error(report, err)
	}
	found, err := s.provider.lookUp(context.Background(), "scrollery_pro_monthly")
	if err != nil || found.UnitAmount != 12_345 {
		t.Error(found, err)
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
			t.Errorf("again: %+v, %v", again, err)
		}
		for _, step := range []struct{ stripe, want string }{
			{"past_due", StatusPastDue}, {"active", StatusActive}, {"unpaid", StatusPastDue}, {"canceled", StatusCancelled},
		} {
			s.set(sub, step.stripe)
			if done, err := s.SyncAll(context.Background()); err != nil || done.Changed != 1 {
				t.Errorf("%s: %+v, %v", step.stripe, done, err)
			}
			s.wantSub(t, account, step.want)
		}
	})
}

func TestStripeWebhooks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := openShop(t, db)
		sub, account, _ := s.subscription(t)
		s.deliver(t, http.StatusOK, s.take()...)
		s.set(sub, "past_due")
		late := s.take()
		s.set(sub, "active")
		now := s.take()
		s.deliver(t, http.StatusOK, now...)
		s.deliver(t, http.StatusOK, late...) // the older one comes last
		s.wantSub(t, account, StatusActive)
		s.set(sub, "canceled")
		ended := s.take()
		forged := s.sign(ended[0], "whsec_of_somebody", time.Now())
		s.send(t, http.StatusBadRequest, forged)
		s.send(t, http.StatusBadRequest, s.sign(ended[0], doubleSecret, time.Now().Add(-10*time.Minute)))
		unsigned := s.sign(ended[0], doubleSecret, time.Now())
		unsigned.Header.Del("Stripe-Signature")
		s.send(t, http.StatusBadRequest, unsigned)
		s.wantSub(t, account, StatusActive)
		s.deliver(t, http.StatusOK, ended...)
		before := s.calls
		s.deliver(t, http.StatusOK, ended...)
		if s.calls != before {
			t.Error("a replayed event asked Stripe again")
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
			s.pay(sessionOf(url))
			return sessionOf(url)
		}
		want := func(what string, cents int64) {
			t.Helper()
			if got, _ := s.purse.Balance(ctx, 7); got != cents {
				t.Errorf("%s: balance %d, want %d", what, got, cents)
			}
		}
		first := buy()
		paid := s.take()
		s.deliver(t, http.StatusOK, paid...)
		s.deliver(t, http.StatusOK, paid...)
		want("webhook", 1000)
		if status, _, err := s.ConfirmTopup(ctx, first); err != nil || status != ClaimCompleted {
			t.Error(status, err)
		}
		want("confirmed too", 1000)

		second := buy() // its webhook is lost, and nobody confirms
		lost := s.take()
		s.Service.now = func() time.Time { return time.Now().Add(time.Hour) }
		if err := s.Reconcile(context.Background()); err != nil {
			t.Fatal(err)
		}
		want("reconciled", 2000)
		s.deliver(t, http.StatusOK, lost...)
		want("found again", 2000)

		s.refund(first, 300, 0)
		partial := s.take()
		s.refund(first, 700, 0)
		s.deliver(t, http.StatusOK, s.take()...)
		s.deliver(t, http.StatusOK, partial...)
		want("refunded", 1300)
		s.refund(first, 0, 1000)
		s.deliver(t, http.StatusOK, s.take()...)
		want("disputed what was left", 1000)

		third := buy()
		s.refund(third, 400, 0)
		events := s.take()
		slices.Reverse(events)
		s.deliver(t, http.StatusOK, events...)
		want("refunded before it was credited", 1600)
		_ = second

		fourth := buy()
		s.refund(fourth, 1000, 0)
		events = s.take()
		slices.Reverse(events)
		s.deliver(t, http.StatusOK, events...)
		if status, _, err := s.ConfirmTopup(ctx, fourth); err != nil || status != ClaimInvalidSession {
			t.Error("given back before it was credited:", status, err)
		}
		want("given back", 1600)
	})
}

func TestStripeInTrouble(t *testing.T) {
	t.Parallel()
	s := openShop(t, storetest.SQLite(t))
	ctx := viewer.As(context.Background(), 7)
	url, err := s.Topup(ctx, 500)
	if err != nil {
		t.Fatal(err)
	}
	s.pay(sessionOf(url))
	events := s.take()
	for _, status := range []int{http.StatusTooManyRequests, http.StatusInternalServerError} {
		start := s.calls
		s.breaks(func(call int, _ *http.Request) int { // once
			if call == start+1 {
				return status
			}
			return 0
		})
		if _, err := s.Topup(ctx, 500); err != nil {
			t.Errorf("%d once: %v", status, err)
		}
		s.breaks(func(int, *http.Request) int { return status })
		if _, _, err := s.ConfirmTopup(ctx, sessionOf(url)); !fault.Is(err, fault.TemporaryServiceError) {
			t.Errorf("%d always: %v", status, err)
		}
		s.deliver(t, http.StatusServiceUnavailable, events...)
	}
	s.provider.sessions.B = NewStripe(func() Config {
		cfg := s.provider.cfg
		cfg.Stripe.Timeout = 50 * time.Millisecond
		return cfg
	}()).sessions.B
	s.breaks(func(int, *http.Request) int { return -1 })
	if _, _, err := s.ConfirmTopup(ctx, sessionOf(url)); !fault.Is(err, fault.TemporaryServiceError) {
		t.Errorf("never: %v", err)
	}
	s.breaks(nil)
	s.deliver(t, http.StatusOK, events...)
	if got, _ := s.purse.Balance(ctx, 7); got != 500 {
		t.Errorf("balance %d", got)
	}
}

// A payer, his client and Stripe act in a random order; webhooks are lost,
// doubled and reordered, and any step may be cut off before its commit. In the
// end whoever paid has what he paid for, once, and nobody else has anything.
func TestStripeInterleavings(t *testing.T) {
	t.Parallel()
	s := openShop(t, storetest.SQLite(t))
	rounds := 500
	if testing.Short() {
		rounds = 50
	}
	for round := range rounds {
		s.interleave(t, rand.New(rand.NewPCG(uint64(round), 11)), int64(1_000_000+round))
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

// errCut stands for a process that was killed before its commit.
var errCut = errors.New("cut off")

func (s *shop) interleave(t *testing.T, random *rand.Rand, account int64) {
	ctx := viewer.As(context.Background(), account)
	topup := random.IntN(2) == 0
	var url, token string
	var err error
	if topup {
		url, err = s.Topup(ctx, 700)
	} else {
		url, token, err = s.Subscribe(context.Background(), "standard", Monthly)
	}
	if err != nil {
		t.Fatal(err)
	}
	session, paid, keys := sessionOf(url), false, 0
	var mail []object
	ask := func() {
		if topup {
			if status, _, err := s.ConfirmTopup(ctx, session); err != nil || (status == ClaimCompleted) != paid {
				t.Errorf("confirm: %s, %v; paid: %v", status, err, paid)
			}
			return
		}
		claim, err := s.ClaimSubscription(context.Background(), token)
		if s.smith.fail {
			if err == nil && claim.APIKey != "" {
				t.Error("a key came out of a claim that was cut off")
			}
			return
		}
		if claim.APIKey != "" {
			keys++
		}
		if err != nil || claim.APIKey != "" && !paid {
			t.Errorf("claim: %+v, %v; paid: %v", claim, err, paid)
		}
	}
	for range 12 {
		s.smith.fail = random.IntN(4) == 0
		switch random.IntN(6) {
		case 0:
			if random.IntN(2) == 0 {
				s.pay(session)
				paid = true
				mail = append(mail, s.take()...)
			}
		case 1, 2:
			ask()
		case 3:
			if len(mail) > 0 { // any of them, and perhaps once more
				s.deliver(t, http.StatusOK, mail[random.IntN(len(mail))])
			}
		case 4:
			if len(mail) > 0 {
				s.cut(t, mail[random.IntN(len(mail))])
			}
		case 5:
			if len(mail) > 0 {
				mail = mail[1:] // lost
			}
		}
	}
	s.smith.fail = false
	ask()
	switch {
	case topup:
		want := int64(0)
		if paid {
			want = 700
		}
		if got, _ := s.purse.Balance(ctx, account); got != want {
			t.Errorf("balance %d, paid: %v", got, paid)
		}
	case paid != (keys == 1):
		t.Errorf("%d keys, paid: %v", keys, paid)
	}
}

// cut applies an event and is killed before the commit.
func (s *shop) cut(t *testing.T, event object) {
	kind := fmt.Sprint(event["type"])
	err := s.db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error {
		if _, err := s.events.record(ctx, tx, Notice{ID: fmt.Sprint(event["id"]), Kind: kind}, time.Now()); err != nil {
			return err
		}
		return errCut
	})
	if !errors.Is(err, errCut) {
		t.Error(err)
	}
}
