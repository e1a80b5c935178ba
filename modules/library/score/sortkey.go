package score

import "encoding/binary"

// OutlierKeySize is the length of an outlier's sort key.
const OutlierKeySize = 49

// AppendKey appends bytes that sort as Compare does, for an index: doubtful, order value,
// score, views and reading time inverted, id.
func (o *Outlier) AppendKey(key []byte) []byte {
	key = append(key, byte(count(o.Doubtful)))
	key = appendHighest(key, o.Order)
	key = appendHighest(key, o.Score)
	key = binary.BigEndian.AppendUint64(key, ^uint64(o.Views))
	key = binary.BigEndian.AppendUint64(key, ^(uint64(o.ObservedAt) ^ 1<<63))
	return binary.BigEndian.AppendUint64(key, uint64(o.ID)^1<<63)
}

// ScoreOfKey reads back the score and the reading time of an outlier's sort key.
func ScoreOfKey(key []byte) (score Decimal, observedAt int64) {
	score.Whole = int64(^binary.BigEndian.Uint64(key[13:]))
	score.Frac = int32(^binary.BigEndian.Uint32(key[21:]))
	return score, int64(^binary.BigEndian.Uint64(key[33:]) ^ 1<<63)
}

// AppendKey appends bytes that sort as Rank does: strength and number of videos inverted, key.
func (t *Trend) AppendKey(key []byte) []byte {
	key = appendHighest(key, t.Strength)
	key = binary.BigEndian.AppendUint32(key, ^uint32(t.VideoCount))
	return append(key, t.Key...)
}

// TrendOfKey reads back what a trend's sort key holds: key, strength and number of videos.
func TrendOfKey(key []byte) (t Trend, ok bool) {
	if len(key) < 16 {
		return t, false
	}
	t.Strength.Whole = int64(^binary.BigEndian.Uint64(key))
	t.Strength.Frac = int32(^binary.BigEndian.Uint32(key[8:]))
	t.VideoCount, t.Key = int(^binary.BigEndian.Uint32(key[12:])), string(key[16:])
	return t, true
}

// appendHighest appends a number so that the highest sorts first.
func appendHighest(key []byte, d Decimal) []byte {
	key = binary.BigEndian.AppendUint64(key, ^uint64(d.Whole))
	return binary.BigEndian.AppendUint32(key, ^uint32(d.Frac))
}
