package ocr

import (
	"strconv"
	"strings"
	"unicode"
)

// What tesseract is not sure of is mostly no text at all, but a pattern of the
// picture. Confidence is 0 to 100.
const (
	minWord = 60
	minLine = 72
	// minLetters is the least a line has of letters and digits.
	minLetters = 3
	// smallest is the part of a picture's height that a word has at least.
	smallest = 1.0 / 70
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
	least := 0.0
	flush := func() {
		if one, ok := join(words); ok && len(all) < maxLines {
			all = append(all, one)
		}
		words = nil
	}
	for row := range strings.Lines(table) {
		columns := strings.SplitN(strings.TrimRight(row, "\r\n"), "\t", 12)
		if len(columns) < 12 {
			continue
		}
		height, _ := strconv.ParseFloat(columns[9], 64)
		if columns[0] == "1" {
			least = height * smallest // the page
		}
		if columns[0] != "5" {
			continue
		}
		if here := strings.Join(columns[1:5], " "); here != place {
			flush()
			place = here
		}
		confidence, err := strconv.ParseFloat(columns[10], 64)
		if text := printable(columns[11]); err == nil && text != "" && confidence >= minWord && height >= least {
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

// merge adds the lines of another picture. A line that is there already, was read
// a little differently, or is a part of another is kept once, as it was read best.
func merge(have, more []line) []line {
	for _, one := range more {
		if !replace(have, one) {
			have = append(have, one)
		}
	}
	return whole(have)
}

// replace reports whether a line is among others, and keeps the better reading.
func replace(have []line, one line) bool {
	for i, old := range have {
		if alike(old.text, one.text) {
			if one.confidence > old.confidence {
				have[i] = one
			}
			return true
		}
	}
	return false
}

// whole leaves out what is a part of another line.
func whole(all []line) []line {
	bares := make([]string, len(all))
	for i, one := range all {
		bares[i] = string(bare(one.text))
	}
	var kept []line
	for i, one := range all {
		part := false
		for j, other := range bares {
			part = part || i != j && strings.Contains(other, bares[i]) && (len(other) > len(bares[i]) || j < i)
		}
		if !part {
			kept = append(kept, one)
		}
	}
	return kept
}

// alike reports whether two lines are the same but for an error of reading or two.
func alike(a, b string) bool {
	x, y := bare(a), bare(b)
	most := max(len(x), len(y)) / 6
	if string(x) == string(y) {
		return true
	}
	return abs(len(x)-len(y)) <= most && !countsDiffer(x, y) && distance(x, y) <= most
}

// countsDiffer reports whether the lines have other digits: `Day 1` is not `Day 2`,
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
