package formats

import (
	"bytes"

	"github.com/scrollery/scrollery/plugins/stage"
)

// cleanJSON makes stored text of a stranger's JSON, see [stage.CleanJSON]. The NaN and Infinity of Python are
// null.
func cleanJSON(text []byte) []byte {
	text, _ = stage.CleanJSON(text)
	if bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Infinity")) {
		return withoutNaN(text)
	}
	return text
}

// withoutNaN writes null for NaN and Infinity outside of strings.
func withoutNaN(text []byte) []byte {
	out := make([]byte, 0, len(text))
	inside := false
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch c := text[i]; {
		case inside && c == '\\' && len(rest) > 1:
			i++
			out = append(out, c, text[i])
			continue
		case c == '"':
			inside = !inside
		case inside:
		case bytes.HasPrefix(rest, []byte("NaN")):
			out, i = append(out, "null"...), i+len("NaN")-1
			continue
		case bytes.HasPrefix(rest, []byte("Infinity")):
			out, i = append(bytes.TrimSuffix(out, []byte("-")), "null"...), i+len("Infinity")-1
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// cleanText does for plain text what cleanJSON does for JSON.
func cleanText(s string) string { return stage.CleanText(s) }
