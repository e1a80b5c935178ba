package removal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/deletedvideo"
	entdeletion "github.com/scrollery/scrollery/ent/deletion"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func insert(ctx context.Context, tx *store.Tx, account int64, d *Deletion) error {
	target := d.target
	if d.Status == deleted {
		target = []byte{}
	}
	err := tx.Ent().Deletion.Create().SetID(d.ID).SetAccountID(account).SetStatus(d.Status).SetOrigin(customer).SetWhat(d.What).SetTarget(target).
		SetVideos(d.Videos).SetReadings(d.Readings).SetUndoUntil(d.UndoUntil).SetCreatedAt(d.CreatedAt).SetUpdatedAt(d.CreatedAt).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store a deletion: %w", err)
	}
	return nil
}

func fromRow(row *ent.Deletion) *Deletion {
	return &Deletion{
		ID: row.ID, Status: row.Status, What: row.What, Videos: row.Videos, Readings: row.Readings,
		CreatedAt: row.CreatedAt, UndoUntil: row.UndoUntil, target: row.Target,
	}
}

// load returns a deletion of the tenant; nil for an unknown one.
func (s *Service) load(ctx context.Context, id int64) (*Deletion, error) {
	return one(s.db.Ent().Deletion.Query().Where(entdeletion.ID(id)).Only(ctx))
}

func one(row *ent.Deletion, err error) (*Deletion, error) {
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load a deletion: %w", err)
	}
	return fromRow(row), nil
}

// page reads the tenant's deletions below an id, newest first; 0 starts with the newest.
func (s *Service) page(ctx context.Context, before int64, limit int) (all []*Deletion, err error) {
	query := s.db.Ent().Deletion.Query()
	if before > 0 {
		query.Where(entdeletion.IDLT(before))
	}
	rows, err := query.Order(ent.Desc(entdeletion.FieldID)).Limit(limit).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list deletions: %w", err)
	}
	for _, row := range rows {
		all = append(all, fromRow(row))
	}
	return all, nil
}

// errEnded is the error of a step of a deletion that another process has ended: it must not be
// committed, since the deletion may be undone by now.
var errEnded = errors.New("the deletion has ended")

// count adds to a running deletion what the transaction deletes, and ends it when it is done.
func (s *Service) count(ctx context.Context, tx *store.Tx, id int64, videos, readings int, done bool) error {
	now := s.now()
	change := tx.Ent().Deletion.Update().Where(entdeletion.ID(id), entdeletion.Status(running)).
		AddVideos(videos).AddReadings(readings).SetUpdatedAt(now.UnixMilli())
	if done {
		change.SetStatus(deleted).SetTarget([]byte{}).SetUndoUntil(now.Add(UndoFor).UnixMilli())
	}
	n, err := change.Save(ctx)
	if err != nil {
		return fmt.Errorf("count what deletion %d deleted: %w", id, err)
	}
	if n == 0 {
		return errEnded
	}
	return nil
}

// beginUndo marks a deletion as one that is being undone, with the job that does it.
func (s *Service) beginUndo(ctx context.Context, id int64) (d *Deletion, err error) {
	account, _, _ := viewer.Tenant(ctx)
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if d, err = one(tx.Ent().Deletion.Query().Where(entdeletion.ID(id)).Only(ctx)); err != nil || d == nil {
			return err
		}
		switch d.Status {
		case running:
			return apierr.New(apierr.OperationError, "The deletion is under way. Undo it once it has ended.")
		case undoing, undone:
			return nil
		}
		d.Status = undoing
		n, err := tx.Ent().Deletion.Update().Where(entdeletion.ID(id), entdeletion.Status(deleted)).SetStatus(undoing).SetUpdatedAt(s.now().UnixMilli()).Save(ctx)
		if err != nil {
			return fmt.Errorf("undo deletion %d: %w", id, err)
		}
		if n == 0 {
			return nil // another call began to, or has ended it: what follows finds out
		}
		if err := s.videos.Tombstones.NoteLift(ctx, tx, id, s.now().UnixMilli()); err != nil {
			return err
		}
		return tx.Enqueue(ctx, store.Job{Kind: undoKind, Args: job{account, id}, RunAt: s.now().Add(2 * s.Patience), MaxAttempts: attempts})
	})
	if err == nil {
		s.kept.Flush(ctx)
	}
	return d, err
}

// lift removes some tombstones of a deletion, and ends its undo once there is none and nothing is
// kept; more is false then. It holds the library: until then the undo of another deletion may hand
// over videos.
func (s *Service) lift(ctx context.Context, id int64) (more bool, err error) {
	err = s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		if more, err = s.videos.Tombstones.Lift(ctx, tx, id); err != nil || more {
			return err
		}
		if more, err = tx.Ent().DeletedVideo.Query().Where(deletedvideo.DeletionID(id)).Exist(ctx); err != nil || more {
			return err
		}
		return tx.Ent().Deletion.Update().Where(entdeletion.ID(id), entdeletion.Status(undoing)).
			SetStatus(undone).SetUndoUntil(0).SetUpdatedAt(s.now().UnixMilli()).Exec(ctx)
	})
	if err != nil {
		return false, fmt.Errorf("lift tombstones: %w", err)
	}
	return more, nil
}

// expiredAtOnce is how many kept videos one transaction deletes.
const expiredAtOnce = 500

// expire deletes what is kept of deletions that can not be undone any more, of all tenants,
// those that ended first at the beginning.
func (s *Service) expire(ctx context.Context) error {
	for {
		rows, err := s.db.Ent().Deletion.Query().Where(entdeletion.Status(deleted), entdeletion.UndoUntilGT(0), entdeletion.UndoUntilLTE(s.now().UnixMilli())).
			Order(ent.Asc(entdeletion.FieldUndoUntil, entdeletion.FieldID)).Limit(100).
			Select(entdeletion.FieldID, entdeletion.FieldAccountID).All(viewer.System(ctx))
		if err != nil {
			return fmt.Errorf("find deletions to end: %w", err)
		}
		for _, row := range rows { // each in its turn, so that one tenant's many do not hold up the others for long
			if err := s.expireSome(viewer.As(ctx, row.AccountID), row.ID); err != nil {
				return fmt.Errorf("end deletion %d: %w", row.ID, err)
			}
			if err := rest(ctx); err != nil {
				return err
			}
		}
		if len(rows) == 0 {
			return nil
		}
	}
}

// expireSome deletes some of what is kept of a deletion, and ends it with the last of that.
func (s *Service) expireSome(ctx context.Context, id int64) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := tx.Ent().DeletedVideo.Query().Where(deletedvideo.DeletionID(id)).Order(deletedvideo.ByID()).Limit(expiredAtOnce).IDs(ctx)
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			_, err := tx.Ent().DeletedVideo.Delete().Where(deletedvideo.IDIn(ids...)).Exec(viewer.ByIDs(ctx))
			return err
		}
		return tx.Ent().Deletion.Update().Where(entdeletion.ID(id), entdeletion.Status(deleted)).SetUndoUntil(0).Exec(ctx)
	})
}

// undoEnd is when a deletion can be undone no more, if it ended as soon as it began.
func (d *Deletion) undoEnd() time.Time { return time.UnixMilli(d.CreatedAt).Add(UndoFor) }

// countAgain adds to a deletion what a start deleted once more.
func (s *Service) countAgain(ctx context.Context, tx *store.Tx, id int64, videos, readings int, undo bool) error {
	d, err := one(tx.Ent().Deletion.Query().Where(entdeletion.ID(id)).Only(ctx))
	if err != nil || d == nil {
		return err
	}
	change := tx.Ent().Deletion.Update().Where(entdeletion.ID(id)).AddVideos(videos).AddReadings(readings).SetUpdatedAt(s.now().UnixMilli())
	if undo && d.Status == deleted {
		change.SetUndoUntil(d.undoEnd().UnixMilli())
	}
	return change.Exec(ctx)
}
