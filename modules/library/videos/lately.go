package videos

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/modules/library/score"
)

// LatelySize is the length of what our lists show of a trend beside the contract's: its
// direction, its new creators and the ten-thousandths of its creators a day. It ends the
// packed ids of the trend's recent videos, eight bytes each, so that the rest of the length
// by eight tells rows of earlier versions, which end with an id.
const LatelySize = 1 + 4 + 8

// AppendLately packs what is new in a trend.
func AppendLately(packed []byte, t *score.Trend) []byte {
	packed = append(packed, byte(t.Direction()))
	packed = binary.BigEndian.AppendUint32(packed, uint32(t.New))
	return binary.BigEndian.AppendUint64(packed, uint64(t.PerDay.Whole*10000+int64(t.PerDay.Frac)))
}

// WithoutLately are packed ids without what is new.
func WithoutLately(packed []byte) []byte {
	if len(packed)%8 != LatelySize%8 {
		return packed
	}
	return packed[:len(packed)-LatelySize]
}

// LatelyOf is the expression of so many bytes of what is new, from its first on, by the
// column of packed ids; null in rows of earlier versions.
func LatelyOf(column string, size int) string {
	return strings.ReplaceAll("CASE WHEN length(x) % 8 = "+strconv.Itoa(LatelySize%8)+
		" THEN substr(x, length(x) - "+strconv.Itoa(LatelySize-1)+", "+strconv.Itoa(size)+") END", "x", column)
}

// ShowLately appends what is new in a trend, packed, to its JSON; nothing of a row of an
// earlier version.
func ShowLately(b, lately []byte) []byte {
	if len(lately) != LatelySize {
		return b
	}
	b = strconv.AppendUint(append(b, `,"newCreators":`...), uint64(binary.BigEndian.Uint32(lately[1:])), 10)
	b = jsontext.AppendFloat(append(b, `,"creatorsPerDay":`...), float64(binary.BigEndian.Uint64(lately[5:]))/10000, 64)
	return append(append(append(b, `,"direction":"`...), score.Direction(lately[0]).String()...), '"')
}
