package score

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// numberWords is how far into a text a number still opens it.
	numberWords = 8
	// shortWords is the longest short sentence.
	shortWords = 5
)

// Key is a trend key with its display form.
type Key struct{ Key, Label string }

// The patterns that need no language, in the order in which Patterns gives them. No
// label says that a pattern works: in the backtest none foretold success.
var patterns = [...]struct {
	key   Key
	match func(text string) bool
}{
	{Key{"hook:question", "Opens with a question"}, isQuestion},
	{Key{"hook:number", "Number in the first words"}, hasNumber},
	{Key{"hook:short", "Short first sentence"}, isShort},
	{Key{"hook:quote", "Opens with a quotation"}, isQuote},
}

// Patterns returns the keys of the patterns that any of the texts of a hook follows.
func Patterns(texts ...string) (keys []Key) {
	for _, p := range patterns {
		for _, text := range texts {
			if text = strings.TrimSpace(text); text != "" && p.match(text) {
				keys = append(keys, p.key)
				break
			}
		}
	}
	return keys
}

// OpeningKey is the trend key of the opening of a text; the label is what a person reads.
func OpeningKey(opening, text string) Key {
	return Key{"opening:" + opening, cmp.Or(OpeningText(text), opening)}
}

// firstSentence is up to the first sign that ends a sentence, with it and signs that
// follow it, and what comes after. A full stop ends one only before white space or the
// end: `3.5` and `a.com` go on.
func firstSentence(text string) (first, rest string) {
	for i, r := range text {
		if !isEnd(r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		for end < len(text) {
			next, size := utf8.DecodeRuneInString(text[end:])
			if !isEnd(next) && !unicode.Is(unicode.Quotation_Mark, next) && !unicode.Is(unicode.Pe, next) {
				break
			}
			end += size
		}
		if next, _ := utf8.DecodeRuneInString(text[end:]); r == '.' && end < len(text) && !unicode.IsSpace(next) {
			continue
		}
		return text[:end], strings.TrimSpace(text[end:])
	}
	return text, ""
}

func isEnd(r rune) bool {
	if r < utf8.RuneSelf { // most are, and the tables of Unicode take long
		return r == '.' || r == '!' || r == '?'
	}
	return unicode.Is(unicode.Sentence_Terminal, r) || r == '…'
}

func isQuestion(text string) bool {
	first, _ := firstSentence(text)
	return strings.IndexByte(first, '?') >= 0 || strings.Contains(first, "？") || strings.Contains(first, "؟")
}

// hasNumber looks for a digit of any script.
func hasNumber(text string) bool {
	found, count := false, 0
	eachWord(text, func(word string) bool {
		found = strings.ContainsFunc(word, unicode.IsDigit)
		count++
		return !found && count < numberWords
	})
	return found
}

// isShort asks for more after the sentence: a text of three words is no opening of one.
func isShort(text string) bool {
	first, rest := firstSentence(text)
	if !strings.ContainsFunc(rest, isWord) {
		return false
	}
	count := 0
	eachWord(first, func(string) bool { count++; return count <= shortWords })
	return count >= 1 && count <= shortWords
}

func isQuote(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.Is(unicode.Quotation_Mark, r)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// unspaced are scripts that write no space between words; a letter of them counts as one.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// eachWord gives the words of a text until yield returns false: what is between white
// space and has a letter or digit, or a letter of a script without spaces.
func eachWord(text string, yield func(word string) bool) {
	for field := range strings.FieldsSeq(text) { // no more of them than yield takes
		start := 0
		for i, r := range field {
			if r < utf8.RuneSelf || !unicode.IsLetter(r) || !unicode.In(r, unspaced...) {
				continue
			}
			if strings.ContainsFunc(field[start:i], isWord) && !yield(field[start:i]) {
				return
			}
			start = i + utf8.RuneLen(r)
			if !yield(field[i:start]) {
				return
			}
		}
		if strings.ContainsFunc(field[start:], isWord) && !yield(field[start:]) {
			return
		}
	}
}
