// Package redact keeps secrets out of texts that people and files get.
package redact

import (
	"cmp"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strings"
)

// Forms are the ways in which a secret appears in a text: as it is, and escaped for
// a query, a form or a path, in JSON or in HTML. An empty one has none.
func Forms(secret string) []string {
	if secret == "" {
		return nil
	}
	query, path := url.QueryEscape(secret), url.PathEscape(secret)
	forms := []string{secret, query, path, lowerEscapes(query), lowerEscapes(path), html.EscapeString(secret)}
	for _, escape := range []bool{true, false} { // of <, > and &
		var text strings.Builder
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(escape)
		if encoder.Encode(secret) == nil {
			quoted := strings.TrimSpace(text.String())
			inner := quoted[1 : len(quoted)-1]
			forms = append(forms, inner, strings.ReplaceAll(inner, "/", `\/`))
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// lowerEscapes writes the escapes of an address in small letters: %2f for %2F.
func lowerEscapes(text string) string {
	bytes := []byte(text)
	for i := 0; i+2 < len(bytes); i++ {
		if bytes[i] == '%' {
			copy(bytes[i:], strings.ToLower(string(bytes[i:i+3])))
		}
	}
	return string(bytes)
}

// Replacer puts a word in the place of each text, the longest first: one secret
// may begin as another does.
func Replacer(words map[string]string) *strings.Replacer {
	texts := make([]string, 0, len(words))
	for text := range words {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(texts))
	for _, text := range texts {
		pairs = append(pairs, text, words[text])
	}
	return strings.NewReplacer(pairs...)
}
