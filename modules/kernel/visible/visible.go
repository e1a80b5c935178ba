// Package visible removes from texts what a person does not see and a model reads: creators'
// texts and a model's sentences are not trusted.
package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// replacement stands for a character that people do not see.
const replacement = '\uFFFD'

// Clean replaces the characters that a reader does not see and a model does: controls,
// formats such as bidi marks, the tag block, fillers and private use. It returns how many
// it replaced. What belongs to a picture character stays: one selector after it, and a
// joiner between two. So does a joiner between letters of a script that is written with it.
func Clean(s string) (string, int) {
	if Is(s) && utf8.ValidString(s) {
		return s, 0
	}
	var out strings.Builder
	hidden, before := 0, rune(0)
	for at, r := range s {
		width := utf8.RuneLen(r)
		if r == utf8.RuneError {
			width = 1
		}
		switch {
		case !unseen(r):
			out.WriteRune(r)
		case isSelector(r) && isPicture(before):
			out.WriteRune(r)
		case r == '\u200D' && (isPicture(before) || isSelector(before)) && isPicture(first(s[min(len(s), at+width):])):
			out.WriteRune(r)
		case (r == '\u200C' || r == '\u200D') && joins(before) && joins(first(s[min(len(s), at+width):])):
			out.WriteRune(r)
		default:
			out.WriteRune(replacement)
			hidden++
		}
		before = r
	}
	return out.String(), hidden
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// Is reports quickly that Clean has nothing to replace in a text.
func Is(s string) bool {
	for _, r := range s {
		if unseen(r) {
			return false
		}
	}
	return true
}

func isSelector(r rune) bool { return r == '\uFE0E' || r == '\uFE0F' }

// isPicture reports whether a selector may follow a character.
func isPicture(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk) || r >= 0x203C && r <= 0x3299 && unicode.In(r, unicode.S, unicode.P) || strings.ContainsRune("0123456789#*", r)
}

// joins reports whether a character is of a script in which joiners shape words.
func joins(r rune) bool {
	return r > 0x500 && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar)
}

func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7F && r <= 0x9F:
		return true
	case r < 0xAD:
		return false
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0000 && r <= 0xE0FFF, r >= 0x180B && r <= 0x180F:
		return true // selectors, tags
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x2800, r == 0x3164, r == 0xFFA0, r == 0x2028, r == 0x2029:
		return true // fillers and line separators
	}
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs)
}
