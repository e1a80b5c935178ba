package rules

import "strings"

// The shortest words that are known by how they are mistyped, and the shortest of which any
// one letter may be missing: shorter ones are too near to other words.
const (
	shortestMistyped = 5
	shortestLacking  = 7
)

// mistyped gives words of rules by forms with two letters swapped, one doubled, one of a
// pair missing, any one missing in a long word, or without the apostrophe. What stands for
// two words, or for that of a subject, is not set right, as it may be another: it gives ?.
func (l *lexicon) mistyped() map[string]string {
	all := map[string]string{}
	for _, section := range []string{"metric", "field", "platform", "language", "unit", "piece", "cell", "topic", "advert"} {
		for phrase := range l.keys[section] {
			for w := range strings.FieldsSeq(phrase) {
				forms, right := mistypings(w), w
				if section == "topic" || section == "advert" {
					forms, right = append(forms, mistypings(w+"s")...), "?"
				}
				for _, wrong := range forms {
					if had, twice := all[wrong]; twice && had != right {
						right = "?"
					}
					if !l.knows(wrong) && !l.knows(strings.Trim(wrong, "s")) {
						all[wrong] = right
					}
				}
			}
		}
	}
	return all
}

// nearly reports a word that is a letter more or less than that of a subject, and none itself.
func (l *lexicon) nearly(text string) bool {
	if len(text) < shortestMistyped || l.knows(text) || l.knows(strings.TrimSuffix(text, "s")) {
		return false
	}
	for _, section := range []string{"topic", "subject", "advert", "metric"} {
		for w := range l.keys[section] {
			for _, form := range []string{w, w + "s"} {
				if len(w) >= shortestMistyped && (lacks(text, form) || lacks(form, text) || len(w) >= shortestLacking && differs(text, form)) {
					return true
				}
			}
		}
	}
	return false
}

// lacks reports whether short is long without one letter.
func lacks(short, long string) bool {
	if len(short)+1 != len(long) || short[0] != long[0] {
		return false
	}
	i := 0
	for i < len(short) && short[i] == long[i] {
		i++
	}
	return short[i:] == long[i+1:]
}

// differs reports words of one length with one other letter.
func differs(a, b string) bool {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return len(a) == len(b) && n == 1
}

func mistypings(w string) (all []string) {
	if strings.Contains(w, "n't") {
		all = append(all, strings.Replace(w, "'", "", 1))
	}
	for i := range w {
		lacking, doubled := w[:i]+w[i+1:], w[:i]+w[i:i+1]+w[i:]
		if len(w) < shortestMistyped {
			break
		}
		if all = append(all, doubled); i > 0 {
			all = append(all, w[:i-1]+w[i:i+1]+w[i-1:i]+w[i+1:])
		}
		if len(w) >= shortestLacking || i > 0 && w[i] == w[i-1] && len(lacking) >= shortestMistyped {
			all = append(all, lacking)
		}
	}
	return all
}

// spelled is the rule with mistyped words of rules set right.
func (l *lexicon) spelled(text string) string {
	var out strings.Builder
	from := 0
	for _, t := range lex(text) {
		if right := l.misspelt[t.text]; t.kind == word && right != "" && right != "?" {
			out.WriteString(text[from:t.from] + right)
			from = t.to
		}
	}
	return out.String() + text[from:]
}
