package formats

import (
	"bytes"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
)

// most is the largest count and time that a JSON number carries exactly.
const most = 1 << 53

// text is a JSON string; a number is taken as it is written, so that an id
// above 2^53 stays exact. Anything else is absent.
type text string

func (t *text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	*t = textOf(raw)
	return err
}

func textOf(raw jsontext.Value) text {
	switch raw.Kind() {
	case '"':
		if bytes.IndexByte(raw, '\\') < 0 {
			return text(raw[1 : len(raw)-1])
		}
		unquoted, _ := jsontext.AppendUnquote(nil, raw) // it was read as valid
		return text(unquoted)
	case '0':
		return text(raw)
	case '{':
		if len(raw) < maxExtended && bytes.IndexByte(raw, '$') > 0 {
			if parts := extended().FindSubmatch(raw); parts != nil {
				return textOf(parts[1])
			}
		}
	}
	return ""
}

// maxExtended is the longest value that may be one of extended.
const maxExtended = 100

// extended is a number or a time as MongoDB exports it: {"$numberLong": "5"}, {"$date": {"$numberLong": "5"}}.
var extended = lazy.Pattern(`^\{\s*"\$(?:number(?:Int|Long|Double|Decimal)|date)"\s*:\s*("[^"\\]*"|[\d.eE+-]+|\{[^{}]*\})\s*\}$`)

// number is a JSON number, or one in quotes. What is no whole number from 0 to
// 2^53 is null and bad; a missing one is null.
type number struct {
	value *int64
	bad   bool
	// hidden is -1, which some exports write for a count that is not shown.
	hidden bool
}

func (n *number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	*n = numberOf(raw)
	return err
}

func numberOf(raw jsontext.Value) number {
	switch {
	case len(raw) == 0, raw.Kind() == 'n':
		return number{}
	case raw.Kind() == '"', raw.Kind() == '0':
		return parseNumber(string(textOf(raw)))
	case raw.Kind() == '{' && textOf(raw) != "":
		return parseNumber(string(textOf(raw)))
	}
	return number{bad: true}
}

// parseNumber reads a count as platforms and exports write it; empty is null.
func parseNumber(s string) number {
	s = strings.TrimSpace(s)
	if s == "" {
		return number{}
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		if v < 0 || v > most {
			return number{bad: true, hidden: v == -1}
		}
		return number{value: &v}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f > most || f != math.Trunc(f) {
		return number{bad: true}
	}
	v := int64(f)
	return number{value: &v}
}

// moment is a time: Unix milliseconds, or an RFC 3339 string.
type moment number

func (m *moment) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	*m = moment(numberOf(raw))
	if raw.Kind() == '"' {
		if at, err := time.Parse(time.RFC3339, string(textOf(raw))); err == nil {
			ms := at.UnixMilli()
			if *m = (moment{bad: ms < 0}); ms >= 0 {
				m.value = &ms
			}
		}
	}
	return err
}

// platformName is the platform in lower case, or empty if it is none.
func platformName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) == 0 || len(s) > 40 {
		return ""
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return ""
		}
	}
	return s
}

// usableID reports whether s can name a video: 1 to 200 code points without spaces,
// control characters and what cleaning leaves, since a repaired id names another video.
func usableID(s string) bool {
	return s != "" && utf8.RuneCountInString(s) <= 200 && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError
	})
}

// webAddress is s where it is a page's address, else empty.
func webAddress(s string) string {
	if len(s) > 2048 {
		return ""
	}
	at, err := url.Parse(s)
	if err != nil || (at.Scheme != "https" && at.Scheme != "http") || at.Host == "" {
		return ""
	}
	return s
}
