package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollery/scrollery/modules/library/score"
)

// A term is a word, or a mark with a text: `#` a hashtag, `@` a creator, `~` a language, `!`
// a fact.
// It holds letters, digits and marks only, so that neither database reads syntax in it.

// Annotated is the term of videos that the caller annotated.
const Annotated = "!annotated"

const (
	// mostTerms bounds the terms of a video; the first ones count.
	mostTerms = 500
	// longestTerm bounds a term, in letters; longer ones are cut.
	longestTerm = 40
)

// Text is what a search reads of a video.
type Text struct {
	Words     []string
	Handle    string
	Hashtags  []string
	Language  string
	Annotated bool
}

// Terms are the distinct terms of a video, each between two spaces.
func (t Text) Terms() string {
	seen, b := make(map[string]bool, 64), strings.Builder{}
	b.WriteByte(' ')
	add := func(term string) {
		if term != "" && len(seen) < mostTerms && !seen[term] {
			seen[term] = true
			b.WriteString(term)
			b.WriteByte(' ')
		}
	}
	if t.Annotated {
		add(Annotated)
	}
	add(Language(t.Language))
	add(Creator(t.Handle))
	for _, tag := range t.Hashtags {
		add(Hashtag(tag))
	}
	for _, text := range slices.Concat([]string{t.Handle}, t.Words, t.Hashtags) {
		words(text, true, add)
	}
	return b.String()
}

// Words are the words of a text, folded. A script without spaces between words gives each
// two letters that follow each other, of a single letter that letter.
func Words(text string) (all []string) {
	words(text, false, func(word string) { all = append(all, word) })
	return all
}

// words gives the words of Words to add; single adds each letter of a script without
// spaces, so that one letter can be found.
func words(text string, single bool, add func(word string)) {
	text = score.Fold(text)
	start, dense := -1, false // start is that of the word that is read; -1 between words
	end := func(at int) {
		if start < 0 {
			return
		}
		word := text[start:at]
		start = -1
		if !dense {
			add(cut(word))
			return
		}
		letters := []rune(word)
		if len(letters) == 1 {
			add(word)
			return
		}
		for i := range len(letters) - 1 {
			add(string(letters[i : i+2]))
		}
		for i := range letters {
			if single {
				add(string(letters[i]))
			}
		}
	}
	for at, r := range text {
		if !isLetter(r) {
			end(at)
			continue
		}
		if is := isDense(r); is != dense {
			end(at)
			dense = is
		}
		if start < 0 {
			start = at
		}
	}
	end(len(text))
}

// cut bounds a word.
func cut(word string) string {
	if len(word) <= longestTerm {
		return word
	}
	letters := 0
	for at := range word {
		if letters == longestTerm {
			return word[:at]
		}
		letters++
	}
	return word
}

// Hashtag is the term of a hashtag, with or without its sign; empty where nothing is left.
func Hashtag(tag string) string { return marked('#', tag) }

// Creator is the term of a handle. Others may have the same one.
func Creator(handle string) string { return marked('@', handle) }

// Language is the term of a language: `en-US` is en.
func Language(code string) string {
	first, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(code), "_", "-"), "-")
	return marked('~', first)
}

func marked(mark rune, text string) string {
	term := []rune{mark}
	for _, r := range score.Fold(text) {
		if (isLetter(r) || r == '_') && len(term) <= longestTerm {
			term = append(term, r)
		}
	}
	if len(term) == 1 {
		return ""
	}
	return string(term)
}

func isLetter(r rune) bool {
	if r < utf8.RuneSelf { // most are, and the tables of Unicode take long
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// isDense reports whether the script of a letter has no spaces between words.
func isDense(r rune) bool {
	return r > 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
