package stage

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// CleanText returns strangers' text as it can be stored: NUL and each invalid byte become
// U+FFFD. It returns a clean text as it is.
func CleanText(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + 16)
	for _, r := range s { // gives U+FFFD for an invalid byte
		if r == 0 {
			r = utf8.RuneError
		}
		out.WriteRune(r)
	}
	return out.String()
}

// CleanJSON does for JSON what [CleanText] does for text, in names and values, written
// as bytes or as escapes; halves of surrogate pairs become U+FFFD too. Of two names of an
// object that are the same only then, the first stays. A NUL between values becomes a
// space. repaired is false if raw is returned as it is. What is no JSON stays none.
func CleanJSON(raw []byte) (clean []byte, repaired bool) {
	clean, repaired = repairJSON(raw)
	if repaired {
		clean = firstNames(clean)
	}
	return clean, repaired
}

// withoutNUL replaces NUL in strings by U+FFFD, and by a space elsewhere.
func withoutNUL(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+16)
	inside := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == 0 && inside:
			out = append(out, "\uFFFD"...)
		case c == 0:
			out = append(out, ' ')
		case c == '\\' && inside && i+1 < len(raw) && raw[i+1] != 0:
			i++
			out = append(out, c, raw[i])
		default:
			inside = inside != (c == '"')
			out = append(out, c)
		}
	}
	return out
}

// firstNames leaves out each member of an object that has the name of an earlier one.
func firstNames(raw []byte) []byte {
	value, twice := jsontext.Value(raw), jsontext.AllowDuplicateNames(true)
	if value.IsValid() || !value.IsValid(twice) {
		return raw
	}
	var out bytes.Buffer
	to := jsontext.NewEncoder(&out, twice, jsontext.PreserveRawStrings(true))
	if copyFirst(to, jsontext.NewDecoder(bytes.NewReader(raw), twice)) != nil {
		return raw
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// copyFirst copies the next value.
func copyFirst(to *jsontext.Encoder, in *jsontext.Decoder) error {
	kind := in.PeekKind()
	if kind != '{' && kind != '[' {
		value, err := in.ReadValue()
		if err != nil {
			return err
		}
		return to.WriteValue(value)
	}
	start, err := in.ReadToken()
	if err != nil {
		return err
	}
	if err := to.WriteToken(start); err != nil {
		return err
	}
	seen := map[string]bool{}
	for next := in.PeekKind(); next != '}' && next != ']'; next = in.PeekKind() {
		if kind == '{' {
			quoted, err := in.ReadValue()
			if err != nil {
				return err
			}
			name, err := jsontext.AppendUnquote(nil, quoted)
			if err != nil {
				return err
			}
			if seen[string(name)] {
				if err := in.SkipValue(); err != nil {
					return err
				}
				continue
			}
			seen[string(name)] = true
			if err := to.WriteValue(quoted); err != nil {
				return err
			}
		}
		if err := copyFirst(to, in); err != nil {
			return err
		}
	}
	end, err := in.ReadToken()
	if err != nil {
		return err
	}
	return to.WriteToken(end)
}
