package library

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/score"
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
	ctx = atScroll(ctx, scrollID)
	if err := s.scoreMarked(ctx, nicheInScroll); err != nil {
		return fmt.Errorf("score scroll %d: %w", scrollID, err)
	}
	if err := s.savePoints(ctx, scrollID); err != nil {
		return fmt.Errorf("score scroll %d: %w", scrollID, err)
	}
	if err := s.scoreTrends(ctx, scrollID); err != nil {
		return fmt.Errorf("trends after scroll %d: %w", scrollID, err)
	}
	return nil
}

// scoreMarked scores what changed: the videos of marked creators by each other, then those
// that depend on a marked niche, at most most of those of a kind that did not change themselves.
func (s *Service) scoreMarked(ctx context.Context, most int) error {
	for done := false; !done; {
		err := s.hold(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
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
	var ids []int64
	err = s.hot.unmark.EachIn(ctx, tx, func(row store.Row) (bool, error) {
		ids = append(ids, intOf(row[0], 0))
		return true, nil
	})
	if err != nil || len(ids) == 0 {
		return true, err
	}
	return len(ids) < creatorsAtOnce, s.scoreSome(ctx, tx, ids, false)
}

// scoreSome scores all videos of the creators by each other. Those that have too few peers
// wait for their niche, which is marked. With allByNiche the caller scores every video by
// its niche afterwards: those that have such a score need not wait, which writes them twice.
func (s *Service) scoreSome(ctx context.Context, tx *store.Tx, creators []int64, allByNiche bool) error {
	groups, total := map[int64][]*standingScore{}, 0
	err := s.hot.byCreators.EachIn(ctx, tx, eachScored(func(v *standingScore) {
		groups[v.creator] = append(groups[v.creator], v)
		total++
	}), creators)
	if err != nil {
		return err
	}
	changes := make([]change, 0, total)
	var flags []insight.Point
	var readings []score.Reading
	niches := map[score.Kind]int64{}
	for _, id := range sortedKeys(groups) {
		group := groups[id]
		slices.SortFunc(group, func(a, b *standingScore) int { return cmp.Compare(a.ID, b.ID) })
		readings = readings[:0]
		for _, v := range group {
			readings = append(readings, v.Reading)
		}
		c := s.cfg.Growth.Creator(readings)
		for i := range c.Len() {
			o, err := c.Score(i, nil, nil)
			if err != nil {
				return err
			}
			place, _ := slices.BinarySearchFunc(group, o.ID, func(v *standingScore, id int64) int { return cmp.Compare(v.ID, id) })
			v := group[place]
			if o.NeedsNiche() {
				touch(niches, o.Kind, endOfTime)
			}
			changes = v.become(changes, &o, allByNiche)
			flags = s.flag(ctx, flags, v, &o)
		}
	}
	if err := s.saveScores(ctx, tx, changes); err != nil {
		return err
	}
	if err := s.saveFlags(ctx, tx, flags); err != nil {
		return err
	}
	return s.markNiches(ctx, tx, niches)
}

// standingScore is a video with the score that its row has.
type standingScore struct {
	score.Reading
	creator int64
	row     scoreRow
	value   float64
	order   []byte // nil for a video that is not listed
}

// scoreRow is a score as the columns have it.
type scoreRow struct {
	peers             int
	ownViews          int64
	byNiche           int
	twiceBaseline     int64
	samples, doubtful int
}

// The values of by_niche.
const (
	byCreator   = 0
	byNiche     = 1
	awaitsNiche = 2
)

// become appends what has to change for the row to show the score, if anything. Where the
// niche is still to be asked, the former score stays until then.
func (v *standingScore) become(changes []change, o *score.Outlier, allByNiche bool) []change {
	row := scoreRow{peers: o.CreatorPeers, ownViews: o.OwnViews, doubtful: flag(o.Doubtful)}
	if o.NeedsNiche() {
		row.byNiche, row.twiceBaseline, row.samples = awaitsNiche, v.row.twiceBaseline, v.row.samples
		if allByNiche && v.row.byNiche == byNiche {
			row.byNiche = byNiche
		}
		return v.put(changes, row, v.value, v.order)
	}
	row.twiceBaseline, row.samples = o.TwiceBaseline, o.SampleCount
	return v.put(changes, row, o.Score.Float64(), outlierOrder(o))
}

// finish is become for a video whose niche was asked.
func (v *standingScore) finish(changes []change, o *score.Outlier) []change {
	row := scoreRow{o.CreatorPeers, o.OwnViews, byNiche, o.TwiceBaseline, o.SampleCount, flag(o.Doubtful)}
	return v.put(changes, row, o.Score.Float64(), outlierOrder(o))
}

func (v *standingScore) put(changes []change, row scoreRow, value float64, order []byte) []change {
	if row == v.row && value == v.value && bytes.Equal(order, v.order) {
		return changes
	}
	return append(changes, change{v.ID, row, v.row, value, v.value, order, v.order})
}

// eachScored hands out the videos of a statement with the id, readingColumns, the creator
// and scoreColumns.
func eachScored(do func(v *standingScore)) eachRow {
	const reading = 6
	var block []standingScore // some at a time
	return func(row store.Row) (bool, error) {
		if len(block) == cap(block) {
			block = make([]standingScore, 0, 128)
		}
		block = append(block, standingScore{Reading: readingOf(row), creator: intOf(row[reading], 0)})
		v := &block[len(block)-1]
		c := row[reading+1:]
		v.row = scoreRow{
			peers: int(intOf(c[0], 0)), ownViews: intOf(c[1], 0), byNiche: int(intOf(c[2], 0)), twiceBaseline: intOf(c[3], 0),
			samples: int(intOf(c[4], 0)), doubtful: int(intOf(c[5], 0)),
		}
		v.value, _ = c[6].(float64)
		v.order, _ = c[7].([]byte)
		do(v)
		return true, nil
	}
}

// readingOf is the reading of a row that begins with the id and readingColumns.
func readingOf(row store.Row) score.Reading {
	kind, _ := row[1].(string)
	return score.Reading{
		ID: intOf(row[0], 0), Kind: score.Kind(kind), PostedAt: intOf(row[2], score.Undated), ObservedAt: intOf(row[3], 0),
		Views: intOf(row[4], score.Unknown), Likes: intOf(row[5], score.Unknown),
	}
}

// intOf is a whole number of a row, or what stands for none.
func intOf(value any, none int64) int64 {
	if n, ok := value.(int64); ok {
		return n
	}
	return none
}

// saveScores writes changes, in the order of the rows on disk. SQLite rewrites every index
// with a column that a statement sets, so rows whose place in no index changes have
// statements of their own.
func (s *Service) saveScores(ctx context.Context, tx *store.Tx, changes []change) error {
	var numbers, orders, all [][]any
	if err := feed.Append(ctx, tx, outliersOf(changes, scrollOf(ctx))...); err != nil {
		return err
	}
	for i := range changes {
		switch c := &changes[i]; {
		case c.row.byNiche != c.was.byNiche:
			all = append(all, c.values(c.row.byNiche, nullable(c.order)))
		case !bytes.Equal(c.order, c.wasOrder):
			orders = append(orders, c.values(nullable(c.order)))
		default:
			numbers = append(numbers, c.values())
		}
	}
	const (
		set   = `UPDATE videos SET peers = n.column2, own_views = n.column3, twice_baseline = n.column4, sample_count = n.column5, doubtful = n.column6, score = n.column7`
		from  = ` FROM (VALUES {values:1 BIGINT,BIGINT,BIGINT,BIGINT,BIGINT,BIGINT,FLOAT`
		where = `}) AS n WHERE videos.id = n.column1 AND +{tenant:videos}`
	)
	for _, save := range []struct {
		text string
		rows [][]any
	}{
		{set + from + where, numbers},
		{set + `, outlier_order = n.column8` + from + `,BYTES` + where, orders},
		{set + `, by_niche = n.column8, outlier_order = n.column9` + from + `,BIGINT,BYTES` + where, all},
	} {
		slices.SortFunc(save.rows, func(a, b []any) int { return cmp.Compare(a[0].(int64), b[0].(int64)) })
		for part := range slices.Chunk(save.rows, videosAtOnce) {
			if _, err := s.db.Hot(save.text).ExecIn(ctx, tx, part); err != nil {
				return fmt.Errorf("save scores: %w", err)
			}
		}
	}
	return nil
}

// outliersOf are the entries in the feed of the videos that become outliers, or are none any more.
func outliersOf(changes []change, scroll int64) (entries []feed.Change) {
	for i := range changes {
		c := &changes[i]
		entry := feed.Change{Kind: feed.OutlierEntered, Video: c.id, Scroll: scroll, Old: feed.Number(c.wasValue), New: feed.Number(c.value)}
		switch {
		case c.wasOrder == nil && c.order != nil:
			entries = append(entries, entry)
		case c.wasOrder != nil && c.order == nil:
			entry.Kind = feed.OutlierLeft
			entries = append(entries, entry)
		}
	}
	return entries
}

// change is a score that a row does not show yet, and what it shows.
type change struct {
	id              int64
	row, was        scoreRow
	value, wasValue float64
	order, wasOrder []byte
}

// values are what every statement takes of a change, and more of it.
func (c *change) values(more ...any) []any {
	r := &c.row
	return append(append(make([]any, 0, 7+len(more)), c.id, r.peers, r.ownViews, r.twiceBaseline, r.samples, r.doubtful, c.value), more...)
}

type scrollKey struct{}

// atScroll is the context of the scoring after a scroll, to which its flags belong.
// Scoring without one, by other rules for instance, leaves no flags.
func atScroll(ctx context.Context, scrollID int64) context.Context {
	return context.WithValue(ctx, scrollKey{}, scrollID)
}

// scrollOf is the scroll after which the context scores, 0 for none.
func scrollOf(ctx context.Context) int64 {
	id, _ := ctx.Value(scrollKey{}).(int64)
	return id
}

// flag appends a point where the score moves the video into or out of the outliers.
func (s *Service) flag(ctx context.Context, flags []insight.Point, v *standingScore, o *score.Outlier) []insight.Point {
	scroll, was := scrollOf(ctx), v.order != nil
	if scroll == 0 || was == o.Listed || o.NeedsNiche() {
		return flags
	}
	p := insight.Point{Scroll: scroll, Video: v.ID, Method: s.cfg.Growth.Method(), Outlier: *o, PostedAt: v.PostedAt, Flag: insight.Entered}
	if was {
		p.Flag = insight.Left
	}
	return append(flags, p)
}

func (s *Service) saveFlags(ctx context.Context, tx *store.Tx, flags []insight.Point) error {
	if len(flags) == 0 {
		return nil
	}
	return s.insight.SavePoints(ctx, tx, flags)
}

// pointsInScroll bounds the videos of a scroll whose scores are kept for a backtest.
const pointsInScroll = 20_000

// savePoints keeps the scores of the videos that a scroll observed. Those that still wait
// for a large niche are left out.
func (s *Service) savePoints(ctx context.Context, scrollID int64) error {
	var points []insight.Point
	// As they come from the index of observations: a list of all videos of a large import
	// would be made in memory first.
	observed := s.db.Hot(`SELECT v.id, ` + readingColumns + `, creator_id, ` + scoreColumns + `
FROM (SELECT DISTINCT o.video_id FROM observations o WHERE {tenant:o} AND o.scroll_id = $1) seen CROSS JOIN videos v
WHERE v.id = seen.video_id AND +{tenant:v} AND v.usable_views IS NOT NULL AND v.by_niche <> 2
ORDER BY v.id LIMIT ` + fmt.Sprint(pointsInScroll))
	err := observed.Each(ctx, eachScored(func(v *standingScore) {
		o := score.Outlier{
			ID: v.ID, Kind: v.Kind, Views: v.Views, ObservedAt: v.ObservedAt, TwiceBaseline: v.row.twiceBaseline, SampleCount: v.row.samples,
			CreatorPeers: v.row.peers, Doubtful: v.row.doubtful == 1, Listed: v.order != nil,
		}
		if v.row.byNiche == byNiche && v.row.twiceBaseline > 0 {
			o.Basis = score.NicheBasis
		}
		points = append(points, insight.Point{Scroll: scrollID, Video: v.ID, Method: s.cfg.Growth.Method(), Outlier: o, PostedAt: v.PostedAt})
	}), scrollID)
	if err != nil {
		return fmt.Errorf("read the scores of a scroll: %w", err)
	}
	for part := range slices.Chunk(points, videosAtOnce) {
		err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return s.saveFlags(ctx, tx, part) })
		if err != nil {
			return err
		}
	}
	return nil
}
