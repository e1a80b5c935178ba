package videos

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/observation"
	"github.com/scrollery/scrollery/ent/scorepoint"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Size is how many videos the tenant's library has.
func (c Catalog) Size(ctx context.Context) (int, error) {
	row, err := c.db.Ent().Library.Query().Only(ctx)
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("count videos: %w", err)
	}
	return int(row.Videos), nil
}

// forgottenAtOnce is how many readings one transaction looks for.
const forgottenAtOnce = 200

// Forget deletes the readings of some scrolls, and the videos that no other scroll has read,
// in short transactions. The others are as their remaining readings say, and scores are made
// again in the background. A deletion that is undone later does not bring them back. Doing it
// twice changes nothing; counts is called in each transaction with what it deleted.
func (s Deletions) Forget(ctx context.Context, scrolls []int64, counts func(ctx context.Context, tx *store.Tx, videos, readings int) error) error {
	for first, done := true, false; !done; first = false {
		err := s.videos.Hold(WithMore(ctx, true), func(ctx context.Context, tx *store.Tx) error {
			if first {
				if err := s.videos.Tombstones.BuryScrolls(ctx, tx, 0, scrolls); err != nil {
					return err
				}
			}
			videos, readings, err := s.ForgetSome(ctx, tx, scrolls, Removal{})
			if err != nil {
				return err
			}
			if done = readings == 0; done {
				return nil
			}
			return counts(ctx, tx, videos, readings)
		})
		if err != nil {
			return fmt.Errorf("forget scrolls: %w", err)
		}
	}
	return s.ScoreNow(ctx)
}

// ForgetSome deletes some readings of scrolls, and the videos that have no other, in a
// transaction that holds the library. It deletes none at the end.
func (s Deletions) ForgetSome(ctx context.Context, tx *store.Tx, scrolls []int64, by Removal) (videos, readings int, err error) {
	rows, err := tx.Ent().Observation.Query().Where(observation.ScrollIDIn(scrolls...)).Limit(forgottenAtOnce).All(ctx)
	if err != nil || len(rows) == 0 {
		return 0, 0, err
	}
	byVideo := map[int64][]*ent.Observation{}
	var of []int64
	for _, row := range rows {
		if _, seen := byVideo[row.VideoID]; !seen && len(of) < DeletedAtOnce {
			byVideo[row.VideoID], of = nil, append(of, row.VideoID)
		}
	}
	left, err := tx.Ent().Observation.Query().Where(observation.VideoIDIn(of...), observation.ScrollIDNotIn(scrolls...)).
		Order(ent.Asc(observation.FieldObservedAt), ent.Asc(observation.FieldID)).All(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, row := range left {
		byVideo[row.VideoID] = append(byVideo[row.VideoID], row)
	}
	return s.forget(ctx, tx, rows, byVideo, by)
}

// forget deletes readings, and the videos that nothing is left of. left has an entry for each
// video: its other readings, in the order of their times. Readings of further videos stay.
func (s Deletions) forget(ctx context.Context, tx *store.Tx, rows []*ent.Observation, left map[int64][]*ent.Observation, by Removal) (videos, readings int, err error) {
	var gone []int64
	for _, id := range slices.Sorted(maps.Keys(left)) {
		if len(left[id]) == 0 {
			gone = append(gone, id)
			delete(left, id)
		}
	}
	if videos, readings, err = s.Delete(ctx, tx, gone, by); err != nil {
		return 0, 0, err
	}
	rows = slices.DeleteFunc(rows, func(o *ent.Observation) bool { return left[o.VideoID] == nil })
	if err := s.forgetReadings(ctx, tx, rows); err != nil {
		return 0, 0, err
	}
	return videos, readings + len(rows), s.reread(ctx, tx, left)
}

// forgetReadings deletes readings of videos that have others, with the scores of their scrolls.
func (s Deletions) forgetReadings(ctx context.Context, tx *store.Tx, rows []*ent.Observation) error {
	if len(rows) == 0 {
		return nil
	}
	ids, byScroll := make([]int64, len(rows)), map[int64][]int64{}
	for i, row := range rows {
		ids[i], byScroll[row.ScrollID] = row.ID, append(byScroll[row.ScrollID], row.VideoID)
	}
	if _, err := tx.Ent().Observation.Delete().Where(observation.IDIn(ids...)).Exec(viewer.ByIDs(ctx)); err != nil {
		return err
	}
	if err := s.videos.uncountReadings(ctx, tx, rows); err != nil {
		return err
	}
	for scroll, of := range byScroll {
		if _, err := tx.Ent().ScorePoint.Delete().Where(scorepoint.ScrollID(scroll), scorepoint.VideoIDIn(of...)).Exec(ctx); err != nil {
			return err
		}
	}
	return s.unscored(ctx, tx, rows)
}

// reread makes videos what their readings say, which are in the order of their times.
func (s Deletions) reread(ctx context.Context, tx *store.Tx, byVideo map[int64][]*ent.Observation) error {
	return s.change(ctx, tx, byVideo, func(v *Video) { v.rereadFrom(byVideo[v.id]) })
}

// change saves videos, which are keys, with a change.
func (s Deletions) change(ctx context.Context, tx *store.Tx, of map[int64][]*ent.Observation, how func(*Video)) error {
	if len(of) == 0 {
		return nil
	}
	rows, err := tx.Ent().Video.Query().Where(video.IDIn(slices.Sorted(maps.Keys(of))...)).
		Select(video.FieldID, video.FieldPlatform, video.FieldExternalID).All(viewer.ByIDs(ctx))
	if err != nil {
		return err
	}
	refs := make([]stage.Ref, len(rows))
	for i, row := range rows {
		refs[i] = stage.Ref{Platform: row.Platform, ExternalID: row.ExternalID}
	}
	known, err := s.videos.load(ctx, tx, 0, refs)
	if err != nil {
		return err
	}
	changed := make([]*Video, 0, len(known))
	for _, ref := range refs {
		if v := known[ref]; v != nil {
			how(v)
			changed = append(changed, v)
		}
	}
	return s.videos.save(ctx, tx, Batch{}, changed)
}

// rereadFrom makes the numbers of the video those of its observations, which are in the
// order of their times.
func (v *Video) rereadFrom(rows []*ent.Observation) {
	v.Metrics, v.usableViews, v.usableLikes, v.usableAt = Metrics{}, nil, nil, nil
	for _, row := range rows {
		at := row.ObservedAt
		v.Metrics = Metrics{row.Views, row.Likes, row.Comments, row.Shares, row.Saves, &at}
		if usable(row.Views, row.Likes) {
			v.usableViews, v.usableLikes, v.usableAt = row.Views, row.Likes, &at
		}
	}
	v.hasNewReading = true
}
