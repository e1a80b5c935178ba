package sandbox

import (
	"context"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/ent/sandboxcall"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// lostAtOnce is how many lost calls are read at a time.
const lostAtOnce = 100

func insertMeter(ctx context.Context, tx *store.Tx, row meterRow, now time.Time) error {
	return tx.Ent().SandboxCall.Create().
		SetID(row.ID).SetAccountID(row.Account).SetFee(row.Fee).
		SetBeatAt(now.UnixMilli()).SetCreatedAt(now.UnixMilli()).
		Exec(ctx)
}

// lockMeter locks and reads a row. It fails with errLost if there is none.
func lockMeter(ctx context.Context, tx *store.Tx, id int64, now time.Time) (meterRow, error) {
	return lockMeterWhere(ctx, tx, now, sandboxcall.ID(id))
}

// lockLostMeter is lockMeter for a row without a heartbeat since a time.
func lockLostMeter(ctx context.Context, tx *store.Tx, id int64, since, now time.Time) (meterRow, error) {
	return lockMeterWhere(ctx, tx, now, sandboxcall.ID(id), sandboxcall.BeatAtLTE(since.UnixMilli()))
}

func lockMeterWhere(ctx context.Context, tx *store.Tx, now time.Time, which ...predicate.SandboxCall) (meterRow, error) {
	// An update takes the row's lock on both dialects.
	found, err := tx.Ent().SandboxCall.Update().Where(which...).SetBeatAt(now.UnixMilli()).Save(ctx)
	if err != nil {
		return meterRow{}, err
	}
	if found != 1 {
		return meterRow{}, errLost
	}
	row, err := tx.Ent().SandboxCall.Query().Where(which[0]).Only(ctx)
	if err != nil {
		return meterRow{}, err
	}
	return meterRow{ID: row.ID, Account: row.AccountID, Fee: row.Fee, Held: row.Held, Runs: row.Runs, Ran: row.Ran}, nil
}

func updateMeter(ctx context.Context, tx *store.Tx, row meterRow) error {
	return tx.Ent().SandboxCall.Update().Where(sandboxcall.ID(row.ID)).
		SetRuns(row.Runs).SetHeld(row.Held).SetRan(row.Ran).
		Exec(ctx)
}

func deleteMeter(ctx context.Context, tx *store.Tx, id int64) error {
	_, err := tx.Ent().SandboxCall.Delete().Where(sandboxcall.ID(id)).Exec(ctx)
	return err
}

// lostMeters finds calls of all accounts without a heartbeat since a time, by id.
func (s *Service) lostMeters(ctx context.Context, since time.Time, after int64) ([]*meter, error) {
	rows, err := s.db.Ent().SandboxCall.Query().
		Where(sandboxcall.BeatAtLTE(since.UnixMilli()), sandboxcall.IDGT(after)).
		Order(ent.Asc(sandboxcall.FieldID)).Limit(lostAtOnce).
		Select(sandboxcall.FieldID, sandboxcall.FieldAccountID).
		All(viewer.System(ctx))
	lost := make([]*meter, len(rows))
	for i, row := range rows {
		lost[i] = &meter{service: s, account: row.AccountID, id: row.ID}
	}
	return lost, err
}
