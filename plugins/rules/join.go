package rules

import "slices"

// join marks what belongs together before conjunctions split it: "or more",
// "between 10 and 20", "15 to 45".
func (l *lexicon) join(tokens []token) []token {
	out := make([]token, 0, len(tokens))
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if n := l.skipped(tokens, i); n > 0 {
			i += n - 1
			continue
		}
		if c, next, ok := comparisonAt(tokens, i); ok && slices.ContainsFunc(tokens[i:next], conjunction) { // "greater or equal to"
			out = append(out, token{kind: mark, text: c.op, from: t.from, to: tokens[next-1].to})
			i = next - 1
			continue
		}
		if once := map[string]string{"after": "since", "before": "until"}; matches(tokens, i, []string{"on", "or"}) && i+2 < len(tokens) && once[tokens[i+2].text] != "" {
			out = append(out, token{kind: word, text: once[tokens[i+2].text], from: t.from, to: tokens[i+2].to}) // "on or after June 1"
			i += 2
			continue
		}
		if t.text == "and" && i > 1 && i+2 < len(tokens) && amount(tokens[i-2]) && amount(tokens[i+1]) && !opened(tokens, i-3) {
			if whole, rest := l.units[tokens[i-1].text], l.units[tokens[i+2].text]; whole.field == Duration && rest.field == Duration && whole.seconds > rest.seconds {
				continue // "2 minutes and 30 seconds"
			}
		}
		if i > 0 && matches(tokens, i, []string{"and", "a", "half"}) {
			out = append(out, token{kind: mark, text: "½", from: t.from, to: tokens[i+2].to})
			i += 2
			continue
		}
		if t.kind == word && (t.text == "or" || t.text == "and") && i+1 < len(tokens) && i > 0 {
			if after := l.after[tokens[i+1].text]; after != "" && countable(tokens, i-1) && !(i+2 < len(tokens) && (amount(tokens[i+2]) || tokens[i+2].text == "than")) {
				out = append(out, token{kind: mark, text: after, from: t.from, to: tokens[i+1].to})
				i++
				continue
			}
		}
		if t.kind == word && l.in("till", t.text) && i > 0 && i+1 < len(tokens) &&
			(i > 1 && l.period(tokens[i+1]) && l.period(tokens[i-1]) && (opened(tokens, i-2) || opened(tokens, i-3) || t.text != "and") ||
				amount(tokens[i+1]) && (amount(tokens[i-1]) && (t.text != "and" || opened(tokens, i-2)) || i > 1 && amount(tokens[i-2]) && (t.text == "to" || opened(tokens, i-3)))) {
			t = token{kind: mark, text: "-", from: t.from, to: t.to}
		}
		out = append(out, t)
	}
	return out
}

// skipped is the length of words that only say that a wish is of the moment.
func (l *lexicon) skipped(tokens []token, at int) int {
	for _, phrase := range l.passing[tokens[at].text] {
		if matches(tokens, at, phrase) {
			return len(phrase)
		}
	}
	return 0
}

// period reports a day, a month or a year.
func (l *lexicon) period(t token) bool {
	return isYear(t) || t.kind == date || t.kind == word && l.months[t.text] > 0
}

func opened(tokens []token, at int) bool {
	return at >= 0 && at < len(tokens) && tokens[at].text == "between"
}

func amount(t token) bool { return t.kind == number || t.kind == length }

// countable reports whether something with a number is at most two tokens back.
func countable(tokens []token, at int) bool {
	for i := at; i >= 0 && i > at-3; i-- {
		if tokens[i].kind == number || tokens[i].kind == length || tokens[i].kind == date {
			return true
		}
		if tokens[i].kind == word && (tokens[i].text == "million" || tokens[i].text == "thousand" || tokens[i].text == "minute" || tokens[i].text == "hundred") {
			return true
		}
	}
	return false
}
