package changes

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/feed"
)

const (
	// summed is the most changes that one summary reads: the newest ones.
	summed = 100_000
	// sumsFor is how far back a summary goes that names no time.
	sumsFor = 24 * time.Hour

	mostEntered = 10
	mostLeft    = 5
	mostGained  = 5
)

// Library names what a summary is about; the library answers it.
type Library interface {
	// Names returns some videos of the caller's account; those that it does not have any more
	// are missing.
	Names(ctx context.Context, ids []int64) ([]Named, error)
	// ListedTrends returns the trends that the list shows, in its order.
	ListedTrends(ctx context.Context) ([]Trend, error)
}

// Named is what people know a video by. Handle and Words, the caption, are a creator's texts,
// and may be empty.
type Named struct {
	ID                      int64
	Platform, Handle, Words string
}

// Trend is a listed trend. Hash is that of its key in the feed.
type Trend struct{ Key, Label, Hash string }

// Moved is a video that a summary names, with a number before and after, as of [feed.Change].
type Moved struct {
	feed.Change
	Named
}

// Summary is what is new in a library since a time.
type Summary struct {
	// Since is Unix milliseconds: later than what was asked for where older changes are gone.
	Since int64
	// Counts has the number of changes of each kind of the library.
	Counts map[feed.Kind]int
	// Entered are outliers that were none before, Left the opposite, and Gained known videos
	// with the most new views. Trends are those that entered the list.
	Entered, Left, Gained []Moved
	Trends                []Trend
	TrendsLeft            int
	// Next is the number after which the feed goes on.
	Next int64
}

// Summarize sums up the changes of the library since a time, in Unix milliseconds.
func (s *Service) Summarize(ctx context.Context, since int64) (Summary, error) {
	last, floor, err := s.state(ctx)
	if err != nil {
		return Summary{}, err
	}
	after, err := s.before(ctx, since, max(floor, last-summed), last)
	if err != nil {
		return Summary{}, err
	}
	sum := Summary{Since: since, Counts: map[feed.Kind]int{}, Next: last}
	if after > 0 && after == max(floor, last-summed) { // there may be earlier ones
		if sum.Since, err = s.timeOf(ctx, after+1); err != nil {
			return Summary{}, err
		}
		sum.Since = max(sum.Since, since)
	}
	net := newNet()
	for after < last {
		found, _, floor, err := s.window(ctx, after, min(readAtOnce, last-after))
		if err != nil {
			return Summary{}, err
		}
		if after < floor {
			return Summary{}, expired()
		}
		for i := range found {
			sum.Counts[found[i].Kind]++
			net.add(&found[i].Change)
		}
		after += min(readAtOnce, last-after)
	}
	maps.DeleteFunc(sum.Counts, func(kind feed.Kind, _ int) bool { return !ofLibrary(kind) })
	return sum, s.name(ctx, &sum, net)
}

// ofLibrary reports whether the reader of a library may know of the kind.
func ofLibrary(kind feed.Kind) bool {
	subject, _, _ := strings.Cut(string(kind), ".")
	return slices.Contains([]string{"video", "hook", "outlier", "trend"}, subject)
}

// before returns the number of the last change before a time, within bounds.
func (s *Service) before(ctx context.Context, since, floor, last int64) (int64, error) {
	var failed error
	later := sort.Search(int(last-floor), func(i int) bool {
		if failed != nil {
			return true
		}
		at, err := s.timeOf(ctx, floor+1+int64(i))
		failed = err
		return at >= since
	})
	return floor + int64(later), failed
}

// net is what is left of changes that follow each other: a video that became an outlier, was
// none and became one again entered once.
type net struct {
	outliers, gained map[int64]feed.Change
	trends           map[string]net1
}

// net1 is the first and the last change of a trend.
type net1 struct{ first, last feed.Kind }

func newNet() *net {
	return &net{outliers: map[int64]feed.Change{}, gained: map[int64]feed.Change{}, trends: map[string]net1{}}
}

func (n *net) add(c *feed.Change) {
	switch c.Kind {
	case feed.OutlierEntered, feed.OutlierLeft:
		if had, ok := n.outliers[c.Video]; ok && had.Kind != c.Kind {
			delete(n.outliers, c.Video) // it is what it was at first
			return
		}
		n.outliers[c.Video] = *c
	case feed.VideoReobserved:
		if !c.Old.Valid || !c.New.Valid {
			return
		}
		gain := *c
		if had, ok := n.gained[c.Video]; ok {
			gain.Old = had.Old
		}
		n.gained[c.Video] = gain
	case feed.TrendEntered, feed.TrendLeft:
		moved, ok := n.trends[c.Word]
		if !ok {
			moved.first = c.Kind
		}
		moved.last = c.Kind
		n.trends[c.Word] = moved
	}
}

// top returns the changes of a kind with the most of something above 0.
func top(changes map[int64]feed.Change, kind feed.Kind, most int, of func(feed.Change) float64) []Moved {
	var all []Moved
	for _, c := range changes {
		if c.Kind == kind && of(c) > 0 {
			all = append(all, Moved{Change: c})
		}
	}
	slices.SortFunc(all, func(a, b Moved) int {
		return cmp.Or(cmp.Compare(of(b.Change), of(a.Change)), cmp.Compare(a.Video, b.Video))
	})
	return all[:min(len(all), most)]
}

// name adds the videos and trends that a summary names.
func (s *Service) name(ctx context.Context, sum *Summary, net *net) error {
	sum.Entered = top(net.outliers, feed.OutlierEntered, mostEntered, func(c feed.Change) float64 { return c.New.Float64 })
	sum.Left = top(net.outliers, feed.OutlierLeft, mostLeft, func(c feed.Change) float64 { return c.Old.Float64 })
	sum.Gained = top(net.gained, feed.VideoReobserved, mostGained, func(c feed.Change) float64 { return c.New.Float64 - c.Old.Float64 })
	lists := []*[]Moved{&sum.Entered, &sum.Left, &sum.Gained}
	var ids []int64
	for _, list := range lists {
		for _, moved := range *list {
			ids = append(ids, moved.Video)
		}
	}
	if len(ids) > 0 {
		names, err := s.library.Names(ctx, ids)
		if err != nil {
			return err
		}
		byID := make(map[int64]Named, len(names))
		for _, one := range names {
			byID[one.ID] = one
		}
		for _, list := range lists {
			*list = slices.DeleteFunc(*list, func(moved Moved) bool { return byID[moved.Video].ID == 0 })
			for i := range *list {
				(*list)[i].Named = byID[(*list)[i].Video]
			}
		}
	}
	entered := false
	for _, moved := range net.trends {
		switch {
		case moved.first != moved.last: // it came back, or went again
		case moved.last == feed.TrendEntered:
			entered = true
		default:
			sum.TrendsLeft++
		}
	}
	if !entered {
		return nil
	}
	listed, err := s.library.ListedTrends(ctx)
	if err != nil {
		return err
	}
	for _, trend := range listed {
		if moved := net.trends[trend.Hash]; moved.first == feed.TrendEntered && moved.last == feed.TrendEntered && len(sum.Trends) < mostEntered {
			sum.Trends = append(sum.Trends, trend)
		}
	}
	return nil
}
