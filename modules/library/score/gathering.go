package score

import "strings"

// Gathering makes a window of many videos for Trends alone: it keeps no key that cannot be
// a trend, and no video without one that can. A trend has two videos with a multiple.
// Videos that have one come first, then Rest, then the others.
type Gathering struct {
	b    builder
	rest bool
}

// Gather takes what NewWindow does but for the videos, which Add takes.
func Gather(t, span int64, observations []Observation, generic func(key string) bool) *Gathering {
	return &Gathering{b: newBuilder(t, span, observations, generic)}
}

// Videos are the ids of the videos in the window that have a multiple, or have none, in
// their order.
func (g *Gathering) Videos(grown bool) (ids []int64) {
	for id, s := range sightings(g.b.observations, g.b.T, g.b.Span) {
		if (s.Growth() == HasMultiple) == grown {
			ids = append(ids, id)
		}
	}
	return ids
}

// Add adds a video. It keeps nothing of c, whose keys and their text may change after it.
func (g *Gathering) Add(c *Carrier) {
	m, _, ok := g.b.see(c)
	if !ok {
		return
	}
	var keys []Key
	for _, key := range c.Keys {
		of := g.b.keys[key.Key]
		switch {
		case of == nil && g.rest:
			continue
		case of == nil:
			key.Key = strings.Clone(key.Key)
		}
		if of != nil && of.label == key.Label {
			key.Label = of.label
		} else {
			key.Label = strings.Clone(key.Label)
		}
		keys = append(keys, key)
	}
	if len(keys) > 0 {
		g.b.add(m, keys)
	}
}

// Rest says that all videos with a multiple were added: what fewer than two of them carry
// cannot be a trend.
func (g *Gathering) Rest() {
	g.rest = true
	keep := make([]bool, len(g.b.members))
	for key, of := range g.b.keys {
		if len(of.members) < trendVideos || g.b.generic != nil && g.b.generic(key) {
			delete(g.b.keys, key)
			continue
		}
		for _, place := range of.members {
			keep[place] = true
		}
	}
	g.b.order(func(place int32) bool { return keep[place] })
}

// Window is the window of the videos that were added. Of its keys, its members and its
// labels only those of Trends are whole.
func (g *Gathering) Window() *Window { return g.b.end() }
