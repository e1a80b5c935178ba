package keys

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	entcode "github.com/scrollery/scrollery/ent/code"
	entkey "github.com/scrollery/scrollery/ent/key"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// addCode keeps a code unless the address has limit newer ones since a moment.
func (r rows) addCode(ctx context.Context, made code, since time.Time, limit int) (added bool, err error) {
	err = r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		added = false
		if err := tx.Lock(ctx, "codes "+made.email, 0); err != nil {
			return err
		}
		sent, err := tx.Ent().Code.Query().
			Where(entcode.Email(made.email), entcode.CreatedAtGT(since.UnixMilli())).
			Count(ctx)
		if err != nil || sent >= limit {
			return err
		}
		added = true
		row := tx.Ent().Code.Create().
			SetID(made.id).SetEmail(made.email).SetHash(made.hash).SetSalt(made.salt).
			SetCreatedAt(made.createdAt.UnixMilli()).SetExpiresAt(made.expiresAt.UnixMilli())
		if made.accountID != 0 {
			row.SetAccountID(made.accountID)
		}
		return row.Exec(ctx)
	})
	if err != nil {
		return false, fmt.Errorf("keep a one-time code: %w", err)
	}
	return added, nil
}

func (r rows) removeCode(ctx context.Context, id int64) error {
	return r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Ent().Code.Delete().Where(entcode.ID(id)).Exec(ctx)
		return err
	})
}

// newestCode returns the code of an address that counts: older ones are void.
func (r rows) newestCode(ctx context.Context, tx *store.Tx, address string) (code, bool, error) {
	row, err := tx.Ent().Code.Query().
		Where(entcode.Email(address)).
		Order(entcode.ByID(sql.OrderDesc())).
		First(ctx)
	if ent.IsNotFound(err) {
		return code{}, false, nil
	}
	if err != nil {
		return code{}, false, fmt.Errorf("load a one-time code: %w", err)
	}
	out := code{
		id: row.ID, email: row.Email, hash: row.Hash, salt: row.Salt, tries: row.Tries, used: row.UsedAt != nil,
		createdAt: time.UnixMilli(row.CreatedAt), expiresAt: time.UnixMilli(row.ExpiresAt),
	}
	if row.AccountID != nil {
		out.accountID = *row.AccountID
	}
	return out, true, nil
}

// countTry takes one of the code's tries. It is false where none is left, or the
// code is used, over or not there; of racing calls no more than limit get true.
func (r rows) countTry(ctx context.Context, tx *store.Tx, id int64, limit int, at time.Time) (bool, error) {
	changed, err := tx.Ent().Code.Update().
		Where(entcode.ID(id), entcode.TriesLT(limit), entcode.UsedAtIsNil(), entcode.ExpiresAtGT(at.UnixMilli())).
		AddTries(1).
		Save(ctx)
	if err != nil {
		return false, fmt.Errorf("count a try: %w", err)
	}
	return changed == 1, nil
}

// useCode voids a code. Its row is locked by countTry, so no other call can have
// used it meanwhile.
func (r rows) useCode(ctx context.Context, tx *store.Tx, id int64, at time.Time) error {
	return tx.Ent().Code.UpdateOneID(id).SetUsedAt(at.UnixMilli()).Exec(ctx)
}

// sweepCodes removes at most limit codes that were made before a moment.
func (r rows) sweepCodes(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := tx.Ent().Code.Query().
			Where(entcode.CreatedAtLT(before.UnixMilli())).
			Order(entcode.ByID()).Limit(limit).IDs(ctx)
		if err != nil {
			return err
		}
		removed, err = tx.Ent().Code.Delete().Where(entcode.IDIn(ids...)).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old codes: %w", err)
	}
	return removed, nil
}

// sweepSessions removes at most limit session keys that ended before a moment.
func (r rows) sweepSessions(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	ctx = viewer.System(ctx)
	err = r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := tx.Ent().Key.Query().
			Where(entkey.ParentIDNotNil(), entkey.ExpiresAtLT(before.UnixMilli())).
			Order(entkey.ByID()).Limit(limit).IDs(ctx)
		if err != nil {
			return err
		}
		removed, err = tx.Ent().Key.Delete().Where(entkey.IDIn(ids...)).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old session keys: %w", err)
	}
	return removed, nil
}
