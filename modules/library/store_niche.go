package library

import (
	"cmp"
	"context"
	"math"
	"slices"

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
	for _, query := range []*store.Hot{s.hot.fewPeers, s.hot.noCreator} {
		err := eachSample(ctx, read, query, func(v *sample) { creators[v.creator] = append(creators[v.creator], v) }, platform)
		if err != nil {
			return nil, err
		}
	}
	youtube := platform == "youtube"
	targets := creators[0] // without a creator: no two of them share one
	delete(creators, 0)
	for _, id := range sortedKeys(creators) {
		targets = append(targets, scoreByCreator(creators[id], youtube, func(*sample, score) {})...)
	}
	slices.SortFunc(targets, func(a, b *sample) int { return cmp.Or(cmp.Compare(a.age(), b.age()), byDate(a, b)) })
	n := &niche{youtube: youtube, more: func(noDate bool, after *sample) (peers []*sample, end bool, err error) {
		query, args := s.hot.dated, []any{platform, int64(math.MaxInt64), int64(0)}
		if noDate {
			query, args = s.hot.undated, []any{platform, int64(0)}
		}
		if after != nil {
			args[len(args)-1] = after.id
			if !noDate {
				args[1] = after.posted
			}
		}
		err = eachSample(ctx, read, query, func(v *sample) { peers = append(peers, v) }, args...)
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
