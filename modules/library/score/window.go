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

// Member is a video of the window, with what trends are worked out from.
type Member struct {
	ID, Creator int64
	// FirstViews and LastViews are its first and its last usable ones in the window, 0 where
	// it has none.
	FirstViews, LastViews int64
	// Detail is nil where it was not kept.
	Detail   *Detail
	When     When
	Archived bool
	// Grown says that it has a multiple.
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

// Multiple is last views ÷ max(first views, 100) as a fraction; ok is false where the video
// has none.
func (m *Member) Multiple() (num, den int64, ok bool) {
	if !m.Grown {
		return 0, 1, false
	}
	return m.LastViews, max(m.FirstViews, leastFirst), true
}

// Growth reports whether the video has a multiple, and why not. Without Detail, one that
// was read by one scroll alone counts as read once.
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

// Window is what trends are measured over.
type Window struct {
	// T is the newest usable observation, Span is W.
	T, Span int64
	// Recent and Earlier are C and P: the creators of all recent and of all earlier
	// videos, archived ones too.
	Recent, Earlier int

	videos   int // archived ones too
	archived bool
	members  []Member // by id
	keys     map[string]*carried
	generic  func(key string) bool
}

// carried is a key with the places of its members, and its display forms. Most keys have
// one form: members of the others alone are counted.
type carried struct {
	members []int32
	label   string
	others  map[string]int
}

// NewWindow takes the observations of the subject's completed scrolls and the videos that
// they are of, in any order. Observations outside (t − 2 × span, t] and videos without one
// inside are left out. generic recognises keys that
// name the feed and no subject; see Generic.
func NewWindow(t, span int64, observations []Observation, carriers []Carrier, generic func(key string) bool) *Window {
	b := newBuilder(t, span, observations, generic)
	for i := range carriers {
		if m, s, ok := b.see(&carriers[i]); ok {
			m.Detail = &Detail{&carriers[i], s}
			b.add(m, carriers[i].Keys)
		}
	}
	return b.end()
}

// builder makes a window of videos one by one.
type builder struct {
	*Window
	observations []Observation // ordered
	creators     [halves][]int64
}

func newBuilder(t, span int64, observations []Observation, generic func(key string) bool) builder {
	return builder{
		Window:       &Window{T: t, Span: span, keys: map[string]*carried{}, generic: generic},
		observations: ordered(observations),
	}
}

// see counts a video. ok is false where the window did not see it.
func (b *builder) see(c *Carrier) (m Member, s Sighting, ok bool) {
	first, _ := slices.BinarySearchFunc(b.observations, c.ID, func(o Observation, id int64) int { return cmp.Compare(o.Video, id) })
	last := first
	for last < len(b.observations) && b.observations[last].Video == c.ID {
		last++
	}
	if s = sightingOf(b.observations[first:last], b.T, b.Span); s.Readings == 0 {
		return m, s, false
	}
	m = memberOf(c, &s)
	m.When = b.when(c.PostedAt)
	b.videos++
	b.archived = b.archived || c.Archived
	b.creators[m.When] = append(b.creators[m.When], c.Creator)
	return m, s, true
}

// add makes a video that was seen a member of keys.
func (b *builder) add(m Member, keys []Key) {
	place := int32(len(b.members))
	b.members = append(b.members, m)
	for _, key := range keys {
		of := b.keys[key.Key]
		if of == nil {
			of = &carried{label: key.Label}
			b.keys[key.Key] = of
		}
		of.members = append(of.members, place)
		if key.Label != of.label {
			if of.others == nil {
				of.others = map[string]int{}
			}
			of.others[key.Label]++
		}
	}
}

// end counts the creators and puts the members in order.
func (b *builder) end() *Window {
	b.Recent, b.Earlier = distinctOf(b.creators[Recent]), distinctOf(b.creators[Earlier])
	b.order(func(int32) bool { return true })
	return b.Window
}

// order puts the members that are to stay in the order of their ids.
func (w *Window) order(stays func(place int32) bool) {
	var order []int32
	for place := range int32(len(w.members)) {
		if stays(place) {
			order = append(order, place)
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(w.members[a].ID, w.members[b].ID) })
	members, now := make([]Member, len(order)), make([]int32, len(w.members))
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

// label is the display form of a key that most of its videos use, the least by bytes of
// several.
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
