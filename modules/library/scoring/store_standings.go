package scoring

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// stands is where a creator stands by kind, as countStandings found it.
type stands struct {
	followers int64
	at        []videos.Stands
}

// in is where it stands among the creators of a kind; nil if it does not.
func (s stands) in(kind score.Kind) *score.Standing {
	for i := range s.at {
		if s.at[i].Kind == kind {
			return &s.at[i].Standing
		}
	}
	return nil
}

// countStandings counts creators again, whose videos were read: where they stand now, rather
// than where they stood. Those without videos stand nowhere. found has those with followers.
func (s *Service) countStandings(ctx context.Context, tx *store.Tx, ids []int64, of map[int64]*score.Creator) (found map[int64]stands, err error) {
	found = map[int64]stands{}
	moved, rows := map[videos.Stands]int{}, [][]any{}
	err = store.EachIn(ctx, tx, s.hot.standings, func(row *struct {
		ID        int64
		Followers *int64
		Standings string
	},
	) (bool, error) {
		id, now := row.ID, stands{followers: videos.Or(row.Followers, 0)}
		if c := of[id]; c != nil && now.followers > 0 {
			c.Standings(now.followers, func(kind score.Kind, at score.Standing) {
				now.at = append(now.at, videos.Stands{Kind: kind, Standing: at})
			})
			found[id] = now
		}
		packed := videos.PackStands(now.at)
		if packed == row.Standings {
			return true, nil
		}
		stood, err := videos.UnpackStands(row.Standings)
		if err != nil {
			return false, err
		}
		for _, at := range stood {
			moved[at]--
		}
		for _, at := range now.at {
			moved[at]++
		}
		rows = append(rows, []any{id, packed})
		return true, nil
	}, ids)
	if err != nil {
		return nil, fmt.Errorf("read where creators stand: %w", err)
	}
	if len(rows) == 0 {
		return found, nil
	}
	if _, err := s.db.Hot(`UPDATE creators SET standings = $2 WHERE id = $1 AND +{tenant}`).ExecRows(ctx, tx, rows); err != nil {
		return nil, fmt.Errorf("save where creators stand: %w", err)
	}
	return found, s.videos.CountStandings(ctx, tx, moved)
}

// countMarked counts the marked creators where they are more than are scored together: the
// first of them would else be compared with the few that were counted before them.
func (s *Service) countMarked(ctx context.Context) error {
	ids, err := s.followedAfter(ctx, s.db.Ent(), 0, 1, creatorsAtOnce+1)
	if err != nil || len(ids) <= creatorsAtOnce {
		return err
	}
	for after, done := int64(0), false; !done; {
		if after, done, err = s.count(ctx, after, 1); err != nil {
			return err
		}
	}
	return nil
}

// count counts the next creators with followers by where they stand, after an id, that are marked or not.
func (s *Service) count(ctx context.Context, after int64, dirty int) (next int64, done bool, err error) {
	err = s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := s.followedAfter(ctx, tx.Ent(), after, dirty, creatorsAtOnce)
		if err != nil {
			return err
		}
		if done = len(ids) < creatorsAtOnce; len(ids) == 0 {
			return nil
		}
		next = ids[len(ids)-1]
		readings, creators := map[int64][]score.Reading{}, map[int64]*score.Creator{}
		counted := s.db.Hot(`SELECT id, ` + videos.ReadingColumns + `, creator_id FROM videos WHERE {tenant} AND creator_id IN ({list:1})`)
		err = store.EachIn(ctx, tx, counted, func(row *struct {
			videos.ReadingRow
			CreatorID int64
		},
		) (bool, error) {
			readings[row.CreatorID] = append(readings[row.CreatorID], row.Reading())
			return true, nil
		}, ids)
		if err != nil {
			return fmt.Errorf("read the videos of creators: %w", err)
		}
		for id, all := range readings {
			creators[id] = s.growth.Creator(all)
		}
		_, err = s.countStandings(ctx, tx, ids, creators)
		return err
	})
	return next, done, err
}

// earlyRow are early views as the columns have them.
type earlyRow struct {
	views, alike int64
	creators     int
}

// alikes say what creators of as many followers have, of each kind as it was read first.
type alikes struct {
	*core
	tx *store.Tx
	of map[score.Kind]score.Standings
}

// early are the early views of a video of a creator who stands there.
func (a *alikes) early(ctx context.Context, o *score.Outlier, at stands) (row earlyRow, err error) {
	if o.OwnViews == 0 || at.followers == 0 {
		return row, nil
	}
	counts := a.of[o.Kind]
	if counts == nil {
		if counts, err = a.videos.Standings(ctx, a.tx, o.Kind); err != nil {
			return row, err
		}
		a.of[o.Kind] = counts
	}
	alike, creators := counts.Alike(at.followers, at.in(o.Kind))
	if row.views = o.Early(alike).Views; row.views > 0 {
		row.alike, row.creators = alike, creators
	}
	return row, nil
}
