package credits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// MaxMovement is the most credits that one movement can move.
const MaxMovement = 1_000_000_000

// Service keeps the ledger.
type Service struct {
	db       *store.DB
	entries  entries
	stale    time.Duration // how long a charge has no heartbeat before it counts as lost
	patience time.Duration // how long settling is tried
	now      func() time.Time
}

// New returns the ledger kept in db.
func New(db *store.DB) *Service {
	return &Service{db: db, entries: entries{db}, stale: stale, patience: patience, now: time.Now}
}

// Spend takes credits, or fails with PaymentRequired if there are too few:
// the caller then gives the transaction up. A reference that was spent before
// takes nothing again.
func (s *Service) Spend(ctx context.Context, tx *store.Tx, accountID, credits int64, reference, reason string) error {
	return s.move(ctx, tx, accountID, credits, reference, func(now Balance) ([]Entry, error) {
		if err := enough(now, credits); err != nil {
			return nil, err
		}
		return []Entry{{Amount: -credits, Reason: reason, Reference: reference}}, nil
	})
}

// enough refuses what the account cannot pay.
func enough(now Balance, credits int64) error {
	if now.Free() >= credits {
		return nil
	}
	return &apierr.Error{
		Kind:     apierr.PaymentRequired,
		Message:  fmt.Sprintf("This takes %d credits and the balance is %d; top up first.", credits, now.Free()),
		Required: credits, Balance: now.Free(),
	}
}

// Return gives back what was spent for nothing.
func (s *Service) Return(ctx context.Context, tx *store.Tx, accountID, credits int64, reference string) error {
	return s.Add(ctx, tx, accountID, credits, reference, Returned)
}

// Add brings credits. What the account owes is settled from them at once, in an
// entry of its own.
func (s *Service) Add(ctx context.Context, tx *store.Tx, accountID, credits int64, reference, reason string) error {
	return s.move(ctx, tx, accountID, credits, reference, func(now Balance) ([]Entry, error) {
		moves := []Entry{{Amount: credits, Reason: reason, Reference: reference}}
		if settled := min(now.Owed, credits); settled > 0 {
			moves = append(moves, Entry{Amount: -settled, Owed: -settled, Reason: Owed, Reference: reference + ":owed"})
		}
		return moves, nil
	})
}

// TakeBack undoes credits whose payment was undone: down to zero, but for those
// that are held; the rest is owed.
func (s *Service) TakeBack(ctx context.Context, tx *store.Tx, accountID, credits int64, reference string) error {
	return s.move(ctx, tx, accountID, credits, reference, func(now Balance) ([]Entry, error) {
		taken := min(now.Free(), credits)
		return []Entry{{Amount: -taken, Owed: credits - taken, Reason: Reversal, Reference: reference}}, nil
	})
}

// Grant gives credits for nothing, on an operator's word. The same reference grants once, and
// fails with another number of credits.
func (s *Service) Grant(ctx context.Context, accountID, credits int64, reference string) (Balance, error) {
	return s.onWord(ctx, accountID, credits, reference, func(ctx context.Context, tx *store.Tx) error {
		return s.Add(ctx, tx, accountID, credits, reference, Grant)
	})
}

// Take takes credits, on an operator's word, as TakeBack does. The same reference takes once, and
// fails with another number of credits.
func (s *Service) Take(ctx context.Context, accountID, credits int64, reference string) (Balance, error) {
	return s.onWord(ctx, accountID, -credits, reference, func(ctx context.Context, tx *store.Tx) error {
		return s.TakeBack(ctx, tx, accountID, credits, reference)
	})
}

// onWord moves credits unless the reference moved as many before.
func (s *Service) onWord(ctx context.Context, accountID, credits int64, reference string, move func(context.Context, *store.Tx) error) (Balance, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "credits", accountID); err != nil {
			return err
		}
		before, err := s.entries.moved(ctx, tx, accountID, reference)
		switch {
		case err != nil:
			return err
		case before == 0:
			return move(ctx, tx)
		case before != credits:
			return fmt.Errorf("the reference moved %+d credits before, and cannot move %+d", before, credits)
		}
		return nil
	})
	if err != nil {
		return Balance{}, fmt.Errorf("move credits of %s: %w", publicid.Format(publicid.Account, accountID), err)
	}
	return s.Balance(ctx, accountID)
}

// Balance returns an account's balance; zero for one that never had credits.
func (s *Service) Balance(ctx context.Context, accountID int64) (Balance, error) {
	now, _, err := s.entries.balance(ctx, s.db.Ent(), accountID)
	if err != nil {
		return Balance{}, fmt.Errorf("load credits of %d: %w", accountID, err)
	}
	return now, nil
}

// Entries returns an account's newest movements.
func (s *Service) Entries(ctx context.Context, accountID int64, limit int) ([]Entry, error) {
	return s.entries.list(ctx, accountID, limit)
}

// errMovement is a movement that no caller should ask for.
var errMovement = errors.New("a movement needs a reference and a number of credits above zero")

// move writes what decide makes of the balance. Movements of an account happen
// one after the other, so what decide sees is true until the end of tx.
func (s *Service) move(ctx context.Context, tx *store.Tx, accountID, credits int64, reference string, decide func(Balance) ([]Entry, error)) error {
	if credits <= 0 || credits > MaxMovement || reference == "" {
		return fmt.Errorf("move %d credits of %d (%q): %w", credits, accountID, reference, errMovement)
	}
	if err := tx.Lock(ctx, "credits", accountID); err != nil {
		return err
	}
	if done, err := s.entries.exists(ctx, tx, accountID, reference); err != nil || done {
		return err
	}
	now, known, err := s.entries.balance(ctx, tx.Ent(), accountID)
	if err != nil {
		return fmt.Errorf("load credits of %d: %w", accountID, err)
	}
	moves, err := decide(now)
	if err != nil {
		return err
	}
	at := s.now()
	if !known {
		if err := s.entries.begin(ctx, tx, accountID, at); err != nil {
			return err
		}
	}
	for _, entry := range moves {
		now.Credits += entry.Amount
		now.Owed += entry.Owed
		entry.ID, entry.Balance, entry.CreatedAt = s.db.NewID(), now.Credits, at
		if err := s.entries.write(ctx, tx, accountID, entry); err != nil {
			return fmt.Errorf("move %d credits of %d (%s): %w", credits, accountID, reference, err)
		}
		err := audit.Write(ctx, tx, s.db.NewID(), audit.Entry{
			AccountID: accountID, Action: "credits." + entry.Reason, Subject: entry.Reference,
			Detail: fmt.Sprintf("%+d, owed %+d", entry.Amount, entry.Owed),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
