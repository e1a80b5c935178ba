package score

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBacktestCountsWhatIsKnown(t *testing.T) {
	t.Parallel()
	one := func(id, age int64, listed bool, samples int) Outlier {
		return Outlier{ID: id, Kind: "tiktok", Age: age, Basis: CreatorBasis, SampleCount: samples, Listed: listed}
	}
	doubtful := one(6, day, true, 30)
	doubtful.Doubtful = true
	read := func(at int64, run ...Outlier) (tested []Tested) {
		for _, o := range run {
			o.ObservedAt = at
			tested = append(tested, Tested{Outlier: o, Read: true})
		}
		return tested
	}
	unread := one(7, hour, true, 3)
	runs := [][]Tested{
		read(1, one(1, hour, true, 3), one(2, hour, true, 9), one(3, 2*hour, false, 3), one(4, hour, true, 3), Outlier{ID: 5, Basis: NoBasis, Listed: true}, doubtful, unread),
		append(read(2, one(1, 9*day, true, 3), one(2, 9*day, false, 9), one(3, 9*day, true, 3), one(5, day, true, 3), one(6, 9*day, true, 30)), read(1, unread)...),
	}
	want := []Row{
		{Run: 0, Later: 1, Kind: "tiktok", AgeDays: 0, Peers: 3, Scored: 3, Above: 2, Flagged: 2, Still: 1},
		{Run: 0, Later: 1, Kind: "tiktok", AgeDays: 1, Peers: 30, Scored: 1, Above: 1},
	}
	if diff := cmp.Diff(want, Backtest(runs)); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}

func allRead(outliers []Outlier) (tested []Tested) {
	for _, o := range outliers {
		tested = append(tested, Tested{Outlier: o, Read: true})
	}
	return tested
}

// TestBacktestIsANaiveRecount lets videos fall out of the feed of random runs. Some of them
// are scored again without a reading, as a peer changed.
func TestBacktestIsANaiveRecount(t *testing.T) {
	t.Parallel()
	unreadAbove := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 39))
		runs := make([][]Tested, 2+r.IntN(4))
		last := map[int64]int64{} // when each video was read last
		for i := range runs {
			for id := range int64(12) {
				read := r.IntN(3) > 0
				if read {
					last[id] = int64(1 + i*10 + r.IntN(3))
				} else if last[id] == 0 || r.IntN(2) == 0 {
					continue
				}
				runs[i] = append(runs[i], Tested{Outlier: Outlier{
					ID: id, Kind: []Kind{"tiktok", YouTubeShort}[id%2], Age: last[id] * day / 20, ObservedAt: last[id], Basis: Basis(r.IntN(3)),
					SampleCount: 3 + r.IntN(40), Listed: r.IntN(2) == 0, Doubtful: r.IntN(5) == 0,
				}, Read: read})
			}
		}
		want := map[Row]Row{}
		for i := range runs {
			for _, from := range runs[i] {
				for j := i + 1; j < len(runs); j++ {
					for _, to := range runs[j] {
						if from.ID != to.ID || from.Basis == NoBasis || to.Basis == NoBasis || from.ObservedAt >= to.ObservedAt {
							continue
						}
						if !to.Read {
							unreadAbove += count(to.Listed)
							continue
						}
						at := Row{Run: i, Later: j, Kind: from.Kind, AgeDays: from.ageDays(), Peers: from.peerBand()}
						sum, ok := want[at]
						if !ok {
							sum = at
						}
						flagged := from.Listed && !from.Doubtful
						sum.Scored++
						sum.Above += count(to.Listed)
						sum.Flagged += count(flagged)
						sum.Still += count(flagged && to.Listed)
						want[at] = sum
					}
				}
			}
		}
		got := map[Row]Row{}
		for _, row := range Backtest(runs) {
			got[Row{Run: row.Run, Later: row.Later, Kind: row.Kind, AgeDays: row.AgeDays, Peers: row.Peers}] = row
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, rows (-want +got):\n%s", seed, diff)
		}
	}
	if unreadAbove == 0 {
		t.Error("the test tests little: no video was scored again without a reading")
	}
}

func TestUptakeCountsNewCreators(t *testing.T) {
	t.Parallel()
	uses := []Use{
		{"a", 1, 10},
		{"a", 2, 11},
		{"a", 2, 12},
		{"a", 1, 12},
		{"a", 3, 20},
		{"a", 4, 21},
		{"a", 5, Undated},
		{"b", 3, 11},
		{"c", 1, 11},
	}
	if diff := cmp.Diff([]int{2, 1}, Uptake([]string{"a", "b"}, uses, 10, 20)); diff != "" {
		t.Errorf("new creators differ (-want +got):\n%s", diff)
	}
}

func TestDirectionsAreComparedWithWhatCame(t *testing.T) {
	t.Parallel()
	const at = 100 * day
	r := RankedRun{
		At: at, First: []string{"up", "even"}, Others: []string{"down", "unlisted"},
		Directed: [Falling + 1][]string{Rising: {"up", "even"}, Holding: nil, Falling: {"down"}},
	}
	uses := []Use{
		{"up", 1, at - 3*day}, // before both
		{"up", 2, at},
		{"up", 3, at + 1},
		{"up", 4, at + 3*day},
		{"even", 1, at - 1},
		{"even", 2, at + 1},
		{"even", 3, at + 3*day + 1},
		{"even", 1, at + 1},
		{"down", 1, at - 3*day + 1},
		{"unlisted", 1, at + day},
	}
	for _, c := range []struct {
		end  int64
		want [Falling + 1]DirectionCounts
	}{
		{at + 3*day - late, [Falling + 1]DirectionCounts{{4, 2}, {2, 1}, {}, {1, 0}}},
		{at + 3*day - late - 1, [Falling + 1]DirectionCounts{}},
	} {
		got, ok := r.Test(uses, 1, c.end)
		if diff := cmp.Diff(c.want, got.Directions); diff != "" || !ok {
			t.Errorf("end %d: ok %v, directions (-want +got):\n%s", c.end, ok, diff)
		}
		twice := got
		twice.Add(got)
		for i, d := range c.want {
			if want := (DirectionCounts{2 * d.Keys, 2 * d.More}); twice.Directions[i] != want {
				t.Errorf("sum of two runs, direction %s: got %+v, want %+v", Direction(i), twice.Directions[i], want)
			}
		}
	}
}

func (s *set) outliers(t *testing.T, run int) []Outlier {
	t.Helper()
	all, _, err := scoreAll(s.at(run), -1, 1)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b Outlier) int { return Compare(&a, &b) })
	return all
}

func sum(rows []Row, fit func(Row) bool) (all Row) {
	for _, row := range rows {
		if fit(row) {
			all.Add(row)
		}
	}
	return all
}

func (r Row) String() string {
	return fmt.Sprintf("scored %d, base rate %s, flagged %d, precision %s, recall %s",
		r.Scored, Part(r.Above, r.Scored), r.Flagged, Part(r.Still, r.Flagged), Part(r.Still, r.Above))
}

// Of the videos that are 0 or 1 whole days old at the first reading (a date, so its end): how
// many of those that end above 1 × were flagged, and how many of those flagged end so.
func TestEarlyOutliersEndAbove(t *testing.T) {
	t.Parallel()
	s := danish(t)
	rows := Backtest([][]Tested{allRead(s.outliers(t, 0)), allRead(s.outliers(t, 1))})
	for days := range 8 {
		t.Logf("%d days: %s", days, sum(rows, func(r Row) bool { return r.AgeDays == days }))
	}
	for _, peers := range []int{0, 3, 10, 30} {
		t.Logf("%d peers: %s", peers, sum(rows, func(r Row) bool { return r.Peers == peers }))
	}
	young := sum(rows, func(r Row) bool { return r.AgeDays <= 1 })
	t.Logf("at most 1 day: %s", young)
	bar := Decimal{Frac: 6500}
	if recall := Part(young.Still, young.Above); recall.Compare(bar) < 0 {
		t.Errorf("recall at a day: got %s, want at least %s", recall, bar)
	}
	if precision := Part(young.Still, young.Flagged); precision.Compare(bar) < 0 {
		t.Errorf("precision at a day: got %s, want at least %s", precision, bar)
	}
}

// plainMultiple is a video's views over the median of the other videos of its creator and
// kind, without any correction: what a reader would check by hand.
func plainMultiple(videos []*naiveVideo, of *naiveVideo) (multiple float64) {
	var views []int64
	for _, v := range videos {
		if v.creator == of.creator && v.Kind == of.Kind && v.ID != of.ID && v.usable() {
			views = append(views, v.Views)
		}
	}
	if len(views) == 0 {
		return 0
	}
	slices.Sort(views)
	return float64(of.Views) * 2 / float64(twiceMedian(views))
}

func TestFirstOutliersAreTrue(t *testing.T) {
	t.Parallel()
	s := tech(t)
	for run := range s.runs {
		first := s.outliers(t, run)[:25]
		final := s.at(s.runs - 1)
		least, doubtful := 1e9, 0
		for _, o := range first {
			i := slices.IndexFunc(final, func(v *naiveVideo) bool { return v.ID == o.ID })
			multiple := plainMultiple(final, final[i])
			least = min(least, multiple)
			doubtful += count(o.Doubtful)
			if multiple < 3 {
				t.Errorf("run %d: video %d of score %s: got %.2f times its creator's median in the end, want at least 3", run+1, o.ID, o.Score, multiple)
			}
		}
		if doubtful > 0 {
			t.Errorf("run %d: got %d doubtful of the first 25, want 0", run+1, doubtful)
		}
		t.Logf("run %d: scores from %s to %s, the least truly %.2f", run+1, first[0].Score, first[24].Score, least)
	}
}

// The first 25 trends of each day that has four days after it: how many are taken up by two
// or more creators who had not used them.
func TestTrendsAreTakenUp(t *testing.T) {
	t.Parallel()
	s := trendingUS(t)
	_, carriers := s.window(s.runs - 1)
	var uses []Use
	for _, c := range carriers {
		for _, key := range c.Keys {
			uses = append(uses, Use{key.Key, c.Creator, c.PostedAt})
		}
	}
	var end int64
	for i := range s.all {
		end = max(end, s.all[i].at)
	}
	taken, of, baseTaken, baseOf := 0, 0, 0, 0
	for run := 1; run < s.runs; run++ {
		observations, carriers := s.window(run)
		at, _ := Newest(observations)
		if at+4*day > end+hour {
			break
		}
		w := NewWindow(at, Span(observations, at), observations, carriers, Generic(genericWords))
		listed, dropped := w.Rank(false)
		keys := make([]string, 0, 25)
		for _, trend := range listed[:min(25, len(listed))] {
			keys = append(keys, trend.Key)
		}
		var others []string
		for _, d := range dropped {
			if d.Drop != GenericKey {
				others = append(others, d.Key)
			}
		}
		hit := func(keys []string) (n int) {
			for _, creators := range Uptake(keys, uses, at, at+4*day) {
				n += count(creators >= 2)
			}
			return n
		}
		n := hit(keys)
		t.Logf("day %d: %d listed, %d of the first %d taken up", run+1, len(listed), n, len(keys))
		taken, of = taken+n, of+len(keys)
		baseTaken, baseOf = baseTaken+hit(others), baseOf+len(others)
	}
	t.Logf("all days: %s of %d; base rate %s of %d keys", Part(taken, of), of, Part(baseTaken, baseOf), baseOf)
	if part, bar := Part(taken, of), (Decimal{Frac: 5500}); part.Compare(bar) < 0 {
		t.Errorf("got %s of the first trends taken up, want at least %s", part, bar)
	}
}

// On Shorts, most of them on a niche baseline: of the first 25 by order and by plain views,
// among the videos of at most three days that are read again three days later, how many end
// with at least twice the median of their creator's others, and how many in the top quarter
// of all by views. Every fourth reading with three days after it counts.
func TestShortsAreNoWorseThanPlainViews(t *testing.T) {
	t.Parallel()
	s := shortsSeries(t)
	final := s.at(s.runs - 1)
	end := map[int64]*naiveVideo{}
	multiple := map[int64]float64{}
	var views []int64
	for _, v := range final {
		end[v.ID], multiple[v.ID] = v, plainMultiple(final, v)
		views = append(views, v.Views)
	}
	slices.Sort(views)
	quarter := views[len(views)*3/4]
	var order, plain [2]int
	for run := 4; run < s.runs; run += 4 {
		var young []Outlier
		for _, o := range s.outliers(t, run) {
			if o.Basis != NoBasis && o.Age <= 3*day && end[o.ID].ObservedAt >= o.ObservedAt+3*day {
				young = append(young, o)
			}
		}
		if len(young) < 50 {
			continue
		}
		byViews := slices.Clone(young)
		slices.SortStableFunc(byViews, func(a, b Outlier) int { return int(b.Views - a.Views) })
		hits := func(of []Outlier) (n [2]int) {
			left := 25
			for _, o := range of {
				if multiple[o.ID] > 0 && left > 0 {
					left--
					n[0] += count(multiple[o.ID] >= 2)
				}
			}
			for _, o := range of[:25] {
				n[1] += count(end[o.ID].Views >= quarter)
			}
			return n
		}
		a, b := hits(young), hits(byViews)
		t.Logf("reading %d, %d young videos: by order %v, by views %v of 25", run, len(young), a, b)
		for i := range a {
			order[i] += a[i]
			plain[i] += b[i]
		}
	}
	t.Logf("all: by order %v, by views %v", order, plain)
	if order[0] < plain[0] || order[0] == 0 {
		t.Errorf("videos that end at twice their creator's usual views: got %d by the order, want as many as the %d by plain views, and some", order[0], plain[0])
	}
}
