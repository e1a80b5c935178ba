package operator

import (
	"github.com/scrollery/scrollery/modules/library/score"
)

// BacktestTrend counts how many of the first 25 trends of a run were taken up: at least
// two creators who had not used them posted a video with them within Days. The first run
// has none, since growth needs two; runs with fewer days after them are left out.
type BacktestTrend struct {
	Days int        `json:"days"`
	Runs []TrendRow `json:"runs"`
	// All is the sum of the runs; its Run is 0.
	All TrendRow `json:"all"`
}

// TrendRow counts the keys of one run. Others are all keys of its window that are neither
// generic nor among the first. A rate is null if there is nothing to divide by.
type TrendRow struct {
	Run int `json:"run"`
	// Listed is the number of trends, First how many of them were tested.
	Listed int `json:"listed"`
	First  int `json:"first"`
	// Taken of First and OthersTaken of Others were taken up.
	Taken       int `json:"taken"`
	Others      int `json:"others"`
	OthersTaken int `json:"othersTaken"`
	// Rate is Taken ÷ First, BaseRate is OthersTaken ÷ Others.
	Rate     *float64 `json:"rate"`
	BaseRate *float64 `json:"baseRate"`
	// Directions are those of the trends, then `all` keys of First and Others.
	Directions []DirectionRow `json:"directions"`
}

// DirectionRow counts keys that got more new creators in the 3 days after a run than in the
// 3 days before it; 0 of 0 where fewer days follow.
type DirectionRow struct {
	Direction string `json:"direction"`
	Keys      int    `json:"keys"`
	More      int    `json:"more"`
	// Share is More ÷ Keys.
	Share *float64 `json:"share"`
}

// rankedRun is a run with what was a trend after it.
type rankedRun struct {
	run int
	score.RankedRun
}

// rank ranks the trends of the library as it is.
func (l *backtestLibrary) rank(run int) {
	at, ok := score.Newest(l.observations)
	if run == 1 || !ok {
		return
	}
	carriers := make([]score.Carrier, len(l.videos))
	for i, v := range l.videos {
		carriers[i] = score.Carrier{ID: v.id, Creator: l.creator(v), PostedAt: v.facts.known.PostedAt, Keys: v.facts.keys}
	}
	w := score.NewWindow(at, score.Span(l.observations, at), l.observations, carriers, l.generic)
	l.ranked = append(l.ranked, rankedRun{run, w.Split()})
}

// trends compares what was ranked with the videos of the whole library.
func (l *backtestLibrary) trends(days int) BacktestTrend {
	found := BacktestTrend{Days: days, Runs: []TrendRow{}}
	var uses []score.Use
	end := int64(0)
	for _, v := range l.videos {
		creator := l.creator(v)
		for _, key := range v.facts.keys {
			if creator != 0 {
				uses = append(uses, score.Use{Key: key.Key, Creator: creator, PostedAt: v.facts.known.PostedAt})
			}
		}
	}
	for i := range l.observations {
		end = max(end, l.observations[i].At)
	}
	var all score.TrendCounts
	for _, r := range l.ranked {
		if counts, ok := r.Test(uses, days, end); ok {
			all.Add(counts)
			found.Runs = append(found.Runs, trendRow(r.run, counts))
		}
	}
	found.All = trendRow(0, all)
	return found
}

func trendRow(run int, c score.TrendCounts) TrendRow {
	row := TrendRow{
		Run: run, Listed: c.Listed, First: c.First, Taken: c.Taken, Others: c.Others, OthersTaken: c.OthersTaken,
		Rate: rate(c.Taken, c.First), BaseRate: rate(c.OthersTaken, c.Others),
	}
	for _, to := range score.TestedDirections {
		d := c.Directions[to]
		row.Directions = append(row.Directions, DirectionRow{to.String(), d.Keys, d.More, rate(d.More, d.Keys)})
	}
	return row
}

// rate is num ÷ den to four digits; nil if den is 0.
func rate(num, den int) *float64 {
	if den == 0 {
		return nil
	}
	part := score.Part(num, den).Float64()
	return &part
}
