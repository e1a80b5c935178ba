package score

import (
	"cmp"
	"iter"
	"slices"
)

// Observation is one snapshot of a video by a completed scroll of the subject.
type Observation struct {
	Video, Scroll int64
	At            int64
	// Views and Likes are Unknown where not given.
	Views, Likes int64
}

// ByVideo orders observations by video, time and scroll. Functions that take observations
// in any order copy a list that is not in this one.
func ByVideo(a, b Observation) int {
	return cmp.Or(cmp.Compare(a.Video, b.Video), cmp.Compare(a.At, b.At), cmp.Compare(a.Scroll, b.Scroll))
}

// ordered are the observations by video, time and scroll.
func ordered(observations []Observation) []Observation {
	if slices.IsSortedFunc(observations, ByVideo) {
		return observations
	}
	return slices.SortedFunc(slices.Values(observations), ByVideo)
}

// Sighting is what the scrolls of a window saw of a video.
type Sighting struct {
	// Readings counts the observations in the window, Usable those with usable views.
	Readings, Usable int32
	// First and Last are of the usable ones, by time, then scroll; zero if there are none.
	First, Last Look
}

// Look is an observation with usable views: when a scroll read how many.
type Look struct{ Scroll, At, Views int64 }

// Growth says whether a video has a multiple, and why not.
type Growth string

// HasMultiple, and the reasons why a video has none.
const (
	HasMultiple Growth = "measured"
	NeverUsable Growth = "never_usable"
	ReadOnce    Growth = "read_once"
	OneScroll   Growth = "one_scroll"
)

// Growth reports whether the video has a multiple, and why not: its first and its last
// usable reading are of different scrolls, since one look shows no growth.
func (s *Sighting) Growth() Growth {
	switch {
	case s.Usable == 0:
		return NeverUsable
	case s.Usable == 1:
		return ReadOnce
	case s.First.Scroll == s.Last.Scroll:
		return OneScroll
	}
	return HasMultiple
}

// sightingOf is what was seen of a video in (t − 2 × span, t]. observations are those of the
// video, ordered.
func sightingOf(observations []Observation, t, span int64) (s Sighting) {
	for i := range observations {
		o := &observations[i]
		if !InWindow(o.At, t, span) {
			continue
		}
		s.Readings++
		if Usable(o.Views, o.Likes) != Used {
			continue
		}
		s.Last = Look{o.Scroll, o.At, o.Views}
		if s.Usable++; s.Usable == 1 {
			s.First = s.Last
		}
	}
	return s
}

// sightings are what was seen in (t − 2 × span, t], by the video's id, rising. observations
// are ordered. Videos without one in the window are left out.
func sightings(observations []Observation, t, span int64) iter.Seq2[int64, Sighting] {
	return func(yield func(int64, Sighting) bool) {
		for from, until := 0, 0; from < len(observations); from = until {
			video := observations[from].Video
			for until = from + 1; until < len(observations) && observations[until].Video == video; until++ {
			}
			if s := sightingOf(observations[from:until], t, span); s.Readings > 0 && !yield(video, s) {
				return
			}
		}
	}
}

// Newest is T: the time of the newest usable observation. ok is false if none is.
func Newest(observations []Observation) (t int64, ok bool) {
	for i := range observations {
		if o := &observations[i]; Usable(o.Views, o.Likes) == Used && (!ok || o.At > t) {
			t, ok = o.At, true
		}
	}
	return t, ok
}

// InWindow reports whether a time is in (t − 2 × span, t].
func InWindow(at, t, span int64) bool { return at <= t && distance(t, at) < uint64(2*span) }

// Multiples counts the videos that have a multiple in (t − 2 × span, t].
func Multiples(observations []Observation, t, span int64) (count int) {
	for _, s := range sightings(ordered(observations), t, span) {
		if s.Growth() == HasMultiple {
			count++
		}
	}
	return count
}

// Span is W: 7 days, doubled while fewer than two videos, archived or not, have a multiple
// in the window, to 112 days at most; 7 days again where none has two. observations are
// those of the subject's completed scrolls in (t − 2 × LongestSpan, t]. A caller that does
// not want to read as many compares Multiples of a shorter span with TrendVideos first.
func Span(observations []Observation, t int64) int64 {
	observations = ordered(observations)
	for span := ShortestSpan; span <= LongestSpan; span *= 2 {
		if Multiples(observations, t, span) >= TrendVideos {
			return span
		}
	}
	return ShortestSpan
}
