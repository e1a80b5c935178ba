package formats

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// cleanJSON makes stored text of a stranger's JSON: invalid bytes and halves of
// surrogate pairs become U+FFFD, NUL is left out. All else stays byte for byte;
// a clean text is returned as it is.
func cleanJSON(text []byte) []byte {
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, nil)
	}
	if !utf8.Valid(text) {
		text = []byte(replaceInvalid(string(text)))
	}
	if bytes.Contains(text, []byte(`\u`)) {
		text = cleanEscapes(text)
	}
	return text
}

func replaceInvalid(s string) string {
	var out strings.Builder
	out.Grow(len(s) + 8)
	for _, r := range s {
		out.WriteRune(r)
	}
	return out.String()
}

// cleanEscapes drops \u0000 and replaces escaped halves of surrogate pairs.
func cleanEscapes(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 >= len(text) {
			out = append(out, text[i])
			i++
			continue
		}
		unit, ok := escapedUnit(text[i:])
		switch {
		case !ok:
			out = append(out, text[i], text[i+1])
			i += 2
		case unit == 0:
			i += 6
		case unit >= 0xD800 && unit < 0xDC00:
			if low, ok := escapedUnit(text[i+6:]); ok && low >= 0xDC00 && low < 0xE000 {
				out = append(out, text[i:i+12]...)
				i += 12
				continue
			}
			out = append(out, `\ufffd`...)
			i += 6
		case unit >= 0xDC00 && unit < 0xE000:
			out = append(out, `\ufffd`...)
			i += 6
		default:
			out = append(out, text[i:i+6]...)
			i += 6
		}
	}
	return out
}

// escapedUnit reads a \uXXXX at the start of text.
func escapedUnit(text []byte) (unit uint32, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | uint32(c)
	}
	return unit, true
}

// cleanText does for plain text what cleanJSON does for JSON.
func cleanText(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	if !utf8.ValidString(s) {
		s = replaceInvalid(s)
	}
	return s
}
