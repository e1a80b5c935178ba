package videos

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/scrollery/scrollery/modules/library/score"
)

// A sort key is a string of bytes that sorts as its list does, and ends in the id (or
// the trend's key), so that no two are the same. What sorts highest first is inverted.
// A key is longer than the one zero byte that stands before all.

// seenOrder sorts the library: newest first, then id.
func seenOrder(at, id int64) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, 16), ^uint64(max(at, 0)))
	return binary.BigEndian.AppendUint64(key, uint64(id))
}

// firstOfOrder is the time of a key of seenOrder.
func firstOfOrder(key []byte) int64 { return int64(^binary.BigEndian.Uint64(key)) }

// hookOrder sorts hooks: those that repeat another one last, newest change first, then id.
func hookOrder(repeats bool, at, id int64) []byte {
	key := make([]byte, 1, 17)
	if repeats {
		key[0] = 1
	}
	return append(key, seenOrder(at, id)...)
}

// OutlierOrder is the sort key of an outlier. Behind it, it carries what else the list
// shows, so that the index has it all; nil for a video that is not listed.
func OutlierOrder(o *score.Outlier) []byte {
	if !o.Listed {
		return nil
	}
	key := o.AppendKey(make([]byte, 0, OutlierKeySize))
	key = binary.BigEndian.AppendUint64(key, uint64(o.TwiceBaseline))
	return binary.BigEndian.AppendUint16(key, uint16(o.SampleCount))
}

const (
	OutlierKeySize = score.OutlierKeySize + 10
	// FormerKeySize is the length of the keys of a library that is not scored anew yet.
	FormerKeySize, FormerHookSize = 42, 16
)

// ShowOutlier appends the members that an outlier's sort key carries.
func ShowOutlier(b, key []byte) ([]byte, error) {
	switch len(key) {
	case OutlierKeySize:
		value, observedAt := score.ScoreOfKey(key)
		twice := binary.BigEndian.Uint64(key[score.OutlierKeySize:])
		return appendOutlier(b, value.Float64(), float64(twice)/2, int(binary.BigEndian.Uint16(key[score.OutlierKeySize+8:])), observedAt), nil
	case FormerKeySize:
		value := math.Float64frombits(^binary.BigEndian.Uint64(key))
		baseline := math.Float64frombits(binary.BigEndian.Uint64(key[32:]))
		return appendOutlier(b, value, baseline, int(binary.BigEndian.Uint16(key[40:])), int64(^binary.BigEndian.Uint64(key[16:]))), nil
	}
	return b, fmt.Errorf("sort key of an outlier has %d bytes", len(key))
}
