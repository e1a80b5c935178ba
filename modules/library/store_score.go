package library

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

const (
	// creatorsAtOnce and videosAtOnce keep the transactions of scoring short, as
	// everybody else's writes wait for them.
	creatorsAtOnce = 200
	videosAtOnce   = 500
)

// Score brings outliers and trends up to date after a scroll, which counts as
// completed. It may be called again at any time.
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

const platformsQuery = `SELECT DISTINCT platform FROM creators WHERE account_id = $1 AND dirty = 1
UNION SELECT DISTINCT v.platform FROM observations o CROSS JOIN videos v WHERE o.account_id = $1 AND o.scroll_id = $2 AND v.id = o.video_id
ORDER BY 1`

// platforms are those on which anything changed: there, anybody's niche did.
func (s *Service) platforms(ctx context.Context, scrollID int64) (platforms []string, err error) {
	rows, err := s.statement(platformsQuery).Query(ctx, scrollID)
	err = each(rows, err, func(rows *sql.Rows) error {
		var platform string
		err := rows.Scan(&platform)
		platforms = append(platforms, platform)
		return err
	})
	return platforms, err
}

// scoreCreators scores the videos of some creators that are marked, by each
// other, and takes the marks away; done when none is left.
func (s *Service) scoreCreators(ctx context.Context) (done bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		account, err := tenant(ctx)
		if err != nil {
			return err
		}
		if err := s.raise(ctx, tx, account, 0); err != nil {
			return err
		}
		platforms := map[int64]string{}
		err = s.write("SELECT id, platform FROM creators WHERE account_id = ", arg{account}, " AND dirty = 1 ORDER BY id LIMIT ").numbers([]int64{creatorsAtOnce}).
			query(ctx, tx, func(rows *sql.Rows) error {
				var id int64
				var platform string
				err := rows.Scan(&id, &platform)
				platforms[id] = platform
				return err
			})
		if err != nil {
			return err
		}
		if done = len(platforms) < creatorsAtOnce; len(platforms) == 0 {
			return nil
		}
		ids := names(platforms)
		videos, unusable, err := s.samples(ctx, tx, account, ids)
		if err != nil {
			return err
		}
		changes := make([]change, 0, len(unusable))
		for _, v := range unusable {
			changes = append(changes, v.become(score{})...)
		}
		var thin []int64
		for _, id := range ids {
			left := scoreByCreator(videos[id], platforms[id] == "youtube", func(v *sample, to score) { changes = append(changes, v.become(to)...) })
			if len(left) > 0 {
				thin = append(thin, id)
			}
		}
		if err := s.applyScores(ctx, tx, account, changes); err != nil {
			return err
		}
		if err := s.write("UPDATE creators SET dirty = 0, thin = 0 WHERE account_id = ", arg{account}, " AND id IN (").numbers(ids).add(")").exec(ctx, tx); err != nil {
			return err
		}
		if len(thin) == 0 {
			return nil
		}
		return s.write("UPDATE creators SET thin = 1 WHERE account_id = ", arg{account}, " AND id IN (").numbers(thin).add(")").exec(ctx, tx)
	})
	return done, err
}

// samples reads all videos of the creators; unusable are those that scoring cannot use.
func (s *Service) samples(ctx context.Context, tx *store.Tx, account int64, creators []int64) (usable map[int64][]*sample, unusable []*sample, err error) {
	usable = map[int64][]*sample{}
	err = s.write("SELECT id, creator_id, posted_at, usable_at, usable_views, outlier_order FROM videos WHERE account_id = ", arg{account}, " AND creator_id IN (").
		numbers(creators).add(")").query(ctx, tx, func(rows *sql.Rows) error {
		v, ok, err := scanSample(rows)
		if ok {
			usable[v.creator] = append(usable[v.creator], v)
		} else {
			unusable = append(unusable, v)
		}
		return err
	})
	return usable, unusable, err
}

// scanSample reads id, creator, posted, usable time, usable views, sort key.
func scanSample(rows *sql.Rows) (v *sample, usable bool, err error) {
	var posted, at, views, creator sql.NullInt64
	v = &sample{posted: undated}
	if err := rows.Scan(&v.id, &creator, &posted, &at, &views, &v.outlier); err != nil {
		return nil, false, err
	}
	if posted.Valid {
		v.posted = posted.Int64
	}
	v.creator, v.at, v.views = creator.Int64, at.Int64, views.Int64
	return v, views.Valid, nil
}

// scoreByCreator scores the videos of one creator by each other and returns those
// that have too few peers among themselves.
func scoreByCreator(videos []*sample, youtube bool, scored func(*sample, score)) (left []*sample) {
	slices.SortFunc(videos, byDate)
	scratch := make([]int64, 0, creatorPeerCount)
	for i, v := range videos {
		if result := creatorScore(videos, i, youtube, scratch); result.peers > 0 {
			scored(v, result)
		} else {
			left = append(left, v)
		}
	}
	return left
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

func (s *Service) applyScores(ctx context.Context, tx *store.Tx, account int64, changes []change) error {
	for part := range slices.Chunk(changes, videosAtOnce) {
		values := make([][]any, len(part))
		for i, c := range part {
			values[i] = []any{c.id, nullable(c.order)}
		}
		err := s.write("UPDATE videos SET outlier_order = n.column2 FROM (VALUES ").rows(values, "BIGINT", s.bytesType()).
			add(") AS n WHERE videos.id = n.column1 AND videos.account_id = ", arg{account}).exec(ctx, tx)
		if err != nil {
			return fmt.Errorf("write scores: %w", err)
		}
	}
	return nil
}
