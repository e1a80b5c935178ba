package score

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOrdersAreRecounted compares the backtest of orders with plain code, over videos that
// fall out of the feed.
func TestOrdersAreRecounted(t *testing.T) {
	t.Parallel()
	growth := DefaultTable()
	kept := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 40))
		runs := make([][]Tested, 2+r.IntN(3))
		for i := range runs {
			for id := range int64(60) {
				if r.IntN(4) == 0 {
					continue
				}
				at := int64(i+1)*day + r.Int64N(1000)
				runs[i] = append(runs[i], Tested{Outlier: Outlier{
					ID: id, Kind: []Kind{"tiktok", YouTubeShort}[id%2], Age: r.Int64N(9 * day), ObservedAt: at, Views: 1 + r.Int64N(1000),
					Basis: Basis(r.IntN(3)), Listed: r.IntN(2) == 0, Doubtful: r.IntN(6) == 0,
				}, Read: r.IntN(5) > 0, Entered: r.IntN(3) == 0, Early: Early{Views: max(r.Int64N(1500)-500, 0)}})
			}
		}
		want := map[OrderRow]OrderRow{}
		add := func(order string, run, later int, kind Kind, one Row) {
			at := OrderRow{order, Row{Run: run, Later: later, Kind: kind}}
			sum, ok := want[at]
			if !ok {
				sum = at
			}
			sum.Add(one)
			want[at] = sum
		}
		for i := range runs {
			for j := i + 1; j < len(runs); j++ {
				young := map[Kind][][4]int64{} // id, order by 7-day views, by views an hour, gain
				for _, from := range runs[i] {
					at := slices.IndexFunc(runs[j], func(o Tested) bool { return o.ID == from.ID && o.Read })
					if at < 0 {
						continue
					}
					to := runs[j][at]
					if from.Basis != NoBasis && to.Basis != NoBasis {
						was := slices.ContainsFunc(slices.Concat(runs[:i]...), func(o Tested) bool { return o.ID == from.ID && o.Listed })
						flagged := from.Entered && !was && !from.Doubtful
						add("new", i, j, from.Kind, Row{Scored: 1, Above: count(to.Listed), Flagged: count(flagged), Still: count(flagged && to.Listed)})
					}
					if from.Early.Views > 0 && to.Basis == CreatorBasis {
						for order, flagged := range map[string]bool{"early": from.Views > from.Early.Views, "early_baseline": from.Listed} {
							flagged = flagged && !from.Doubtful
							add(order, i, j, from.Kind, Row{Scored: 1, Above: count(to.Listed), Flagged: count(flagged), Still: count(flagged && to.Listed)})
						}
					}
					if from.Age <= 7*day {
						rank := from.Views * 1000 / growth.Share(from.Kind, from.Age)
						if from.Doubtful {
							rank -= 1 << 50
						}
						perHour := (from.Views*hour*20000 + max(from.Age, hour)) / (2 * max(from.Age, hour))
						young[from.Kind] = append(young[from.Kind], [4]int64{from.ID, rank, perHour, to.Views - from.Views})
					}
				}
				for kind, videos := range young {
					if len(videos) < 10 {
						continue
					}
					top := func(by int) (ids []int64) {
						for _, v := range videos {
							better := 0
							for _, o := range videos {
								better += count(o[by] > v[by] || o[by] == v[by] && o[0] < v[0])
							}
							if better < len(videos)/10 {
								ids = append(ids, v[0])
							}
						}
						return ids
					}
					gained := top(3)
					for order, by := range map[string]int{"rising": 1, "views_per_hour": 2} {
						one := Row{Scored: len(videos), Above: len(gained), Flagged: len(videos) / 10}
						for _, id := range top(by) {
							one.Still += count(slices.Contains(gained, id))
						}
						kept += one.Still
						add(order, i, j, kind, one)
					}
				}
			}
		}
		got := map[OrderRow]OrderRow{}
		for _, row := range growth.BacktestOrders(runs) {
			got[OrderRow{row.Order, Row{Run: row.Run, Later: row.Later, Kind: row.Kind}}] = row
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, rows (-want +got):\n%s", seed, diff)
		}
	}
	if kept == 0 {
		t.Error("the test tests little: no order had a video that gained the most")
	}
}

// TestRisingFindsWhatGains: on real Shorts, the tenth with the most 7-day views has, of the
// tenth that gains the most views in the three days after, nearly as many as views an hour.
func TestRisingFindsWhatGains(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*set{"shorts": shortsSeries(t), "danish": danish(t), "tech": tech(t)} {
		sums := map[string]*Row{"rising": {}, "views_per_hour": {}}
		runs := make([][]Tested, 0, s.runs)
		last := map[int64]int64{}
		for run := range s.runs {
			var tested []Tested
			for _, o := range s.outliers(t, run) {
				tested = append(tested, Tested{Outlier: o, Read: o.ObservedAt > last[o.ID]})
				last[o.ID] = o.ObservedAt
			}
			runs = append(runs, tested)
		}
		for _, row := range DefaultTable().BacktestOrders(runs) {
			if sum := sums[row.Order]; sum != nil {
				sum.Add(row.Row)
			}
		}
		rising, perHour := Part(sums["rising"].Still, sums["rising"].Flagged), Part(sums["views_per_hour"].Still, sums["views_per_hour"].Flagged)
		t.Logf("%s: of %d: rising %s, views an hour %s, at random %s", name, sums["rising"].Flagged, rising, perHour, Part(sums["rising"].Above, sums["rising"].Scored))
		if rising.Float64() < .8*perHour.Float64() {
			t.Errorf("%s: got %s of the tenth that gains the most, want at least .8 of the %s by views an hour", name, rising, perHour)
		}
	}
}
