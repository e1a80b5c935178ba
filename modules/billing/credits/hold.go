package credits

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Hold keeps credits for what is being used, or fails with PaymentRequired where
// too few are free. It is no movement and has no reference: the holder writes
// down how many in tx, and later pays or releases as many.
func (s *Service) Hold(ctx context.Context, tx *store.Tx, accountID, credits int64) error {
	return s.hold(ctx, tx, accountID, credits, credits)
}

// Pay spends credits that are held.
func (s *Service) Pay(ctx context.Context, tx *store.Tx, accountID, credits int64, reference, reason string) error {
	if err := s.hold(ctx, tx, accountID, credits, -credits); err != nil {
		return err
	}
	return s.Spend(ctx, tx, accountID, credits, reference, reason)
}

// Release lets go of credits that are held and were not used. What the account
// owes is settled from them, under a name made of reference.
func (s *Service) Release(ctx context.Context, tx *store.Tx, accountID, credits int64, reference string) error {
	if err := s.hold(ctx, tx, accountID, credits, -credits); err != nil {
		return err
	}
	return s.move(ctx, tx, accountID, credits, reference+":owed", func(now Balance) ([]Entry, error) {
		settled := min(now.Owed, credits)
		if settled == 0 {
			return nil, nil
		}
		return []Entry{{Amount: -settled, Owed: -settled, Reason: Owed, Reference: reference + ":owed"}}, nil
	})
}

// hold changes what is held; only what is free can be.
func (s *Service) hold(ctx context.Context, tx *store.Tx, accountID, credits, by int64) error {
	if credits <= 0 || credits > MaxMovement {
		return fmt.Errorf("hold %d credits of %d: %w", by, accountID, errMovement)
	}
	if err := tx.Lock(ctx, "credits", accountID); err != nil {
		return err
	}
	now, _, err := s.entries.balance(ctx, tx.Ent(), accountID)
	if err != nil {
		return fmt.Errorf("load credits of %d: %w", accountID, err)
	}
	if err := enough(now, by); err != nil {
		return err
	}
	if err := s.entries.hold(ctx, tx, accountID, by, s.now()); err != nil {
		return fmt.Errorf("hold %d credits of %d: %w", by, accountID, err)
	}
	return nil
}
