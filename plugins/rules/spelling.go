package rules

import (
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/words"
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
	if len(text) < words.ShortestMistyped-1 || l.known[text] || l.known[strings.TrimSuffix(text, "s")] {
		return ""
	}
	one, plural := strings.CutSuffix(text, "s")
	for w, subject := range l.spellings {
		if d := len(text) - len(w); d < -1 || d > 2 {
			continue
		}
		slip, other := words.Mistyped(text, w)
		if plural && subject && !slip && !other {
			slip, other = words.Mistyped(one, w)
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
