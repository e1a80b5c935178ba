package credits

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func (s *Service) do(t *testing.T, change func(ctx context.Context, tx *store.Tx) error) error {
	t.Helper()
	return s.db.Write(context.Background(), change)
}

func TestSpend(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, account := New(db), db.NewID()
		spend := func(credits int64, reference string) error {
			return s.do(t, func(ctx context.Context, tx *store.Tx) error {
				return s.Spend(ctx, tx, account, credits, reference, Fee)
			})
		}
		failed := apierr.As(spend(50, "a"))
		if failed == nil || failed.Kind != apierr.PaymentRequired || failed.Required != 50 || failed.Balance != 0 {
			t.Fatalf("without credits: %+v, want failed not nil, Kind %v, Required 50 and Balance 0", failed, apierr.PaymentRequired)
		}
		if _, err := s.Grant(context.Background(), account, 120, "gift"); err != nil {
			t.Fatal(err)
		}
		for _, reference := range []string{"a", "a", "b"} { // "a" twice takes once
			if err := spend(50, reference); err != nil {
				t.Fatal(err)
			}
		}
		failed = apierr.As(spend(21, "c"))
		if failed == nil || failed.Required != 21 || failed.Balance != 20 {
			t.Fatalf("with 20 left: %+v, want failed not nil, Required 21 and Balance 20", failed)
		}
		if err := spend(20, "c"); err != nil {
			t.Fatal(err)
		}
		s.wantSound(t, account, 0)
	})
}

func TestWhatWasSpentAndTakenBackIsOwed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, account, ctx := New(db), db.NewID(), context.Background()
		err := s.do(t, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(
				s.Add(ctx, tx, account, 100, "pay", Topup),
				s.Spend(ctx, tx, account, 70, "run", Run),
				s.TakeBack(ctx, tx, account, 100, "refund"),
				s.TakeBack(ctx, tx, account, 100, "refund"),
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		s.wantSound(t, account, 0)
		if now, _ := s.Balance(ctx, account); now.Owed != 70 {
			t.Fatalf("owed %d, want 70", now.Owed)
		}
		for _, step := range []struct{ add, credits, owed int64 }{{50, 0, 20}, {50, 30, 0}, {50, 80, 0}} {
			now, err := s.Grant(ctx, account, step.add, "gift"+string(rune('a'+step.credits)))
			if err != nil || now.Credits != step.credits || now.Owed != step.owed {
				t.Fatalf("after %d more: %+v, %v; want %+v", step.add, now, err, step)
			}
			s.wantSound(t, account, step.credits)
		}
	})
}

func TestMovementsOfATransactionThatFailsAreNone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, account := New(db), db.NewID()
		broken := errors.New("broken")
		err := s.do(t, func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(s.Add(ctx, tx, account, 100, "pay", Topup), broken)
		})
		if !errors.Is(err, broken) {
			t.Fatal(err)
		}
		s.wantSound(t, account, 0)
	})
}

func TestSenselessMovementsAreRefused(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	s, account := New(db), db.NewID()
	for _, credits := range []int64{0, -1, MaxMovement + 1} {
		t.Run(fmt.Sprintf("%d are refused", credits), func(t *testing.T) {
			if _, err := s.Grant(context.Background(), account, credits, "x"); !errors.Is(err, errMovement) {
				t.Errorf("%d credits: %v, want %v", credits, err, errMovement)
			}
		})
	}
	if _, err := s.Grant(context.Background(), account, 1, ""); !errors.Is(err, errMovement) {
		t.Errorf("without a reference: %v, want %v", err, errMovement)
	}
}

// A reference that another account has used is a fault of the caller, never a
// silent success.
func TestReferencesBelongToOneAccount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, ctx := New(db), context.Background()
		first, second := db.NewID(), db.NewID()
		if _, err := s.Grant(ctx, first, 10, "same"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Grant(ctx, second, 10, "same"); err == nil {
			t.Error("another account's reference was taken for its own, want an error")
		}
		s.wantSound(t, first, 10)
		s.wantSound(t, second, 0)
	})
}

func TestEveryMovementIsAudited(t *testing.T) {
	t.Parallel()
	db := storetest.SQLite(t)
	s, account := New(db), db.NewID()
	if _, err := s.Grant(context.Background(), account, 10, "gift"); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Ent().AuditEntry.Query().All(viewer.As(context.Background(), account))
	if err != nil || len(rows) != 1 || rows[0].Action != "credits.grant" || rows[0].Subject != "gift" || rows[0].Actor == "" {
		t.Fatalf(`got %v, error %v; want one entry credits.grant about gift, with its actor`, rows, err)
	}
}
