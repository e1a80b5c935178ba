package lists

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// MostPoints is the most points of a plot. mostLooked bounds the videos that a plot reads to
// choose them.
const MostPoints, mostLooked = 5000, 100_000

// Plot is what a plot of scores shows of the videos that a filter chooses.
type Plot struct {
	// Points are the scored videos: all of them in the order of their ids, or a sample.
	Points []score.Outlier
	// Videos counts the chosen ones, Scored those with a score, and Outliers those that the
	// list of outliers has by the same filter.
	Videos, Scored, Outliers int
	// Partial reports that only the newest videos of the library were looked at.
	Partial bool
}

// Plot reads the scores of the videos that a page of the list of videos chooses, whose
// limit is the most points. Its cursor has no meaning here.
func (s *Service) Plot(ctx context.Context, p Page) (plot Plot, err error) {
	text, args, partial, err := p.scores(ctx, s.db)
	if err != nil {
		return Plot{}, fmt.Errorf("read scores: %w", err)
	}
	plot.Partial = partial
	err = store.Each(ctx, s.db.Hot(text), func(row *struct {
		videos.ReadingRow
		TwiceBaseline      int64
		SampleCount, Peers int
		Doubtful, Listed   bool
	},
	) (bool, error) {
		if plot.Videos++; row.TwiceBaseline == 0 || row.UsableViews == nil {
			return true, nil
		}
		r := row.Reading()
		if plot.Points = append(plot.Points, score.Outlier{
			ID: r.ID, Kind: r.Kind, Views: r.Views, ObservedAt: r.ObservedAt, Age: r.Age(), Score: score.Ratio(2*r.Views, row.TwiceBaseline),
			TwiceBaseline: row.TwiceBaseline, SampleCount: row.SampleCount, CreatorPeers: row.Peers, Doubtful: row.Doubtful, Listed: row.Listed,
		}); row.Listed {
			plot.Outliers++
		}
		return true, nil
	}, args...)
	if err != nil {
		return Plot{}, fmt.Errorf("read scores: %w", err)
	}
	plot.Scored = len(plot.Points)
	slices.SortFunc(plot.Points, func(a, b score.Outlier) int { return cmp.Compare(a.ID, b.ID) })
	plot.Points = sample(plot.Points, p.Limit)
	return plot, nil
}

// sample returns at most so many points: the listed ones first, the highest scores before
// others, then every so many of the rest in the order of their format and views, so that
// each part of the plot keeps its share.
func sample(points []score.Outlier, most int) []score.Outlier {
	if len(points) <= most {
		return points
	}
	slices.SortFunc(points, func(a, b score.Outlier) int {
		switch {
		case a.Listed != b.Listed && a.Listed:
			return -1
		case a.Listed != b.Listed:
			return 1
		case a.Listed:
			return cmp.Or(cmp.Compare(b.Score.Float64(), a.Score.Float64()), cmp.Compare(a.ID, b.ID))
		}
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Views, b.Views), cmp.Compare(a.ID, b.ID))
	})
	listed := slices.IndexFunc(points, func(o score.Outlier) bool { return !o.Listed })
	if listed < 0 || listed >= most {
		return points[:most]
	}
	rest, room := points[listed:], most-listed
	for i := range room { // each is taken from behind where it goes
		rest[i] = rest[i*len(rest)/room]
	}
	return points[:most]
}

// scores is the statement of a plot. A library that is looked at whole is read by the index
// of words if there are any; otherwise along the list, as far as mostLooked.
func (p Page) scores(ctx context.Context, db *store.DB) (text string, args []any, partial bool, err error) {
	terms := strings.Fields(p.Filter.Terms)
	isRare, err := rareFirst(ctx, db, terms)
	if err != nil {
		return "", nil, false, err
	}
	beyond, err := p.end(ctx, db, []byte{}, mostLooked+1)
	if err != nil {
		return "", nil, false, err
	}
	d, a, until := dialectOf(db), &arguments{}, endOfKeys
	if partial = beyond != nil; partial {
		until = beyond
	}
	const columns = `v.id, v.growth_kind, v.posted_at, v.usable_at, v.usable_views, v.usable_likes, v.twice_baseline, v.sample_count, v.peers, v.doubtful,
CASE WHEN v.outlier_order IS NULL THEN 0 ELSE 1 END AS listed`
	within := "v.seen_order < " + a.bind(until)
	if len(terms) == 0 || partial && !isRare {
		from, where := d.conditions(p.Filter, terms, a)
		ranges := p.each("SELECT "+columns+" FROM videos v"+from+" WHERE {tenant:v} AND {range} AND "+within+where, a)
		return strings.Join(ranges, " UNION ALL "), a.values, partial, nil
	}
	having := d.having(a.bind(terms[0]))
	from, where := d.conditions(p.Filter, terms[1:], a)
	return fmt.Sprintf("SELECT %s FROM (%s LIMIT %d) w CROSS JOIN videos v%s WHERE v.id = w.id AND {tenant:v} AND (%s) AND %s%s",
		columns, having, mostLooked+1, from, strings.Join(p.ranges(a), " OR "), within, where), a.values, partial, nil
}
