package billing

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/billing/stripetest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// What is left of a subscription counts for the one that replaces it, if it was
// paid for, and nothing that Stripe forgot stands in the way of paying.
func TestWhatIsLeftOfAReplacedSubscription(t *testing.T) {
	t.Parallel()
	const other = "Another@Example.com"
	for name, test := range map[string]struct {
		before func(s *shop, subscription, customer string)
		same   bool // customer
		credit int64
	}{
		"paid for":       {func(*shop, string, string) {}, true, 9900},
		"renewal failed": {func(s *shop, sub, _ string) { s.Set(sub, "past_due") }, true, 0},
		"paid after all": {func(s *shop, sub, _ string) { s.Set(sub, "past_due"); s.Set(sub, "active") }, true, 9900},
		"customer gone":  {func(s *shop, _, customer string) { s.Forget(customer) }, false, 0},
		"other account": {func(s *shop, sub, _ string) {
			s.Breaks(func(r stripetest.Request) stripetest.Trouble {
				if strings.HasSuffix(r.Path, sub) {
					return stripetest.Trouble{Status: http.StatusNotFound}
				}
				return stripetest.Trouble{}
			})
		}, false, 9900}, // once the right key is set
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				s := openShop(t, db)
				old, account, _ := s.subscription(t)
				customer := s.Text(old, "customer")
				test.before(s, old, customer)
				for _, event := range s.Take("") {
					s.deliver(t, http.StatusOK, event)
				}
				session := s.replace(t, account)
				s.Breaks(nil)
				work(t, db, s.Service)
				if got := s.Text(old, "status"); got != "canceled" {
					t.Errorf(`the old one is %s, want "canceled"`, got)
				}
				got := s.Text(s.Text(session, "subscription"), "customer")
				if got == "" || (got == customer) != test.same || s.Credit(customer) != test.credit {
					t.Errorf("bought by %s after %s, who has %d to his credit, want %d", got, customer, s.Credit(customer), test.credit)
				}
				want := payer
				if !test.same {
					want = other
				}
				if payment, err := s.provider.State(context.Background(), session); err != nil || payment.Email != want {
					t.Errorf("got %+v, error %v; want the address %v", payment, err, want)
				}
			})
		})
	}
}

// A caller without an account here, or without a full key, is no one's customer yet.
func TestAFirstSubscriptionHasACustomerOfItsOwn(t *testing.T) {
	t.Parallel()
	s := openShop(t, storetest.SQLite(t))
	first, _, _ := s.subscription(t)
	second, _, _ := s.subscription(t)
	if one, two := s.Text(first, "customer"), s.Text(second, "customer"); one == "" || one == two {
		t.Errorf("got the customers %q and %q, want two", one, two)
	}
}

// While Stripe does not say whose the subscription is, nothing is sold: the credit
// would be lost.
func TestAnUpgradeWaitsForStripe(t *testing.T) {
	t.Parallel()
	s := openShop(t, storetest.SQLite(t))
	old, _, _ := s.subscription(t)
	order := Order{Reference: "77", Purpose: purposeSubscription, Plan: "pro", Interval: Annual, Replaces: old}
	s.Breaks(func(r stripetest.Request) stripetest.Trouble {
		if strings.HasSuffix(r.Path, old) {
			return stripetest.Trouble{Status: http.StatusServiceUnavailable}
		}
		return stripetest.Trouble{}
	})
	if session, _, err := s.provider.Create(context.Background(), order); err == nil {
		t.Errorf("%s was opened, want an error", session)
	}
	s.Breaks(once(stripetest.Trouble{Done: true, Status: http.StatusServiceUnavailable}, func(r stripetest.Request) bool {
		return r.Method == http.MethodPost
	}))
	session, _, err := s.provider.Create(context.Background(), order)
	if err != nil || s.Text(session, "customer") != s.Text(old, "customer") {
		t.Errorf("got session %s of customer %q, %v; want one of %q", session, s.Text(session, "customer"), err, s.Text(old, "customer"))
	}
}
