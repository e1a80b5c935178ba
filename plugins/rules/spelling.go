package rules

import "strings"

// The shortest words that are known by how they are mistyped, and the shortest of which any
// one letter may be missing or another: shorter ones are too near to other words.
const (
	shortestMistyped = 5
	shortestLacking  = 7
)

// spelled is the rule with mistyped words of rules set right.
func (l *lexicon) spelled(text string) string {
	var out strings.Builder
	from := 0
	for _, t := range lex(text) {
		if right := l.near(t.text); t.kind == word && right != "" && right != "?" {
			out.WriteString(text[from:t.from] + right)
			from = t.to
		}
	}
	return out.String() + text[from:]
}

// near is the word of rules that a mistyped one stands for, and empty for one that is known
// or far from all. What stands for two words, or for that of a subject, is not set right, as
// it may be another: it is ?.
func (l *lexicon) near(text string) (right string) {
	if len(text) < shortestMistyped-1 || l.known[text] || l.known[strings.TrimSuffix(text, "s")] {
		return ""
	}
	one, plural := strings.CutSuffix(text, "s")
	for w, subject := range l.spellings {
		if d := len(text) - len(w); d < -1 || d > 2 {
			continue
		}
		slip, other := mistyped(text, w)
		if plural && subject && !slip && !other {
			slip, other = mistyped(one, w)
		}
		switch {
		case !slip && !(other && subject):
		case subject || right != "" && right != w:
			return "?"
		default:
			right = w
		}
	}
	return right
}

// mistyped reports a word with two letters swapped, one doubled, one of a pair missing, any one
// missing in a long word, or no apostrophe; other is true for one that has another letter, one
// more or one less.
func mistyped(wrong, w string) (slip, other bool) {
	i := 0
	for i < len(wrong) && i < len(w) && wrong[i] == w[i] {
		i++
	}
	long := len(w) >= shortestLacking
	switch rest, right := wrong[i:], w[i:]; {
	case strings.Contains(w, "n't") && wrong == strings.Replace(w, "'", "", 1):
		return true, true
	case i == 0 || min(len(w), len(wrong)) < shortestMistyped:
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
