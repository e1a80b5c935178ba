package score

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// ShortestSpan and LongestSpan bound the span W of trends: a week is what daily and
	// weekly scrolls need, 16 of them what a monthly or quarterly one does.
	ShortestSpan = 7 * day
	LongestSpan  = 112 * day
	// leastFirst replaces fewer first views, so that growth from nothing is bounded.
	leastFirst = 100
)

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
	halves
)

// String is the stable name of the half.
func (w When) String() string { return [...]string{"neither", "recent", "earlier"}[w] }

// Lately says in which days before T a video was posted.
type Lately uint8

// The days.
const (
	// NotDated: unknown or after T.
	NotDated Lately = iota
	// LastDays: in (T − 3 days, T].
	LastDays
	// DaysBefore: in (T − 6 days, T − 3 days].
	DaysBefore
	// LongAgo: before these.
	LongAgo
)

// newFor is how long creators are new to a key.
const newFor = 3 * day

// Member is a video of the window, with all that the numbers of trends need of it.
type Member struct {
	ID, Creator int64
	// FirstViews and LastViews are the views of its first and of its last usable reading in
	// the window, 0 if it has none.
	FirstViews, LastViews int64
	// Detail is nil if it was not kept: by a Gathering, and in stored members.
	Detail   *Detail
	When     When
	Lately   Lately
	Archived bool
	// Grown reports whether it has a multiple.
	Grown bool
}

func memberOf(c *Carrier, s *Sighting) Member {
	return Member{
		ID: c.ID, Creator: c.Creator, FirstViews: s.First.Views, LastViews: s.Last.Views,
		Archived: c.Archived, Grown: s.Growth() == HasMultiple,
	}
}

// Detail is all that a window knows of a video.
type Detail struct {
	*Carrier
	Sighting
}

// Multiple is how the views grew, last ÷ max(first, 100), as a fraction. ok is false if
// the video has none: see Growth.
func (m *Member) Multiple() (num, den int64, ok bool) {
	if !m.Grown {
		return 0, 1, false
	}
	return m.LastViews, max(m.FirstViews, leastFirst), true
}

// Growth reports whether the video has a multiple, and why not. Without Detail, a video
// that one scroll read twice counts as read once.
func (m *Member) Growth() Growth {
	switch {
	case m.Detail != nil:
		return m.Detail.Growth()
	case m.Grown:
		return HasMultiple
	case m.LastViews > 0:
		return ReadOnce
	}
	return NeverUsable
}

// Window is what trends are measured over: the videos that scrolls observed in
// (T − 2 × Span, T], and which keys they carry.
type Window struct {
	// T is the time of the newest usable observation, Span is W.
	T, Span int64
	// Recent and Earlier are C and P: the creators of all recent and of all earlier
	// videos, archived ones too.
	Recent, Earlier int

	videos   int      // archived ones too
	archived bool     // one of them is
	members  []Member // by id
	keys     map[string]*carried
	generic  func(key string) bool // nil for none
}

// carried is what a window knows of a key. Most keys have one display form: how many
// members have another one is counted, the rest have the first.
type carried struct {
	members []int32 // places in the window's members, rising
	label   string  // the form of the first member that was added
	others  map[string]int
}

// NewWindow takes the observations of the subject's completed scrolls and the videos that
// they are of, each once, in any order. Observations outside (t − 2 × span, t] and videos
// without one inside are left out. generic recognises keys that name the feed and no
// subject, see Generic; nil for none. The window keeps the carriers as Details.
func NewWindow(t, span int64, observations []Observation, carriers []Carrier, generic func(key string) bool) *Window {
	g := Gather(t, span, observations, generic)
	for i := range carriers {
		c := &carriers[i]
		if m, s, ok := g.see(c); ok {
			m.Detail = &Detail{c, s}
			g.keep(m, c.Keys)
		}
	}
	return g.Window()
}

// order puts the members that are to stay in the order of their ids, and lets go of the
// others, which no key may have any more.
func (w *Window) order(stays func(place int32) bool) {
	var order []int32
	for place := range int32(len(w.members)) {
		if stays(place) {
			order = append(order, place)
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(w.members[a].ID, w.members[b].ID) })
	members, now := make([]Member, len(order)), make([]int32, len(w.members)) // now is by the place before
	for place, before := range order {
		members[place], now[before] = w.members[before], int32(place)
	}
	for _, of := range w.keys {
		for i, before := range of.members {
			of.members[i] = now[before]
		}
		slices.Sort(of.members)
	}
	w.members = members
}

// when is the half of the window in which a time is.
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

// lately says in which days before T a time is.
func (w *Window) lately(postedAt int64) Lately {
	if postedAt == Undated || postedAt > w.T {
		return NotDated
	}
	return min(LongAgo, LastDays+Lately(min(distance(w.T, postedAt)/uint64(newFor), 2)))
}

// Videos is the number of videos in the window, archived ones too.
func (w *Window) Videos() int { return w.videos }

// Archived reports whether a video of the window is archived.
func (w *Window) Archived() bool { return w.archived }

// Members are the videos with the key, by id, archived ones too.
func (w *Window) Members(key string) []Member {
	of := w.keys[key]
	if of == nil {
		return nil
	}
	members := make([]Member, len(of.members))
	for i, place := range of.members {
		members[i] = w.members[place]
	}
	return members
}

// label is the display form that most videos of a key use, of several the least by bytes.
func (w *Window) label(key string) string {
	of := w.keys[key]
	if of == nil {
		return ""
	}
	best, most := of.label, len(of.members)
	for _, count := range of.others {
		most -= count
	}
	for label, count := range of.others {
		if count > most || count == most && strings.Compare(label, best) < 0 {
			best, most = label, count
		}
	}
	return best
}
