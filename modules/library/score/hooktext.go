package score

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	// hookLength bounds a hook's text, in code points.
	hookLength = 140
	// fewWords is below how many words a first sentence has the second one with it.
	fewWords = 5
	// unpunctuatedWords is where a sentence without an end is cut.
	unpunctuatedWords = 14
	// pause is the least time between two cues that ends a sentence without an end.
	pause = 300
)

// Cue is a cue of a caption track; its times are milliseconds.
type Cue struct {
	Start, End int64
	Text       string
}

// HookText is the hook of a spoken text in one sentence: the first by the rules of Unicode
// (UAX 29), with the second if the first has fewer than 5 words. A sentence that no sign
// ends is cut at the first pause of the cues after 5 words, else behind its 14th word. It
// has at most 140 code points, cut at white space if there is some. Line ends are white
// space, and of white space one space is left. Two letters of a script without spaces are
// a word. Empty if nothing is spoken.
func HookText(spoken string, cues []Cue) string {
	text := strings.Join(strings.Fields(spoken), " ")
	first, rest, _ := uniseg.FirstSentenceInString(text, -1)
	taken, last := len(first), 0
	if rest != "" && halfWords(first) < 2*fewWords {
		second, _, _ := uniseg.FirstSentenceInString(rest, -1)
		taken, last = len(first)+len(second), len(first)
	}
	if sentence := text[last:taken]; !isEnded(sentence) {
		if end := firstPause(text, cues); end > last && end < taken {
			taken = end
		} else {
			taken = last + wordsEnd(sentence, 2*unpunctuatedWords)
		}
	}
	return cutAt(strings.TrimSpace(text[:taken]), hookLength)
}

// isEnded reports whether a sign ends the sentence, behind which quotes and brackets may be.
func isEnded(sentence string) bool {
	sentence = strings.TrimRightFunc(sentence, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Quotation_Mark, r) || unicode.Is(unicode.Pe, r) || unicode.Is(unicode.Pf, r)
	})
	r, _ := utf8.DecodeLastRuneInString(sentence)
	return isEnd(r)
}

// halfWords counts the words of a text, twice: each segment with a letter or a digit is one
// but for those of scripts without spaces, whose letters are half a word.
func halfWords(text string) (n int) {
	eachSegment(text, func(_, halves int) bool { n += halves; return true })
	return n
}

// wordsEnd is the end of the word with which a text has so many half words; the end of the
// text if it has fewer.
func wordsEnd(text string, most int) int {
	n, found := 0, len(text)
	eachSegment(text, func(end, halves int) bool {
		if n += halves; n >= most {
			found = end
		}
		return n < most
	})
	return found
}

// eachSegment hands out where each word of a text ends, and how many half words it is.
func eachSegment(text string, do func(end, halves int) (more bool)) {
	at, state, word := 0, -1, ""
	for rest := text; rest != ""; {
		word, rest, state = uniseg.FirstWordInString(rest, state)
		at += len(word)
		halves := 0
		for _, r := range word {
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
				halves++
			} else if unicode.IsLetter(r) || unicode.IsNumber(r) {
				halves = 2
				break
			}
		}
		if halves > 0 && !do(at, halves) {
			return
		}
	}
}

// firstPause is where the first pause of at least 5 words is in a text that the cues begin;
// 0 if there is none, or if the text is not theirs word by word.
func firstPause(text string, cues []Cue) int {
	cues = slices.Clone(cues)
	slices.SortStableFunc(cues, func(a, b Cue) int { return int(a.Start - b.Start) })
	end := 0
	for i := range max(len(cues)-1, 0) {
		said := strings.Join(strings.Fields(cues[i].Text), " ")
		if end > 0 && said != "" {
			said = " " + said
		}
		if !strings.HasPrefix(text[end:], said) {
			return 0
		}
		end += len(said)
		if cues[i+1].Start-cues[i].End >= pause && halfWords(text[:end]) >= 2*fewWords {
			return end
		}
	}
	return 0
}
