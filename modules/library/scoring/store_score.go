package scoring

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

const (
	// creatorsAtOnce and videosAtOnce keep the transactions of scoring short, as
	// other writes wait for them. A scroll of 250 new videos is one.
	creatorsAtOnce = 250
	videosAtOnce   = 500
)

// Score updates outliers and trends after a scroll, which counts as completed. It
// may be called again at any time.
func (s *Service) Score(ctx context.Context, scrollID int64) error {
	ctx = videos.AtScroll(ctx, scrollID)
	if err := s.ScoreMarked(ctx, NicheInScroll); err != nil {
		return fmt.Errorf("score scroll %d: %w", scrollID, err)
	}
	if err := s.savePoints(ctx, scrollID); err != nil {
		return fmt.Errorf("score scroll %d: %w", scrollID, err)
	}
	if err := s.Trends.scoreTrends(ctx, scrollID); err != nil {
		return fmt.Errorf("trends after scroll %d: %w", scrollID, err)
	}
	return nil
}

// ScoreMarked scores what changed: the videos of marked creators by each other, then those
// that depend on a marked niche, at most most of those of a kind that did not change themselves.
func (s *Service) ScoreMarked(ctx context.Context, most int) error {
	if err := s.countMarked(ctx); err != nil {
		return fmt.Errorf("count creators: %w", err)
	}
	for done := false; !done; {
		err := s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			done, err = s.scoreCreators(ctx, tx)
			return err
		})
		if err != nil {
			return fmt.Errorf("score creators: %w", err)
		}
	}
	return s.scoreNiches(ctx, most)
}

// scoreCreators scores the videos of some marked creators by each other, and removes the
// marks; done when none is left.
func (s *Service) scoreCreators(ctx context.Context, tx *store.Tx) (done bool, err error) {
	ids, err := store.QueryIn[int64](ctx, tx, s.hot.unmark)
	if err != nil || len(ids) == 0 {
		return true, err
	}
	return len(ids) < creatorsAtOnce, s.scoreSome(ctx, tx, ids, false)
}

// scoreSome scores all videos of the creators by each other. Those that have too few peers
// wait for their niche, which is marked. With allByNiche the caller scores every video by
// its niche afterwards: those that have such a score need not wait, which writes them twice.
func (s *Service) scoreSome(ctx context.Context, tx *store.Tx, creators []int64, allByNiche bool) error {
	groups, by, err := s.readCreators(ctx, tx, creators)
	if err != nil {
		return err
	}
	stand, err := s.countStandings(ctx, tx, creators, by)
	if err != nil {
		return err
	}
	var changes []Change
	var flags []insight.Point
	niches, counts := map[score.Kind]int64{}, alikes{core: s.core, tx: tx, of: map[score.Kind]score.Standings{}}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		group := groups[id]
		for i := range by[id].Len() {
			o, err := by[id].Score(i, nil, nil)
			if err != nil {
				return err
			}
			place, _ := slices.BinarySearchFunc(group, o.ID, func(v *standingScore, id int64) int { return cmp.Compare(v.ID, id) })
			v := group[place]
			if o.NeedsNiche() {
				videos.Touch(niches, o.Kind, EndOfTime)
			}
			early, err := counts.early(ctx, &o, stand[id])
			if err != nil {
				return err
			}
			changes = v.become(changes, &o, early, s.growth, allByNiche)
			flags = s.flag(ctx, flags, v, &o, early.views)
		}
	}
	if err := s.SaveScores(ctx, tx, changes); err != nil {
		return err
	}
	if err := s.saveFlags(ctx, tx, flags); err != nil {
		return err
	}
	return s.videos.MarkNiches(ctx, tx, niches)
}

// readCreators reads all videos of creators, each's by id; those without videos are missing.
func (s *Service) readCreators(ctx context.Context, tx *store.Tx, ids []int64) (groups map[int64][]*standingScore, by map[int64]*score.Creator, err error) {
	groups, by = map[int64][]*standingScore{}, map[int64]*score.Creator{}
	err = store.EachIn(ctx, tx, s.hot.byCreators, eachScored(func(v *standingScore) {
		groups[v.creator] = append(groups[v.creator], v)
	}), ids)
	if err != nil {
		return nil, nil, fmt.Errorf("read the videos of creators: %w", err)
	}
	var readings []score.Reading
	for id, group := range groups {
		slices.SortFunc(group, func(a, b *standingScore) int { return cmp.Compare(a.ID, b.ID) })
		readings = readings[:0]
		for _, v := range group {
			readings = append(readings, v.Reading)
		}
		by[id] = s.growth.Creator(readings)
	}
	return groups, by, nil
}

// standingScore is a video with the score that its row has.
type standingScore struct {
	score.Reading
	creator int64
	row     ScoreRow
	value   float64
	order   []byte // nil for a video that is not listed
	since   int64  // of the reading with which it first was an outlier; 0 if it never was
	rising  []byte
}

// ScoreRow is a score as the columns have it.
type ScoreRow struct {
	Peers             int
	ownViews          int64
	byNiche           int
	TwiceBaseline     int64
	Samples, doubtful int
	early             earlyRow
}

// become appends what has to change for the row to show the score, if anything. Where the
// niche is still to be asked, the former score stays until then.
func (v *standingScore) become(changes []Change, o *score.Outlier, early earlyRow, growth *score.Table, allByNiche bool) []Change {
	row := ScoreRow{Peers: o.CreatorPeers, ownViews: o.OwnViews, doubtful: videos.Flag(o.Doubtful), early: early}
	if o.NeedsNiche() {
		row.byNiche, row.TwiceBaseline, row.Samples = videos.AwaitsNiche, v.row.TwiceBaseline, v.row.Samples
		if allByNiche && v.row.byNiche == videos.ByNiche {
			row.byNiche = videos.ByNiche
		}
		return v.put(changes, row, growth, v.value, v.order)
	}
	row.TwiceBaseline, row.Samples = o.TwiceBaseline, o.SampleCount
	return v.put(changes, row, growth, o.Score.Float64(), videos.OutlierOrder(o))
}

// finish is become for a video whose niche was asked.
func (v *standingScore) finish(changes []Change, o *score.Outlier, growth *score.Table) []Change {
	row := ScoreRow{o.CreatorPeers, o.OwnViews, videos.ByNiche, o.TwiceBaseline, o.SampleCount, videos.Flag(o.Doubtful), v.row.early}
	return v.put(changes, row, growth, o.Score.Float64(), videos.OutlierOrder(o))
}

func (v *standingScore) put(changes []Change, row ScoreRow, growth *score.Table, value float64, order []byte) []Change {
	rising := growth.RisingKey(&v.Reading, row.doubtful == 1)
	if row == v.row && value == v.value && bytes.Equal(order, v.order) && bytes.Equal(rising, v.rising) {
		return changes
	}
	since := v.since
	if order != nil && since == 0 {
		since = v.ObservedAt
	}
	return append(changes, Change{v.ID, row, v.row, value, v.value, order, v.order, since, rising, !bytes.Equal(rising, v.rising)})
}

// scoredRow is a video by its id, [videos.ReadingColumns], its creator and scoreColumns.
type scoredRow struct {
	videos.ReadingRow
	CreatorID                                            *int64
	OwnViews, TwiceBaseline, Early, Alike                int64
	Peers, ByNiche, SampleCount, Doubtful, AlikeCreators int
	Score                                                float64
	OutlierOrder, RisingOrder                            *[]byte
	OutlierSince                                         *int64
}

// eachScored hands out the videos of a statement.
func eachScored(do func(v *standingScore)) func(r *scoredRow) (bool, error) {
	var block []standingScore // some at a time
	return func(r *scoredRow) (bool, error) {
		if len(block) == cap(block) {
			block = make([]standingScore, 0, 128)
		}
		block = append(block, standingScore{
			Reading: r.Reading(), creator: videos.Or(r.CreatorID, 0), value: r.Score, since: videos.Or(r.OutlierSince, 0),
			row: ScoreRow{r.Peers, r.OwnViews, r.ByNiche, r.TwiceBaseline, r.SampleCount, r.Doubtful, earlyRow{r.Early, r.Alike, r.AlikeCreators}},
		})
		v := &block[len(block)-1]
		if r.OutlierOrder != nil {
			v.order = *r.OutlierOrder
		}
		if r.RisingOrder != nil {
			v.rising = *r.RisingOrder
		}
		do(v)
		return true, nil
	}
}

// SaveScores writes changes, in the order of the rows on disk. SQLite rewrites every index
// with a column that a statement sets, so rows whose place in no index changes have
// statements of their own.
func (s *Service) SaveScores(ctx context.Context, tx *store.Tx, changes []Change) error {
	var numbers, orders, all [][]any
	if err := feed.Append(ctx, tx, outliersOf(changes, videos.ScrollOf(ctx))...); err != nil {
		return err
	}
	for i := range changes {
		switch c := &changes[i]; {
		case c.Row.byNiche != c.was.byNiche || c.rises:
			all = append(all, c.values(append(c.place(), c.Row.byNiche, videos.Nullable(c.rising))...))
		case !bytes.Equal(c.Order, c.wasOrder):
			orders = append(orders, c.values(c.place()...))
		default:
			numbers = append(numbers, c.values())
		}
	}
	const (
		set = `UPDATE videos SET peers = $2, own_views = $3, twice_baseline = $4, sample_count = $5, doubtful = $6, score = $7,
early = $8, alike = $9, alike_creators = $10`
		place = `, outlier_order = $11, outlier_since = $12, outlier_week = $13`
		where = ` WHERE id = $1 AND +{tenant}`
	)
	for _, save := range []struct {
		text string
		rows [][]any
	}{
		{set + where, numbers},
		{set + place + where, orders},
		{set + place + `, by_niche = $14, rising_order = $15` + where, all},
	} {
		slices.SortFunc(save.rows, func(a, b []any) int { return cmp.Compare(a[0].(int64), b[0].(int64)) })
		for part := range slices.Chunk(save.rows, videosAtOnce) {
			if _, err := s.db.Hot(save.text).ExecRows(ctx, tx, part); err != nil {
				return fmt.Errorf("save scores: %w", err)
			}
		}
	}
	return nil
}

// outliersOf are the entries in the feed of the videos that become outliers, or are none any more.
func outliersOf(changes []Change, scroll int64) (entries []feed.Change) {
	for i := range changes {
		c := &changes[i]
		entry := feed.Change{Kind: feed.OutlierEntered, Video: c.Id, Scroll: scroll, Old: feed.Number(c.wasValue), New: feed.Number(c.Value)}
		switch {
		case c.wasOrder == nil && c.Order != nil:
			entries = append(entries, entry)
		case c.wasOrder != nil && c.Order == nil:
			entry.Kind = feed.OutlierLeft
			entries = append(entries, entry)
		}
	}
	return entries
}

// Change is a score that a row does not show yet, and what it shows.
type Change struct {
	Id              int64
	Row, was        ScoreRow
	Value, wasValue float64
	Order, wasOrder []byte
	// since is outlier_since, 0 if it never was an outlier; rising is rising_order, and
	// rises whether that changes.
	since  int64
	rising []byte
	rises  bool
}

// place are the columns of where the video is among the outliers.
func (c *Change) place() []any {
	if c.since == 0 {
		return []any{videos.Nullable(c.Order), nil, 0}
	}
	return []any{videos.Nullable(c.Order), c.since, score.WeekOf(c.since)}
}

// values are what every statement takes of a change, and more of it.
func (c *Change) values(more ...any) []any {
	r := &c.Row
	return append(append(make([]any, 0, 10+len(more)), c.Id, r.Peers, r.ownViews, r.TwiceBaseline, r.Samples, r.doubtful, c.Value,
		r.early.views, r.early.alike, r.early.creators), more...)
}

// flag appends a point where the score moves the video into or out of the outliers.
func (s *Service) flag(ctx context.Context, flags []insight.Point, v *standingScore, o *score.Outlier, early int64) []insight.Point {
	scroll, was := videos.ScrollOf(ctx), v.order != nil
	if scroll == 0 || was == o.Listed || o.NeedsNiche() {
		return flags
	}
	p := insight.Point{Scroll: scroll, Video: v.ID, Method: s.growth.Method(), Outlier: *o, PostedAt: v.PostedAt, Early: early, Flag: insight.Entered}
	if was {
		p.Flag = insight.Left
	}
	return append(flags, p)
}

func (s *Service) saveFlags(ctx context.Context, tx *store.Tx, flags []insight.Point) error {
	if len(flags) == 0 {
		return nil
	}
	return insight.SavePoints(ctx, tx, s.db, flags)
}

// pointsInScroll bounds the videos of a scroll whose scores are kept for a backtest.
const pointsInScroll = 20_000

// savePoints keeps the scores of the videos that a scroll observed. Those that still wait
// for a large niche are left out.
func (s *Service) savePoints(ctx context.Context, scrollID int64) error {
	var points []insight.Point
	// As they come from the index of observations: a list of all videos of a large import
	// would be made in memory first.
	observed := s.db.Hot(`SELECT v.id, ` + videos.ReadingColumns + `, creator_id, ` + scoreColumns + `
FROM (SELECT DISTINCT o.video_id FROM observations o WHERE {tenant:o} AND o.scroll_id = $1) seen CROSS JOIN videos v
WHERE v.id = seen.video_id AND +{tenant:v} AND v.usable_views IS NOT NULL AND v.by_niche <> 2
ORDER BY v.id LIMIT ` + fmt.Sprint(pointsInScroll))
	err := store.Each(ctx, observed, eachScored(func(v *standingScore) {
		o := score.Outlier{
			ID: v.ID, Kind: v.Kind, Views: v.Views, ObservedAt: v.ObservedAt, TwiceBaseline: v.row.TwiceBaseline, SampleCount: v.row.Samples,
			CreatorPeers: v.row.Peers, Doubtful: v.row.doubtful == 1, Listed: v.order != nil,
		}
		if v.row.byNiche == videos.ByNiche && v.row.TwiceBaseline > 0 {
			o.Basis = score.NicheBasis
		}
		points = append(points, insight.Point{
			Scroll: scrollID, Video: v.ID, Method: s.growth.Method(), Outlier: o, PostedAt: v.PostedAt, Early: v.row.early.views,
		})
	}), scrollID)
	if err != nil {
		return fmt.Errorf("read the scores of a scroll: %w", err)
	}
	for part := range slices.Chunk(points, videosAtOnce) {
		ids := make([]int64, len(part))
		for i := range part {
			ids[i] = part[i].Video
		}
		// Some may have been deleted since they were read; none is while the library is held.
		err := s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
			there, err := s.videos.Catalog.Present(ctx, tx, ids)
			if err != nil {
				return err
			}
			slices.Sort(there)
			return s.saveFlags(ctx, tx, slices.DeleteFunc(slices.Clone(part), func(p insight.Point) bool {
				_, found := slices.BinarySearch(there, p.Video)
				return !found
			}))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
