// Package redact keeps secrets out of texts that people and files get.
package redact

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Forms are the ways in which a secret appears in a text: as it is, and escaped for
// a query, a form or a path. An empty one has none.
func Forms(secret string) []string {
	if secret == "" {
		return nil
	}
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	slices.Sort(forms)
	return slices.Compact(forms)
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
