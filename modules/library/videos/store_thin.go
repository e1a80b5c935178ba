package videos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/scrollery/scrollery/ent/scorepoint"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
)

// Thinning is how readings grow fewer with their age.
type Thinning struct {
	// All is how long all readings are kept. After that one a day is left, and after Daily one a
	// week: of each video and source the last that scoring can use, and the last if it can not. A day is one of UTC, and a week begins on Monday. 0 is no end.
	All, Daily time.Duration
	// Except are the sources whose readings all stay.
	Except []string
	// Unneeded returns those of some scrolls whose readings no list, trend or backtest is made of.
	Unneeded func(ctx context.Context, scrolls []int64) (map[int64]bool, error)
}

// thinnedAtOnce is how many readings one transaction thins out.
const thinnedAtOnce = 100

// period is a day or a week, in milliseconds: how long it is, and how long before 1970 one began.
type period struct {
	name         string
	long, offset int64
}

func periods() (daily, weekly period) {
	const day = int64(24 * time.Hour / time.Millisecond)
	return period{"day", day, 0}, period{"week", 7 * day, 3 * day}
}

// start is the beginning of the period of a time.
func (p period) start(at int64) int64 { return (at+p.offset)/p.long*p.long - p.offset }

// redundantText is the statement of the readings of a source after a place, the oldest first, and
// whether others of the video and the source stand for each: a later one of its period, and an
// earlier one of any time, both usable if it is.
func (p period) redundantText() string {
	usable := func(o string) string {
		return fmt.Sprintf("CASE WHEN %[1]s.views > 0 AND %[1]s.views <= %[2]d AND (%[1]s.likes IS NULL OR %[1]s.likes <= %[1]s.views) THEN 1 ELSE 0 END", o, int64(score.MaxViews))
	}
	return fmt.Sprintf(`SELECT o.observed_at, o.video_id, o.id, o.scroll_id, CASE WHEN
EXISTS (SELECT 1 FROM observations l WHERE {tenant:l} AND l.video_id = o.video_id AND l.stage || '' = $1 AND l.observed_at >= o.observed_at
AND l.observed_at < (o.observed_at + %[1]d) / %[2]d * %[2]d + %[2]d - %[1]d AND (l.observed_at > o.observed_at OR l.id > o.id) AND %[3]s >= %[4]s)
AND EXISTS (SELECT 1 FROM observations e WHERE {tenant:e} AND e.video_id = o.video_id AND e.stage || '' = $1 AND e.observed_at <= o.observed_at
AND (e.observed_at < o.observed_at OR e.id < o.id) AND %[5]s >= %[4]s) THEN 1 ELSE 0 END AS stands_for
FROM observations o WHERE {tenant:o} AND o.stage = $1 AND (o.observed_at, o.video_id) > ($2, $3) AND o.observed_at < $4
ORDER BY o.observed_at, o.video_id LIMIT %[6]d`, p.offset, p.long, usable("l"), usable("o"), usable("e"), lookedAtOnce)
}

// thinned is a reading that others stand for.
type thinned struct{ id, scroll, video, at int64 }

// redundant returns readings of a source after a place and before a time that others stand for,
// and the place up to which it looked; done if there are no more.
func (s Sweeps) redundant(ctx context.Context, p period, source string, after reached, before int64) (found []thinned, at reached, done bool, err error) {
	at = after
	for len(found) < thinnedAtOnce {
		var last, ended reached // the last place that was seen, and the last of which all readings were
		rows, whole := 0, len(found)
		last, ended = at, at
		err = store.Each(ctx, s.db.Hot(p.redundantText()), func(row *struct {
			ObservedAt, VideoID, ID, ScrollID int64
			StandsFor                         bool
		},
		) (bool, error) {
			if here := (reached{row.ObservedAt, row.VideoID}); here != last {
				if ended, whole = last, len(found); whole >= thinnedAtOnce {
					return false, nil
				}
				last = here
			}
			if rows++; row.StandsFor {
				found = append(found, thinned{row.ID, row.ScrollID, last[1], last[0]})
			}
			return true, nil
		}, source, at[0], at[1], before)
		switch {
		case err != nil:
			return nil, at, false, fmt.Errorf("find what stands for readings of %s: %w", source, err)
		case rows < lookedAtOnce && whole < thinnedAtOnce: // the statement ended
			return found, last, true, nil
		case ended != at: // the rest of the last place comes again
			found, at = found[:whole], ended
		default: // one place fills the statement
			at = last
		}
	}
	return found, at, false, nil
}

// sources are the ids of those that have read the tenant's videos.
func (s Sweeps) sources(ctx context.Context) (all []string, err error) {
	for {
		last := "" // no source has it for a name
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		next, found, err := store.One[string](ctx, s.db.Hot(`SELECT stage FROM observations WHERE {tenant} AND stage > $1 ORDER BY stage LIMIT 1`), last)
		if err != nil {
			return nil, fmt.Errorf("list the sources of readings: %w", err)
		}
		if !found {
			return all, nil
		}
		all = append(all, next)
	}
}

// Thin deletes some of the tenant's readings that others stand for, the oldest first, at most
// thinnedAtOnce in one transaction, with the scores of their scrolls. A video's first and newest
// reading stay, usable or not, and so does one with which it entered or left the outliers, and
// what t.Unneeded does not return. No list changes. done is true once nothing is left to do;
// until then the next call goes on where the last one ended.
func (s Sweeps) Thin(ctx context.Context, t Thinning, now time.Time) (readings int, done bool, err error) {
	if t.All <= 0 {
		return 0, true, nil
	}
	swept, places, err := s.places(ctx)
	if err != nil || places == nil {
		return 0, true, err
	}
	sources, err := s.sources(ctx)
	if err != nil {
		return 0, false, err
	}
	daily, weekly := periods()
	for _, source := range sources {
		if slices.Contains(t.Except, source) {
			continue
		}
		for _, step := range []struct {
			period
			age time.Duration
		}{{daily, t.All}, {weekly, t.Daily}} {
			if step.age <= 0 {
				continue
			}
			name := source + " " + step.name
			found, at, _, err := s.redundant(ctx, step.period, source, places[name], step.start(now.Add(-step.age).UnixMilli()))
			if err != nil {
				return 0, false, err
			}
			if at == places[name] {
				continue
			}
			if found, err = s.unneeded(ctx, t, found); err != nil {
				return 0, false, err
			}
			places[name] = at
			err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				if err := s.savePlaces(ctx, tx, swept, places); err != nil { // first: it holds the library's row
					return err
				}
				readings, err = s.thin(ctx, tx, source, found)
				return err
			})
			if err != nil {
				return 0, false, fmt.Errorf("thin out readings of %s: %w", source, err)
			}
			return readings, false, nil
		}
	}
	return 0, true, nil
}

// unneeded are those of the readings that nothing cites.
func (s Sweeps) unneeded(ctx context.Context, t Thinning, found []thinned) ([]thinned, error) {
	if len(found) == 0 {
		return nil, nil
	}
	scrolls, of := map[int64]bool{}, map[int64]bool{}
	for _, o := range found {
		scrolls[o.scroll], of[o.video] = true, true
	}
	free, err := t.Unneeded(ctx, slices.Sorted(maps.Keys(scrolls)))
	if err != nil {
		return nil, err
	}
	type cited struct{ video, by int64 } // by its scroll or its time
	flagged := map[cited]bool{}
	points, err := s.db.Ent().ScorePoint.Query().Where(scorepoint.VideoIDIn(slices.Sorted(maps.Keys(of))...), scorepoint.FlagGT(0)).
		Select(scorepoint.FieldVideoID, scorepoint.FieldScrollID, scorepoint.FieldObservedAt).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read flags: %w", err)
	}
	for _, p := range points {
		flagged[cited{p.VideoID, p.ScrollID}], flagged[cited{p.VideoID, p.ObservedAt}] = true, true
	}
	return slices.DeleteFunc(found, func(o thinned) bool {
		return !free[o.scroll] || flagged[cited{o.video, o.scroll}] || flagged[cited{o.video, o.at}]
	}), nil
}

// thin deletes readings, and the scores that their scrolls gave, and returns how many readings there
// still were.
func (s Sweeps) thin(ctx context.Context, tx *store.Tx, source string, found []thinned) (readings int, err error) {
	if len(found) == 0 {
		return 0, nil
	}
	ids, byScroll := make([]int64, len(found)), map[int64][]int64{}
	for i, o := range found {
		ids[i], byScroll[o.scroll] = o.id, append(byScroll[o.scroll], o.video)
	}
	deleted, err := s.db.Hot(`DELETE FROM observations WHERE +{tenant} AND id IN ({list:1})`).ExecIn(ctx, tx, ids)
	if err != nil {
		return 0, err
	}
	readings = int(deleted)
	if err := s.deletions.videos.countReadings(ctx, tx, map[string]int{source: -readings}); err != nil {
		return 0, err
	}
	for _, scroll := range slices.Sorted(maps.Keys(byScroll)) {
		_, err := tx.Ent().ScorePoint.Delete().Where(scorepoint.ScrollID(scroll), scorepoint.VideoIDIn(byScroll[scroll]...)).Exec(ctx)
		if err != nil {
			return 0, err
		}
	}
	return readings, nil
}
