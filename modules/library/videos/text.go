package videos

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// object returns an untrusted JSON object fit for a document: byte for byte where
// strict readers accept it, repaired where they do not, {} where it is no object.
func object(raw json.RawMessage) jsontext.Value {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '{' {
		if sound := value(raw); sound != nil {
			return sound
		}
	}
	return jsontext.Value("{}")
}

// value returns an untrusted JSON value fit for a document, or nil if it cannot
// be repaired. Repaired is what strict readers refuse: a name that occurs twice
// (the last one counts), broken Unicode, and numbers beyond float64 (they become
// strings). One such video would make every list with it unreadable.
func value(raw json.RawMessage) jsontext.Value {
	if len(raw) == 0 {
		return nil
	}
	text := jsontext.Value(bytes.Clone(raw))
	if text.IsValid() && !beyondFloat(text) {
		if isSpaced(text) && text.Compact() != nil {
			return nil
		}
		return text
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var loose any
	if decoder.Decode(&loose) != nil || decoder.More() {
		return nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(withoutHuge(loose)) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

// isSpaced reports whether valid JSON has white space outside of its strings.
func isSpaced(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case ' ', '\t', '\r', '\n':
			return true
		}
	}
	return false
}

// stringEnd is behind the JSON string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			return len(text)
		}
		slashes := 0
		for at := i + quote; text[at-1-slashes] == '\\'; {
			slashes++
		}
		if i += quote + 1; slashes%2 == 0 {
			break
		}
	}
	return i
}

// valueEnd is behind the value of valid JSON that begins at i.
func valueEnd(text []byte, i int) int {
	for depth := 0; i < len(text); {
		switch text[i] {
		case '"':
			if i = stringEnd(text, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// behindSpace is the place of the next sign that is no white space.
func behindSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}

// eachPlainMember gives the members of an object in valid JSON, by parts of its text. It
// returns false if a name has an escape or a letter beyond ASCII.
func eachPlainMember(object []byte, do func(name, value []byte)) bool {
	i := behindSpace(object, 0)
	if i == len(object) || object[i] != '{' {
		return false
	}
	for i++; ; i++ {
		if i = behindSpace(object, i); i == len(object) || object[i] != '"' {
			return i < len(object) && object[i] == '}'
		}
		end := stringEnd(object, i)
		name := object[i+1 : end-1]
		for _, c := range name {
			if c >= utf8.RuneSelf || c == '\\' {
				return false
			}
		}
		if i = behindSpace(object, end); i == len(object) || object[i] != ':' {
			return false
		}
		i = behindSpace(object, i+1)
		end = valueEnd(object, i)
		do(name, object[i:end])
		if i = behindSpace(object, end); i == len(object) || object[i] != ',' {
			return i < len(object) && object[i] == '}'
		}
	}
}

// eachElement gives the elements of a list in valid JSON; what is no list has none.
func eachElement(list []byte, do func(raw []byte)) {
	if len(list) == 0 || list[0] != '[' {
		return
	}
	for i := 1; ; i++ {
		if i = behindSpace(list, i); i == len(list) || list[i] == ']' {
			return
		}
		end := valueEnd(list, i)
		do(list[i:end])
		if i = behindSpace(list, end); i == len(list) || list[i] != ',' {
			return
		}
	}
}

// withoutHuge turns numbers that no float64 can hold into strings.
func withoutHuge(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := strconv.ParseFloat(string(v), 64); err != nil || math.IsInf(f, 0) {
			return string(v)
		}
	case []any:
		for i := range v {
			v[i] = withoutHuge(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withoutHuge(v[name])
		}
	}
	return v
}

// beyondFloat reports whether valid JSON holds a number that float64 cannot.
func beyondFloat(text jsontext.Value) bool {
	if !mayBeBeyond(text) {
		return false
	}
	in := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	for {
		token, err := in.ReadToken()
		if err != nil {
			return false
		}
		if token.Kind() == '0' {
			if _, err := strconv.ParseFloat(token.String(), 64); err != nil {
				return true
			}
		}
	}
}

// mayBeBeyond is false for most valid JSON without such a number: one has an exponent of two
// digits, or 300 digits in a row.
func mayBeBeyond(text []byte) bool {
	isDigit := func(at int) bool { return at < len(text) && text[at] >= '0' && text[at] <= '9' }
	digits := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			if digits++; digits >= 300 {
				return true
			}
			continue
		case c == '"':
			i = stringEnd(text, i) - 1
		case (c == 'e' || c == 'E') && digits > 0:
			at := i + 1
			if at < len(text) && (text[at] == '+' || text[at] == '-') {
				at++
			}
			if isDigit(at) && isDigit(at+1) {
				return true
			}
		}
		digits = 0
	}
	return false
}

// clean makes text fit for a column: PostgreSQL takes neither NUL nor broken UTF-8.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// memberOf returns a member of an object.
func memberOf(object jsontext.Value, name string) (value jsontext.Value, found bool) {
	eachMember(object, func(n, v jsontext.Value) {
		if text, err := jsontext.AppendUnquote(nil, n); err == nil && string(text) == name {
			value, found = v, true
		}
	})
	return value, found
}

// withMember returns the object with the member at its end, or without it where
// value is nil. All else stays byte for byte.
func withMember(object jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	var out bytes.Buffer
	encoder := jsontext.NewEncoder(&out, jsontext.PreserveRawStrings(true))
	write := func(name, value jsontext.Value) { // a bytes.Buffer takes everything
		_ = encoder.WriteValue(name)
		_ = encoder.WriteValue(value)
	}
	_ = encoder.WriteToken(jsontext.BeginObject)
	quoted, _ := jsontext.AppendQuote(nil, name)
	eachMember(object, func(n, v jsontext.Value) {
		if !bytes.Equal(n, quoted) {
			write(n, v)
		}
	})
	if value != nil {
		write(quoted, value)
	}
	_ = encoder.WriteToken(jsontext.EndObject)
	return bytes.TrimSpace(out.Bytes())
}

func eachMember(object jsontext.Value, do func(name, value jsontext.Value)) {
	in := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := in.ReadToken(); err != nil {
		return
	}
	for in.PeekKind() == '"' {
		name, err := in.ReadValue()
		if err != nil {
			return
		}
		name = name.Clone()
		value, err := in.ReadValue()
		if err != nil {
			return
		}
		do(name, value.Clone())
	}
}
