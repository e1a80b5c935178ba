package keys

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	entcode "github.com/scrollery/scrollery/ent/code"
	entkey "github.com/scrollery/scrollery/ent/key"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// addCode stores a code unless limit newer ones of the address exist since a moment.
// In that case it postpones the end of the newest one instead, to what made has, but
// by no more than an hour after it was mailed: requests by strangers therefore cannot
// keep the owner from a mail that works.
func (r rows) addCode(ctx context.Context, made code, since time.Time, limit int) (added bool, err error) {
	err = r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		added = false
		if err := r.lockCodes(ctx, tx, made.email); err != nil {
			return err
		}
		sent, err := tx.Ent().Code.Query().
			Where(entcode.Email(made.email), of(made.purpose), entcode.CreatedAtGT(since.UnixMilli())).
			Count(ctx)
		if err != nil {
			return err
		}
		if sent >= limit {
			return r.postpone(ctx, tx, made)
		}
		added = true
		row := tx.Ent().Code.Create().
			SetID(made.id).SetEmail(made.email).SetHash(made.hash).SetSalt(made.salt).
			SetCreatedAt(made.createdAt.UnixMilli()).SetExpiresAt(made.expiresAt.UnixMilli()).
			SetLinkHash(made.linkHash).SetLinkExpiresAt(made.linkExpiresAt.UnixMilli())
		if made.purpose != forRecovery {
			row.SetPurpose(string(made.purpose))
		}
		if made.accountID != 0 {
			row.SetAccountID(made.accountID)
		}
		return row.Exec(ctx)
	})
	if err != nil {
		return false, fmt.Errorf("store a one-time code: %w", err)
	}
	return added, nil
}

// of is the predicate of the codes for a purpose.
func of(why purpose) predicate.Code {
	if why == forRecovery {
		return entcode.PurposeIsNil()
	}
	return entcode.Purpose(string(why))
}

// postpone moves the end of the address's newest code.
func (r rows) postpone(ctx context.Context, tx *store.Tx, until code) error {
	newest, found, err := r.newestCode(ctx, tx, until.purpose, until.email)
	if err != nil || !found || newest.used {
		return err
	}
	last := newest.createdAt.Add(time.Hour)
	return tx.Ent().Code.UpdateOneID(newest.id).
		SetExpiresAt(earlier(until.expiresAt, last).UnixMilli()).SetLinkExpiresAt(earlier(until.linkExpiresAt, last).UnixMilli()).
		Exec(ctx)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// lockCodes makes other transactions wait that add or try codes of the address.
func (r rows) lockCodes(ctx context.Context, tx *store.Tx, address string) error {
	return tx.Lock(ctx, "codes "+address, 0)
}

func (r rows) removeCode(ctx context.Context, id int64) error {
	return r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Ent().Code.Delete().Where(entcode.ID(id)).Exec(ctx)
		return err
	})
}

// newestCode returns the code of an address for a purpose that counts: older ones are void.
func (r rows) newestCode(ctx context.Context, tx *store.Tx, why purpose, address string) (code, bool, error) {
	row, err := tx.Ent().Code.Query().
		Where(entcode.Email(address), of(why)).
		Order(entcode.ByID(sql.OrderDesc())).
		First(ctx)
	if ent.IsNotFound(err) {
		return code{}, false, nil
	}
	if err != nil {
		return code{}, false, fmt.Errorf("load a one-time code: %w", err)
	}
	return codeOf(row), true, nil
}

func codeOf(row *ent.Code) code {
	out := code{
		id: row.ID, email: row.Email, hash: row.Hash, salt: row.Salt, tries: row.Tries, askers: row.Askers, used: row.UsedAt != nil,
		createdAt: time.UnixMilli(row.CreatedAt), expiresAt: time.UnixMilli(row.ExpiresAt), linkHash: row.LinkHash,
	}
	if row.Purpose != nil {
		out.purpose = purpose(*row.Purpose)
	}
	if row.AccountID != nil {
		out.accountID = *row.AccountID
	}
	if row.LinkExpiresAt != nil {
		out.linkExpiresAt = time.UnixMilli(*row.LinkExpiresAt)
	}
	return out
}

// codeByLink returns the code that was mailed with a link. The word of a sign-in is none.
func (r rows) codeByLink(ctx context.Context, client *ent.Client, linkHash []byte) (code, bool, error) {
	row, err := client.Code.Query().Where(entcode.LinkHash(linkHash), of(forRecovery)).Only(ctx)
	if ent.IsNotFound(err) {
		return code{}, false, nil
	}
	if err != nil {
		return code{}, false, fmt.Errorf("load a link: %w", err)
	}
	return codeOf(row), true, nil
}

// addTry counts a try of the client with this mark. The codes of the address are
// locked. A code that is not stored has id 0 and changes no row.
func (r rows) addTry(ctx context.Context, tx *store.Tx, tried code, mark []byte) error {
	_, err := tx.Ent().Code.Update().Where(entcode.ID(tried.id)).
		AddTries(1).SetAskers(append(bytes.Clone(tried.askers), mark...)).
		Save(ctx)
	if err != nil {
		return fmt.Errorf("count a try: %w", err)
	}
	return nil
}

// useCodes voids every code of an address for a purpose, with its link. They are locked.
func (r rows) useCodes(ctx context.Context, tx *store.Tx, why purpose, address string, at time.Time) error {
	return tx.Ent().Code.Update().Where(entcode.Email(address), of(why), entcode.UsedAtIsNil()).SetUsedAt(at.UnixMilli()).Exec(ctx)
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
