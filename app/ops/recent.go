package ops

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// recentHours is for how many hours, the running one included, Recent has numbers.
	recentHours = 24
	// mostEnds bounds how many kinds of ends of plugins one hour has.
	mostEnds = 200
)

// recentBounds are the upper bounds of the durations that are told apart: each is half as long
// again as the one before, from a millisecond to three minutes.
var recentBounds = func() (bounds [30]time.Duration) {
	for i := range bounds {
		bounds[i] = time.Millisecond
		if i > 0 {
			bounds[i] = bounds[i-1] * 3 / 2
		}
	}
	return bounds
}()

// Hour is what a process did in an hour.
type Hour struct {
	// At is when it began.
	At time.Time
	// Requests were answered, Failed of them for a reason that is the server's.
	Requests, Failed int64
	// Median and Slow are durations that half and 99 of 100 requests did not exceed, rounded up by
	// at most a half; 0 without requests.
	Median, Slow time.Duration
}

// End is how often calls of a plugin ended for a cause in the last hours.
type End struct {
	Plugin, Cause string
	Calls         int64
}

// recent counts what the process did, hour by hour. It is safe for concurrent use.
type recent struct {
	now func() time.Time

	mu    sync.Mutex
	hours [recentHours]counted
}

// counted are the counts of an hour since 1970.
type counted struct {
	hour             int64
	requests, failed int64
	took             [len(recentBounds) + 1]int64
	ends             map[[2]string]int64
}

// current returns the counts of this hour. The caller holds the lock.
func (r *recent) current() *counted {
	hour := r.now().Unix() / 3600
	at := &r.hours[hour%recentHours]
	if at.hour != hour {
		*at = counted{hour: hour, ends: map[[2]string]int64{}}
	}
	return at
}

func (r *recent) request(failed bool, took time.Duration) {
	slot, _ := slices.BinarySearch(recentBounds[:], took)
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.current()
	at.requests++
	at.took[slot]++
	if failed {
		at.failed++
	}
}

func (r *recent) ended(plugin, cause string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.current(); len(at.ends) < mostEnds {
		at.ends[[2]string{plugin, cause}]++
	}
}

// known returns the counts of the last hours, the latest first. The caller holds the lock.
func (r *recent) known() (all []*counted) {
	first := r.now().Unix()/3600 - recentHours
	for i := range r.hours {
		if r.hours[i].hour > first {
			all = append(all, &r.hours[i])
		}
	}
	slices.SortFunc(all, func(a, b *counted) int { return cmp.Compare(b.hour, a.hour) })
	return all
}

// Recent returns what this process did in each of the last 24 hours in which it did something, the
// latest first, and how calls of plugins ended in them.
func (m *Metrics) Recent() (hours []Hour, ends []End) {
	r := &m.recent
	r.mu.Lock()
	defer r.mu.Unlock()
	sums := map[[2]string]int64{}
	for _, at := range r.known() {
		hours = append(hours, Hour{time.Unix(at.hour*3600, 0), at.requests, at.failed, at.within(50), at.within(99)})
		for of, calls := range at.ends {
			sums[of] += calls
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(sums), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		ends = append(ends, End{of[0], of[1], sums[of]})
	}
	return hours, ends
}

// within returns a bound that so many of 100 requests did not exceed; the longest for slower ones.
func (c *counted) within(percent int64) time.Duration {
	var sum int64
	for slot, requests := range c.took {
		if sum += requests; sum > 0 && sum*100 >= c.requests*percent {
			return recentBounds[min(slot, len(recentBounds)-1)]
		}
	}
	return 0
}
