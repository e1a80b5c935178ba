package score

import (
	"bytes"
	"cmp"
	"slices"
)

// OrderRow counts what came of the first of an order.
type OrderRow struct {
	// Order is `new`, `rising`, `views_per_hour`, `early` or `early_baseline`.
	Order string
	Row
}

// fewestYoung is how many young videos a run needs for a tenth of them.
const fewestYoung = 10

// BacktestOrders tests the orders of lists as [Backtest] tests flags; rows have no age and
// peers. Of `new`, flagged are the outliers that a run moved there for the first time. Of
// `rising` and `views_per_hour`, scored are the videos of at most 7 days at the run that the
// later one read, of a kind with at least 10 of them; flagged are the first tenth by the
// order, above the tenth that gained the most views until then, and still are both.
//
// Of `early` and `early_baseline`, scored are the videos with early views at the run that the
// later one scored by their creator, above those that are outliers there. Flagged of `early`
// are those with more views than their early ones, of `early_baseline` those that were
// listed: what their baseline by the niche says of the same videos.
func (t *Table) BacktestOrders(runs [][]Tested) (rows []OrderRow) {
	read := make([]map[int64]*Outlier, len(runs))
	for i, run := range runs {
		read[i] = map[int64]*Outlier{}
		for j := range run {
			if run[j].Read {
				read[i][run[j].ID] = &run[j].Outlier
			}
		}
	}
	was := map[int64]bool{} // an outlier at an earlier run
	for i, run := range runs {
		for later := i + 1; later < len(runs); later++ {
			at := Row{Run: i, Later: later}
			rows = append(rows, newRows(run, read[later], was, at)...)
			rows = append(rows, t.risingRows(run, read[later], at)...)
			rows = append(rows, earlyRows(run, read[later], at)...)
		}
		for j := range run {
			if run[j].Listed {
				was[run[j].ID] = true
			}
		}
	}
	return rows
}

// newRows are those of the order `new`.
func newRows(run []Tested, end map[int64]*Outlier, was map[int64]bool, at Row) (rows []OrderRow) {
	kinds := map[Kind]*Row{}
	for j := range run {
		o := &run[j]
		last := end[o.ID]
		if last == nil || o.Basis == NoBasis || last.Basis == NoBasis || last.ObservedAt <= o.ObservedAt {
			continue
		}
		if kinds[o.Kind] == nil {
			row := at
			row.Kind = o.Kind
			kinds[o.Kind] = &row
		}
		one := Row{Scored: 1, Above: count(last.Listed)}
		if o.Entered && !was[o.ID] && !o.Doubtful {
			one.Flagged, one.Still = 1, count(last.Listed)
		}
		kinds[o.Kind].Add(one)
	}
	return rowsOf("new", kinds)
}

// earlyRows are those of `early` and `early_baseline`.
func earlyRows(run []Tested, end map[int64]*Outlier, at Row) (rows []OrderRow) {
	early, baseline := map[Kind]*Row{}, map[Kind]*Row{}
	for j := range run {
		o := &run[j]
		last := end[o.ID]
		if o.Early.Views == 0 || last == nil || last.Basis != CreatorBasis || last.ObservedAt <= o.ObservedAt {
			continue
		}
		add := func(kinds map[Kind]*Row, flagged bool) {
			if kinds[o.Kind] == nil {
				kinds[o.Kind] = &Row{Run: at.Run, Later: at.Later, Kind: o.Kind}
			}
			one := Row{Scored: 1, Above: count(last.Listed)}
			if flagged && !o.Doubtful {
				one.Flagged, one.Still = 1, count(last.Listed)
			}
			kinds[o.Kind].Add(one)
		}
		add(early, o.Views > o.Early.Views)
		add(baseline, o.Listed)
	}
	return append(rowsOf("early", early), rowsOf("early_baseline", baseline)...)
}

// rowsOf are the rows of an order by kind.
func rowsOf(order string, kinds map[Kind]*Row) (rows []OrderRow) {
	for _, row := range kinds {
		rows = append(rows, OrderRow{order, *row})
	}
	slices.SortFunc(rows, func(a, b OrderRow) int { return cmp.Compare(a.Kind, b.Kind) })
	return rows
}

// risingRows are those of `rising` and `views_per_hour`.
func (t *Table) risingRows(run []Tested, end map[int64]*Outlier, at Row) (rows []OrderRow) {
	young := map[Kind][]candidate{}
	for j := range run {
		o := &run[j].Outlier
		last := end[o.ID]
		if last == nil || o.Age == UnknownAge || o.Age > RisingAge || o.Views <= 0 || last.Views <= 0 || last.ObservedAt <= o.ObservedAt {
			continue
		}
		r := Reading{ID: o.ID, Kind: o.Kind, PostedAt: 0, ObservedAt: o.Age, Views: o.Views, Likes: Unknown}
		if o.Age%day == 0 { // a whole number of days, which is no date here
			r.PostedAt, r.ObservedAt = 1, o.Age+1
		}
		young[o.Kind] = append(young[o.Kind], candidate{o.ID, t.RisingKey(&r, o.Doubtful), ViewsPerHour(&r), last.Views - o.Views})
	}
	orders := map[string]map[Kind]*Row{"rising": {}, "views_per_hour": {}}
	for kind, videos := range young {
		if len(videos) < fewestYoung {
			continue
		}
		gained := first(videos, func(a, b candidate) int { return cmp.Compare(b.gain, a.gain) })
		for order, compare := range map[string]func(a, b candidate) int{
			"rising":         func(a, b candidate) int { return bytes.Compare(a.key, b.key) },
			"views_per_hour": func(a, b candidate) int { return b.perHour.Compare(a.perHour) },
		} {
			row := at
			row.Kind, row.Scored, row.Above = kind, len(videos), len(gained)
			for id := range first(videos, compare) {
				row.Flagged++
				row.Still += count(gained[id])
			}
			orders[order][kind] = &row
		}
	}
	return append(rowsOf("rising", orders["rising"]), rowsOf("views_per_hour", orders["views_per_hour"])...)
}

// candidate is a young video at a run, and the views that it gained since.
type candidate struct {
	id      int64
	key     []byte
	perHour Decimal
	gain    int64
}

// first are the ids of the first tenth by an order, then by id.
func first(videos []candidate, compare func(a, b candidate) int) map[int64]bool {
	videos = slices.SortedFunc(slices.Values(videos), func(a, b candidate) int { return cmp.Or(compare(a, b), cmp.Compare(a.id, b.id)) })
	ids := map[int64]bool{}
	for _, v := range videos[:len(videos)/10] {
		ids[v.id] = true
	}
	return ids
}
