package library

import (
	"encoding/base64"
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

// outlierOrder is the sort key of an outlier. Behind it, it carries what else the list
// shows, so that the index has it all; nil for a video that is not listed.
func outlierOrder(o *score.Outlier) []byte {
	if !o.Listed {
		return nil
	}
	key := o.AppendKey(make([]byte, 0, outlierKeySize))
	key = binary.BigEndian.AppendUint64(key, uint64(o.TwiceBaseline))
	return binary.BigEndian.AppendUint16(key, uint16(o.SampleCount))
}

const (
	outlierKeySize = score.OutlierKeySize + 10
	// formerKeySize is the length of the keys of a library that is not scored anew yet.
	formerKeySize, formerHookSize = 42, 16
)

// showOutlier appends the members that an outlier's sort key carries.
func showOutlier(b, key []byte) ([]byte, error) {
	switch len(key) {
	case outlierKeySize:
		value, observedAt := score.ScoreOfKey(key)
		twice := binary.BigEndian.Uint64(key[score.OutlierKeySize:])
		return appendOutlier(b, value.Float64(), float64(twice)/2, int(binary.BigEndian.Uint16(key[score.OutlierKeySize+8:])), observedAt), nil
	case formerKeySize:
		value := math.Float64frombits(^binary.BigEndian.Uint64(key))
		baseline := math.Float64frombits(binary.BigEndian.Uint64(key[32:]))
		return appendOutlier(b, value, baseline, int(binary.BigEndian.Uint16(key[40:])), int64(^binary.BigEndian.Uint64(key[16:]))), nil
	}
	return b, fmt.Errorf("sort key of an outlier has %d bytes", len(key))
}

// list names what a page shows; a token holds it, so that no token opens another list.
type list byte

const (
	hooks    list = 'h'
	outliers list = 'o'
	trends   list = 't'
	videos   list = 'v'
)

// isKey reports whether a text of n bytes can be one of the list's sort keys.
func (l list) isKey(n int) bool {
	switch l {
	case outliers:
		return n == outlierKeySize || n == formerKeySize
	case hooks:
		return n == formerHookSize+1 || n == formerHookSize
	case trends:
		return n >= 16
	}
	return n == 16
}

// token is the opaque form of a sort key: a page begins after it.
func (l list) token(key []byte) string {
	return base64.RawURLEncoding.EncodeToString(append([]byte{byte(l)}, key...))
}

// key reads a token. The empty token is before everything; ok is false for
// text that token does not return.
func (l list) key(token string) (key []byte, ok bool) {
	if token == "" {
		return []byte{0}, true
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) == 0 || list(raw[0]) != l {
		return nil, false
	}
	key = raw[1:]
	return key, l.isKey(len(key))
}
