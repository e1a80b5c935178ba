package words

import "strings"

// The shortest words that are known by how they are mistyped, and the shortest of which any
// one letter may be missing or another: shorter ones are too near to other words.
const (
	ShortestMistyped = 5
	shortestLacking  = 7
)

// Mistyped reports a word with two letters swapped, one doubled, one of a pair missing, any one
// missing in a long word, or no apostrophe; other is true for one that has another letter, one
// more or one less.
func Mistyped(wrong, w string) (slip, other bool) {
	i := 0
	for i < len(wrong) && i < len(w) && wrong[i] == w[i] {
		i++
	}
	long := len(w) >= shortestLacking
	switch rest, right := wrong[i:], w[i:]; {
	case strings.Contains(w, "n't") && wrong == strings.Replace(w, "'", "", 1):
		return true, true
	case i == 0 || min(len(w), len(wrong)) < ShortestMistyped:
		return false, false
	case len(rest) == len(right)+1 && rest[1:] == right:
		return rest[0] == wrong[i-1], true
	case len(rest)+1 == len(right) && rest == right[1:]:
		return long || right[0] == w[i-1], true
	case len(rest) == len(right) && len(rest) > 0 && rest[1:] == right[1:]:
		return false, long
	case len(rest) == len(right) && len(rest) > 1 && rest[:2] == right[1:2]+right[:1] && rest[2:] == right[2:]:
		return true, true
	}
	return false, false
}
