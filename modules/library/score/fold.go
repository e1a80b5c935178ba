package score

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold makes texts that differ in letter case or compatibility form alone the same, in
// any script: NFKC, full case folding, NFKC. Keys, openings and handles compare by it.
func Fold(s string) string {
	if folded, ok := foldASCII(s); ok {
		return folded
	}
	// Nothing composes across a space, so each word is folded by itself: most have only ASCII.
	var b strings.Builder
	b.Grow(len(s) + utf8.UTFMax)
	for word := range strings.SplitAfterSeq(s, " ") {
		folded, ok := foldASCII(word)
		if !ok {
			folded = foldAny(word)
		}
		b.WriteString(folded)
	}
	return b.String()
}

func foldAny(s string) string {
	return norm.NFKC.String(caseFold().String(norm.NFKC.String(s)))
}

// caseFold has no state.
var caseFold = sync.OnceValue(func() cases.Caser { return cases.Fold() })

// foldASCII is Fold for what has only ASCII.
func foldASCII(s string) (folded string, ok bool) {
	upper := false
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return "", false
		}
		upper = upper || s[i] >= 'A' && s[i] <= 'Z'
	}
	if !upper {
		return s, true
	}
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b), true
}
