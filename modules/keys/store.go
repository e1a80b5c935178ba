package keys

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	entaccount "github.com/scrollery/scrollery/ent/account"
	entkey "github.com/scrollery/scrollery/ent/key"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// rows keeps accounts, keys and codes.
type rows struct{ db *store.DB }

// addAccount writes an account; an empty address is kept as null.
func (r rows) addAccount(ctx context.Context, tx *store.Tx, id int64, address string, at time.Time) error {
	row := tx.Ent().Account.Create().SetID(id).SetCreatedAt(at.UnixMilli())
	if address != "" {
		row.SetEmail(address)
	}
	return row.Exec(ctx)
}

func (r rows) addKey(ctx context.Context, tx *store.Tx, made minted, order mintOrder, at time.Time) error {
	sum := sha256.Sum256([]byte(made.secret))
	feed.AppendTo(tx, order.accountID, feed.Change{Kind: feed.KeyCreated, Subject: made.id})
	row := tx.Ent().Key.Create().
		SetID(made.id).SetAccountID(order.accountID).
		SetHash(sum[:]).SetHint(made.secret[len(made.secret)-4:]).
		SetScopes(strings.Join(order.scopes, " ")).
		SetCreatedAt(at.UnixMilli())
	if order.parentID != 0 {
		row.SetParentID(order.parentID)
	}
	if !order.expiresAt.IsZero() {
		row.SetExpiresAt(order.expiresAt.UnixMilli())
	}
	return row.Exec(viewer.As(ctx, order.accountID))
}

// accountsOf returns the accounts of an address, oldest first.
func (r rows) accountsOf(ctx context.Context, address string) ([]int64, error) {
	ids, err := r.db.Ent().Account.Query().
		Where(entaccount.Email(address)).
		Order(entaccount.ByID()).
		IDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("load accounts of an address: %w", err)
	}
	return ids, nil
}

// lastingKey is a key that sessions can hang on.
type lastingKey struct {
	id, createdAt int64
	scopes        []string
}

// lasting returns the account's lasting keys in force, newest first.
func (r rows) lasting(ctx context.Context, tx *store.Tx, accountID int64) ([]lastingKey, error) {
	found, err := tx.Ent().Key.Query().
		Where(entkey.AccountID(accountID), entkey.ParentIDIsNil(), entkey.RevokedAtIsNil(), entkey.ExpiresAtIsNil()).
		Order(entkey.ByID(sql.OrderDesc())).
		All(viewer.As(ctx, accountID))
	if err != nil {
		return nil, fmt.Errorf("load keys of %d: %w", accountID, err)
	}
	out := make([]lastingKey, len(found))
	for i, row := range found {
		out[i] = lastingKey{id: row.ID, createdAt: row.CreatedAt, scopes: strings.Fields(row.Scopes)}
	}
	return out, nil
}

// lastingChanged reports whether a lasting key of the account was made or revoked after a moment.
func (r rows) lastingChanged(ctx context.Context, tx *store.Tx, accountID int64, since time.Time) (bool, error) {
	changed, err := tx.Ent().Key.Query().
		Where(entkey.AccountID(accountID), entkey.ParentIDIsNil(),
			entkey.Or(entkey.CreatedAtGT(since.UnixMilli()), entkey.RevokedAtGT(since.UnixMilli()))).
		Exist(viewer.As(ctx, accountID))
	if err != nil {
		return false, fmt.Errorf("load the changes of keys of %d: %w", accountID, err)
	}
	return changed, nil
}

// keysOf returns every key of the accounts, oldest first.
func (r rows) keysOf(ctx context.Context, accountIDs []int64) ([]Key, error) {
	found, err := r.db.Ent().Key.Query().
		Where(entkey.AccountIDIn(accountIDs...)).
		Order(entkey.ByID()).
		All(viewer.System(ctx))
	if err != nil {
		return nil, fmt.Errorf("load keys: %w", err)
	}
	out := make([]Key, len(found))
	for i, row := range found {
		out[i] = Key{
			ID: publicid.Format(publicid.Key, row.ID), AccountID: publicid.Format(publicid.Account, row.AccountID),
			Scopes: strings.Fields(row.Scopes), Hint: row.Hint, Session: row.ParentID != nil,
			CreatedAt: time.UnixMilli(row.CreatedAt), ExpiresAt: timeOf(row.ExpiresAt), RevokedAt: timeOf(row.RevokedAt),
		}
	}
	return out, nil
}

// hints returns the last characters of each account's lasting keys in force, oldest
// first, of at most 1,000 keys.
func (r rows) hints(ctx context.Context, accountIDs []int64) (map[int64][]string, error) {
	found, err := r.db.Ent().Key.Query().
		Where(entkey.AccountIDIn(accountIDs...), entkey.ParentIDIsNil(), entkey.RevokedAtIsNil()).
		Order(entkey.ByID()).Limit(1000).
		All(viewer.System(ctx))
	if err != nil {
		return nil, fmt.Errorf("load keys: %w", err)
	}
	out := map[int64][]string{}
	for _, row := range found {
		out[row.AccountID] = append(out[row.AccountID], row.Hint)
	}
	return out, nil
}

func timeOf(millis *int64) time.Time {
	if millis == nil {
		return time.Time{}
	}
	return time.UnixMilli(*millis)
}

// revoke ends a key, whosever it is. found is false if there is none.
func (r rows) revoke(ctx context.Context, id int64, at time.Time) (found bool, err error) {
	ctx = viewer.System(ctx)
	err = r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		row, err := tx.Ent().Key.Query().Where(entkey.ID(id)).Only(ctx)
		if found = err == nil; ent.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		ended, err := tx.Ent().Key.Update().
			Where(entkey.ID(id), entkey.RevokedAtIsNil()).
			SetRevokedAt(at.UnixMilli()).
			Save(ctx)
		if err != nil || ended == 0 {
			return err
		}
		feed.AppendTo(tx, row.AccountID, feed.Change{Kind: feed.KeyRevoked, Subject: id})
		return audit.Write(ctx, tx, r.db.NewID(), audit.Entry{
			AccountID: row.AccountID, Action: "key.revoke", Subject: publicid.Format(publicid.Key, id),
		})
	})
	if err != nil {
		return false, fmt.Errorf("revoke key %d: %w", id, err)
	}
	return found, nil
}

// revokeAll ends every lasting key of an account, and its session keys with them: a
// session key is in force as long as its parent, so its row stays as it is. A thief makes
// any number of them, and none may delay the replacement of the key that was stolen.
func (r rows) revokeAll(ctx context.Context, tx *store.Tx, accountID int64, at time.Time) error {
	ids, err := tx.Ent().Key.Query().
		Where(entkey.AccountID(accountID), entkey.ParentIDIsNil(), entkey.RevokedAtIsNil()).
		Order(entkey.ByID()).IDs(viewer.As(ctx, accountID))
	if err != nil {
		return err
	}
	ended, err := tx.Ent().Key.Update().
		Where(entkey.AccountID(accountID), entkey.IDIn(ids...), entkey.RevokedAtIsNil()).
		SetRevokedAt(at.UnixMilli()).
		Save(viewer.As(ctx, accountID))
	if err != nil {
		return err
	}
	for _, id := range ids {
		feed.AppendTo(tx, accountID, feed.Change{Kind: feed.KeyRevoked, Subject: id})
	}
	return audit.Write(ctx, tx, r.db.NewID(), audit.Entry{
		AccountID: accountID, Action: "key.revoke", Subject: "all", Detail: fmt.Sprintf("%d keys", ended),
	})
}

// block sets when an account was blocked, nil to lift it. done is false if it was so already.
func (r rows) block(ctx context.Context, tx *store.Tx, accountID int64, at *int64) (done bool, err error) {
	update, action := tx.Ent().Account.Update().Where(entaccount.ID(accountID)), "account.unblock"
	if at == nil {
		update.Where(entaccount.BlockedAtNotNil()).ClearBlockedAt()
	} else {
		update.Where(entaccount.BlockedAtIsNil()).SetBlockedAt(*at)
		action = "account.block"
	}
	changed, err := update.Save(ctx)
	if err != nil || changed == 0 {
		return false, err
	}
	tx.Notify(accountID) // the next call is refused, or admitted
	return true, audit.Write(ctx, tx, r.db.NewID(), audit.Entry{AccountID: accountID, Action: action})
}

// Blocked reports whether the operator has blocked an account.
func (s *Service) Blocked(ctx context.Context, accountID int64) (bool, error) {
	blocked, err := s.db.Ent().Account.Query().Where(entaccount.ID(accountID), entaccount.BlockedAtNotNil()).Exist(viewer.System(ctx))
	if err != nil {
		return false, fmt.Errorf("look whether account %d is blocked: %w", accountID, err)
	}
	return blocked, nil
}

// Address returns the mail address of an account; empty if no checkout gave one.
func (s *Service) Address(ctx context.Context, accountID int64) (string, error) {
	row, err := s.db.Ent().Account.Get(viewer.System(ctx), accountID)
	if err != nil {
		return "", fmt.Errorf("load account %d: %w", accountID, err)
	}
	if row.Email == nil {
		return "", nil
	}
	return *row.Email, nil
}

// AccountRow is an account as it is stored.
type AccountRow struct {
	ID int64
	// Email is empty if no checkout gave it.
	Email     string
	CreatedAt time.Time
	// BlockedAt is zero unless the operator has blocked it.
	BlockedAt time.Time
}

// accounts returns accounts by id, from after an id on.
func (r rows) accounts(ctx context.Context, after int64, limit int) ([]AccountRow, error) {
	found, err := r.db.Ent().Account.Query().
		Where(entaccount.IDGT(after)).Order(entaccount.ByID()).Limit(limit).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("load accounts: %w", err)
	}
	out := make([]AccountRow, len(found))
	for i, row := range found {
		out[i] = AccountRow{ID: row.ID, CreatedAt: time.UnixMilli(row.CreatedAt)}
		if row.Email != nil {
			out[i].Email = *row.Email
		}
		if row.BlockedAt != nil {
			out[i].BlockedAt = time.UnixMilli(*row.BlockedAt)
		}
	}
	return out, nil
}
