package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortestPart is the length of the shortest words that are found at the start or
// the end of a tag that runs words together. Shorter ones are parts of too many
// other words: #pineapple, #horsepower, #watchthis.
const shortestPart = 6

// phrase is what a text is searched for.
type phrase struct {
	// said is the phrase as it is written, in lower case.
	said string
	// stems are its stemmed words with a space around each; empty for emoji and handles.
	stems string
	// literal phrases are other words for what was said: English endings mean nothing
	// in them (baile is no bailing), but for a plural's s.
	literal bool
	// plain and plural are its words with a space around each, without stems.
	plain, plural string
	// joined are its words, run together as in a tag, and their stem.
	joined, joinedStem string
	// anywhere is for scripts that put no spaces between words.
	anywhere bool
}

// formsOf are a value of a Text condition and what else its subject is called.
func formsOf(value string) []phrase {
	all := []phrase{newPhrase(value)}
	for _, other := range english().meanings[stems(value)] {
		if other != value {
			p := newPhrase(other)
			p.literal = true
			all = append(all, p)
		}
	}
	return all
}

func newPhrase(said string) phrase {
	p := phrase{said: strings.ToLower(said), anywhere: noSpaces(said)}
	if strings.HasPrefix(said, "@") {
		return p
	}
	words := mapped(strings.FieldsFunc(p.said, apart), unelided)
	if len(words) == 0 {
		return p
	}
	p.plain = " " + strings.Join(words, " ") + " "
	p.plural = strings.TrimSuffix(p.plain, " ") + "s "
	p.joined = strings.Join(words, "")
	p.joinedStem = strings.Join(mapped(words, stem), "")
	p.stems = stems(said)
	return p
}

func apart(r rune) bool { return !wordRune(r) && r != '\'' && r != '’' }

func mapped[T any](items []T, do func(T) T) []T {
	out := slices.Clone(items)
	for i := range out {
		out[i] = do(out[i])
	}
	return out
}

// stems are the stemmed words of a phrase, a space around each.
func stems(phrase string) string {
	words := strings.FieldsFunc(strings.ToLower(phrase), apart)
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(mapped(words, func(w string) string { return stem(unelided(w)) }), " ") + " "
}

// mentions reports whether the text has the phrase: its words in a row, whatever
// their endings, or run together in a hashtag.
func (f *facts) mentions(p phrase) bool {
	if p.stems == "" {
		return p.said != "" && strings.Contains(f.lower, p.said) // a handle, an emoji
	}
	if p.literal {
		return strings.Contains(f.plain, p.plain) || strings.Contains(f.plain, p.plural) || f.tags[p.joined] || f.tags[p.joined+"s"] ||
			f.inTag(p.joined) || p.anywhere && strings.Contains(f.lower, p.said)
	}
	return strings.Contains(f.stems, p.stems) || f.tagStems[p.joinedStem] || f.inTag(p.joined) ||
		p.anywhere && strings.Contains(f.lower, p.said)
}

// inTag finds words that a tag runs together with others: #samsungtips, #pcgaming.
func (f *facts) inTag(joined string) bool {
	return utf8.RuneCountInString(joined) >= shortestPart && (strings.Contains(f.tagText, " "+joined) || strings.Contains(f.tagText, joined+" "))
}

// noSpaces reports scripts that put no spaces between words.
func noSpaces(s string) bool {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			return true
		}
	}
	return false
}
