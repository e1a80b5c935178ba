package videos

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/frame"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// saveFrames replaces the frames of those of a batch's videos, which are ids, that it has frames of.
func (s *Service) saveFrames(ctx context.Context, tx *store.Tx, batch Batch, records []*stage.Record, ids []int64) error {
	if len(batch.Frames) == 0 || batch.FramedVideos == 0 {
		return nil
	}
	account, err := Account(ctx)
	if err != nil {
		return err
	}
	var of []int64
	var creates []*ent.FrameCreate
	for i, r := range records {
		frames := batch.Frames[r.Ref]
		if len(frames) > 0 {
			of = append(of, ids[i])
		}
		for place, f := range frames {
			creates = append(creates, tx.Ent().Frame.Create().SetID(s.db.NewID()).SetAccountID(account).SetVideoID(ids[i]).
				SetPlace(place).SetAt(int(f.At)).SetWebp(f.WebP))
		}
	}
	if len(of) == 0 {
		return nil
	}
	if _, err := tx.Ent().Frame.Delete().Where(frame.VideoIDIn(of...)).Exec(ctx); err != nil {
		return fmt.Errorf("replace frames: %w", err)
	}
	if err := tx.Ent().Frame.CreateBulk(creates...).Exec(ctx); err != nil {
		return fmt.Errorf("save frames: %w", err)
	}
	return deleteOldFrames(ctx, tx, batch.FramedVideos)
}

// KeepFrames deletes the frames of all of the tenant's videos but the number whose frames are the
// newest, in short transactions.
func (s *Service) KeepFrames(ctx context.Context, videos int) error {
	for {
		_, found, err := oldFrames(ctx, s.db.Ent().Frame, videos)
		if err != nil || !found {
			return err
		}
		err = s.Hold(ctx, func(ctx context.Context, tx *store.Tx) error { return deleteOldFrames(ctx, tx, videos) })
		if err != nil {
			return err
		}
	}
}

// framedAtOnce is of how many videos one transaction deletes the frames, at most.
const framedAtOnce = 200

// oldFrames finds frames of at most framedAtOnce videos that are not among the number whose frames
// are the newest.
func oldFrames(ctx context.Context, frames *ent.FrameClient, videos int) (old predicate.Frame, found bool, err error) {
	// Frames of a video have ids in a row, and the first of them has the first place.
	first := frames.Query().Where(frame.Place(0))
	old = frame.IDGT(0)
	if videos > 0 {
		kept, err := first.Clone().Order(ent.Desc(frame.FieldID)).Offset(videos - 1).Limit(1).IDs(ctx)
		if err != nil {
			return nil, false, fmt.Errorf("find the oldest frames: %w", err)
		}
		if len(kept) == 0 {
			return nil, false, nil
		}
		old = frame.IDLT(kept[0])
	}
	ids, err := first.Where(old).Order(ent.Asc(frame.FieldID)).Limit(framedAtOnce + 1).IDs(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("find old frames: %w", err)
	}
	if len(ids) > framedAtOnce {
		old = frame.IDLT(ids[framedAtOnce])
	}
	return old, len(ids) > 0, nil
}

// deleteOldFrames deletes what oldFrames finds.
func deleteOldFrames(ctx context.Context, tx *store.Tx, videos int) error {
	old, found, err := oldFrames(ctx, tx.Ent().Frame, videos)
	if err != nil || !found {
		return err
	}
	if _, err := tx.Ent().Frame.Delete().Where(old).Exec(ctx); err != nil {
		return fmt.Errorf("delete old frames: %w", err)
	}
	return nil
}
