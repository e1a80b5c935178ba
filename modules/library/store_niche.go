package library

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// peersAtOnce is how many niche peers one query reads.
const peersAtOnce = 1000

// scoreNiche scores the videos of a platform that have too few peers by their
// creator.
func (s *Service) scoreNiche(ctx context.Context, platform string) error {
	return s.update(ctx, func(ctx context.Context, read reader) (writes, error) {
		changes, err := s.nicheChanges(ctx, platform, read)
		return s.scoreWrites(changes), err
	})
}

func (s *Service) scoreWrites(changes []change) (found writes) {
	for part := range slices.Chunk(changes, videosAtOnce) {
		found = append(found, func(ctx context.Context, tx *store.Tx) error { return s.saveScores(ctx, tx, part) })
	}
	return found
}

// nicheChanges returns the scores that the platform's rows do not show yet.
func (s *Service) nicheChanges(ctx context.Context, platform string, read reader) ([]change, error) {
	creators := map[int64][]*sample{}
	rows, err := read.hot(ctx, s.hot.fewPeers, platform)
	err = store.Scan(rows, err)(func(rows *sql.Rows) error {
		v, posted := &sample{posted: undated}, sql.NullInt64{}
		err := rows.Scan(&v.id, &v.creator, &posted, &v.at, &v.views, &v.outlier)
		if posted.Valid {
			v.posted = posted.Int64
		}
		creators[v.creator] = append(creators[v.creator], v)
		return err
	})
	if err != nil {
		return nil, err
	}
	usable := func() *ent.VideoQuery {
		return read.Video.Query().Where(video.Platform(platform), video.UsableViewsNotNil())
	}
	targets, err := samples(ctx, usable().Where(video.CreatorIDIsNil())) // no two of them share a creator
	if err != nil {
		return nil, err
	}
	youtube := platform == "youtube"
	for _, id := range sortedKeys(creators) {
		targets = append(targets, scoreByCreator(creators[id], youtube, func(*sample, score) {})...)
	}
	slices.SortFunc(targets, func(a, b *sample) int { return cmp.Or(cmp.Compare(a.age(), b.age()), byDate(a, b)) })
	n := &niche{youtube: youtube, more: func(noDate bool, after *sample) (peers []*sample, end bool, err error) {
		query := usable().Limit(peersAtOnce)
		switch {
		case noDate && after != nil:
			query.Where(video.PostedAtIsNil(), video.IDGT(after.id)).Order(video.ByID())
		case noDate:
			query.Where(video.PostedAtIsNil()).Order(video.ByID())
		case after != nil:
			query.Where(video.PostedAtLTE(after.posted), video.Or(video.PostedAtLT(after.posted), video.IDGT(after.id)))
			fallthrough
		default:
			query.Where(video.PostedAtNotNil()).Order(video.ByPostedAt(entsql.OrderDesc()), video.ByID())
		}
		peers, err = samples(ctx, query)
		return peers, len(peers) < peersAtOnce, err
	}}
	var changes []change
	for _, v := range targets {
		result, err := n.score(v)
		if err != nil {
			return nil, err
		}
		changes = append(changes, v.become(result)...)
	}
	return changes, nil
}
