package library

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The rules of what a trend is.
const (
	// windowScrolls is how many completed scrolls trends look back on.
	windowScrolls = 5
	// leastFirst stands in for fewer first views, lest growth from nothing be endless.
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
	// creator is 0 where unknown; nobody can tell two unknown ones apart.
	creator  int64
	archived bool
}

// growth is a key measured.
type growth struct {
	videos   int
	median   float64
	examples []int64
}

// measure measures a key by its members; ok tells whether that makes a trend.
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

// multiple is how often the first usable views stand in the last.
func multiple(first, last int64) float64 { return float64(last) / float64(max(first, leastFirst)) }

// generic tells whether a key names the feed instead of a subject.
func (s *Service) generic(key string) bool {
	name, found := strings.CutPrefix(key, "hashtag:")
	if !found {
		name, found = strings.CutPrefix(key, "term:")
	}
	return found && s.isGeneric[name]
}

// packMembers keeps who carries a key and how each grew, 16 bytes a video.
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
