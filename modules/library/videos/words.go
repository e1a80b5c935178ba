package videos

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

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
	seen := termSets.Get().(map[string]struct{})
	defer func() {
		clear(seen)
		termSets.Put(seen)
	}()
	b := make([]byte, 1, 1024)
	b[0] = ' '
	add := func(term string) {
		if term == "" || len(seen) >= mostTerms {
			return
		}
		if _, has := seen[term]; !has {
			seen[term] = struct{}{}
			b = append(append(b, term...), ' ')
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
	return string(b)
}

// termSets are sets of terms, empty, for one video after another.
var termSets = sync.Pool{New: func() any { return make(map[string]struct{}, mostTerms) }}

// Words are the words of a text, folded. A script without spaces between words gives each
// two letters that follow each other, of a single letter that letter.
func Words(text string) (all []string) {
	words(text, false, func(word string) { all = append(all, word) })
	return all
}

// words gives the words of Words to add; single adds each letter of a script without
// spaces, so that one letter can be found.
func words(text string, single bool, add func(word string)) {
	for text != "" { // nothing of a word is in another one behind a space
		part, rest, _ := strings.Cut(text, " ")
		text = rest
		if isPlain(part) {
			plainWords(part, add)
		} else if folded := fold(part); isASCII(folded) {
			plainWords(folded, add)
		} else {
			anyWords(folded, single, add)
		}
	}
}

// plainWords gives the words of a folded text of ASCII alone.
func plainWords(text string, add func(word string)) {
	start := -1 // of the word that is read; -1 between words
	for at := range len(text) {
		switch is := isLetter(rune(text[at])); {
		case is && start < 0:
			start = at
		case !is && start >= 0:
			add(cut(text[start:at]))
			start = -1
		}
	}
	if start >= 0 {
		add(cut(text[start:]))
	}
}

// anyWords gives the words of a folded text.
func anyWords(text string, single bool, add func(word string)) {
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

// fold is [score.Fold], which takes long over what is no ASCII.
func fold(text string) string {
	if isFolded(text) {
		return text
	}
	return score.Fold(text)
}

// isFolded is true for texts that Fold leaves as they are, and false for a few others: those
// of other letters than these, among which no two cases are.
func isFolded(text string) bool {
	ascii := true
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if 'A' <= r && r <= 'Z' {
				return false
			}
			continue
		case 0xe0 <= r && r <= 0xff, // é; the capitals are below
			0x430 <= r && r <= 0x45f,                           // Cyrillic without capitals
			0x5d0 <= r && r <= 0x6ff, 0x900 <= r && r <= 0xeff, // Hebrew, Arabic, scripts of India, Thai
			0x2010 <= r && r <= 0x20bf, 0x2190 <= r && r <= 0x245f, 0x2500 <= r && r <= 0x2bff, // signs
			0x3000 <= r && r <= 0x9fff, 0xac00 <= r && r <= 0xd7a3, 0x1f000 <= r && r <= 0x1faff, // East Asia, pictures
			r == 0xfe0f || r == 0x200d: // parts of pictures
			ascii = false
		default:
			return false
		}
	}
	return ascii || utf8.ValidString(text) && norm.NFKC.IsNormalString(text)
}

// isPlain is true for ASCII without capitals.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
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

// Hashtag is the term of a hashtag, with or without its sign; empty if nothing is left.
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
	for _, r := range fold(text) {
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
