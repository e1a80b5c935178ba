package score

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// lab builds a window by hand: every video is seen once, at T, but where grow was called.
type lab struct {
	observations []Observation
	carriers     []Carrier
}

const labT = noon

func (l *lab) video(creator int64, age int64, keys ...string) int64 {
	id := int64(len(l.carriers) + 1)
	c := Carrier{ID: id, Creator: creator, PostedAt: labT - age}
	for _, key := range keys {
		c.Keys = append(c.Keys, Key{"hashtag:" + key, "#" + key})
	}
	l.carriers = append(l.carriers, c)
	l.observations = append(l.observations, Observation{Video: id, Scroll: 2, At: labT, Views: 1000 * id, Likes: Unknown})
	return id
}

func (l *lab) grow(id, first, last int64) {
	i := slices.IndexFunc(l.observations, func(o Observation) bool { return o.Video == id })
	l.observations[i].Views = last
	l.observations = append(l.observations, Observation{Video: id, Scroll: 1, At: labT - hour, Views: first, Likes: Unknown})
}

func (l *lab) window() *Window {
	t, _ := Newest(l.observations)
	return NewWindow(t, Span(l.observations, t), l.observations, l.carriers, Generic([]string{"FYP", "#viral"}))
}

type line struct {
	Key, Strength, Median string
	Videos                int
	Examples              []int64
	Drop                  Drop
	By                    string
}

func lines(trends []Trend) (all []line) {
	for _, t := range trends {
		all = append(all, line{t.Key, t.Strength.String(), t.MedianGrowth.String(), t.VideoCount, t.Examples, t.Drop, t.By})
	}
	return all
}

func TestHandExampleOfTrends(t *testing.T) {
	t.Parallel()
	var l lab
	p := l.video(1, day, "a", "b")
	q := l.video(2, day, "a", "b")
	l.video(3, 7*day-1, "a", "b")
	l.video(4, day)
	l.video(1, 7*day, "a")
	l.video(2, 8*day)
	l.video(3, 9*day)
	l.video(4, 14*day-1)
	l.grow(p, 1000, 3000)
	l.grow(q, 50, 400)
	w := l.window()
	if w.Recent != 4 || w.Earlier != 4 || w.Span != ShortestSpan {
		t.Fatalf("C, P, W: got %d, %d, %d, want 4, 4, %d", w.Recent, w.Earlier, w.Span, ShortestSpan)
	}
	listed, dropped := w.Rank(false)
	// c = 3, p = 0, C = P = 4: 9 ÷ 3. The most viewed first: 3,000 views of the videos 1 and 3.
	want := []line{{"hashtag:b", "3", "3.5", 3, []int64{1, 3, 2}, Kept, ""}}
	if diff := cmp.Diff(want, lines(listed)); diff != "" {
		t.Errorf("listed differ (-want +got):\n%s", diff)
	}
	if len(dropped) != 1 || dropped[0].Key != "hashtag:a" || dropped[0].Drop != Overlaps || dropped[0].By != "hashtag:b" || dropped[0].Strength.String() != "2.25" {
		t.Errorf("got dropped %+v, want hashtag:a of strength 2.25, covered by hashtag:b", dropped)
	}
}

func TestWhyKeysAreDropped(t *testing.T) {
	t.Parallel()
	var l lab
	for creator := int64(1); creator <= 4; creator++ {
		l.grow(l.video(creator, day, "fyp", "common", "six of ten", "four of the six"), 1000, 2000)
	}
	l.video(5, day, "common", "six of ten", "once")
	l.video(6, day, "common", "six of ten", "once")
	l.video(7, day, "common", "once")
	l.grow(l.video(8, day, "two"), 1000, 2000)
	l.grow(l.video(9, day, "two"), 1000, 2000)
	l.video(9, day)
	listed, dropped := l.window().Rank(false)
	if len(listed) != 1 || listed[0].Key != "hashtag:six of ten" {
		t.Errorf("got %+v listed, want hashtag:six of ten alone", lines(listed))
	}
	got := map[string]Drop{}
	for _, d := range dropped {
		got[d.Key] = d.Drop
	}
	want := map[string]Drop{"hashtag:four of the six": Overlaps, "hashtag:fyp": GenericKey, "hashtag:common": TooCommon, "hashtag:once": FewMultiples, "hashtag:two": FewCreators}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons differ (-want +got):\n%s", diff)
	}
}

func TestArchivedVideosLeaveAKeysNumbersAlone(t *testing.T) {
	t.Parallel()
	var l lab
	for creator := int64(1); creator <= 4; creator++ {
		l.grow(l.video(creator, day, "a"), 1000, 1000*(creator+1))
	}
	l.video(5, 8*day, "b")
	l.carriers[3].Archived = true
	w := l.window()
	without, _ := w.Rank(false)
	with, _ := w.Rank(true)
	if diff := cmp.Diff([]line{{"hashtag:a", "3", "3", 3, []int64{3, 2, 1}, Kept, ""}}, lines(without)); diff != "" {
		t.Errorf("without archived (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]line{{"hashtag:a", "5.3333", "3.5", 4, []int64{4, 3, 2}, Kept, ""}}, lines(with)); diff != "" {
		t.Errorf("with archived (-want +got):\n%s", diff)
	}
	if w.Recent != 4 || w.Earlier != 1 {
		t.Errorf("C, P with archived ones: got %d, %d, want 4, 1", w.Recent, w.Earlier)
	}
}

func TestSpanDoublesForRareScrolls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		apart int64
		want  int64
	}{
		{day, 7}, {14*day - 1, 7}, {14 * day, 14}, {30 * day, 28}, {100 * day, 56}, {224*day - 1, 112}, {224 * day, 7},
	} {
		t.Run(fmt.Sprintf("scrolls %d ms apart", test.apart), func(t *testing.T) {
			var observations []Observation
			for video := int64(1); video <= 2; video++ {
				for scroll := int64(1); scroll <= 2; scroll++ {
					observations = append(observations, Observation{Video: video, Scroll: scroll, At: noon - (2-scroll)*test.apart, Views: 10, Likes: Unknown})
				}
			}
			if got := Span(observations, noon) / day; got != test.want {
				t.Errorf("scrolls %d ms apart: got a span of %d days, want %d", test.apart, got, test.want)
			}
		})
	}
}

func TestGrowthNeedsTwoScrolls(t *testing.T) {
	t.Parallel()
	at := func(scroll, at, views, likes int64) Observation { return Observation{1, scroll, at, views, likes} }
	for _, test := range []struct {
		name     string
		readings []Observation
		want     string
	}{
		{"two scrolls", []Observation{at(2, noon, 300, Unknown), at(1, noon-1, 200, Unknown)}, "1.5"},
		{"few first views count as 100", []Observation{at(1, noon-1, 1, Unknown), at(2, noon, 300, Unknown)}, "3"},
		{"one scroll", []Observation{at(1, noon-1, 100, Unknown), at(1, noon, 300, Unknown)}, ""},
		{"an unusable reading", []Observation{at(1, noon-1, 100, 101), at(2, noon, 300, Unknown)}, ""},
		{"one time, then the scroll decides", []Observation{at(2, noon, 300, Unknown), at(1, noon, 200, Unknown)}, "1.5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := sightingOf(ordered(test.readings), noon, ShortestSpan)
			got := ""
			m := memberOf(&Carrier{}, &s)
			if num, den, ok := m.Multiple(); ok {
				got = ratio(uint64(num), uint64(den)).String()
			}
			if got != test.want {
				t.Errorf("got multiple %q, want %q", got, test.want)
			}
		})
	}
}

// TestTrendsAreThoseThatRankLists compares the short way with the long one, which measures
// every key.
func TestTrendsAreThoseThatRankLists(t *testing.T) {
	t.Parallel()
	var repeated atomic.Int64
	property(t, 133, func(t *testing.T, seed int) {
		r := rand.New(rand.NewPCG(uint64(seed), 21))
		observations, carriers := randomTrends(r, 1+r.IntN(60))
		at, ok := Newest(observations)
		if !ok {
			return
		}
		w := NewWindow(at, Span(observations, at), observations, carriers, Generic([]string{"3"}))
		for _, withArchived := range []bool{false, true} {
			wantListed, dropped := w.Rank(withArchived)
			wantSame := slices.DeleteFunc(dropped, func(t Trend) bool { return t.Drop != Overlaps })
			listed, same := w.Trends(withArchived)
			slices.SortFunc(same, func(a, b Trend) int { return strings.Compare(a.Key, b.Key) })
			if diff := cmp.Diff([][]Trend{wantListed, wantSame}, [][]Trend{listed, same}, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, archived %v: listed and repeated trends differ (-want +got):\n%s", seed, withArchived, diff)
			}
			repeated.Add(int64(len(same)))
		}
	})
	if repeated.Load() == 0 {
		t.Error("the test tests little: got no trend that repeats another, want some")
	}
}

func TestNewCreatorsAndDirection(t *testing.T) {
	t.Parallel()
	var l lab
	for creator := int64(1); creator <= 3; creator++ { // new in the last 3 days
		l.grow(l.video(creator, creator*day-1, "up"), 1000, 2000)
	}
	l.video(3, 13*day, "up") // one of them is not new
	for creator := int64(1); creator <= 3; creator++ {
		l.grow(l.video(creator, 3*day+creator, "down"), 1000, 2000)
	}
	l.video(1, hour, "down") // came in the 3 days before
	w := l.window()
	for key, want := range map[string]string{"hashtag:up": "rising 2 0 0.4286", "hashtag:down": "falling 0 3 0.4286"} {
		got := w.Measure(key, false)
		if got := fmt.Sprint(got.Direction(), got.New, got.NewBefore, " ", got.PerDay); got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}
