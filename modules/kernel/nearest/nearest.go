// Package nearest finds the name that a person most likely meant.
package nearest

import "strings"

// longest is the most bytes of a name that is looked at.
const longest = 64

// To returns the one of names that is nearest to name: one that differs in case or separators
// alone, or in at most a third of its letters. It is empty if none is close.
func To(name string, names []string) string {
	plain := strings.NewReplacer("_", "", "-", "")
	name = plain.Replace(strings.ToLower(name))
	if len(name) > longest {
		return ""
	}
	best, least := "", len(name)/3+1
	for _, known := range names {
		if n := distance(name, plain.Replace(strings.ToLower(known))); n < least {
			best, least = known, n
		}
	}
	return best
}

// Hint is To as the end of a sentence, or empty.
func Hint(name string, names []string) string {
	if known := To(name, names); known != "" {
		return "; did you mean " + known + "?"
	}
	return ""
}

// distance is the Levenshtein distance of two short texts, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
