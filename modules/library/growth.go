package library

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// The rules for trends.
const (
	// windowScrolls is how many completed scrolls trends look back on.
	windowScrolls = 5
	// leastFirst replaces fewer first views, so that growth from nothing has an end.
	leastFirst = 100
	// A key on more than 6 in 10 of a window's videos says nothing, once there are 10.
	commonFrom = 10

	trendVideos, trendCreators, trendExamples = 2, 2, 3
)

// member is a video of the window that carries a key.
type member struct {
	video int64
	// multiple is 0 where the video was not seen twice.
	multiple float64
	// creator is 0 where unknown; all unknown ones count as one.
	creator  int64
	archived bool
}

// growth is a key measured.
type growth struct {
	videos   int
	median   float64
	examples []int64
}

// measure measures a key by its members; ok is true for a trend.
func measure(members []member, withArchived bool) (g growth, ok bool) {
	var grown []member
	creators := map[int64]bool{}
	for _, m := range members {
		if m.archived && !withArchived {
			continue
		}
		g.videos++
		if m.multiple > 0 {
			grown = append(grown, m)
			creators[m.creator] = true
		}
	}
	if len(grown) < trendVideos || len(creators) < trendCreators {
		return g, false
	}
	slices.SortFunc(grown, func(a, b member) int {
		return cmp.Or(cmp.Compare(b.multiple, a.multiple), cmp.Compare(a.video, b.video))
	})
	multiples := make([]float64, len(grown))
	for i, m := range grown {
		multiples[len(grown)-1-i] = m.multiple
	}
	g.median = round4(medianOf(multiples))
	for _, m := range grown[:min(len(grown), trendExamples)] {
		g.examples = append(g.examples, m.video)
	}
	return g, true
}

// packMembers stores which videos carry a key and how each grew, 16 bytes a video.
func packMembers(members []member) []byte {
	packed := make([]byte, 0, 16*len(members))
	for _, m := range members {
		packed = binary.BigEndian.AppendUint64(packed, uint64(m.video))
		packed = binary.BigEndian.AppendUint64(packed, math.Float64bits(m.multiple))
	}
	return packed
}

func unpackMembers(packed []byte) ([]member, error) {
	if len(packed)%16 != 0 {
		return nil, fmt.Errorf("read trend members: %d bytes", len(packed))
	}
	members := make([]member, len(packed)/16)
	for i := range members {
		members[i].video = int64(binary.BigEndian.Uint64(packed[16*i:]))
		members[i].multiple = math.Float64frombits(binary.BigEndian.Uint64(packed[16*i+8:]))
	}
	return members, nil
}

// span is the first and the last usable observation of a video in a window.
type span struct {
	firstAt, firstScroll, firstViews int64
	lastAt, lastScroll, lastViews    int64
	usable                           int
}

func (s *span) add(at, scroll, views int64) {
	if s.usable == 0 || at < s.firstAt || at == s.firstAt && scroll < s.firstScroll {
		s.firstAt, s.firstScroll, s.firstViews = at, scroll, views
	}
	if s.usable == 0 || at > s.lastAt || at == s.lastAt && scroll > s.lastScroll {
		s.lastAt, s.lastScroll, s.lastViews = at, scroll, views
	}
	s.usable++
}

// multiple is the last usable views over the first; 0 for a nil span or one observation.
func (s *span) multiple() float64 {
	if s == nil || s.usable < 2 {
		return 0
	}
	return float64(s.lastViews) / float64(max(s.firstViews, leastFirst))
}
