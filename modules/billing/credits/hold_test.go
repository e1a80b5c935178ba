package credits

import (
	"context"
	"errors"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// What is held can neither be spent nor taken back, and is paid in one entry.
func TestHeldCreditsArePaidWhateverHappens(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, account, ctx := New(db), db.NewID(), context.Background()
		if _, err := s.Grant(ctx, account, 10, "gift"); err != nil {
			t.Fatal(err)
		}
		for range 7 {
			if err := s.do(t, func(ctx context.Context, tx *store.Tx) error { return s.Hold(ctx, tx, account, 1) }); err != nil {
				t.Fatal(err)
			}
		}
		for name, take := range map[string]func(ctx context.Context, tx *store.Tx) error{
			"spend": func(ctx context.Context, tx *store.Tx) error { return s.Spend(ctx, tx, account, 4, "fee", Fee) },
			"hold":  func(ctx context.Context, tx *store.Tx) error { return s.Hold(ctx, tx, account, 4) },
		} {
			t.Run(name, func(t *testing.T) {
				if f := apierr.As(s.do(t, take)); f == nil || f.Kind != apierr.PaymentRequired || f.Required != 4 || f.Balance != 3 {
					t.Errorf("4 of 3 free: got %+v, want %s with the balance", f, apierr.PaymentRequired)
				}
			})
		}
		err := s.do(t, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(
				s.TakeBack(ctx, tx, account, 10, "refund"),
				s.Pay(ctx, tx, account, 5, "run", Run),
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		if now, err := s.Balance(ctx, account); err != nil || now != (Balance{Credits: 2, Held: 2, Owed: 7}) {
			t.Fatalf("got %+v, %v, want %+v", now, err, Balance{Credits: 2, Held: 2, Owed: 7})
		}
		err = s.do(t, func(ctx context.Context, tx *store.Tx) error { return s.Release(ctx, tx, account, 2, "unused") })
		if err != nil {
			t.Fatal(err)
		}
		s.wantSound(t, account, 0) // what is released settles what is owed
		if now, _ := s.Balance(ctx, account); now.Owed != 5 {
			t.Errorf("owed %d, want 5", now.Owed)
		}
	})
}

func TestNobodyPaysFromWhatIsNotHeld(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, account, ctx := New(db), db.NewID(), context.Background()
		if _, err := s.Grant(ctx, account, 10, "gift"); err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(ctx context.Context, tx *store.Tx) error{
			"pay":          func(ctx context.Context, tx *store.Tx) error { return s.Pay(ctx, tx, account, 1, "run", Run) },
			"release":      func(ctx context.Context, tx *store.Tx) error { return s.Release(ctx, tx, account, 1, "run") },
			"hold none":    func(ctx context.Context, tx *store.Tx) error { return s.Hold(ctx, tx, account, 0) },
			"hold below 0": func(ctx context.Context, tx *store.Tx) error { return s.Hold(ctx, tx, account, -1) },
			"hold nobody":  func(ctx context.Context, tx *store.Tx) error { return s.Hold(ctx, tx, db.NewID(), 1) },
		} {
			t.Run(name, func(t *testing.T) {
				if err := s.do(t, change); err == nil {
					t.Error("got no error, want a refusal")
				}
			})
		}
		s.wantSound(t, account, 10)
	})
}
