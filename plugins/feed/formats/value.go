package formats

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// most is the largest count and time that a JSON number carries exactly.
const most = 1 << 53

// text is a JSON string; a number is taken as it is written, so that an id
// above 2^53 stays exact. Anything else is absent.
type text string

func (t *text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind != '"' && kind != '0' {
		*t = ""
		return dec.SkipValue()
	}
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	*t = text(token.String())
	return nil
}

// number is a JSON number, or one in quotes. What is no whole number from 0 to
// 2^53 is null and bad; a missing one is null.
type number struct {
	value *int64
	bad   bool
	// hidden is -1, which some exports write for a count that is not shown.
	hidden bool
}

func (n *number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*n = number{}
	switch dec.PeekKind() {
	case '"', '0':
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		*n = parseNumber(token.String())
		return nil
	case 'n':
		return dec.SkipValue()
	}
	n.bad = true
	return dec.SkipValue()
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

// decimal is a number with a fraction, or one in quotes; 0 where there is none.
type decimal float64

func (n *decimal) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*n = 0
	if kind := dec.PeekKind(); kind != '"' && kind != '0' {
		return dec.SkipValue()
	}
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if f, err := strconv.ParseFloat(strings.TrimSpace(token.String()), 64); err == nil {
		*n = decimal(f)
	}
	return nil
}

// flag is true, or absent.
type flag bool

func (b *flag) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*b = dec.PeekKind() == 't'
	return dec.SkipValue()
}

// sub is an object; what is none is absent, and costs not more than itself.
type sub[T any] struct{ v T }

func (s *sub[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	return jsonx.UnmarshalDecode(dec, &s.v)
}

// many is a list; what is none is empty.
type many[T any] []T

func (m *many[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*m = nil
	if dec.PeekKind() != '[' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		var one T
		if err := jsonx.UnmarshalDecode(dec, &one); err != nil {
			return err
		}
		*m = append(*m, one)
	}
	_, err := dec.ReadToken()
	return err
}

// decode reads an object that is known to be valid.
func decode(raw []byte, to any) error { return jsonx.Unmarshal(raw, to, lenient) }

// moment is a time: Unix milliseconds, or an RFC 3339 string.
type moment number

func (m *moment) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		s := token.String()
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			ms := at.UnixMilli()
			*m = moment{value: &ms, bad: ms < 0}
			if ms < 0 {
				m.value = nil
			}
			return nil
		}
		*m = moment(parseNumber(s))
		return nil
	}
	return (*number)(m).UnmarshalJSONFrom(dec)
}

// platformName is the platform in lower case, or empty where it is none.
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

// usableID tells whether s can name a video: 1 to 200 code points without
// spaces and control characters.
func usableID(s string) bool {
	return s != "" && utf8.RuneCountInString(s) <= 200 && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
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
