package library

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

const (
	// creatorsAtOnce and videosAtOnce keep the transactions of scoring short, as
	// other writes wait for them.
	creatorsAtOnce = 200
	videosAtOnce   = 500
)

// reader reads in a transaction or outside of all.
type reader struct {
	*ent.Client
	hot func(ctx context.Context, query *store.Hot, args ...any) (*sql.Rows, error)
}

func (s *Service) outside() reader {
	return reader{s.db.Ent(), func(ctx context.Context, query *store.Hot, args ...any) (*sql.Rows, error) {
		return query.Query(ctx, args...)
	}}
}

func within(tx *store.Tx) reader {
	return reader{tx.Ent(), func(ctx context.Context, query *store.Hot, args ...any) (*sql.Rows, error) {
		return query.QueryIn(ctx, tx, args...)
	}}
}

// Score updates outliers and trends after a scroll, which counts as completed. It
// may be called again at any time.
func (s *Service) Score(ctx context.Context, scrollID int64) error {
	platforms, err := s.platforms(ctx, scrollID)
	if err != nil {
		return fmt.Errorf("score scroll %d: %w", scrollID, err)
	}
	for done := false; !done; {
		if done, err = s.scoreCreators(ctx); err != nil {
			return fmt.Errorf("score creators after scroll %d: %w", scrollID, err)
		}
	}
	for _, platform := range platforms {
		if err := s.scoreNiche(ctx, platform); err != nil {
			return fmt.Errorf("score niche of %s after scroll %d: %w", platform, scrollID, err)
		}
	}
	if err := s.scoreTrends(ctx, scrollID); err != nil {
		return fmt.Errorf("trends after scroll %d: %w", scrollID, err)
	}
	return nil
}

// platforms are those on which anything changed: there, every video's niche did.
func (s *Service) platforms(ctx context.Context, scrollID int64) (platforms []string, err error) {
	rows, err := s.hot.platforms.Query(ctx, scrollID)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		var platform string
		err := rows.Scan(&platform)
		platforms = append(platforms, platform)
		return err
	})
	return platforms, err
}

// scoreCreators scores the videos of some creators that are marked, by each
// other, and removes the marks; done when none is left.
func (s *Service) scoreCreators(ctx context.Context) (done bool, err error) {
	err = s.hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		marked, err := tx.Ent().Creator.Query().Where(creator.Dirty(1)).Order(creator.ByID()).Limit(creatorsAtOnce).All(ctx)
		if err != nil {
			return err
		}
		if done = len(marked) < creatorsAtOnce; len(marked) == 0 {
			return nil
		}
		ids := make([]int64, len(marked))
		for i, c := range marked {
			ids[i] = c.ID
		}
		videos, changes, err := s.samplesOf(ctx, tx, ids)
		if err != nil {
			return err
		}
		var few []int64
		for _, c := range marked {
			left := scoreByCreator(videos[c.ID], c.Platform == "youtube", func(v *sample, to score) { changes = append(changes, v.become(to)...) })
			if len(left) > 0 {
				few = append(few, c.ID)
			}
		}
		for part := range slices.Chunk(changes, videosAtOnce) {
			if err := s.saveScores(ctx, tx, part); err != nil {
				return err
			}
		}
		if err := tx.Ent().Creator.Update().Where(creator.IDIn(ids...)).SetDirty(0).SetThin(0).Exec(ctx); err != nil || len(few) == 0 {
			return err
		}
		return tx.Ent().Creator.Update().Where(creator.IDIn(few...)).SetThin(1).Exec(ctx)
	})
	return done, err
}

// samplesOf reads all videos of the creators. Those that scoring cannot use become
// changes: they are no outliers.
func (s *Service) samplesOf(ctx context.Context, tx *store.Tx, creators []int64) (usable map[int64][]*sample, unusable []change, err error) {
	usable = map[int64][]*sample{}
	all, err := samples(ctx, tx.Ent().Video.Query().Where(video.CreatorIDIn(creators...)))
	for _, v := range all {
		if v.views > 0 {
			usable[v.creator] = append(usable[v.creator], v)
		} else {
			unusable = append(unusable, v.become(score{})...)
		}
	}
	return usable, unusable, err
}

// samples reads videos as scoring sees them; one that scoring cannot use has no views.
func samples(ctx context.Context, query *ent.VideoQuery) ([]*sample, error) {
	rows, err := query.Select(video.FieldCreatorID, video.FieldPostedAt, video.FieldUsableAt, video.FieldUsableViews, video.FieldOutlierOrder).All(ctx)
	all := make([]*sample, len(rows))
	for i, row := range rows {
		v := &sample{id: row.ID, posted: undated}
		if row.PostedAt != nil {
			v.posted = *row.PostedAt
		}
		if row.CreatorID != nil {
			v.creator = *row.CreatorID
		}
		if row.UsableViews != nil && row.UsableAt != nil {
			v.views, v.at = *row.UsableViews, *row.UsableAt
		}
		if row.OutlierOrder != nil {
			v.outlier = *row.OutlierOrder
		}
		all[i] = v
	}
	return all, err
}

// change is a score that the row does not show yet.
type change struct {
	id    int64
	order []byte // nil for a video that is no outlier
}

// become returns what has to change for the video to show its score, if anything.
func (s *sample) become(to score) []change {
	c := change{id: s.id}
	if to.peers > 0 && to.ratio(s.views) > 1 {
		c.order = outlierOrder(round4(to.ratio(s.views)), s.views, s.at, s.id, to.baseline, to.peers)
	}
	if bytes.Equal(c.order, s.outlier) {
		return nil
	}
	return []change{c}
}

func (s *Service) saveScores(ctx context.Context, tx *store.Tx, changes []change) error {
	values := make([][]any, len(changes))
	for i, c := range changes {
		values[i] = []any{c.id, nullable(c.order)}
	}
	if _, err := s.hot.saveScores.ExecIn(ctx, tx, values); err != nil {
		return fmt.Errorf("save scores: %w", err)
	}
	return nil
}
