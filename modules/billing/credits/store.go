package credits

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/creditbalance"
	"github.com/scrollery/scrollery/ent/creditentry"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// entries keeps the rows of the ledger.
type entries struct{ db *store.DB }

// balance returns the account's balance; known is false without a row.
func (e entries) balance(ctx context.Context, client *ent.Client, accountID int64) (now Balance, known bool, err error) {
	row, err := client.CreditBalance.Query().
		Where(creditbalance.AccountID(accountID)).
		Only(viewer.As(ctx, accountID))
	if ent.IsNotFound(err) {
		return Balance{}, false, nil
	}
	if err != nil {
		return Balance{}, false, err
	}
	return Balance{Credits: row.Balance, Held: row.Held, Owed: row.Owed}, true, nil
}

// begin writes the balance of an account that had none.
func (e entries) begin(ctx context.Context, tx *store.Tx, accountID int64, at time.Time) error {
	err := tx.Ent().CreditBalance.Create().
		SetID(e.db.NewID()).SetAccountID(accountID).
		SetBalance(0).SetOwed(0).SetUpdatedAt(at.UnixMilli()).
		Exec(viewer.As(ctx, accountID))
	if err != nil {
		return fmt.Errorf("begin the ledger of %d: %w", accountID, err)
	}
	return nil
}

// exists reports whether the movement was made before.
func (e entries) exists(ctx context.Context, tx *store.Tx, accountID int64, reference string) (bool, error) {
	done, err := tx.Ent().CreditEntry.Query().
		Where(creditentry.Reference(reference)).
		Exist(viewer.As(ctx, accountID))
	if err != nil {
		return false, fmt.Errorf("look for movement %q: %w", reference, err)
	}
	return done, nil
}

// moved is by how much a movement changed what the account has and owes; 0 if it was not made.
func (e entries) moved(ctx context.Context, tx *store.Tx, accountID int64, reference string) (int64, error) {
	row, err := tx.Ent().CreditEntry.Query().Where(creditentry.Reference(reference)).Only(viewer.As(ctx, accountID))
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for movement %q: %w", reference, err)
	}
	return row.Amount - row.Owed, nil
}

// write adds the entry and moves the balance, which the condition keeps from
// ever going below zero.
func (e entries) write(ctx context.Context, tx *store.Tx, accountID int64, entry Entry) error {
	ctx = viewer.As(ctx, accountID)
	err := tx.Ent().CreditEntry.Create().
		SetID(entry.ID).SetAccountID(accountID).
		SetAmount(entry.Amount).SetOwed(entry.Owed).SetBalance(entry.Balance).
		SetReason(entry.Reason).SetReference(entry.Reference).
		SetCreatedAt(entry.CreatedAt.UnixMilli()).
		Exec(ctx)
	if err != nil {
		return err
	}
	moved, err := tx.Ent().CreditBalance.Update().
		Where(
			creditbalance.AccountID(accountID),
			creditbalance.BalanceGTE(-entry.Amount), creditbalance.OwedGTE(-entry.Owed),
		).
		AddBalance(entry.Amount).AddOwed(entry.Owed).
		SetUpdatedAt(entry.CreatedAt.UnixMilli()).
		Save(ctx)
	if err == nil && moved != 1 {
		err = fmt.Errorf("the balance does not allow %+d", entry.Amount)
	}
	return err
}

// hold changes what is held, which the database keeps between zero and the balance.
func (e entries) hold(ctx context.Context, tx *store.Tx, accountID, by int64, at time.Time) error {
	changed, err := tx.Ent().CreditBalance.Update().
		Where(creditbalance.AccountID(accountID), creditbalance.HeldGTE(-by)).
		AddHeld(by).SetUpdatedAt(at.UnixMilli()).
		Save(viewer.As(ctx, accountID))
	if err == nil && changed != 1 {
		err = fmt.Errorf("no hold of %d credits", -by)
	}
	return err
}

// list returns the newest entries.
func (e entries) list(ctx context.Context, accountID int64, limit int) ([]Entry, error) {
	rows, err := e.db.Ent().CreditEntry.Query().
		Where(creditentry.AccountID(accountID)).
		Order(creditentry.ByID(sql.OrderDesc())).
		Limit(limit).
		All(viewer.As(ctx, accountID))
	if err != nil {
		return nil, fmt.Errorf("load movements of %d: %w", accountID, err)
	}
	out := make([]Entry, len(rows))
	for i, row := range rows {
		out[i] = Entry{
			ID: row.ID, Amount: row.Amount, Owed: row.Owed, Balance: row.Balance,
			Reason: row.Reason, Reference: row.Reference, CreatedAt: time.UnixMilli(row.CreatedAt),
		}
	}
	return out, nil
}
