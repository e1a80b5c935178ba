package operator

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/scrollery/scrollery/modules/library/score"
)

// slices of the outliers, in the order of the tables.
var outlierSlices = []struct {
	by string
	of func(r *score.Row) string
}{
	{"all", func(*score.Row) string { return "" }},
	{"run", func(r *score.Row) string { return strconv.Itoa(r.Run + 1) }},
	{"platform", func(r *score.Row) string { return r.Kind.Platform() }},
	{"kind", func(r *score.Row) string { return string(r.Kind) }},
	{"age", func(r *score.Row) string { return ages[r.AgeDays+1] }},
	{"peers", func(r *score.Row) string { return peerBands[r.Peers] }},
}

var (
	ages      = [...]string{"unknown", "0 days", "1 day", "2 days", "3 days", "4 days", "5 days", "6 days", "7 days or more"}
	peerBands = map[int]string{0: "of the niche", 3: "3 to 9", 10: "10 to 29", 30: "30"}
)

// orders of the rows of [score.Table.BacktestOrders], in the order of the tables.
var orders = []string{"new", "rising", "views_per_hour", "early", "early_baseline"}

// outlierRows sums the rows of each slice by how many runs later they were scored again.
func outlierRows(rows []score.Row, ordered []score.OrderRow) []OutlierRow {
	all := []OutlierRow{}
	for _, slice := range outlierSlices {
		sorted := slices.Clone(rows)
		slices.SortStableFunc(sorted, func(a, b score.Row) int {
			switch slice.by {
			case "run":
				return cmp.Compare(a.Run, b.Run)
			case "age":
				return cmp.Compare(a.AgeDays, b.AgeDays)
			case "peers":
				return cmp.Compare(a.Peers, b.Peers)
			}
			return cmp.Compare(slice.of(&a), slice.of(&b))
		})
		all = append(all, summed(slice.by, slice.of, sorted)...)
	}
	for _, order := range orders {
		var its []score.Row
		for _, row := range ordered {
			if row.Order == order {
				its = append(its, row.Row)
			}
		}
		all = append(all, summed("order", func(*score.Row) string { return order }, its)...)
	}
	return all
}

// summed are the sums of rows by what they are of, in the order of the rows.
func summed(by string, of func(*score.Row) string, rows []score.Row) (found []OutlierRow) {
	type at struct {
		of    string
		later int
	}
	index, place := map[at]int{}, map[string]int{}
	for i := range rows {
		r := &rows[i]
		key := at{of(r), r.Later - r.Run}
		if _, ok := place[key.of]; !ok {
			place[key.of] = len(place)
		}
		if _, ok := index[key]; !ok {
			index[key] = len(found)
			found = append(found, OutlierRow{By: by, Of: key.of, Later: key.later})
		}
		row := &found[index[key]]
		row.Scored += r.Scored
		row.Above += r.Above
		row.Flagged += r.Flagged
		row.Still += r.Still
	}
	for i := range found {
		r := &found[i]
		r.BaseRate, r.Precision, r.Recall = rate(r.Above, r.Scored), rate(r.Still, r.Flagged), rate(r.Still, r.Above)
	}
	slices.SortFunc(found, func(a, b OutlierRow) int {
		return cmp.Or(cmp.Compare(place[a.Of], place[b.Of]), cmp.Compare(a.Later, b.Later))
	})
	return found
}

// WriteTables writes the report as tables of text.
func (r *BacktestReport) WriteTables(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	line("Runs (method %s)", r.Method)
	line("run\tfirst reading\tlast reading\treadings\tvideos\tscored\tflagged")
	for _, run := range r.Runs {
		line("%d\t%s\t%s\t%d\t%d\t%d\t%d", run.Run, instant(run.From), instant(run.To), run.Readings, run.Videos, run.Scored, run.Flagged)
	}
	line("\nOutliers: of what was flagged at a run, how much still beats its baseline some runs later")
	line("slice\t\truns later\tscored\tabove\tbase rate\tflagged\tstill above\tprecision\trecall")
	for _, o := range r.Outliers {
		line("%s\t%s\t+%d\t%d\t%d\t%s\t%d\t%d\t%s\t%s", o.By, o.Of, o.Later, o.Scored, o.Above, share(o.BaseRate), o.Flagged, o.Still, share(o.Precision), share(o.Recall))
	}
	line("\nTrends: of the first %d keys of a run, how many at least %d new creators take up within %d days", score.FirstTrends, score.NewCreators, r.Trends.Days)
	if len(r.Trends.Runs) == 0 {
		line("no run after the first has readings of %d days later", r.Trends.Days)
		return w.Flush()
	}
	line("run\tlisted\tfirst\ttaken up\trate\tother keys\ttaken up\tbase rate")
	for _, t := range append(slices.Clone(r.Trends.Runs), r.Trends.All) {
		name := "all"
		if t.Run > 0 {
			name = strconv.Itoa(t.Run)
		}
		line("%s\t%d\t%d\t%d\t%s\t%d\t%d\t%s", name, t.Listed, t.First, t.Taken, share(t.Rate), t.Others, t.OthersTaken, share(t.BaseRate))
	}
	line("\nDirections: how many keys at least one more new creator took up in the %[1]d days after a run than in the %[1]d days before it", score.DirectionDays)
	line("direction\tkeys\tmore\tshare")
	for _, d := range r.Trends.All.Directions {
		line("%s\t%d\t%d\t%s", d.Direction, d.Keys, d.More, share(d.Share))
	}
	return w.Flush()
}

func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04Z") }

func share(rate *float64) string {
	if rate == nil {
		return "-"
	}
	return strconv.FormatFloat(*rate, 'f', 4, 64)
}
