package score

import (
	"encoding/binary"
	"math/bits"
)

const (
	// RisingAge is the age from which a video is not rising any more.
	RisingAge = 7 * day
	// RisingKeySize is the length of a rising video's sort key.
	RisingKeySize = 17
	// Week is the length of the parts that indexes of new and rising videos have.
	Week = 7 * day
)

// SevenDayViews are the views that a reading says a video has at 7 days: views × 1000 ÷
// share at its age, rounded down.
func (t *Table) SevenDayViews(r *Reading) int64 {
	return r.Views * whole / t.Share(r.Kind, r.Age())
}

// ViewsPerHour are the views of a reading by the hours since the posting time, at least one
// hour; 4 decimals. 0 without a posting time.
func ViewsPerHour(r *Reading) Decimal {
	if r.PostedAt == Undated || r.Views <= 0 {
		return Decimal{}
	}
	hi, lo := bits.Mul64(uint64(r.Views), uint64(hour))
	return ratioWide(hi, lo, uint64(max(r.Age(), hour)))
}

// WeekOf is the number of the week since 1970 that a time is in.
func WeekOf(at int64) int64 { return at / Week }

// RisingKey sorts rising videos: the doubtful last, most 7-day views first, then id. Nil
// for a video that is not one: without a posting time or usable views, or that was 7 days
// old at the reading.
func (t *Table) RisingKey(r *Reading, doubtful bool) []byte {
	if r.PostedAt == Undated || Usable(r.Views, r.Likes) != Used || r.Age() > RisingAge {
		return nil
	}
	key := append(make([]byte, 0, RisingKeySize), byte(count(doubtful)))
	key = binary.BigEndian.AppendUint64(key, ^uint64(t.SevenDayViews(r)))
	return binary.BigEndian.AppendUint64(key, uint64(r.ID)^1<<63)
}
