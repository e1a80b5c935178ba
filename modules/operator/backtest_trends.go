package operator

import (
	"time"

	"github.com/scrollery/scrollery/modules/library/score"
)

const (
	// firstTrends is how many keys of a run are tested: a first page.
	firstTrends = 25
	// newCreators is how many creators take up a key that spreads.
	newCreators = 2
	// latePart is by how much the readings may end before the days after a run are over:
	// daily runs are not punctual.
	latePart = int64(time.Hour / time.Millisecond)
	dayLong  = int64(24 * time.Hour / time.Millisecond)
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
// generic nor among the first. A rate is null where there is nothing to divide by.
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
}

// rankedRun is what was a trend after a run, and what was not.
type rankedRun struct {
	run           int
	at            int64
	listed        int
	first, others []string
}

// rank ranks the trends of the library as it is.
func (l *backtestLibrary) rank(run int) {
	at, ok := score.Newest(l.observations)
	if run == 1 || !ok {
		return
	}
	carriers := make([]score.Carrier, len(l.videos))
	for i, v := range l.videos {
		carriers[i] = score.Carrier{ID: v.id, Creator: l.creator(v), PostedAt: v.facts.postedAt, Keys: v.facts.keys}
	}
	listed, dropped := score.NewWindow(at, score.Span(l.observations, at), l.observations, carriers, l.generic).Rank(false)
	ranked := rankedRun{run: run, at: at, listed: len(listed)}
	for i := range listed {
		if i < firstTrends {
			ranked.first = append(ranked.first, listed[i].Key)
		} else {
			ranked.others = append(ranked.others, listed[i].Key)
		}
	}
	for i := range dropped {
		if dropped[i].Drop != score.GenericKey {
			ranked.others = append(ranked.others, dropped[i].Key)
		}
	}
	l.ranked = append(l.ranked, ranked)
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
				uses = append(uses, score.Use{Key: key.Key, Creator: creator, PostedAt: v.facts.postedAt})
			}
		}
	}
	for i := range l.observations {
		end = max(end, l.observations[i].At)
	}
	for _, r := range l.ranked {
		until := r.at + int64(days)*dayLong
		if until > end+latePart {
			continue
		}
		row := TrendRow{
			Run: r.run, Listed: r.listed, First: len(r.first), Taken: taken(score.Uptake(r.first, uses, r.at, until)),
			Others: len(r.others), OthersTaken: taken(score.Uptake(r.others, uses, r.at, until)),
		}
		found.All.Listed += row.Listed
		found.All.First += row.First
		found.All.Taken += row.Taken
		found.All.Others += row.Others
		found.All.OthersTaken += row.OthersTaken
		row.rates()
		found.Runs = append(found.Runs, row)
	}
	found.All.rates()
	return found
}

func taken(counts []int) (n int) {
	for _, count := range counts {
		if count >= newCreators {
			n++
		}
	}
	return n
}

func (r *TrendRow) rates() {
	r.Rate, r.BaseRate = rate(r.Taken, r.First), rate(r.OthersTaken, r.Others)
}

// rate is num ÷ den to four digits; nil where den is 0.
func rate(num, den int) *float64 {
	if den == 0 {
		return nil
	}
	part := score.Part(num, den).Float64()
	return &part
}
