package stage

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth of strangers' JSON: deeper ones serve only to exhaust readers.
const maxDepth = 64

// repairJSON replaces NUL, invalid UTF-8 and the escapes of NUL and lone surrogates,
// which collectors leave behind when they cut a text inside an emoji.
func repairJSON(raw []byte) ([]byte, bool) {
	repaired := false
	if bytes.IndexByte(raw, 0) >= 0 {
		raw, repaired = withoutNUL(raw), true
	}
	if !utf8.Valid(raw) {
		raw, repaired = []byte(CleanText(string(raw))), true
	}
	for i := 0; i+6 <= len(raw); {
		next := bytes.IndexByte(raw[i:], '\\')
		if next < 0 {
			break
		}
		i += next
		unit, ok := escape(raw, i)
		switch {
		case !ok:
			i += 2
		case unit >= 0xD800 && unit < 0xDC00 && low(raw, i+6):
			i += 12
		case unit == 0, unit >= 0xD800 && unit < 0xE000:
			if !repaired {
				raw, repaired = bytes.Clone(raw), true
			}
			copy(raw[i:], `\ufffd`)
			i += 6
		default:
			i += 6
		}
	}
	return raw, repaired
}

// escape reads `\uXXXX` at i.
func escape(raw []byte, i int) (uint64, bool) {
	if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
	return unit, err == nil
}

func low(raw []byte, i int) bool {
	unit, ok := escape(raw, i)
	return ok && unit >= 0xDC00 && unit < 0xE000
}

// fitJSON reports whether raw is one object (or, where text is allowed, a string)
// that every reader takes: no name twice, no number beyond a double, no abyss.
func fitJSON(raw []byte, text bool) bool {
	value := jsontext.Value(raw)
	kind := value.Kind()
	if kind != '{' && !(text && kind == '"') {
		return false
	}
	return shallow(raw) && value.IsValid()
}

// shallow checks depth and numbers; what else is wrong is found later.
func shallow(raw []byte) bool {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		case c == '-' || (c >= '0' && c <= '9'):
			end := i
			for end < len(raw) && bytes.IndexByte([]byte("+-.eE0123456789"), raw[end]) >= 0 {
				end++
			}
			if _, err := strconv.ParseFloat(string(raw[i:end]), 64); err != nil {
				return false
			}
			i = end - 1
		}
	}
	return true
}
