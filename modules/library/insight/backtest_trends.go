package insight

import (
	"context"
	"slices"

	"github.com/scrollery/scrollery/modules/library/score"
)

// TrendRun is a scroll and what came of its keys.
type TrendRun struct {
	Scroll, ObservedAt int64
	score.TrendCounts
}

// BacktestTrends tests the trends of earlier scrolls of the current subject by what later
// ones read, as `scrollery admin backtest` does. runs are the scrolls that could be
// tested, newest first: those whose window is read as a whole and that have so many days
// of readings after them, but for the very first.
func (s *Service) BacktestTrends(ctx context.Context, days int) (runs []TrendRun, all score.TrendCounts, err error) {
	subject, exists, err := s.Subject(ctx)
	if err != nil || !exists {
		return nil, all, err
	}
	past, err := s.Past(ctx, subject, MostRuns, mostRunPoints)
	if err != nil {
		return nil, all, err
	}
	if past == nil {
		return nil, all, nil
	}
	uses, end := past.uses(), past.end()
	var read []score.Observation
	for i, r := range slices.Backward(past.Runs) { // oldest first
		read = append(read, r.Readings...)
		w := past.window(read, len(past.Runs)-i, s.IsGeneric)
		if w == nil {
			continue
		}
		if _, over := score.DaysOver(w.T, days, end); !over {
			continue // its keys need not be ranked
		}
		ranked := w.Split()
		if counts, ok := ranked.Test(uses, days, end); ok {
			runs = append(runs, TrendRun{r.Scroll, w.T, counts})
			all.Add(counts)
		}
		if err := ctx.Err(); err != nil {
			return nil, all, context.Cause(ctx)
		}
	}
	slices.Reverse(runs)
	return runs, all, nil
}

// uses are the videos with their keys, but for those of unknown creators.
func (p *Past) uses() (uses []score.Use) {
	for i := range p.Carriers {
		c := &p.Carriers[i]
		for _, key := range c.Keys {
			if c.Creator != 0 {
				uses = append(uses, score.Use{Key: key.Key, Creator: c.Creator, PostedAt: c.PostedAt})
			}
		}
	}
	return uses
}

// end is the time of the last reading.
func (p *Past) end() (end int64) {
	for _, r := range p.Runs {
		for i := range r.Readings {
			end = max(end, r.Readings[i].At)
		}
	}
	return end
}

// window measures the window as it was when the readings were all that there was; nil
// where a part of it was not read, or where they are those of the first scroll.
func (p *Past) window(read []score.Observation, scrolls int, generic func(string) bool) *score.Window {
	t, usable := score.Newest(read)
	if !usable || p.Since == FromStart && scrolls == 1 {
		return nil
	}
	span := score.Span(read, t)
	if p.Since != FromStart && t-2*score.LongestSpan < p.Since {
		// A span that grew no further is known where what it is made of is.
		if t-2*span < p.Since || score.Multiples(read, t, span) < 2 {
			return nil
		}
	}
	return score.NewWindow(t, span, read, p.Carriers, generic)
}
