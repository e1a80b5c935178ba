package removal

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/deletedvideo"
	entdeletion "github.com/scrollery/scrollery/ent/deletion"
	enterasure "github.com/scrollery/scrollery/ent/erasure"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// resealedAtOnce is how many rows one transaction seals again.
const resealedAtOnce = 20

// sealedRow is a row of any of the three tables.
type sealedRow struct {
	id, account int64
	sealed      []byte
}

// Reseal seals with the server's newest key what older ones sealed, of all tenants, and returns
// how much that was. Each step is a short transaction. It can be stopped at any time; what changes
// meanwhile keeps what it has.
func (s *Service) Reseal(ctx context.Context) (resealed int, err error) {
	ctx = viewer.System(ctx)
	for _, table := range []struct {
		next func(after int64) ([]sealedRow, error)
		save func(ctx context.Context, tx *store.Tx, r sealedRow, sealed []byte) error
	}{{
		func(after int64) ([]sealedRow, error) {
			rows, err := s.db.Ent().Deletion.Query().Where(entdeletion.IDGT(after), entdeletion.Status(running)).
				Order(ent.Asc(entdeletion.FieldID)).Limit(resealedAtOnce).All(ctx)
			return rowsOf(rows, err, func(d *ent.Deletion) sealedRow { return sealedRow{d.ID, d.AccountID, d.Target} })
		},
		func(ctx context.Context, tx *store.Tx, r sealedRow, sealed []byte) error {
			return tx.Ent().Deletion.Update().Where(entdeletion.ID(r.id), entdeletion.Target(r.sealed)).SetTarget(sealed).Exec(ctx)
		},
	}, {
		func(after int64) ([]sealedRow, error) {
			rows, err := s.db.Ent().DeletedVideo.Query().Where(deletedvideo.IDGT(after)).
				Order(ent.Asc(deletedvideo.FieldID)).Limit(resealedAtOnce).All(ctx)
			return rowsOf(rows, err, func(d *ent.DeletedVideo) sealedRow { return sealedRow{d.ID, d.AccountID, d.Sealed} })
		},
		func(ctx context.Context, tx *store.Tx, r sealedRow, sealed []byte) error {
			_, err := s.db.Hot(`UPDATE deleted_videos SET sealed = $2 WHERE id = $1 AND +{tenant} AND sealed = $3`).
				ExecIn(viewer.As(ctx, r.account), tx, r.id, sealed, r.sealed)
			return err
		},
	}, {
		func(after int64) ([]sealedRow, error) {
			rows, err := s.db.Ent().Erasure.Query().Where(enterasure.IDGT(after), enterasure.FinishedAt(0)).
				Order(ent.Asc(enterasure.FieldID)).Limit(resealedAtOnce).All(ctx)
			return rowsOf(rows, err, func(e *ent.Erasure) sealedRow { return sealedRow{e.ID, 0, e.Names} })
		},
		func(ctx context.Context, tx *store.Tx, r sealedRow, sealed []byte) error {
			return tx.Ent().Erasure.Update().Where(enterasure.ID(r.id), enterasure.Names(r.sealed)).SetNames(sealed).Exec(ctx)
		},
	}} {
		for after := int64(0); ; {
			rows, err := table.next(after)
			if err != nil {
				return resealed, fmt.Errorf("read what is sealed: %w", err)
			}
			if len(rows) == 0 {
				break
			}
			after = rows[len(rows)-1].id
			n := 0
			err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				n = 0
				for _, r := range rows {
					sealed, err := s.videos.Vault.Reseal(r.account, r.id, r.sealed)
					if err != nil {
						return fmt.Errorf("row %d: %w", r.id, err)
					}
					if sealed == nil {
						continue
					}
					if err := table.save(ctx, tx, r, sealed); err != nil {
						return err
					}
					n++
				}
				return nil
			})
			if err != nil {
				return resealed, fmt.Errorf("seal again: %w", err)
			}
			if resealed += n; n > 0 {
				if err := rest(ctx); err != nil {
					return resealed, err
				}
			}
		}
	}
	return resealed, nil
}

func rowsOf[R any](rows []*R, err error, to func(*R) sealedRow) ([]sealedRow, error) {
	all := make([]sealedRow, len(rows))
	for i, row := range rows {
		all[i] = to(row)
	}
	return all, err
}
