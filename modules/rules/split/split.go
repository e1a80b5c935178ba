// Package split finds the single rules in a text that people wrote.
package split

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Rules returns the rules of a text, in order, each once: one per bullet,
// numbered line or line. A paragraph that is a single unmarked line is prose and
// splits at its sentences. Marks and the white space around a rule are dropped,
// and so are lines without a letter, a digit or a symbol, such as `---`.
func Rules(text string) []string {
	items := []string{}
	seen := map[string]bool{}
	add := func(item string) {
		if item = strings.TrimSpace(item); hasContent(item) && !seen[item] {
			seen[item] = true
			items = append(items, item)
		}
	}
	for _, paragraph := range paragraphs(text) {
		if len(paragraph) == 1 {
			if item, marked := unmark(paragraph[0]); !marked {
				for _, sentence := range sentences(item) {
					add(sentence)
				}
				continue
			}
		}
		for _, line := range paragraph {
			item, _ := unmark(line)
			add(item)
		}
	}
	return items
}

// lineEnds makes one line end of all. To build it takes longer than to split most
// rulesets, so it is built once.
var lineEnds = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n\n", "\v", "\n", "\f", "\n\n", "\u0085", "\n")
})

// paragraphs returns the non-empty lines of a text, grouped by empty ones.
func paragraphs(text string) [][]string {
	text = lineEnds().Replace(text)
	var all [][]string
	var open []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			open = append(open, line)
			continue
		}
		if open != nil {
			all, open = append(all, open), nil
		}
	}
	if open != nil {
		all = append(all, open)
	}
	return all
}

// hasContent reports whether text says anything: a letter, a digit, an emoji or
// a currency sign.
func hasContent(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.In(r, unicode.So, unicode.Sc) && !isBullet(r)
	}) >= 0
}

// unmark drops the marks of list items from the head of a line; there may be
// several, as in `- [ ] 1. text`.
func unmark(line string) (item string, marked bool) {
	for {
		rest, ok := cutMark(line)
		if !ok {
			return line, marked
		}
		line, marked = rest, true
	}
}

func cutMark(line string) (rest string, ok bool) {
	first, size := utf8.DecodeRuneInString(line)
	switch {
	case isBullet(first):
		return strings.TrimSpace(line[size:]), true
	case strings.ContainsRune("-*+–—", first): // only before a space: -5 and *bold* are text
		return cutSpace(line[size:])
	case first == '[': // a box to tick
		for _, box := range []string{"[ ]", "[x]", "[X]"} {
			if rest, found := strings.CutPrefix(line, box); found {
				return cutSpace(rest)
			}
		}
	}
	return cutNumber(line)
}

// isBullet knows marks that are nothing else, with a space behind them or without.
func isBullet(r rune) bool {
	return strings.ContainsRune("•‣◦▪▫●○■□⁃∙·◆◇➤►▶", r)
}

// cutNumber drops `1.`, `12)`, `(3)`, `1.2.` and `a)`, where a space follows.
func cutNumber(line string) (rest string, ok bool) {
	rest, paren := strings.CutPrefix(line, "(")
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end <= 0 {
		if len(rest) > 1 && rest[1] == ')' && ('a' <= rest[0] && rest[0] <= 'z' || 'A' <= rest[0] && rest[0] <= 'Z') {
			return cutSpace(rest[2:])
		}
		return line, false
	}
	for parts := 0; end > 0 && end <= 3 && parts < 4; parts++ {
		mark := rest[end]
		if mark != ')' && (paren || mark != '.') {
			return line, false
		}
		rest = rest[end+1:]
		if after, cut := cutSpace(rest); cut {
			return after, true
		}
		if mark == ')' {
			return line, false
		}
		end = strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	}
	return line, false
}

// cutSpace drops white space from the head; ok is false if there is none and
// text follows.
func cutSpace(text string) (rest string, ok bool) {
	rest = strings.TrimLeftFunc(text, unicode.IsSpace)
	return rest, rest == "" || len(rest) < len(text)
}
