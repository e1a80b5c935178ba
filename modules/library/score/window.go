package score

import (
	"cmp"
	"slices"
)

const (
	// ShortestSpan and LongestSpan bound the span W of trends: a week is what daily and
	// weekly scrolls need, 16 of them what a monthly or quarterly one does.
	ShortestSpan = 7 * day
	LongestSpan  = 112 * day
	// leastFirst replaces fewer first views, so that growth from nothing is bounded.
	leastFirst = 100
)

// Observation is one snapshot of a video by a completed scroll of the subject.
type Observation struct {
	Video, Scroll int64
	At            int64
	// Views and Likes are Unknown where not given.
	Views, Likes int64
}

// Carrier is a video as trends see it.
type Carrier struct {
	ID int64
	// Creator is one creator of one platform; 0 for all unknown ones together.
	Creator  int64
	PostedAt int64
	Archived bool
	// Keys without repetition.
	Keys []Key
}

// Sighting is what a window saw of a video.
type Sighting struct {
	// Readings counts the observations in the window, Usable those with usable views.
	Readings, Usable int
	// First and Last are the usable ones by time, then scroll; meaningless where there are none.
	First, Last Observation
}

// Growth is whether a video has a multiple.
type Growth string

// The reasons why it has none.
const (
	HasMultiple Growth = "measured"
	NeverUsable Growth = "never_usable"
	ReadOnce    Growth = "read_once"
	OneScroll   Growth = "one_scroll"
)

// Multiple is last views ÷ max(first views, 100) as a fraction. ok is false where the
// two are not from different scrolls: one look shows no growth.
func (s *Sighting) Multiple() (num, den int64, ok bool) {
	if s.Growth() != HasMultiple {
		return 0, 1, false
	}
	return s.Last.Views, max(s.First.Views, leastFirst), true
}

// Growth reports whether the video has a multiple, and why not.
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

func (s *Sighting) add(o *Observation) {
	s.Readings++
	if Usable(o.Views, o.Likes) != Used {
		return
	}
	if s.Usable++; s.Usable == 1 {
		s.First, s.Last = *o, *o
		return
	}
	if byTime(o, &s.First) < 0 {
		s.First = *o
	}
	if byTime(o, &s.Last) > 0 {
		s.Last = *o
	}
}

func byTime(a, b *Observation) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Scroll, b.Scroll))
}

// Newest is T: the time of the newest usable observation. ok is false where none is.
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
	for _, s := range sightings(observations, t, span) {
		if _, _, ok := s.Multiple(); ok {
			count++
		}
	}
	return count
}

// Span is W: 7 days, doubled while fewer than two videos, archived or not, have a multiple
// in the window, to 112 days at most; 7 days again where none has two. observations are
// those of the subject's completed scrolls in (t − 2 × LongestSpan, t]. A caller that
// would rather not read as many asks Multiples of the shorter spans first.
func Span(observations []Observation, t int64) int64 {
	for span := ShortestSpan; span <= LongestSpan; span *= 2 {
		if Multiples(observations, t, span) >= trendVideos {
			return span
		}
	}
	return ShortestSpan
}

func sightings(observations []Observation, t, span int64) map[int64]*Sighting {
	seen := map[int64]*Sighting{}
	for i := range observations {
		o := &observations[i]
		if !InWindow(o.At, t, span) {
			continue
		}
		s := seen[o.Video]
		if s == nil {
			s = &Sighting{}
			seen[o.Video] = s
		}
		s.add(o)
	}
	return seen
}

// When says in which half of the window a video was posted.
type When uint8

// The halves.
const (
	// Neither: unknown, before the window or after T.
	Neither When = iota
	// Recent: in (T − W, T].
	Recent
	// Earlier: in (T − 2W, T − W].
	Earlier
)

// String is the stable name of the half.
func (w When) String() string { return [...]string{"neither", "recent", "earlier"}[w] }

// Member is a video of the window.
type Member struct {
	*Carrier
	*Sighting
	When When
}

// Window is what trends are measured over.
type Window struct {
	// T is the newest usable observation, Span is W.
	T, Span int64
	// Recent and Earlier are C and P: the creators of all recent and of all earlier
	// videos, archived ones too.
	Recent, Earlier int

	members []Member // by id
	keys    map[string][]int32
	generic func(key string) bool
}

// NewWindow takes the observations of the subject's completed scrolls and the videos that
// they are of, in any order. Observations outside (t − 2 × span, t] and videos without one
// inside are left out. generic recognises keys that
// name the feed and no subject; see Generic.
func NewWindow(t, span int64, observations []Observation, carriers []Carrier, generic func(key string) bool) *Window {
	w := &Window{T: t, Span: span, keys: map[string][]int32{}, generic: generic}
	seen := sightings(observations, t, span)
	for i := range carriers {
		c := &carriers[i]
		if s := seen[c.ID]; s != nil {
			w.members = append(w.members, Member{Carrier: c, Sighting: s, When: w.when(c.PostedAt)})
		}
	}
	slices.SortFunc(w.members, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	for i := range w.members {
		for _, key := range w.members[i].Keys {
			w.keys[key.Key] = append(w.keys[key.Key], int32(i))
		}
	}
	w.Recent, w.Earlier = w.creators(Recent), w.creators(Earlier)
	return w
}

func (w *Window) when(postedAt int64) When {
	if postedAt == Undated || postedAt > w.T {
		return Neither
	}
	switch age := distance(w.T, postedAt); {
	case age < uint64(w.Span):
		return Recent
	case age < uint64(2*w.Span):
		return Earlier
	}
	return Neither
}

// Videos is the number of videos in the window, archived ones too.
func (w *Window) Videos() int { return len(w.members) }

// Archived reports whether a video of the window is archived.
func (w *Window) Archived() bool {
	return slices.ContainsFunc(w.members, func(m Member) bool { return m.Archived })
}

// Members are the videos with the key, by id, archived ones too.
func (w *Window) Members(key string) []Member {
	members := make([]Member, 0, len(w.keys[key]))
	for _, i := range w.keys[key] {
		members = append(members, w.members[i])
	}
	return members
}

// creators counts those of the videos of one half.
func (w *Window) creators(when When) int {
	var ids []int64
	for i := range w.members {
		if w.members[i].When == when {
			ids = append(ids, w.members[i].Creator)
		}
	}
	return distinctOf(ids)
}
