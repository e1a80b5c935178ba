// Package words searches texts for words and phrases, whatever their endings, and hashtags for
// those that they run together. Texts of strangers are only ever searched.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortestPart is the length of the shortest words that are found at the start or
// the end of a tag that runs words together. Shorter ones are parts of too many
// other words: #pineapple, #horsepower, #watchthis.
const shortestPart = 6

// Text is a text that can be searched.
type Text struct {
	// Words are the stems of the text and of the tags.
	Words []string

	tags map[string]bool
	// tagStems are the tags as phrases are compared with them.
	tagStems map[string]bool
	// tagText are the tags without digits at their end, a space around each.
	tagText string
	// stems are the stemmed words of the text, with a space around each, plain the same
	// words as they are written, in lower case.
	stems, plain string
	// lower is the text in lower case.
	lower string
}

// In makes a text with its tags one that can be searched.
func In(text string, tags map[string]bool) Text {
	t := Text{tags: tags, lower: strings.ToLower(text)}
	var out, plain strings.Builder
	out.Grow(len(t.lower) + 2)
	plain.Grow(len(t.lower) + 2)
	out.WriteByte(' ')
	plain.WriteByte(' ')
	const usualWord = 6 // with the space after it
	t.Words = make([]string, 0, len(t.lower)/usualWord+len(tags))
	for w := range strings.FieldsFuncSeq(t.lower, Apart) {
		w = unelided(w)
		plain.WriteString(w)
		plain.WriteByte(' ')
		w = stemLower(w)
		t.Words = append(t.Words, w)
		out.WriteString(w)
		out.WriteByte(' ')
	}
	var all strings.Builder
	t.tagStems = make(map[string]bool, 2*len(tags))
	for tag := range tags {
		whole := Stem(tag)
		t.Words = append(t.Words, whole)
		t.tagStems[whole] = true
		if strings.Contains(tag, "_") {
			t.tagStems[Stem(strings.ReplaceAll(tag, "_", ""))] = true
		}
		all.WriteString(" " + strings.ReplaceAll(strings.TrimRight(tag, "0123456789"), "_", "") + " ")
	}
	t.tagText, t.stems, t.plain = all.String(), out.String(), plain.String()
	return t
}

// Phrase is what a text is searched for.
type Phrase struct {
	// Said is the phrase as it is written, in lower case.
	Said string
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

// Literal is a phrase whose words have no English endings.
func Literal(said string) Phrase {
	p := PhraseOf(said)
	p.literal = true
	return p
}

// PhraseOf is what is said as a phrase to search for.
func PhraseOf(said string) Phrase {
	p := Phrase{Said: strings.ToLower(said), anywhere: noSpaces(said)}
	if strings.HasPrefix(said, "@") {
		return p
	}
	for w := range strings.FieldsFuncSeq(p.Said, Apart) {
		w = unelided(w)
		p.plain += " " + w
		p.joined += w
		p.joinedStem += Stem(w)
	}
	if p.joined == "" {
		return p
	}
	p.plain, p.plural = p.plain+" ", p.plain+"s "
	p.stems = Stems(said)
	return p
}

// Mentions reports whether the text has the phrase: its words in a row, whatever
// their endings, or run together in a hashtag.
func (t *Text) Mentions(p Phrase) bool {
	anywhere := p.anywhere && strings.Contains(t.lower, p.Said)
	switch {
	case p.stems == "":
		return p.Said != "" && strings.Contains(t.lower, p.Said) // a handle, an emoji
	case p.literal:
		return anywhere || strings.Contains(t.plain, p.plain) || strings.Contains(t.plain, p.plural) || t.tags[p.joined] || t.tags[p.joined+"s"] || t.inTag(p.joined)
	}
	return anywhere || strings.Contains(t.stems, p.stems) || t.tagStems[p.joinedStem] || t.inTag(p.joined)
}

// inTag finds words that a tag runs together with others: #samsungtips, #pcgaming.
func (t *Text) inTag(joined string) bool {
	return utf8.RuneCountInString(joined) >= shortestPart && (strings.Contains(t.tagText, " "+joined) || strings.Contains(t.tagText, joined+" "))
}

// noSpaces reports scripts that put no spaces between words.
func noSpaces(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})
}

// Rune reports what words are made of.
func Rune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// Apart reports what is between words.
func Apart(r rune) bool { return !Rune(r) && r != '\'' && r != '’' }

// Stems are the stemmed words of a phrase, a space around each.
func Stems(phrase string) string {
	out := ""
	for w := range strings.FieldsFuncSeq(strings.ToLower(phrase), Apart) {
		out += " " + Stem(unelided(w))
	}
	if out == "" {
		return ""
	}
	return out + " "
}

// unelided is a word without what French and Italian run into it: "l’iphone", "d'apple".
func unelided(w string) string {
	head, rest, found := strings.Cut(w, "’")
	if !found {
		head, rest, found = strings.Cut(w, "'")
	}
	if found && len(rest) > 2 && strings.Contains(elided, " "+head+" ") {
		return rest
	}
	return w
}

const elided = " l d j m n s t c qu dell all nell sull dall un "

// Stem takes off the commonest English endings, so that "giveaways" is found by
// "giveaway" and "political" by "politics". It is rough on purpose: both sides of
// a comparison go through it.
func Stem(w string) string { return stemLower(strings.ToLower(w)) }

// stemLower is Stem of a word in lower case.
func stemLower(w string) string {
	if w == "" {
		return w
	}
	if first, last := w[0], w[len(w)-1]; first == '\'' || first == '_' || first >= 0x80 || last == '\'' || last == '_' || last >= 0x80 {
		w = strings.Trim(w, "'’_")
	}
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
	if len(w) < 4 {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:len(w)-1]
	}
	switch {
	case strings.HasSuffix(w, "ing") && len(w) > 5:
		w = double(w[:len(w)-3])
	case strings.HasSuffix(w, "ed") && len(w) > 4:
		w = double(w[:len(w)-2])
	case strings.HasSuffix(w, "ical"):
		w = w[:len(w)-2]
	}
	if len(w) > 4 && strings.HasSuffix(w, "e") {
		w = w[:len(w)-1]
	}
	return w
}

// double takes "unboxx" and "planned" endings back to one letter.
func double(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

// Clip shortens a text for people at a character's end.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most] + "…"
}
