package removal

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	enterasure "github.com/scrollery/scrollery/ent/erasure"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// beginErasure stores an erasure and keeps the creator out of all libraries from then on. One of
// the same name that has not ended goes on.
func (s *Service) beginErasure(ctx context.Context, asked videos.CreatorName, reason string) (e *erasure, err error) {
	hashes, err := s.videos.Vault.HashesOf(asked)
	if err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		row, err := tx.Ent().Erasure.Query().Where(enterasure.Hash(hashes[0]), enterasure.FinishedAt(0)).First(ctx)
		if err == nil {
			text, err := s.videos.Vault.Unseal(0, row.ID, row.Names)
			if err != nil {
				return err
			}
			e = &erasure{id: row.ID}
			return json.Unmarshal(text, &e.names)
		}
		if !ent.IsNotFound(err) {
			return err
		}
		e = &erasure{id: s.db.NewID(), names: asked}
		names, err := s.seal(e)
		if err != nil {
			return err
		}
		err = tx.Ent().Erasure.Create().SetID(e.id).SetHash(hashes[0]).SetNames(names).SetPlatform(asked.Platform).SetReason(reason).
			SetCreatedAt(s.now().UnixMilli()).Exec(ctx)
		if err != nil {
			return err
		}
		return s.videos.Tombstones.SuppressCreator(ctx, tx, e.id, asked)
	})
	return e, err
}

func (s *Service) seal(e *erasure) ([]byte, error) {
	text, err := json.Marshal(e.names)
	if err != nil {
		return nil, err
	}
	return s.videos.Vault.Seal(0, e.id, text)
}

// saveNames stores the names that are known by now, so that an erasure that is cut off knows
// them, and keeps the creator out by them too.
func (s *Service) saveNames(ctx context.Context, e *erasure) error {
	names, err := s.seal(e)
	if err != nil {
		return err
	}
	return s.db.Write(viewer.System(ctx), func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Ent().Erasure.UpdateOneID(e.id).SetNames(names).Exec(ctx); err != nil {
			return fmt.Errorf("store the names of a creator: %w", err)
		}
		return s.videos.Tombstones.SuppressCreator(ctx, tx, e.id, e.names)
	})
}

// countErased adds what the transaction deletes; first of an account that is not counted.
func countErased(ctx context.Context, tx *store.Tx, id int64, videos, readings int, first bool) error {
	change := tx.Ent().Erasure.UpdateOneID(id).AddVideos(videos).AddReadings(readings)
	if first {
		change.AddAccounts(1)
	}
	return change.Exec(ctx)
}

// endErasure ends an erasure and returns its signed receipt. The names are no longer stored.
func (s *Service) endErasure(ctx context.Context, e *erasure) (*Receipt, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.Ent().Erasure.UpdateOneID(e.id).SetNames([]byte{}).SetFinishedAt(s.now().UnixMilli()).Exec(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("end an erasure: %w", err)
	}
	row, err := s.db.Ent().Erasure.Get(ctx, e.id)
	if err != nil {
		return nil, fmt.Errorf("read an erasure: %w", err)
	}
	r := Receipt{
		ID: publicid.Format(publicid.Erasure, row.ID), Platform: row.Platform, Creator: row.Hash, Reason: row.Reason,
		Accounts: row.Accounts, Videos: row.Videos, Readings: row.Readings, StartedAt: row.CreatedAt, FinishedAt: row.FinishedAt,
	}
	r.Signature, err = s.sign(r)
	return &r, err
}

// everyLibrary calls do with each account that has a library, in their order and as that account.
func (s *Service) everyLibrary(ctx context.Context, do func(ctx context.Context, account int64) error) error {
	some := s.db.HotTenantless(`SELECT {owner} FROM libraries WHERE {owner} > $1 ORDER BY {owner} LIMIT 500`, "an erasure goes through the libraries of all tenants")
	for after := int64(0); ; {
		accounts, err := store.Query[int64](ctx, some, after)
		if err != nil {
			return fmt.Errorf("list libraries: %w", err)
		}
		if len(accounts) == 0 {
			return nil
		}
		for _, account := range accounts {
			if err := do(viewer.As(ctx, account), account); err != nil {
				return fmt.Errorf("account %d: %w", account, err)
			}
			after = account
		}
	}
}
