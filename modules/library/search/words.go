package search

import (
	"slices"
	"strings"
	"unicode"

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
	terms := []string{}
	if t.Annotated {
		terms = append(terms, Annotated)
	}
	terms = append(terms, Language(t.Language), Creator(t.Handle))
	for _, tag := range t.Hashtags {
		terms = append(terms, Hashtag(tag))
	}
	for _, text := range slices.Concat([]string{t.Handle}, t.Words, t.Hashtags) {
		terms = append(terms, words(text, true)...)
	}
	seen, b := map[string]bool{}, strings.Builder{}
	b.WriteByte(' ')
	for _, term := range terms {
		if term != "" && !seen[term] && len(seen) < mostTerms {
			seen[term] = true
			b.WriteString(term + " ")
		}
	}
	return b.String()
}

// Words are the words of a text, folded. A script without spaces between words gives each
// two letters that follow each other, of a single letter that letter.
func Words(text string) []string { return words(text, false) }

// words are those of Words; single adds each letter of a script without spaces, so that
// one letter can be found.
func words(text string, single bool) (words []string) {
	var word []rune
	var dense bool
	end := func() {
		switch {
		case len(word) == 0:
		case dense && len(word) > 1:
			for i := range len(word) - 1 {
				words = append(words, string(word[i:i+2]))
			}
			for i := range word {
				if single {
					words = append(words, string(word[i]))
				}
			}
		default:
			words = append(words, string(word[:min(len(word), longestTerm)]))
		}
		word = word[:0]
	}
	for _, r := range score.Fold(text) {
		if !isLetter(r) {
			end()
			continue
		}
		if is := isDense(r); is != dense {
			end()
			dense = is
		}
		word = append(word, r)
	}
	end()
	return words
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

func isLetter(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }

// isDense reports whether the script of a letter has no spaces between words.
func isDense(r rune) bool {
	return r > 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
