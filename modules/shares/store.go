package shares

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/share"
	"github.com/scrollery/scrollery/ent/shareitem"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// lock keeps the tenant's others, who change shares, waiting.
func lock(ctx context.Context, tx *store.Tx) error {
	account, _, _ := viewer.Tenant(ctx)
	return tx.Lock(ctx, "shares", account)
}

// Parts takes deleted videos off frozen pages. The library needs it.
type Parts struct{}

// NewParts returns it.
func NewParts() *Parts { return &Parts{} }

// Forget deletes all parts of pages that rest on some videos, in the transaction that deletes
// the videos. A share that is made meanwhile waits for its end, and then finds no video.
func (*Parts) Forget(ctx context.Context, tx *store.Tx, ids []int64) error {
	if err := lock(ctx, tx); err != nil {
		return err
	}
	rows, err := tx.Ent().ShareItem.Query().Where(shareitem.VideoIDIn(ids...)).Select(shareitem.FieldShareID, shareitem.FieldPosition).All(ctx)
	if err != nil {
		return fmt.Errorf("find pages of deleted videos: %w", err)
	}
	for _, row := range rows {
		_, err := tx.Ent().ShareItem.Delete().Where(shareitem.ShareID(row.ShareID), shareitem.Position(row.Position)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("take deleted videos off share %d: %w", row.ShareID, err)
		}
	}
	return nil
}

// insert stores a share, unless the account has as many as it may; found is false if a video
// of it is gone.
func (s *Service) insert(ctx context.Context, sh *Share, hash string, parts []part) (found bool, err error) {
	account, _, _ := viewer.Tenant(ctx)
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		count, err := tx.Ent().Share.Query().Count(ctx)
		if err != nil {
			return err
		}
		if count >= Max {
			return apierr.New(apierr.OperationError, "An account may have %d shares. Revoke one first.", Max)
		}
		ids := videosOf(parts)
		there, err := s.library.Present(ctx, tx, ids)
		if found = len(there) == len(ids); err != nil || !found {
			return err
		}
		err = tx.Ent().Share.Create().SetID(sh.ID).SetAccountID(account).SetTokenHash(hash).SetKind(sh.Kind).SetTitle(sh.Title).
			SetExpiresAt(sh.ExpiresAt).SetCreatedAt(sh.CreatedAt).Exec(ctx)
		if err != nil {
			return err
		}
		var items []*ent.ShareItemCreate
		for i, p := range parts {
			text, err := json.Marshal(p)
			if err != nil {
				return err
			}
			doc, rests := string(text), p.videos
			if len(rests) == 0 {
				rests = []int64{0}
			}
			for _, video := range rests {
				items = append(items, tx.Ent().ShareItem.Create().SetID(s.db.NewID()).SetAccountID(account).SetShareID(sh.ID).
					SetPosition(i).SetVideoID(video).SetDoc(doc))
				doc = ""
			}
		}
		return tx.Ent().ShareItem.CreateBulk(items...).Exec(ctx)
	})
	if err != nil {
		return false, fmt.Errorf("store a share: %w", err)
	}
	return found, nil
}

func fromRow(row *ent.Share) *Share {
	return &Share{
		ID: row.ID, Kind: row.Kind, Title: row.Title, Views: row.Views, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, account: row.AccountID,
	}
}

// List returns at most limit shares below an id that have not ended, newest first; 0 starts
// with the newest.
func (s *Service) List(ctx context.Context, before int64, limit int) (all []*Share, err error) {
	query := s.db.Ent().Share.Query().Where(share.ExpiresAtGT(s.now().UnixMilli()))
	if before > 0 {
		query.Where(share.IDLT(before))
	}
	rows, err := query.Order(ent.Desc(share.FieldID)).Limit(limit).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list shares: %w", err)
	}
	for _, row := range rows {
		all = append(all, fromRow(row))
	}
	return all, nil
}

// Revoke deletes a share; found is false for an unknown one.
func (s *Service) Revoke(ctx context.Context, id int64) (found bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		n, err := tx.Ent().Share.Delete().Where(share.ID(id)).Exec(ctx)
		if found = n > 0; err != nil || !found {
			return err
		}
		_, err = tx.Ent().ShareItem.Delete().Where(shareitem.ShareID(id)).Exec(ctx)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("revoke share %d: %w", id, err)
	}
	return found, nil
}

// open returns a share by its token, with what is left of its page; nil for an unknown or ended
// one. It counts the view, if it is one.
func (s *Service) open(ctx context.Context, token string, isView bool) (sh *Share, parts []part, err error) {
	rows, err := s.db.Ent().Share.Query().Where(share.TokenHash(hashOf(token))).Limit(1).All(viewer.System(ctx))
	if err != nil {
		return nil, nil, fmt.Errorf("look for a share: %w", err)
	}
	if len(rows) == 0 || rows[0].ExpiresAt <= s.now().UnixMilli() {
		return nil, nil, nil
	}
	sh = fromRow(rows[0])
	if blocked, err := s.accounts.Blocked(ctx, sh.account); err != nil || blocked {
		return nil, nil, err
	}
	ctx = viewer.As(ctx, sh.account)
	items, err := s.db.Ent().ShareItem.Query().Where(shareitem.ShareID(sh.ID)).Order(ent.Asc(shareitem.FieldPosition)).All(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read share %d: %w", sh.ID, err)
	}
	for _, item := range items {
		if item.Doc == "" {
			continue
		}
		var p part
		if err := json.Unmarshal([]byte(item.Doc), &p); err != nil {
			return nil, nil, fmt.Errorf("read share %d: %w", sh.ID, err)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, nil, nil
	}
	if isView {
		err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Ent().Share.Update().Where(share.ID(sh.ID)).AddViews(1).Exec(ctx)
		})
		if err != nil {
			return nil, nil, fmt.Errorf("count a view of share %d: %w", sh.ID, err)
		}
	}
	return sh, parts, nil
}

// sweptAtOnce is how many shares one look of the sweep finds.
const sweptAtOnce = 100

// sweep deletes the shares of all tenants that have ended.
func (s *Service) sweep(ctx context.Context) error {
	for {
		rows, err := s.db.Ent().Share.Query().Where(share.ExpiresAtLTE(s.now().UnixMilli())).Order(ent.Asc(share.FieldExpiresAt, share.FieldID)).
			Limit(sweptAtOnce).Select(share.FieldID, share.FieldAccountID).All(viewer.System(ctx))
		if err != nil {
			return fmt.Errorf("find shares that have ended: %w", err)
		}
		for _, row := range rows {
			if _, err := s.Revoke(viewer.As(ctx, row.AccountID), row.ID); err != nil {
				return err
			}
		}
		if len(rows) < sweptAtOnce {
			return nil
		}
	}
}
