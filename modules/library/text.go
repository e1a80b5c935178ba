package library

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// object returns a stranger's JSON object fit to stand in a document: byte for
// byte where it is sound JSON, mended where it is not, {} where it is no object.
func object(raw json.RawMessage) []byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return []byte("{}")
	}
	if sound := value(raw); sound != nil {
		return sound
	}
	return []byte("{}")
}

// value returns a stranger's JSON value fit to stand in a document, or nil where
// nothing can be made of it. Mended are what strict readers refuse: a name that
// occurs twice (the last one counts), broken Unicode, and numbers beyond float64
// (they become strings). One such video would make every list with it unreadable.
func value(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	text := jsontext.Value(bytes.Clone(raw))
	if text.IsValid() && !beyondFloat(text) {
		if bytes.ContainsAny(text, " \t\r\n") && text.Compact() != nil {
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
	if encoder.Encode(tame(loose)) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

// tame turns numbers that no float64 can hold into strings.
func tame(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := strconv.ParseFloat(string(v), 64); err != nil || math.IsInf(f, 0) {
			return string(v)
		}
	case []any:
		for i := range v {
			v[i] = tame(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = tame(v[name])
		}
	}
	return v
}

// beyondFloat tells whether sound JSON holds a number that float64 cannot.
func beyondFloat(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case c >= '0' && c <= '9':
			start, exponent := i, false
			for ; i < len(text) && strings.IndexByte("0123456789.eE+-", text[i]) >= 0; i++ {
				exponent = exponent || text[i]|0x20 == 'e'
			}
			if !exponent && i-start <= 300 {
				i--
				continue
			}
			if _, err := strconv.ParseFloat(string(text[start:i]), 64); err != nil {
				return true
			}
			i--
		}
	}
	return false
}

// appendString appends s as a JSON string. Broken UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// clean makes text fit for a column: PostgreSQL takes neither NUL nor broken UTF-8.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
