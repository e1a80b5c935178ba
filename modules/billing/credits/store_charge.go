package credits

import (
	"context"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/charge"
	"github.com/scrollery/scrollery/ent/creditentry"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// lostAtOnce is how many lost charges are read at a time.
const lostAtOnce = 100

func insertCharge(ctx context.Context, tx *store.Tx, row charged, now time.Time) error {
	return tx.Ent().Charge.Create().
		SetID(row.ID).SetAccountID(row.Account).SetKind(row.Kind).SetFee(row.Fee).
		SetBeatAt(now.UnixMilli()).SetCreatedAt(now.UnixMilli()).
		Exec(ctx)
}

// lockCharge locks and reads a row. It fails with ErrClosed if there is none.
func lockCharge(ctx context.Context, tx *store.Tx, id int64, now time.Time) (charged, error) {
	return lockChargeWhere(ctx, tx, now, charge.ID(id))
}

// lockLostCharge is lockCharge for a row without a heartbeat since a time.
func lockLostCharge(ctx context.Context, tx *store.Tx, id int64, since, now time.Time) (charged, error) {
	return lockChargeWhere(ctx, tx, now, charge.ID(id), charge.BeatAtLTE(since.UnixMilli()))
}

func lockChargeWhere(ctx context.Context, tx *store.Tx, now time.Time, which ...predicate.Charge) (charged, error) {
	// An update takes the row's lock on both dialects.
	found, err := tx.Ent().Charge.Update().Where(which...).SetBeatAt(now.UnixMilli()).Save(ctx)
	if err != nil {
		return charged{}, err
	}
	if found != 1 {
		return charged{}, ErrClosed
	}
	row, err := tx.Ent().Charge.Query().Where(which[0]).Only(ctx)
	if err != nil {
		return charged{}, err
	}
	return charged{ID: row.ID, Account: row.AccountID, Kind: row.Kind, Fee: row.Fee, Held: row.Held, Runs: row.Runs, Ran: row.Ran}, nil
}

func updateCharge(ctx context.Context, tx *store.Tx, row charged) error {
	return tx.Ent().Charge.Update().Where(charge.ID(row.ID)).
		SetRuns(row.Runs).SetHeld(row.Held).SetRan(row.Ran).
		Exec(ctx)
}

func deleteCharge(ctx context.Context, tx *store.Tx, id int64) error {
	_, err := tx.Ent().Charge.Delete().Where(charge.ID(id)).Exec(ctx)
	return err
}

// lostCharges finds charges of all accounts without a heartbeat since a time, by id. They
// have an id and an account only.
func (e entries) lostCharges(ctx context.Context, since time.Time, after int64) ([]charged, error) {
	rows, err := e.db.Ent().Charge.Query().
		Where(charge.BeatAtLTE(since.UnixMilli()), charge.IDGT(after)).
		Order(ent.Asc(charge.FieldID)).Limit(lostAtOnce).
		Select(charge.FieldID, charge.FieldAccountID).
		All(viewer.System(ctx))
	lost := make([]charged, len(rows))
	for i, row := range rows {
		lost[i] = charged{ID: row.ID, Account: row.AccountID}
	}
	return lost, err
}

// returned reports whether the fee of a charge was returned.
func (e entries) returned(ctx context.Context, row charged) (bool, error) {
	return e.db.Ent().CreditEntry.Query().
		Where(creditentry.Reference(row.returnReference())).
		Exist(viewer.As(ctx, row.Account))
}
