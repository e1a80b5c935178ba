package videos

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/frame"
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
	return s.KeepFrames(ctx, tx, batch.FramedVideos)
}

// KeepFrames deletes the frames of all of the tenant's videos but the number whose frames are the
// newest.
func (s *Service) KeepFrames(ctx context.Context, tx *store.Tx, videos int) error {
	// Frames of a video have ids in a row, and one of them has the first place.
	oldest := int64(0)
	if videos > 0 {
		ids, err := tx.Ent().Frame.Query().Where(frame.Place(0)).Order(ent.Desc(frame.FieldID)).Offset(videos - 1).Limit(1).IDs(ctx)
		if err != nil {
			return fmt.Errorf("find the oldest frames: %w", err)
		}
		if len(ids) == 0 {
			return nil
		}
		oldest = ids[0]
	}
	query := tx.Ent().Frame.Delete()
	if oldest > 0 {
		query.Where(frame.IDLT(oldest))
	}
	if _, err := query.Exec(ctx); err != nil {
		return fmt.Errorf("delete old frames: %w", err)
	}
	return nil
}
