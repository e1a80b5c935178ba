package insight

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/scrollery/scrollery/modules/library/score"
)

const (
	// MostRuns and mostRunPoints bound the scrolls that a backtest compares.
	MostRuns, mostRunPoints = 30, 50_000
	// mostLater is how many scrolls later a backtest looks.
	mostLater = 10
)

// BacktestRun is a scroll and what it scored.
type BacktestRun struct {
	Scroll, ObservedAt            int64
	Scored, Listed, Entered, Left int
}

// BacktestRow counts one slice of the videos.
type BacktestRow struct {
	// By and Value name the slice: `platform` and `tiktok`.
	By, Value string
	// Later is how many scrolls lie between, from 1.
	Later int
	score.Row
}

// Backtest compares what the newest scrolls of the current subject scored with what came
// of it. of is the scroll whose flags count, 0 for all of them.
func (s *Service) Backtest(ctx context.Context, of int64) (runs []BacktestRun, rows []BacktestRow, err error) {
	subject, exists, err := s.Subject(ctx)
	if err != nil || !exists {
		return nil, nil, err
	}
	scored, err := s.scoredRuns(ctx, subject)
	if err != nil {
		return nil, nil, err
	}
	slices.Reverse(scored) // oldest first, as a backtest has them
	outliers, only := make([][]score.Tested, len(scored)), -1
	for i, r := range scored {
		one := BacktestRun{Scroll: r.scroll, ObservedAt: r.observedAt}
		for _, p := range r.points {
			o := p.Outlier
			outliers[i] = append(outliers[i], score.Tested{
				Outlier: o, Read: r.read[reading{o.ID, o.ObservedAt}], Entered: p.Flag == Entered, Early: score.EarlyAround(p.Early, o.CreatorPeers),
			})
			one.Scored += bit(o.Basis != score.NoBasis)
			one.Listed += bit(o.Listed && !o.Doubtful)
			one.Entered += bit(p.Flag == Entered)
			one.Left += bit(p.Flag == Left)
		}
		if runs = append(runs, one); r.scroll == of {
			only = i
		}
	}
	slices.Reverse(runs)
	if of != 0 && only < 0 {
		return runs, nil, nil
	}
	return runs, sum(score.Backtest(outliers), s.Growth.BacktestOrders(outliers), only), nil
}

// sum adds up the counts of each slice; only is the run that counts, -1 for all.
func sum(all []score.Row, orders []score.OrderRow, only int) (rows []BacktestRow) {
	type slice struct {
		order     int
		by, value string
		later     int
	}
	sums := map[slice]*score.Row{}
	for _, row := range all {
		later := row.Later - row.Run
		if later > mostLater || only >= 0 && row.Run != only {
			continue
		}
		for _, at := range []slice{
			{0, "all", "", later},
			{1, "platform", row.Kind.Platform(), later},
			{2, "kind", string(row.Kind), later},
			{3, "age_days", strconv.Itoa(row.AgeDays), later},
			{4, "creator_peers", strconv.Itoa(row.Peers), later},
		} {
			if sums[at] == nil {
				sums[at] = &score.Row{}
			}
			sums[at].Add(row)
		}
	}
	for _, row := range orders {
		later := row.Later - row.Run
		if later > mostLater || only >= 0 && row.Run != only {
			continue
		}
		at := slice{5, "order", row.Order, later}
		if sums[at] == nil {
			sums[at] = &score.Row{}
		}
		sums[at].Add(row.Row)
	}
	keys := make([]slice, 0, len(sums))
	for at := range sums {
		keys = append(keys, at)
	}
	slices.SortFunc(keys, func(a, b slice) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(len(a.value), len(b.value)), cmp.Compare(a.value, b.value), cmp.Compare(a.later, b.later))
	})
	for _, at := range keys {
		rows = append(rows, BacktestRow{By: at.by, Value: at.value, Later: at.later, Row: *sums[at]})
	}
	return rows
}
