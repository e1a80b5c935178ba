package library

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
)

// A sort key is a string of bytes that sorts as its list does, and ends in the id (or
// the trend's key), so that no two are the same. What sorts highest first is
// inverted. Numbers are never negative, so no key begins with a zero byte.

// seenOrder sorts the library: newest first, then id. Hooks sort the same way.
func seenOrder(at, id int64) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, 16), ^uint64(max(at, 0)))
	return binary.BigEndian.AppendUint64(key, uint64(id))
}

// outlierOrder sorts outliers: score, views, observedAt, highest first, then id.
// Behind the id it carries what else the list shows, so that the index has it all.
func outlierOrder(score float64, views, observedAt, id int64, baseline float64, peers int) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, outlierKeySize), ^math.Float64bits(score))
	key = binary.BigEndian.AppendUint64(key, ^uint64(views))
	key = binary.BigEndian.AppendUint64(key, ^uint64(max(observedAt, 0)))
	key = binary.BigEndian.AppendUint64(key, uint64(id))
	key = binary.BigEndian.AppendUint64(key, math.Float64bits(baseline))
	return binary.BigEndian.AppendUint16(key, uint16(peers))
}

const outlierKeySize = 42

// showOutlier appends the members that an outlier's sort key carries.
func showOutlier(b, key []byte) ([]byte, error) {
	if len(key) != outlierKeySize {
		return b, fmt.Errorf("sort key of an outlier has %d bytes", len(key))
	}
	score := math.Float64frombits(^binary.BigEndian.Uint64(key))
	observedAt := int64(^binary.BigEndian.Uint64(key[16:]))
	baseline := math.Float64frombits(binary.BigEndian.Uint64(key[32:]))
	return appendOutlier(b, score, baseline, int(binary.BigEndian.Uint16(key[40:])), observedAt), nil
}

// trendOrder sorts trends: growth, count, highest first, then key.
func trendOrder(growth float64, count int, key string) []byte {
	place := binary.BigEndian.AppendUint64(make([]byte, 0, 16+len(key)), ^math.Float64bits(growth))
	place = binary.BigEndian.AppendUint64(place, ^uint64(count))
	return append(place, key...)
}

// list names what a page shows; a token holds it, so that no token opens another list.
type list byte

const (
	hooks    list = 'h'
	outliers list = 'o'
	trends   list = 't'
	videos   list = 'v'
)

// keySize is the length of the list's sort keys; for trends the least.
func (l list) keySize() int {
	if l == outliers {
		return outlierKeySize
	}
	return 16
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
	return key, len(key) == l.keySize() || l == trends && len(key) > l.keySize()
}
