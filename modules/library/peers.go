package library

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// The rules for peers. Times are Unix milliseconds.
const (
	hour = int64(3600_000)
	day  = 24 * hour
	// oldest is the age that counts for everything older, and for unknown dates.
	oldest = 72 * hour
	// apart is the longest time between two peers' postings.
	apart = 365 * day
	// shortsViews is when YouTube began to count each start of a Short as a view: 2025-03-31.
	shortsViews = int64(1743379200_000)
	// undated stands for an unknown posting time.
	undated = int64(math.MinInt64)

	creatorPeerCount = 30
	nichePeerCount   = 200
	fewestPeers      = 3
)

// sample is a video as scoring sees it: by its newest usable observation.
type sample struct {
	id, creator int64
	// posted is undated where unknown; at is when views was read.
	posted, at int64
	views      int64
	// outlier is the row's sort key among outliers; nil where it is none.
	outlier []byte
}

func (s *sample) age() int64 {
	if s.posted == undated {
		return oldest
	}
	return min(max(s.at-s.posted, 0), oldest)
}

// late reports whether a video was posted after YouTube changed what a view is.
func (s *sample) late() bool { return s.posted == undated || s.posted >= shortsViews }

// accepts reports whether peer may count in the baseline of s.
func (s *sample) accepts(peer *sample, youtube bool) bool {
	if peer.id == s.id || 2*peer.age() < s.age() {
		return false
	}
	if s.posted != undated && peer.posted != undated && abs(s.posted-peer.posted) > apart {
		return false
	}
	return !youtube || s.late() == peer.late()
}

// score is an outcome of scoring; peers is 0 where there are too few.
type score struct {
	baseline float64
	peers    int
}

// ratio is the unrounded score.
func (s score) ratio(views int64) float64 { return float64(views) / s.baseline }

func scoreOf(views []int64) score {
	if len(views) < fewestPeers {
		return score{}
	}
	slices.Sort(views)
	return score{baseline: medianOf(views), peers: len(views)}
}

// medianOf takes sorted numbers; an even number of them has the mean of the middle two.
func medianOf[N int64 | float64](sorted []N) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return float64(sorted[n/2])
	}
	return (float64(sorted[n/2-1]) + float64(sorted[n/2])) / 2
}

// byDate sorts newest first, unknown dates last, then by id.
func byDate(a, b *sample) int {
	return cmp.Or(cmp.Compare(b.posted, a.posted), cmp.Compare(a.id, b.id))
}

// dated returns how many of the sorted samples have a date.
func dated(sorted []*sample) int {
	return sort.Search(len(sorted), func(i int) bool { return sorted[i].posted == undated })
}

// creatorScore scores sorted[i] by the others, all of one creator on one platform,
// sorted by date.
func creatorScore(sorted []*sample, i int, youtube bool, scratch []int64) score {
	target, views := sorted[i], scratch[:0]
	take := func(peer *sample) bool {
		if target.accepts(peer, youtube) {
			views = append(views, peer.views)
		}
		return len(views) == creatorPeerCount
	}
	known := dated(sorted)
	if target.posted == undated { // the newest, unknown dates last: as they are sorted
		for _, peer := range sorted {
			if take(peer) {
				break
			}
		}
		return scoreOf(views)
	}
	nearest(sorted[:known], i, take)
	for _, peer := range sorted[known:] {
		if len(views) == creatorPeerCount || take(peer) {
			break
		}
	}
	return scoreOf(views)
}

// nearest walks dated samples away from sorted[i], the nearest in posting time
// first, of two as near the newer, then by id, until take has enough or all that
// remain are too far apart.
func nearest(sorted []*sample, i int, take func(*sample) bool) {
	at := sorted[i].posted
	// group returns the first sample that was posted when sorted[end-1] was.
	group := func(end int) int {
		return sort.Search(end, func(j int) bool { return sorted[j].posted <= sorted[end-1].posted })
	}
	same := group(i + 1)
	older := same
	for ; older < len(sorted) && sorted[older].posted == at; older++ {
		if take(sorted[older]) {
			return
		}
	}
	end := same // newer ones come before it, in groups of one posting time
	start, k := end, end
	if end > 0 {
		start = group(end)
		k = start
	}
	for {
		hasNewer, hasOlder := end > 0, older < len(sorted)
		if !hasNewer && !hasOlder {
			return
		}
		newer := hasNewer && (!hasOlder || sorted[k].posted-at <= at-sorted[older].posted)
		var peer *sample
		if newer {
			peer = sorted[k]
			if k++; k == end {
				if end = start; end > 0 {
					start = group(end)
					k = start
				}
			}
		} else {
			peer = sorted[older]
			older++
		}
		if abs(peer.posted-at) > apart || take(peer) {
			return
		}
	}
}

// scoreByCreator scores the videos of one creator by each other and returns those
// that have too few peers among themselves.
func scoreByCreator(videos []*sample, youtube bool, scored func(*sample, score)) (left []*sample) {
	slices.SortFunc(videos, byDate)
	scratch := make([]int64, 0, creatorPeerCount)
	for i, v := range videos {
		if result := creatorScore(videos, i, youtube, scratch); result.peers > 0 {
			scored(v, result)
		} else {
			left = append(left, v)
		}
	}
	return left
}

// round4 rounds to the 4 decimals that scores and growth are shown with.
func round4(f float64) float64 {
	if f >= 1<<40 { // no decimals worth rounding, and f*10000 would lose the number
		return math.Round(f)
	}
	return math.Round(f*10000) / 10000
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
