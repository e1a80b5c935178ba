package score

import (
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
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
}

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
