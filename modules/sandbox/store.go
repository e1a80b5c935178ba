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

func insertTab(ctx context.Context, tx *store.Tx, row tabRow, now time.Time) error {
	return tx.Ent().SandboxCall.Create().
		SetID(row.ID).SetAccountID(row.Account).SetFee(row.Fee).
		SetBeatAt(now.UnixMilli()).SetCreatedAt(now.UnixMilli()).
		Exec(ctx)
}

// lockTab reads a row and keeps others from changing it; errLost where it is gone.
func lockTab(ctx context.Context, tx *store.Tx, id int64, now time.Time) (tabRow, error) {
	return lockTabWhere(ctx, tx, now, sandboxcall.ID(id))
}

// lockLostTab is lockTab for a row of which nobody was heard since a time.
func lockLostTab(ctx context.Context, tx *store.Tx, id int64, since, now time.Time) (tabRow, error) {
	return lockTabWhere(ctx, tx, now, sandboxcall.ID(id), sandboxcall.BeatAtLTE(since.UnixMilli()))
}

func lockTabWhere(ctx context.Context, tx *store.Tx, now time.Time, which ...predicate.SandboxCall) (tabRow, error) {
	// An update takes the row's lock on both dialects.
	found, err := tx.Ent().SandboxCall.Update().Where(which...).SetBeatAt(now.UnixMilli()).Save(ctx)
	if err != nil {
		return tabRow{}, err
	}
	if found != 1 {
		return tabRow{}, errLost
	}
	row, err := tx.Ent().SandboxCall.Query().Where(which[0]).Only(ctx)
	if err != nil {
		return tabRow{}, err
	}
	return tabRow{ID: row.ID, Account: row.AccountID, Fee: row.Fee, Held: row.Held, Runs: row.Runs, Ran: row.Ran}, nil
}

func updateTab(ctx context.Context, tx *store.Tx, row tabRow) error {
	return tx.Ent().SandboxCall.Update().Where(sandboxcall.ID(row.ID)).
		SetRuns(row.Runs).SetHeld(row.Held).SetRan(row.Ran).
		Exec(ctx)
}

func deleteTab(ctx context.Context, tx *store.Tx, id int64) error {
	_, err := tx.Ent().SandboxCall.Delete().Where(sandboxcall.ID(id)).Exec(ctx)
	return err
}

// lostTabs finds calls, of all accounts, that nobody was heard of since a time, in
// the order of their ids.
func (s *Service) lostTabs(ctx context.Context, since time.Time, after int64) ([]*tab, error) {
	rows, err := s.db.Ent().SandboxCall.Query().
		Where(sandboxcall.BeatAtLTE(since.UnixMilli()), sandboxcall.IDGT(after)).
		Order(ent.Asc(sandboxcall.FieldID)).Limit(lostAtOnce).
		Select(sandboxcall.FieldID, sandboxcall.FieldAccountID).
		All(viewer.System(ctx))
	lost := make([]*tab, len(rows))
	for i, row := range rows {
		lost[i] = &tab{service: s, account: row.AccountID, id: row.ID}
	}
	return lost, err
}
