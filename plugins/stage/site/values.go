package site

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/stage"
)

// The values that sites send as one type today and as another tomorrow. Decoding
// them never fails: what makes no sense is absent, and the rest of the video stays.

// maxText is what of one text is kept, in bytes; maxList how many items of a list.
const (
	maxText = 64 << 10
	maxList = 100
)

// Text is a JSON string of bounded length, with U+FFFD for NUL; anything else is empty.
type Text string

// UnmarshalJSON takes a string.
func (t *Text) UnmarshalJSON(raw []byte) error {
	*t = ""
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		*t = Text(cut(stage.CleanText(s), maxText))
	}
	return nil
}

// cut shortens s at a character's border.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Texts is a list of strings; what is none is left out.
type Texts []string

// UnmarshalJSON takes an array.
func (t *Texts) UnmarshalJSON(raw []byte) error {
	*t = nil
	var items []Text
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	for _, item := range items[:min(len(items), maxList)] {
		if text := strings.TrimSpace(string(item)); text != "" {
			*t = append(*t, text)
		}
	}
	return nil
}

// Count is a whole number from 0 to 2^53, perhaps in quotes; nil for anything else.
type Count struct{ N *int64 }

// UnmarshalJSON takes a number.
func (c *Count) UnmarshalJSON(raw []byte) error {
	c.N = nil
	text := unquoted(raw)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, failed := strconv.ParseFloat(text, 64)
		if failed != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return nil
		}
		n = int64(f)
	}
	if n >= 0 && n <= 1<<53 {
		c.N = &n
	}
	return nil
}

// ID is a whole number of any size, or digits in quotes, as it is written. It
// never goes through a float64, which would make another video of it.
type ID string

// UnmarshalJSON takes digits.
func (id *ID) UnmarshalJSON(raw []byte) error {
	*id = ""
	text := unquoted(raw)
	if text != "" && len(text) <= 40 && strings.Trim(text, "0123456789") == "" {
		*id = ID(text)
	}
	return nil
}

func unquoted(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		_ = json.Unmarshal(raw, &s) // sound, or this would not have been called
		return strings.TrimSpace(s)
	}
	return string(raw)
}
