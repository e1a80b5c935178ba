package score

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// openingLength is enough to distinguish sentences, and short enough that two cuts
	// of one recording agree.
	openingLength = 20
	// openingTail is how much more a word at the end of an opening may have: what is longer
	// is a sentence without spaces.
	openingTail = 15
	// openingBytes bounds an opening as it is shown.
	openingBytes = 200
	// spokenLength bounds a spoken text without times, in code points: about five
	// seconds of fast speech.
	spokenLength = 280
)

// Opening is the first 20 letters and digits (categories L and N) of spoken after Fold,
// or of onScreenText where spoken is empty; empty if there are fewer. Signs and spaces
// do not count, so that two transcripts of one sentence are the same opening.
func Opening(spoken, onScreenText string) string {
	text := spoken
	if strings.TrimSpace(text) == "" {
		text = onScreenText
	}
	var b strings.Builder
	count := 0
	for _, r := range Fold(text) {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			continue
		}
		b.WriteRune(r)
		if count++; count == openingLength {
			return b.String()
		}
	}
	return ""
}

// OpeningText is an opening as a person reads it: the words of a text that have its letters
// and digits, on one line, and an ellipsis if the text goes on. In a script without spaces it
// ends at the last of them. Empty if there are too few, or if they are far apart.
func OpeningText(text string) string {
	text = norm.NFC.String(text)
	start, end, count := -1, 0, 0
	for i, r := range text {
		if count >= openingLength {
			switch {
			case unicode.IsMark(r) && end == i:
				end += utf8.RuneLen(r)
			case unicode.IsSpace(r):
				return shownOpening(text, start, i)
			case count == openingLength+openingTail:
				return shownOpening(text, start, end)
			default:
				count++
			}
			continue
		}
		letters := lettersOf(r)
		if letters == 0 {
			continue
		}
		if start < 0 {
			start = i
		}
		end, count = i+utf8.RuneLen(r), min(count+letters, openingLength)
	}
	if count < openingLength {
		return ""
	}
	return shownOpening(text, start, len(text))
}

// lettersOf is how many letters and digits a rune has after Fold.
func lettersOf(r rune) (count int) {
	for _, r := range Fold(string(r)) {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			count++
		}
	}
	return count
}

func shownOpening(text string, start, end int) string {
	if end-start > openingBytes {
		return ""
	}
	isWord := func(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }
	shown := strings.Join(strings.Fields(strings.TrimRightFunc(text[start:end], func(r rune) bool { return !isWord(r) })), " ")
	if strings.ContainsFunc(text[end:], isWord) {
		shown += "…"
	}
	return shown
}

// CutSpoken cuts a spoken text that came without times to at most 280 code points: at the
// last white space, at 280 if there is none, trailing white space dropped. A text that
// is short enough is returned as it is.
func CutSpoken(text string) string { return cutAt(text, spokenLength) }

// cutAt is CutSpoken for another length.
func cutAt(text string, most int) string {
	count, end, space := 0, len(text), -1
	for i, r := range text {
		if unicode.IsSpace(r) {
			space = i // also one right behind the last
		}
		if count == most {
			end = i
			break
		}
		count++
	}
	if end == len(text) {
		return text
	}
	if space >= 0 {
		if cut := strings.TrimRightFunc(text[:space], unicode.IsSpace); cut != "" {
			return cut
		}
	}
	return strings.TrimRightFunc(text[:end], unicode.IsSpace)
}

// Hook is a hook as its list orders it.
type Hook struct {
	ID int64
	// Creator is one creator of one platform, 0 if unknown: unknown ones repeat no one.
	Creator int64
	// ChangedAt is when the evidence last changed; one moment for all of a scroll.
	ChangedAt int64
	// Opening is empty if there is none.
	Opening string
}

// SortHooks orders hooks for their list and returns how many of them, at the end, repeat
// one further up. Hooks of one creator with the same opening repeat each other; the one
// that changed last, then the lowest id, represents them. Newest change first, then id;
// after all of them the repetitions, in the same order: a creator who opens every video
// with one sentence has one place in the list.
func SortHooks(hooks []Hook) (repetitions int) {
	slices.SortFunc(hooks, func(a, b Hook) int {
		return cmp.Or(cmp.Compare(b.ChangedAt, a.ChangedAt), cmp.Compare(a.ID, b.ID))
	})
	type group struct {
		creator int64
		opening string
	}
	seen := make(map[group]bool, len(hooks))
	var later []Hook
	kept := hooks[:0]
	for _, h := range hooks {
		g := group{h.Creator, h.Opening}
		if h.Creator != 0 && h.Opening != "" && seen[g] {
			later = append(later, h)
			continue
		}
		seen[g] = true
		kept = append(kept, h)
	}
	copy(hooks[len(kept):], later)
	return len(later)
}
