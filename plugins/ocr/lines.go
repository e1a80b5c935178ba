package ocr

import (
	"strconv"
	"strings"
	"unicode"
)

// What tesseract is not sure of is mostly no text at all, but a pattern of the
// picture. Confidence is 0 to 100.
const (
	minWord = 50
	minLine = 65
	// minLetters is the least a line has of letters and digits.
	minLetters = 2
	// maxLines of so many characters are kept of one frame.
	maxLines  = 50
	maxLength = 200
)

// line is one of a frame's.
type line struct {
	text       string
	confidence float64
}

// lines reads tesseract's table: level, page, block, paragraph, line, word, left,
// top, width, height, confidence, text.
func lines(table string) []line {
	var all []line
	var words []word
	var place string
	flush := func() {
		if one, ok := join(words); ok && len(all) < maxLines {
			all = append(all, one)
		}
		words = nil
	}
	for row := range strings.Lines(table) {
		columns := strings.SplitN(strings.TrimRight(row, "\r\n"), "\t", 12)
		if len(columns) < 12 || columns[0] != "5" {
			continue
		}
		if here := strings.Join(columns[1:5], " "); here != place {
			flush()
			place = here
		}
		confidence, err := strconv.ParseFloat(columns[10], 64)
		if text := printable(columns[11]); err == nil && text != "" && confidence >= minWord {
			words = append(words, word{text, confidence})
		}
	}
	flush()
	return all
}

type word struct {
	text       string
	confidence float64
}

// join makes a line of words, where they are likely to be one.
func join(words []word) (line, bool) {
	var texts []string
	var sum float64
	letters := 0
	for _, w := range words {
		texts = append(texts, w.text)
		sum += w.confidence
		for _, r := range w.text {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				letters++
			}
		}
	}
	text := within(strings.Join(texts, " "), maxLength)
	if letters < minLetters || letters*2 < len([]rune(text)) {
		return line{}, false
	}
	confidence := sum / float64(len(words))
	return line{text, confidence}, confidence >= minLine
}

// printable drops what is no text.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text))
}

// merge adds the lines of a later frame. A line that is there already, or was read
// a little differently, is kept once, as it was read best.
func merge(have, more []line) []line {
	for _, one := range more {
		at := -1
		for i, old := range have {
			if alike(old.text, one.text) {
				at = i
				break
			}
		}
		switch {
		case at < 0:
			have = append(have, one)
		case one.confidence > have[at].confidence:
			have[at] = one
		}
	}
	return have
}

// alike tells whether two lines are the same but for an error of reading or two.
func alike(a, b string) bool {
	x, y := bare(a), bare(b)
	most := max(len(x), len(y)) / 6
	if string(x) == string(y) {
		return true
	}
	return abs(len(x)-len(y)) <= most && !countsDiffer(x, y) && distance(x, y) <= most
}

// countsDiffer tells whether the lines have other digits: `Day 1` is not `Day 2`,
// however alike they look.
func countsDiffer(a, b []rune) bool { return digits(a) != digits(b) }

func digits(text []rune) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, string(text))
}

// bare keeps letters and digits, in lower case.
func bare(text string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text))
}

// distance is how many letters are to be changed, added or left out.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		above := row[0]
		row[0] = i + 1
		for j := range b {
			change := above
			if a[i] != b[j] {
				change++
			}
			above = row[j+1]
			row[j+1] = min(change, row[j]+1, above+1)
		}
	}
	return row[len(b)]
}

func abs(n int) int { return max(n, -n) }
