package billing

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func TestAPaidCheckoutOpensOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		url, token := b.begin(t, context.Background())
		if !regexp.MustCompile(`^claim_[A-Za-z0-9]{16,128}$`).MatchString(token) {
			t.Errorf("got the token %q, want claim_ and 16 to 128 letters and digits", token)
		}
		if got := b.claim(t, token); got != (Claim{Status: ClaimPending}) {
			t.Errorf("before payment: got %+v, want %s and no more", got, ClaimPending)
		}
		b.till.set(url, Paid)
		first := b.claim(t, token)
		if first.Status != ClaimCompleted || first.APIKey == "" || first.Interval != Annual {
			t.Fatalf("got %+v, want it %s with a key, %v", first, ClaimCompleted, Annual)
		}
		account, ok := publicid.Parse(publicid.Account, first.AccountID)
		if !ok {
			t.Errorf("account %q, want one", first.AccountID)
		}
		want := Claim{Status: ClaimAlreadyClaimed, AccountID: first.AccountID, Interval: Annual}
		if got := b.claim(t, token); got != want {
			t.Errorf("again: %+v, want %v", got, want)
		}
		sub, err := b.subscriptions.Of(context.Background(), account)
		if err != nil {
			t.Fatal(err)
		}
		if sub.Plan != "pro" || sub.Interval != Annual || sub.Status != StatusActive || !sub.PeriodEnd.Equal(periodEnd(b.clock, Annual)) {
			t.Errorf("got %+v, want an active, annual pro until %v", sub, periodEnd(b.clock, Annual))
		}
		if got := storetest.Count(t, db, "SELECT count(*) FROM accounts WHERE email = 'ana@example.com'"); got != 1 {
			t.Errorf("%d accounts, want 1", got)
		}
		found, err := db.Ent().Checkout.Query().Only(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if row := found.String(); strings.Contains(row, token) || strings.Contains(row, token[len(tokenPrefix):]) {
			t.Errorf("got the row %s, want it without the token %s", row, token)
		}
	})
}

func TestClaimsThatOpenNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		if got := b.claim(t, "claim_0123456789abcdef"); got.Status != ClaimInvalidToken {
			t.Errorf("unknown: %+v, want %v", got, ClaimInvalidToken)
		}
		for _, state := range []State{Cancelled, Expired} {
			t.Run(fmt.Sprint(state), func(t *testing.T) {
				url, token := b.begin(t, context.Background())
				b.till.set(url, state)
				for range 2 {
					if got := b.claim(t, token); got != (Claim{Status: ClaimInvalidSession}) {
						t.Errorf("%s: got %+v, want %s and no more", state, got, ClaimInvalidSession)
					}
				}
				b.till.set(url, Paid) // what has ended stays so
				if got := b.claim(t, token); got.Status != ClaimInvalidSession {
					t.Errorf("paid after %s, want %v: %+v", state, ClaimInvalidSession, got)
				}
			})
		}

		_, token := b.begin(t, context.Background())
		late, lateToken := b.begin(t, context.Background())
		b.clock = b.clock.Add(24 * time.Hour)
		if got := b.claim(t, token); got.Status != ClaimPending { // the provider may still take the money
			t.Errorf("a day later: %+v, want %v", got, ClaimPending)
		}
		b.till.set(late, Paid)
		if got := b.claim(t, lateToken); got.Status != ClaimCompleted {
			t.Errorf("paid in time, claimed late: %+v, want %v", got, ClaimCompleted)
		}
		if got := storetest.Count(t, db, "SELECT count(*) FROM keys"); got != 1 {
			t.Errorf("%d keys, want 1", got)
		}
	})
}

func TestRacingClaimsMintOneKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		url, token := b.begin(t, context.Background())
		b.till.set(url, Paid)
		start := make(chan struct{})
		var group sync.WaitGroup
		var completed, already atomic.Int64
		accounts := sync.Map{}
		for range 32 {
			group.Go(func() {
				<-start
				claim, err := b.ClaimSubscription(context.Background(), token)
				if err != nil {
					t.Error(err)
					return
				}
				switch claim.Status {
				case ClaimCompleted:
					completed.Add(1)
				case ClaimAlreadyClaimed:
					already.Add(1)
				}
				accounts.Store(claim.AccountID, true)
			})
		}
		close(start)
		group.Wait()
		different := 0
		accounts.Range(func(any, any) bool { different++; return true })
		if completed.Load() != 1 || already.Load() != 31 || different != 1 {
			t.Errorf("got %d completed, %d already claimed and %d accounts, want 1, 31 and 1", completed.Load(), already.Load(), different)
		}
		for _, table := range []string{"accounts", "keys", "subscriptions"} {
			if got := storetest.Count(t, db, "SELECT count(*) FROM "+table); got != 1 {
				t.Errorf("%d %s, want 1", got, table)
			}
		}
	})
}

func TestAClaimIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		url, token := b.begin(t, context.Background())
		b.till.set(url, Paid)
		b.smith.fail = true
		if claim, err := b.ClaimSubscription(context.Background(), token); err == nil {
			t.Fatalf("claim %+v, want an error", claim)
		}
		for _, table := range []string{"accounts", "keys", "subscriptions"} {
			if got := storetest.Count(t, db, "SELECT count(*) FROM "+table); got != 0 {
				t.Errorf("%d %s were left behind, want 0", got, table)
			}
		}
		b.smith.fail = false
		if got := b.claim(t, token); got.Status != ClaimCompleted {
			t.Errorf("the customer is lost: %+v, want %v", got, ClaimCompleted)
		}
	})
}

func TestAProviderThatIsAwayIsWorthARetry(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	_, token := b.begin(t, context.Background())
	b.till.down = true
	_, _, subscribeErr := b.Subscribe(context.Background(), "pro", Annual)
	_, claimErr := b.ClaimSubscription(context.Background(), token)
	for name, err := range map[string]error{"subscribe": subscribeErr, "claim": claimErr} {
		t.Run(name, func(t *testing.T) {
			f := apierr.As(err)
			if f == nil || f.Kind != apierr.TemporaryServiceError || !f.Retryable || strings.Contains(f.Message, "10.0.0.7") {
				t.Errorf("got %+v, want a retryable %s without the address", f, apierr.TemporaryServiceError)
			}
		})
	}
	if got := storetest.Count(t, b.db, "SELECT count(*) FROM checkouts"); got != 1 {
		t.Errorf("got %d checkouts, want 1", got)
	}
}

func TestSubscribeWithAKeyIsForItsAccount(t *testing.T) {
	t.Parallel()
	full := viewer.AllScopes()
	for name, c := range map[string]struct {
		who    *viewer.Viewer
		broken bool
		same   bool
	}{
		"a full key":                     {&viewer.Viewer{AccountID: 77, KeyID: 1, Scopes: full}, false, true},
		"a full key, replaced since":     {&viewer.Viewer{AccountID: 77, KeyID: 1, Scopes: full}, true, false},
		"a key with some scopes":         {&viewer.Viewer{AccountID: 77, KeyID: 1, Scopes: full[:5]}, false, false},
		"a session key with every scope": {&viewer.Viewer{AccountID: 77, KeyID: 1, Scopes: full, Session: true}, false, false},
		"nobody":                         {nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, storetest.SQLite(t))
			b.smith.broken = c.broken
			ctx := context.Background()
			if c.who != nil {
				ctx = viewer.NewContext(ctx, c.who)
			}
			for _, plan := range []string{"standard", "pro"} { // the second time replaces the first
				t.Run(plan, func(t *testing.T) {
					url, token, err := b.Subscribe(ctx, plan, Monthly)
					if err != nil {
						t.Fatal(err)
					}
					b.till.set(url, Paid)
					claim := b.claim(t, token)
					account, _ := publicid.Parse(publicid.Account, claim.AccountID)
					if claim.Status != ClaimCompleted || (account == 77) != c.same {
						t.Fatalf("got %+v of account %d, want it completed, for account 77: %t", claim, account, c.same)
					}
					if sub, err := b.subscriptions.Of(ctx, account); err != nil || sub.Plan != plan {
						t.Errorf("got subscription %+v, error %v; want plan %v", sub, err, plan)
					}
				})
			}
		})
	}
}

func TestSubscribeRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	for _, c := range [][2]string{{"gold", Monthly}, {"", Monthly}, {"pro", ""}, {"pro", "weekly"}} {
		t.Run(fmt.Sprintf("%q is refused", c), func(t *testing.T) {
			if _, _, err := b.Subscribe(context.Background(), c[0], c[1]); !apierr.Is(err, apierr.InvalidRequest) {
				t.Errorf("%v, want %v: %v", c, apierr.InvalidRequest, err)
			}
		})
	}
}

func TestSweepForgetsWhatEndedUnpaid(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		paid, paidToken := b.begin(t, context.Background())
		b.till.set(paid, Paid)
		claimed := b.claim(t, paidToken)
		_, open := b.begin(t, context.Background())
		sweep := func(want int64) {
			t.Helper()
			if err := b.Sweep(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := storetest.Count(t, db, "SELECT count(*) FROM checkouts"); got != want {
				t.Errorf("%d checkouts, want %d", got, want)
			}
		}
		sweep(2)
		b.clock = b.clock.Add(24*time.Hour + KeepEnded + time.Second)
		sweep(1)
		if got := b.claim(t, open); got.Status != ClaimInvalidToken {
			t.Errorf("forgotten: %+v, want %v", got, ClaimInvalidToken)
		}
		if got := b.claim(t, paidToken); got.Status != ClaimAlreadyClaimed || got.AccountID != claimed.AccountID {
			t.Errorf("claimed: got %+v, want %s of account %v", got, ClaimAlreadyClaimed, claimed.AccountID)
		}
	})
}
