package score

import (
	"cmp"
	"slices"
	"strings"
)

// Gathering makes a window of videos that are added one by one, each at most once.
//
// It saves memory where videos are many and only Trends is asked. A trend needs two videos
// with a multiple: when all videos with a multiple were added, Rest drops the keys that
// fewer than two of them carry. Of the other videos those keys are not kept, nor is a video
// that has no other key. Without Rest all keys are kept. No member has Detail.
type Gathering struct {
	window       *Window
	observations []Observation // ordered
	creators     [halves][]int64
	rest         bool
}

// Gather takes what NewWindow does but for the videos, which Add takes.
func Gather(t, span int64, observations []Observation, generic func(key string) bool) *Gathering {
	return &Gathering{
		window:       &Window{T: t, Span: span, keys: map[string]*carried{}, generic: generic},
		observations: ordered(observations),
	}
}

// Videos are the ids, rising, of the videos in the window that have a multiple, or of those
// that have none.
func (g *Gathering) Videos(grown bool) (ids []int64) {
	for id, s := range sightings(g.observations, g.window.T, g.window.Span) {
		if (s.Growth() == HasMultiple) == grown {
			ids = append(ids, id)
		}
	}
	return ids
}

// Add adds a video; one that the window did not see is left out. It keeps neither c nor its
// list of keys, and copies of their texts, which may be parts of a long one.
func (g *Gathering) Add(c *Carrier) {
	m, _, ok := g.see(c)
	if !ok {
		return
	}
	var keys []Key
	for _, key := range c.Keys {
		switch of := g.window.keys[key.Key]; {
		case of == nil && g.rest:
			continue
		case of == nil:
			key = Key{strings.Clone(key.Key), strings.Clone(key.Label)}
		case of.label == key.Label:
			key.Label = of.label
		default:
			key.Label = strings.Clone(key.Label)
		}
		keys = append(keys, key)
	}
	if len(keys) > 0 {
		g.keep(m, keys)
	}
}

// Rest says that all videos with a multiple were added.
func (g *Gathering) Rest() {
	g.rest = true
	w := g.window
	stays := make([]bool, len(w.members))
	for key, of := range w.keys {
		if len(of.members) < TrendVideos || w.generic != nil && w.generic(key) {
			delete(w.keys, key)
			continue
		}
		for _, place := range of.members {
			stays[place] = true
		}
	}
	w.order(func(place int32) bool { return stays[place] })
}

// NeedsKeys reports whether the keys of the videos that come now matter. After Rest, where
// no key can be a trend, they do not.
func (g *Gathering) NeedsKeys() bool { return !g.rest || len(g.window.keys) > 0 }

// Window is the window of the videos that were added. After Rest it has only the keys that
// may be trends, and their members; its totals count all videos.
func (g *Gathering) Window() *Window {
	g.window.Recent, g.window.Earlier = distinctOf(g.creators[Recent]), distinctOf(g.creators[Earlier])
	g.window.order(func(int32) bool { return true })
	return g.window
}

// see counts a video in the totals. ok is false if the window did not see it.
func (g *Gathering) see(c *Carrier) (m Member, s Sighting, ok bool) {
	first, _ := slices.BinarySearchFunc(g.observations, c.ID, func(o Observation, id int64) int { return cmp.Compare(o.Video, id) })
	end := first
	for end < len(g.observations) && g.observations[end].Video == c.ID {
		end++
	}
	w := g.window
	if s = sightingOf(g.observations[first:end], w.T, w.Span); s.Readings == 0 {
		return m, s, false
	}
	m = memberOf(c, &s)
	m.When, m.Lately = w.when(c.PostedAt), w.lately(c.PostedAt)
	w.videos++
	w.archived = w.archived || c.Archived
	g.creators[m.When] = append(g.creators[m.When], c.Creator)
	return m, s, true
}

// keep makes a video that was seen a member of keys.
func (g *Gathering) keep(m Member, keys []Key) {
	w := g.window
	place := int32(len(w.members))
	w.members = append(w.members, m)
	for _, key := range keys {
		of := w.keys[key.Key]
		if of == nil {
			of = &carried{label: key.Label}
			w.keys[key.Key] = of
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
