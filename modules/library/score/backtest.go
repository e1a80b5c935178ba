package score

import (
	"cmp"
	"slices"
)

// Row counts, for one slice of the videos that were scored at one run and again at a
// later one, what came of being flagged.
type Row struct {
	// Run and Later are positions in the runs.
	Run, Later int
	Kind       Kind
	// AgeDays is the age at Run in whole days, 0 below a day, at most 7: grown up. -1
	// where the posting time is unknown.
	AgeDays int
	// Peers is 0 on a niche baseline, else 3, 10 or 30: at least so many.
	Peers int

	// Scored had a score at both runs, Above one above 1 at Later: Above ÷ Scored is the
	// base rate, what a blind guess would be right about.
	Scored, Above int
	// Flagged were listed at Run and not doubtful; Still of them were above at Later.
	// Still ÷ Flagged is the precision, Still ÷ Above the recall.
	Flagged, Still int
}

// Add sums the counts of another row.
func (r *Row) Add(other Row) {
	r.Scored += other.Scored
	r.Above += other.Above
	r.Flagged += other.Flagged
	r.Still += other.Still
}

// Tested is what was known of a video after a run.
type Tested struct {
	Outlier
	// Read: the reading that was scored is one of the run's own. Others were scored again
	// because a peer changed, and are only those that changed sides.
	Read bool
	// Entered: the run moved it into the outliers.
	Entered bool
	// Early are its early views at the run, if it has some.
	Early Early
}

// Backtest compares every run with every later one. A run holds all videos that were
// scored at it, listed or not; those with NoBasis are left out. The later run counts only
// for videos that it read: what cannot be known counts neither way. Rows are by run, later
// run, kind, age and peers.
func Backtest(runs [][]Tested) []Row {
	found := map[Row]*Row{}
	read := make([]map[int64]*Outlier, len(runs))
	for i, run := range runs {
		read[i] = make(map[int64]*Outlier, len(run))
		for j := range run {
			if o := &run[j]; o.Read && o.Basis != NoBasis {
				read[i][o.ID] = &o.Outlier
			}
		}
	}
	for i, run := range runs {
		for j := range run {
			o := &run[j].Outlier
			if o.Basis == NoBasis {
				continue
			}
			for later := i + 1; later < len(runs); later++ {
				end := read[later][o.ID]
				if end == nil || end.ObservedAt <= o.ObservedAt {
					continue
				}
				at := Row{Run: i, Later: later, Kind: o.Kind, AgeDays: o.ageDays(), Peers: o.peerBand()}
				if found[at] == nil {
					row := at
					found[at] = &row
				}
				one := Row{Scored: 1, Above: count(end.Listed)}
				if o.Listed && !o.Doubtful {
					one.Flagged, one.Still = 1, count(end.Listed)
				}
				found[at].Add(one)
			}
		}
	}
	rows := make([]Row, 0, len(found))
	for _, row := range found {
		rows = append(rows, *row)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Later, b.Later), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.AgeDays, b.AgeDays), cmp.Compare(a.Peers, b.Peers))
	})
	return rows
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (o *Outlier) ageDays() int {
	if o.Age == UnknownAge {
		return -1
	}
	return int(min(max(o.Age, 0)/day, 7))
}

func (o *Outlier) peerBand() int {
	switch {
	case o.Basis != CreatorBasis:
		return 0
	case o.SampleCount >= nearestPeers:
		return nearestPeers
	case o.SampleCount >= 10:
		return 10
	}
	return fewestPeers
}

// Part is num ÷ den, as a share of 1; 0 if den is 0.
func Part(num, den int) Decimal {
	if den == 0 {
		return Decimal{}
	}
	return ratio(uint64(num), uint64(den))
}

const (
	// FirstTrends is how many keys of a run a backtest tests: a first page.
	FirstTrends = 25
	// NewCreators is how many creators take up a key that spreads.
	NewCreators = 2
	// late is by how much the readings may end before the days after a run are over: daily
	// runs are not punctual.
	late = hour
)

// RankedRun is what was a trend after a run, and what was not.
type RankedRun struct {
	// At is T of the run's window.
	At int64
	// Listed is the number of trends. First are the first of them, at most 25; Others all
	// other keys of the window that are not generic.
	Listed        int
	First, Others []string
	// Directed are the listed keys by their Direction.
	Directed [Falling + 1][]string
}

// Split ranks the keys of the window for a backtest, without archived videos.
func (w *Window) Split() RankedRun {
	listed, dropped := w.Rank(false)
	r := RankedRun{At: w.T, Listed: len(listed)}
	for i := range listed {
		to := listed[i].Direction()
		r.Directed[to] = append(r.Directed[to], listed[i].Key)
		if i < FirstTrends {
			r.First = append(r.First, listed[i].Key)
		} else {
			r.Others = append(r.Others, listed[i].Key)
		}
	}
	for i := range dropped {
		if dropped[i].Drop != GenericKey {
			r.Others = append(r.Others, dropped[i].Key)
		}
	}
	return r
}

// TrendCounts counts the keys of a run, and those that were taken up.
type TrendCounts struct {
	Listed, First, Taken, Others, OthersTaken int
	// Directions count the listed keys by their Direction, and at AllDirections all keys of First and
	// Others: what a blind guess would be right about. They are 0 for a run without
	// DirectionDays of readings after it.
	Directions [Falling + 1]DirectionCounts
}

// DirectionDays is how many days before and after a run the test of directions compares,
// those that [Trend.Direction] counts.
const DirectionDays = 3

// AllDirections is where a test counts all keys.
const AllDirections Direction = 0

// TestedDirections are the rows of a test of directions, in the order of reports.
var TestedDirections = [...]Direction{Rising, Holding, Falling, AllDirections}

// DirectionCounts counts keys, and those of them that more creators took up in the
// DirectionDays after the run than in as many before it.
type DirectionCounts struct{ Keys, More int }

// Add sums the counts of another run.
func (c *TrendCounts) Add(other TrendCounts) {
	c.Listed += other.Listed
	c.First += other.First
	c.Taken += other.Taken
	c.Others += other.Others
	c.OthersTaken += other.OthersTaken
	for i := range c.Directions {
		c.Directions[i].Keys += other.Directions[i].Keys
		c.Directions[i].More += other.Directions[i].More
	}
}

// Test counts what came of the run's keys: those that at least NewCreators creators took
// up within so many days after it. end is the time of the last reading; ok is false if
// it is before these days are over.
func (r *RankedRun) Test(uses []Use, days int, end int64) (counts TrendCounts, ok bool) {
	until, ok := DaysOver(r.At, days, end)
	if !ok {
		return counts, false
	}
	taken := func(keys []string) (n int) {
		for _, creators := range Uptake(keys, uses, r.At, until) {
			n += count(creators >= NewCreators)
		}
		return n
	}
	return TrendCounts{
		Listed: r.Listed, First: len(r.First), Taken: taken(r.First), Others: len(r.Others), OthersTaken: taken(r.Others),
		Directions: r.directions(uses, end),
	}, true
}

// directions tests the directions of the run, where the readings go on for long enough.
// Creators of before and after are counted alike, from all that was ever read.
func (r *RankedRun) directions(uses []Use, end int64) (counts [Falling + 1]DirectionCounts) {
	until, ok := DaysOver(r.At, DirectionDays, end)
	if !ok {
		return counts
	}
	keys := slices.Concat(r.First, r.Others)
	before, after := Uptake(keys, uses, r.At-DirectionDays*day, r.At), Uptake(keys, uses, r.At, until)
	more := make(map[string]bool, len(keys))
	for i, key := range keys {
		more[key] = after[i] > before[i]
	}
	add := func(to Direction, keys []string) {
		counts[to].Keys = len(keys)
		for _, key := range keys {
			counts[to].More += count(more[key])
		}
	}
	add(AllDirections, keys)
	for to := Rising; to <= Falling; to++ {
		add(to, r.Directed[to])
	}
	return counts
}

// DaysOver is when so many days after a time end; ok is false if the last reading is
// before that.
func DaysOver(at int64, days int, end int64) (until int64, ok bool) {
	until = at + int64(days)*day
	return until, until <= end+late
}

// Use is a video with a trend key.
type Use struct {
	Key      string
	Creator  int64
	PostedAt int64
}

// Uptake counts, for each key, the creators who took it up in (from, until]: who posted a
// video with it then, and none by from. Uses without a posting time do not count.
func Uptake(keys []string, uses []Use, from, until int64) []int {
	index := make(map[string]int, len(keys))
	for i, key := range keys {
		index[key] = i
	}
	type user struct {
		key     int
		creator int64
	}
	had, has := map[user]bool{}, map[user]bool{}
	for _, u := range uses {
		i, asked := index[u.Key]
		if !asked || u.PostedAt == Undated {
			continue
		}
		switch {
		case u.PostedAt <= from:
			had[user{i, u.Creator}] = true
		case u.PostedAt <= until:
			has[user{i, u.Creator}] = true
		}
	}
	counts := make([]int, len(keys))
	for u := range has {
		if !had[u] {
			counts[u.key]++
		}
	}
	return counts
}
