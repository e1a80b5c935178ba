package billing

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func (b *bundle) session(url string) string { return url[len("https://pay.example/"):] }

func (b *bundle) topup(t testing.TB, ctx context.Context, cents int64) (url string) {
	t.Helper()
	url, err := b.Topup(ctx, cents)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func (b *bundle) wantConfirm(t testing.TB, ctx context.Context, url, status string, balance int64) {
	t.Helper()
	got, cents, err := b.ConfirmTopup(ctx, b.session(url))
	if err != nil || got != status || cents != balance {
		t.Errorf("confirm: %s, %d, %v; want %s, %d", got, cents, err, status, balance)
	}
}

func TestATopupIsCreditedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		owner, stranger := viewer.As(context.Background(), 7), viewer.As(context.Background(), 8)
		url := b.topup(t, owner, 500)
		b.wantConfirm(t, owner, url, ClaimPending, 0)
		b.till.set(url, Paid)
		b.wantConfirm(t, stranger, url, ClaimInvalidSession, 0)
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				if status, _, err := b.ConfirmTopup(owner, b.session(url)); err != nil || status != ClaimCompleted {
					t.Errorf("got %s, error %v; want %s", status, err, ClaimCompleted)
				}
			})
		}
		group.Wait()
		b.wantConfirm(t, owner, url, ClaimCompleted, 500)

		left := b.topup(t, owner, 100)
		b.till.set(left, Cancelled)
		b.wantConfirm(t, owner, left, ClaimInvalidSession, 500)
		b.wantConfirm(t, owner, "https://pay.example/unknown", ClaimInvalidSession, 500)
	})
}

func TestASignupOpensAnAccountWithCreditsOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b, ctx := setup(t, db), context.Background()
		url, token, err := b.Signup(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		if claim, err := b.ClaimSignup(ctx, token); err != nil || claim.Status != ClaimPending {
			t.Errorf("unpaid: got %+v, error %v; want it %s", claim, err, ClaimPending)
		}
		b.till.set(url, Paid)
		if got := b.claim(t, token); got.Status != ClaimInvalidToken {
			t.Errorf("a sign-up's token opened a subscription: %+v, want %v", got, ClaimInvalidToken)
		}
		var completed atomic.Int64
		var group sync.WaitGroup
		for range 16 {
			group.Go(func() {
				claim, err := b.ClaimSignup(ctx, token)
				switch {
				case err != nil:
					t.Error(err)
				case claim.Status == ClaimCompleted && claim.APIKey != "" && claim.Credits == 1000:
					completed.Add(1)
					account, _ := publicid.Parse(publicid.Account, claim.AccountID)
					if sub, _ := b.subscriptions.Of(ctx, account); sub.Status != StatusNone {
						t.Errorf("subscription %+v, want %v", sub, StatusNone)
					}
				case claim.Status != ClaimAlreadyClaimed || claim.APIKey != "":
					t.Errorf("got %+v, want it %s without a key", claim, ClaimAlreadyClaimed)
				}
			})
		}
		group.Wait()
		if completed.Load() != 1 {
			t.Errorf("%d claims were completed, want 1", completed.Load())
		}
		paid, subscription := b.begin(t, ctx)
		b.till.set(paid, Paid)
		if claim, err := b.ClaimSignup(ctx, subscription); err != nil || claim.Status != ClaimInvalidToken {
			t.Errorf("a sign-up with a subscription's token: got %+v, error %v; want %s", claim, err, ClaimInvalidToken)
		}
	})
}

func TestCreditsAreSoldInBounds(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	ctx := viewer.As(context.Background(), 7)
	for _, cents := range []int64{-1, 1, 99, 1_000_001} {
		t.Run(fmt.Sprintf("%d cents are refused", cents), func(t *testing.T) {
			if _, err := b.Topup(ctx, cents); !apierr.Is(err, apierr.InvalidRequest) {
				t.Errorf("top-up of %d, want %v: %v", cents, apierr.InvalidRequest, err)
			}
			if _, _, err := b.Signup(ctx, cents); !apierr.Is(err, apierr.InvalidRequest) {
				t.Errorf("sign-up with %d, want %v: %v", cents, apierr.InvalidRequest, err)
			}
		})
	}
	b.topup(t, ctx, MinCents)
	b.topup(t, ctx, MaxCents)
}

func TestCreditsWhileTheProviderIsDown(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	ctx := viewer.As(context.Background(), 7)
	url := b.topup(t, ctx, 100)
	b.till.set(url, Paid)
	b.till.down = true
	if _, _, err := b.ConfirmTopup(ctx, b.session(url)); !apierr.Is(err, apierr.TemporaryServiceError) {
		t.Errorf("confirm: %v, want %v", err, apierr.TemporaryServiceError)
	}
	if _, err := b.Topup(ctx, 100); !apierr.Is(err, apierr.TemporaryServiceError) {
		t.Errorf("top up: %v, want %v", err, apierr.TemporaryServiceError)
	}
	b.till.down = false
	b.wantConfirm(t, ctx, url, ClaimCompleted, 100)
}
