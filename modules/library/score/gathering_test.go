package score

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// gathered makes the window by a gathering, from carriers whose keys are then cleared, or
// left out where the gathering does not need them.
func gathered(t, span int64, observations []Observation, carriers []Carrier, generic func(string) bool, rest bool) *Window {
	g := Gather(t, span, observations, generic)
	add := func(grown bool) {
		for _, id := range g.Videos(grown) {
			c := carriers[slices.IndexFunc(carriers, func(c Carrier) bool { return c.ID == id })]
			if c.Keys = slices.Clone(c.Keys); !g.NeedsKeys() {
				c.Keys = nil
			}
			g.Add(&c)
			clear(c.Keys)
		}
	}
	add(true)
	if rest {
		g.Rest()
	}
	add(false)
	return g.Window()
}

// TestGatheredTrendsAreThoseOfTheWholeWindow compares lists, labels, members and totals, of
// gatherings that are told of the rest and of those that are not.
func TestGatheredTrendsAreThoseOfTheWholeWindow(t *testing.T) {
	t.Parallel()
	var found, left atomic.Int64
	property(t, 200, func(t *testing.T, seed int) {
		rest := seed%2 == 0
		r := rand.New(rand.NewPCG(uint64(seed), 31))
		observations, carriers := randomTrends(r, 1+r.IntN(60))
		at, ok := Newest(observations)
		if !ok {
			return
		}
		span, generic := Span(observations, at), Generic([]string{"3"})
		whole, got := NewWindow(at, span, observations, carriers, generic), gathered(at, span, observations, carriers, generic, rest)
		if diff := cmp.Diff(whole.Totals(), got.Totals()); diff != "" || whole.Archived() != got.Archived() {
			t.Fatalf("seed %d: totals differ, archived %v, want %v (-want +got):\n%s", seed, got.Archived(), whole.Archived(), diff)
		}
		fewer := len(whole.keys) - len(got.keys)
		if !rest && fewer != 0 {
			t.Fatalf("seed %d: without Rest got %d keys, want %d", seed, len(got.keys), len(whole.keys))
		}
		left.Add(int64(fewer))
		for _, withArchived := range []bool{false, true} {
			wantListed, wantSame := whole.Trends(withArchived)
			listed, same := got.Trends(withArchived)
			if diff := cmp.Diff([][]Trend{wantListed, wantSame}, [][]Trend{listed, same}, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, archived %v: listed and repeated trends differ (-want +got):\n%s", seed, withArchived, diff)
			}
			for _, trend := range slices.Concat(listed, same) {
				if diff := cmp.Diff(whole.Members(trend.Key), got.Members(trend.Key), cmpopts.IgnoreFields(Member{}, "Detail")); diff != "" {
					t.Fatalf("seed %d: members of %s differ (-want +got):\n%s", seed, trend.Key, diff)
				}
				found.Add(1)
			}
		}
	})
	if found.Load() == 0 || left.Load() == 0 {
		t.Errorf("got %d trends and %d keys left out, want some of both", found.Load(), left.Load())
	}
}

// TestLabelsAreWhatMostVideosUse counts forms in every order in which videos come.
func TestLabelsAreWhatMostVideosUse(t *testing.T) {
	t.Parallel()
	var many []string // forms, of which the 150th comes twice
	for i := range 300 {
		many = append(many, fmt.Sprintf("#%03d", i))
	}
	many = append(many, many[150])
	for _, test := range []struct {
		name  string
		forms []string
		want  string
	}{
		{"one form", []string{"#a", "#a"}, "#a"},
		{"more of the first", []string{"#b", "#a", "#b"}, "#b"},
		{"more of another", []string{"#b", "#a", "#a"}, "#a"},
		{"as many of two, the first is least", []string{"#a", "#b"}, "#a"},
		{"as many of two, another is least", []string{"#b", "#a"}, "#a"},
		{"three forms", []string{"#c", "#b", "#a", "#b", "#a"}, "#a"},
		{"most have none", []string{"", "#a", ""}, ""},
		{"few have none", []string{"", "#a", "#a"}, "#a"},
		{"most have none, the first has one", []string{"#a", "", ""}, ""},
		{"more forms than a byte counts", many, "#150"},
		{"more of one form than a byte counts", slices.Concat([]string{"#a"}, slices.Repeat([]string{"#b"}, 300)), "#b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var l lab
			for i, form := range test.forms {
				l.carriers = append(l.carriers, Carrier{ID: int64(i + 1), Keys: []Key{{"hashtag:k", form}}})
				l.observations = append(l.observations, Observation{Video: int64(i + 1), Scroll: 1, At: labT, Views: 1})
			}
			if got := l.window().Measure("hashtag:k", true).Label; got != test.want {
				t.Errorf("got label %q, want %q", got, test.want)
			}
			if got := gathered(labT, ShortestSpan, l.observations, l.carriers, nil, false).Measure("hashtag:k", true).Label; got != test.want {
				t.Errorf("gathered: got label %q, want %q", got, test.want)
			}
		})
	}
}

// TestVideosThatTheWindowDidNotSeeAreLeftOut has one without an observation, and two that
// were seen before the window and after it.
func TestVideosThatTheWindowDidNotSeeAreLeftOut(t *testing.T) {
	t.Parallel()
	var l lab
	l.video(1, day, "a")
	for i, at := range []int64{labT - 2*ShortestSpan, labT + 1} {
		l.observations[l.video(int64(2+i), day, "a")-1].At = at
	}
	l.video(4, day, "a")
	l.observations, l.carriers[3].Archived = l.observations[:3], true
	g := Gather(labT, ShortestSpan, l.observations, nil)
	for i := range l.carriers {
		g.Add(&l.carriers[i])
	}
	for name, w := range map[string]*Window{"whole": NewWindow(labT, ShortestSpan, l.observations, l.carriers, nil), "gathered": g.Window()} {
		want := Totals{T: labT, Span: ShortestSpan, Videos: 1, Recent: 1}
		if diff := cmp.Diff(want, w.Totals()); diff != "" {
			t.Errorf("%s: totals (-want +got):\n%s", name, diff)
		}
		if members := w.Members("hashtag:a"); len(members) != 1 || members[0].ID != 1 || w.Archived() {
			t.Errorf("%s: got members %+v, archived %v; want the video 1 alone", name, members, w.Archived())
		}
	}
}

// TestGatheringKeepsLittle gathers videos of which one in ten was read again, each with
// keys of its own: what stays in memory does not grow with the texts.
func TestGatheringKeepsLittle(t *testing.T) {
	const videos, mostBytes = 40_000, 110
	text := strings.Repeat("x", 60)
	var observations []Observation
	for id := int64(1); id <= videos; id++ {
		observations = append(observations, Observation{Video: id, Scroll: 1, At: noon - day, Views: 100})
		if id%10 == 0 {
			observations = append(observations, Observation{Video: id, Scroll: 2, At: noon, Views: 200})
		}
	}
	slices.SortFunc(observations, ByVideo)
	inUse := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := inUse()
	g := Gather(noon, ShortestSpan, observations, nil)
	add := func(grown bool) {
		for _, id := range g.Videos(grown) {
			c := Carrier{ID: id, Creator: id % 100, PostedAt: noon - 2*day}
			for i := range 8 {
				own := fmt.Sprint(text, id, " ", i)
				c.Keys = append(c.Keys, Key{"opening:" + own, own})
			}
			c.Keys = append(c.Keys, Key{"hashtag:all", "#all"}, Key{fmt.Sprint("hashtag:", id%7), fmt.Sprint("#", id%7)})
			g.Add(&c)
		}
	}
	add(true)
	g.Rest()
	add(false)
	w := g.Window()
	if a := (inUse() - before) / videos; a > mostBytes {
		t.Errorf("a window of %d videos keeps %d bytes a video, want at most %d", videos, a, mostBytes)
	}
	listed, _ := w.Trends(true)
	if len(listed) != 7 || w.Videos() != videos {
		t.Errorf("got %d trends of %d videos, want 7 of %d", len(listed), w.Videos(), videos)
	}
	runtime.KeepAlive(observations)
}
