package credits

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// Every spender does the same number of movements of its own random mix, on one
// account, and sums up what succeeded.
func TestRacingSpendersEndAtTheSum(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		const spenders, movements = 64, 8
		s, ctx := New(db), context.Background()
		account := db.NewID()
		if _, err := s.Grant(ctx, account, 500, "start"); err != nil {
			t.Fatal(err)
		}
		var sum, refused atomic.Int64
		sum.Store(500)
		var all sync.WaitGroup
		for spender := range spenders {
			all.Go(func() {
				random := rand.New(rand.NewPCG(7, uint64(spender)))
				for n := range movements {
					moved, err := s.random(ctx, account, random, fmt.Sprintf("%d/%d", spender, n))
					switch {
					case apierr.Is(err, apierr.PaymentRequired):
						refused.Add(1)
					case err != nil:
						t.Errorf("spender %d: got %v, want no error or %v", spender, err, apierr.PaymentRequired)
					}
					sum.Add(moved)
				}
			})
		}
		all.Wait()
		s.wantSound(t, account, sum.Load())
		if refused.Load() == 0 {
			t.Error("got no refusal of any spender, want some: else the mix proves nothing")
		}
	})
}

// random makes one movement, and half of the time the same one again.
func (s *Service) random(ctx context.Context, account int64, random *rand.Rand, name string) (moved int64, err error) {
	credits := 1 + random.Int64N(120)
	kind, again := random.IntN(14), random.IntN(2) == 0
	if kind >= 10 {
		return s.use(ctx, account, 1+credits%9, kind < 13, "run:"+name)
	}
	for range 2 {
		err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			switch {
			case kind < 5:
				moved = -credits
				return s.Spend(ctx, tx, account, credits, "fee:"+name, Fee)
			case kind < 8:
				moved = -1
				return s.Spend(ctx, tx, account, 1, "run:"+name, Run)
			case kind < 9:
				moved = credits
				return s.Return(ctx, tx, account, credits, "return:"+name)
			default:
				moved = credits
				return s.Add(ctx, tx, account, credits, "topup:"+name, Topup)
			}
		})
		if err != nil {
			return 0, err
		}
		if !again {
			break
		}
	}
	return moved, nil
}

// use holds credits one by one, as a program's seconds are, then pays or releases them.
func (s *Service) use(ctx context.Context, account, credits int64, pay bool, name string) (moved int64, err error) {
	held := int64(0)
	for ; held < credits; held++ {
		err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return s.Hold(ctx, tx, account, 1) })
		if err != nil {
			break
		}
	}
	if held == 0 || err != nil && !apierr.Is(err, apierr.PaymentRequired) {
		return 0, err
	}
	if !pay {
		return 0, s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return s.Release(ctx, tx, account, held, name) })
	}
	return -held, s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return s.Pay(ctx, tx, account, held, name, Run) })
}

// wantSound checks the balance against the expected sum and against the entries.
func (s *Service) wantSound(t *testing.T, account, want int64) {
	t.Helper()
	now, err := s.Balance(context.Background(), account)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := s.Entries(context.Background(), account, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	var sum, owed int64
	for i := len(entries) - 1; i >= 0; i-- {
		sum += entries[i].Amount
		owed += entries[i].Owed
		if sum != entries[i].Balance || sum < 0 || owed < 0 {
			t.Fatalf("after %s: got a balance of %d in the entry, want the sum %d, and neither it nor the owed %d below 0", entries[i].Reference, entries[i].Balance, sum, owed)
		}
	}
	if now.Held != 0 {
		t.Errorf("%d are still held, want 0", now.Held)
	}
	if now.Credits != want || sum != want || now.Owed != owed {
		t.Errorf("balance %d (owed %d), entries %d (owed %d), want %d", now.Credits, now.Owed, sum, owed, want)
	}
}
