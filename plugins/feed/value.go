package feed

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
			return number{bad: true}
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

// handleKey is a handle as handles are compared.
func handleKey(handle string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(handle), "@"))
}
