package scoring

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/libraryrun"
	enttrend "github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/ent/trendwindow"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/insight"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// runsAtOnce bounds the scrolls of a trend window: more than ten a day in the longest.
const runsAtOnce = 3000

// scrollRun is what a completed scroll of a subject observed.
type scrollRun struct {
	scroll          int64
	firstAt, lastAt int64
	usableAt        *int64
	// repeats are its readings of videos that another scroll collected first, nil if an
	// earlier version did not count them.
	repeats *int64
}

// window reads the window of a subject's trends, with all that is known of its videos. It
// is nil if no completed scroll has a usable observation.
func (w *Windows) window(ctx context.Context, read videos.Reader, subject string) (*score.Window, error) {
	seen, err := w.seen(ctx, read, subject, 0)
	if err != nil || seen == nil {
		return nil, err
	}
	carriers, err := w.carriers(ctx, read, seen.observations)
	if err != nil {
		return nil, err
	}
	return score.NewWindow(seen.newest, seen.span, seen.observations, carriers, w.isGeneric), nil
}

// gather reads the window of a subject for its trends alone, in less memory: see
// score.Gathering. ending is a scroll that counts as completed, 0 for none.
func (w *Windows) gather(ctx context.Context, read videos.Reader, subject string, ending int64) (*score.Window, error) {
	seen, err := w.seen(ctx, read, subject, ending)
	if err != nil || seen == nil {
		return nil, err
	}
	g := score.Gather(seen.newest, seen.span, seen.observations, w.isGeneric)
	if err := w.eachCarrier(ctx, read, g.Videos(true), true, g.Add); err != nil {
		return nil, err
	}
	g.Rest()
	if err := w.eachCarrier(ctx, read, g.Videos(false), g.NeedsKeys(), g.Add); err != nil {
		return nil, err
	}
	return g.Window(), nil
}

// seen is what the scrolls of a subject read in its window: its end and its span, in
// milliseconds, and the observations by video.
type seen struct {
	newest, span int64
	observations []score.Observation
}

// seen chooses the window of a subject as score.Span does, and reads its observations. It
// does not read a window that cannot have enough multiples: that may be a large import, each
// time again. It returns nil for a subject without a scroll that completed.
func (w *Windows) seen(ctx context.Context, read videos.Reader, subject string, ending int64) (*seen, error) {
	runs, newest, err := w.runs(ctx, read, subject, ending)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	var found []score.Observation
	from := newest // what is newer than it was read
	reach := func(after int64) error {
		if after >= from {
			return nil
		}
		older, err := w.observations(ctx, read, runs, after, from)
		from = after
		if found == nil { // mostly all: not copied
			found = older
		} else {
			found = append(found, older...)
		}
		slices.SortFunc(found, score.ByVideo)
		return err
	}
	for span := int64(score.ShortestSpan); span <= score.LongestSpan; span *= 2 {
		if mostMultiples(runs, newest-2*span) < score.TrendVideos {
			continue
		}
		if err := reach(newest - 2*span); err != nil {
			return nil, err
		}
		if score.Multiples(found, newest, span) >= score.TrendVideos {
			return &seen{newest, span, found}, nil
		}
	}
	if err := reach(newest - 2*score.ShortestSpan); err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(o score.Observation) bool { return o.At <= newest-2*score.ShortestSpan })
	return &seen{newest, score.ShortestSpan, found}, nil
}

// mostMultiples bounds how many videos have a multiple after a time. Each of them has a
// reading of a scroll that did not collect it first, since a multiple is of two scrolls.
func mostMultiples(runs []scrollRun, after int64) (most int64) {
	for _, r := range runs {
		if r.lastAt <= after {
			continue
		}
		if r.repeats == nil {
			return math.MaxInt64
		}
		most += *r.repeats
	}
	return most
}

// runs are the newest completed scrolls of a subject, as many as its longest window may
// have, and the time of their newest usable observation, which is T. There are no runs where
// there is no such observation.
func (w *Windows) runs(ctx context.Context, read videos.Reader, subject string, ending int64) (runs []scrollRun, newest int64, err error) {
	rows, err := read.LibraryRun.Query().Where(libraryrun.Subject(subject)).Order(libraryrun.ByLastAt(entsql.OrderDesc())).Limit(runsAtOnce).All(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("read runs: %w", err)
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ScrollID
	}
	completed, err := w.scrolls.CompletedOf(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	found := false
	for _, row := range rows {
		if row.ScrollID != ending && !slices.Contains(completed, row.ScrollID) {
			continue
		}
		runs = append(runs, scrollRun{row.ScrollID, row.FirstAt, row.LastAt, row.UsableAt, row.Repeats})
		if row.UsableAt != nil && (!found || *row.UsableAt > newest) {
			newest, found = *row.UsableAt, true
		}
	}
	if !found {
		return nil, 0, nil
	}
	return runs, newest, nil
}

// observations are those of the runs in (after, until].
func (w *Windows) observations(ctx context.Context, read videos.Reader, runs []scrollRun, after, until int64) (found []score.Observation, err error) {
	var ids []int64
	for _, r := range runs {
		if r.lastAt > after && r.firstAt <= until {
			ids = append(ids, r.scroll)
		}
	}
	for part := range slices.Chunk(ids, videosAtOnce) {
		err := store.EachIn(ctx, read.Tx, w.hot.observed, func(row *videos.ObservedRow) (bool, error) {
			found = append(found, row.Observation())
			return true, nil
		}, part, after, until)
		if err != nil {
			return nil, fmt.Errorf("read observations: %w", err)
		}
	}
	return found, nil
}

// Unneeded returns those of some scrolls, whose readings were scored, that no trend of their
// subjects is made of and no backtest reads: twice as many scrolls as a backtest compares stay, so
// that deletions leave it enough.
func (w *Windows) Unneeded(ctx context.Context, scrolls []int64) (map[int64]bool, error) {
	read := w.videos.Outside()
	free, needed := map[int64]bool{}, map[string]int64{}
	for part := range slices.Chunk(scrolls, videosAtOnce) {
		runs, err := read.LibraryRun.Query().Where(libraryrun.ScrollIDIn(part...)).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read runs: %w", err)
		}
		for _, run := range runs {
			from, known := needed[run.Subject]
			if !known {
				if from, err = w.neededFrom(ctx, read, run.Subject); err != nil {
					return nil, err
				}
				needed[run.Subject] = from
			}
			free[run.ScrollID] = run.LastAt < from
		}
	}
	return free, nil
}

// neededFrom is the last reading of the oldest scroll of a subject whose readings are needed.
func (w *Windows) neededFrom(ctx context.Context, read videos.Reader, subject string) (int64, error) {
	last, err := read.LibraryRun.Query().Where(libraryrun.Subject(subject)).Order(libraryrun.ByLastAt(entsql.OrderDesc())).
		Offset(2*insight.MostRuns - 1).Limit(1).Select(libraryrun.FieldLastAt).Ints(ctx)
	if err != nil {
		return 0, fmt.Errorf("read runs: %w", err)
	}
	if len(last) == 0 {
		return math.MinInt64, nil
	}
	from := int64(last[0])
	windows, err := read.TrendWindow.Query().Where(trendwindow.Subject(subject)).All(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the trend window: %w", err)
	}
	for _, w := range windows {
		from = min(from, w.NewestAt-2*w.Span+1) // what is as old as that is before the window
	}
	return from, nil
}

// Past is what the newest scrolls of a subject read: of at most so many scrolls, and of no
// more than have at most so many readings together. It is nil if there is none.
func (w *Windows) Past(ctx context.Context, subject string, scrolls, readings int) (*insight.Past, error) {
	runs, _, err := w.runs(ctx, w.videos.Outside(), subject, 0)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	p := &insight.Past{Since: insight.FromStart}
	if len(runs) > scrolls {
		p.Since, runs = runs[scrolls].lastAt, runs[:scrolls]
	}
	statement := w.db.Hot(`SELECT ` + videos.ObservedColumns + ` FROM observations WHERE {tenant} AND scroll_id = $1 LIMIT ` + strconv.Itoa(readings+1))
	var all []score.Observation
	for _, r := range runs {
		one := insight.PastRun{Scroll: r.scroll}
		err := store.Each(ctx, statement, func(row *videos.ObservedRow) (bool, error) {
			one.Readings = append(one.Readings, row.Observation())
			return true, nil
		}, r.scroll)
		if err != nil {
			return nil, fmt.Errorf("read the readings of scroll %d: %w", r.scroll, err)
		}
		if len(all)+len(one.Readings) > readings {
			p.Since = r.lastAt
			break
		}
		all, p.Runs = append(all, one.Readings...), append(p.Runs, one)
	}
	p.Carriers, err = w.carriers(ctx, w.videos.Outside(), all)
	return p, err
}

// mostStored bounds the stored keys that an explanation reads, the strongest first: what
// overlaps is below the keys that it overlaps with.
const mostStored = 20_000

// Stored is what the last scoring stored of a key of a subject's window. It is nil if
// the window has at most so many videos, or is of an earlier version or not there.
func (tr *Trends) Stored(ctx context.Context, subject, key string, most int) (*insight.Stored, error) {
	of, err := tr.db.Ent().TrendWindow.Query().Where(trendwindow.Subject(subject), trendwindow.NewestAtGT(0)).Only(ctx)
	if ent.IsNotFound(err) || err == nil && of.Videos <= most {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the trend window: %w", err)
	}
	if err := tr.CountTrends(ctx); err != nil {
		return nil, err
	}
	found := &insight.Stored{Totals: totalsOf(of)}
	row, err := tr.db.Ent().Trend.Query().Where(enttrend.Subject(subject), enttrend.WithArchived(1), enttrend.Key(key)).Only(ctx)
	if ent.IsNotFound(err) {
		return found, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a trend: %w", err)
	}
	if found.Key = (score.Key{Key: row.Key, Label: row.Label}); row.Members != nil {
		if found.Members, err = unpackMembers(*row.Members); err != nil {
			return nil, err
		}
	}
	fit, err := tr.db.Ent().Trend.Query().Where(enttrend.Subject(subject), enttrend.WithArchived(0)).
		Select(enttrend.FieldPlace, enttrend.FieldRecent).Order(ent.Asc(enttrend.FieldPlace)).Limit(mostStored).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read trends: %w", err)
	}
	found.Overlaps, err = tr.db.Ent().Trend.Query().
		Where(enttrend.Subject(subject), enttrend.WithArchived(0), enttrend.Key(key), enttrend.Listed(0)).Exist(ctx)
	if err != nil {
		return nil, fmt.Errorf("read a trend: %w", err)
	}
	for _, row := range fit {
		if t, ok := score.TrendOfKey(row.Place); ok && row.Recent != nil {
			t.RecentVideos = unpackIDs(*row.Recent)
			found.Fit = append(found.Fit, t)
		}
	}
	return found, nil
}

// carriers are the videos of observations.
func (w *Windows) carriers(ctx context.Context, read videos.Reader, of []score.Observation) ([]score.Carrier, error) {
	ids := make([]int64, len(of))
	for i := range of {
		ids[i] = of[i].Video
	}
	slices.Sort(ids)
	return w.carriersOf(ctx, read, slices.Compact(ids))
}

// carriersOf are the videos with the ids.
func (w *Windows) carriersOf(ctx context.Context, read videos.Reader, ids []int64) ([]score.Carrier, error) {
	found := make([]score.Carrier, 0, len(ids))
	err := w.eachCarrier(ctx, read, ids, true, func(c *score.Carrier) {
		one := *c
		one.Keys = slices.Clone(c.Keys)
		found = append(found, one)
	})
	return found, err
}

// eachCarrier calls take with each of the videos, withKeys or without any. The carrier and its
// list of keys are used again for the next one: take copies what it keeps of them.
func (w *Windows) eachCarrier(ctx context.Context, read videos.Reader, ids []int64, withKeys bool, take func(c *score.Carrier)) error {
	query := w.hot.carriers
	if !withKeys {
		query = w.hot.posted
	}
	var c score.Carrier
	for part := range slices.Chunk(ids, videosAtOnce) {
		err := store.EachIn(ctx, read.Tx, query, func(row *struct {
			ID                  int64
			CreatorID, PostedAt *int64
			Archived            bool
			Keys                string
		},
		) (bool, error) {
			c.ID, c.Creator, c.PostedAt, c.Archived, c.Keys = row.ID, videos.Or(row.CreatorID, 0), videos.Or(row.PostedAt, score.Undated), row.Archived, c.Keys[:0]
			for key, label := range videos.PackedKeys(row.Keys) {
				c.Keys = append(c.Keys, score.Key{Key: key, Label: label})
			}
			take(&c)
			return true, nil
		}, part)
		if err != nil {
			return fmt.Errorf("read videos of a window: %w", err)
		}
	}
	return nil
}
