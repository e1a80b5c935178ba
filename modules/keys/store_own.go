package keys

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/scrollery/scrollery/ent"
	entkey "github.com/scrollery/scrollery/ent/key"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// own returns the viewer's keys below an id, newest first; 0 starts with the newest.
func (r rows) own(ctx context.Context, before int64, limit int) ([]*ownRow, error) {
	query := r.db.Ent().Key.Query().Order(ent.Desc(entkey.FieldID)).Limit(limit)
	if before > 0 {
		query.Where(entkey.IDLT(before))
	}
	found, err := query.All(ctx)
	if err == nil {
		return withParents(ctx, r.db.Ent(), found)
	}
	return nil, fmt.Errorf("list keys: %w", err)
}

// ownByID returns one key of the viewer; nil if there is none.
func (r rows) ownByID(ctx context.Context, client *ent.Client, id int64) (*ownRow, error) {
	found, err := client.Key.Query().Where(entkey.ID(id)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("load key %d: %w", id, err)
	}
	rows, err := withParents(ctx, client, found)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// withParents adds to keys the state of the keys that created them.
func withParents(ctx context.Context, client *ent.Client, found []*ent.Key) ([]*ownRow, error) {
	var ids []int64
	for _, row := range found {
		if row.ParentID != nil {
			ids = append(ids, *row.ParentID)
		}
	}
	parents := map[int64]*ent.Key{}
	if len(ids) > 0 {
		list, err := client.Key.Query().Where(entkey.IDIn(ids...)).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("load the parents of keys: %w", err)
		}
		for _, parent := range list {
			parents[parent.ID] = parent
		}
	}
	out := make([]*ownRow, len(found))
	for i, row := range found {
		out[i] = ownOf(row, parents)
	}
	return out, nil
}

func ownOf(row *ent.Key, parents map[int64]*ent.Key) *ownRow {
	own := &ownRow{
		id: row.ID, accountID: row.AccountID,
		Key: Key{
			ID: publicid.Format(publicid.Key, row.ID), AccountID: publicid.Format(publicid.Account, row.AccountID),
			Scopes: strings.Fields(row.Scopes), Hint: row.Hint, Session: row.ParentID != nil,
			CreatedAt: time.UnixMilli(row.CreatedAt), ExpiresAt: timeOf(row.ExpiresAt), RevokedAt: timeOf(row.RevokedAt),
		},
		state: State{Found: true, Session: row.ParentID != nil, ExpiresAt: row.ExpiresAt, RevokedAt: row.RevokedAt},
	}
	if row.ParentID == nil {
		return own
	}
	own.parentID = *row.ParentID
	if parent := parents[own.parentID]; parent != nil {
		own.state.ParentFound, own.state.ParentExpiresAt, own.state.ParentRevokedAt = true, parent.ExpiresAt, parent.RevokedAt
	}
	return own
}

// revokeOwn ends a key, unless it was revoked before, and notes when in row.
func (r rows) revokeOwn(ctx context.Context, tx *store.Tx, row *ownRow, at time.Time) error {
	if row.state.RevokedAt != nil {
		return nil
	}
	now := at.UnixMilli()
	ended, err := tx.Ent().Key.Update().Where(entkey.ID(row.id), entkey.RevokedAtIsNil()).SetRevokedAt(now).Save(ctx)
	if err != nil || ended == 0 {
		return err
	}
	row.state.RevokedAt, row.RevokedAt = &now, time.UnixMilli(now)
	feed.AppendTo(tx, row.accountID, feed.Change{Kind: feed.KeyRevoked, Subject: row.id})
	return audit.Write(ctx, tx, r.db.NewID(), audit.Entry{AccountID: row.accountID, Action: "key.revoke", Subject: row.ID})
}

// emailOf returns the address of an account; nil if it has none.
func (r rows) emailOf(ctx context.Context, account int64) (*string, error) {
	row, err := r.db.Ent().Account.Get(ctx, account)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load account %d: %w", account, err)
	}
	return row.Email, nil
}
