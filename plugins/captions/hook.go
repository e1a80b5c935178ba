package captions

import (
	"cmp"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollery/scrollery/plugins/stage"
)

// The windows of a hook, in milliseconds and code points.
const (
	spokenWindow  = 5000
	spokenLength  = 280
	stickerWindow = 3000
)

// spoken joins the cues that start within the first five seconds, each to its
// end. Rolling captions repeat the tail of the cue before; that is said once.
func spoken(cues []stage.Cue) string {
	opening := make([]stage.Cue, 0, 8)
	for _, cue := range cues {
		if cue.Start >= 0 && cue.Start < spokenWindow {
			opening = append(opening, cue)
		}
	}
	slices.SortStableFunc(opening, func(a, b stage.Cue) int { return cmp.Compare(a.Start, b.Start) })
	var said, shown []string // shown is the last line that was on the screen
	length := 0
	for _, cue := range opening {
		lines := words(plain(within(cue.Text, 16<<10)))
		if len(lines) == 0 {
			continue
		}
		next := slices.Concat(rolled(shown, lines)...)
		shown = lines[len(lines)-1]
		for _, word := range next[overlap(said, next):] {
			said = append(said, word)
			length += utf8.RuneCountInString(word) + 1
		}
		if length > spokenLength+1 {
			break // no more can be shown
		}
	}
	return cut(strings.Join(said, " "), spokenLength)
}

// words of each line that has any.
func words(text string) (lines [][]string) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, fields)
		}
	}
	return lines
}

// rolled leaves out the upper line of two where it is what the last cue ended
// with: there it rolled up, however few its words are.
func rolled(shown []string, lines [][]string) [][]string {
	if len(lines) > 1 && slices.EqualFunc(shown, lines[0], strings.EqualFold) {
		return lines[1:]
	}
	return lines
}

// within bounds a text before it is looked at closely.
func within(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "")
}

// mostRepeated is the longest tail, in words, that is looked for.
const mostRepeated = 60

// overlap is how many words at the start of next repeat the end of said. A single
// repeated word counts only where it is all that next says, or the cue goes on
// after a longer repetition: people do say a word twice.
func overlap(said, next []string) int {
	for n := min(len(said), len(next), mostRepeated); n > 0; n-- {
		if n == 1 && len(next) > 1 {
			return 0
		}
		if slices.EqualFunc(said[len(said)-n:], next[:n], strings.EqualFold) {
			return n
		}
	}
	return 0
}

// onScreen joins the lines of the stickers that appear within the first three
// seconds, each line once.
func onScreen(stickers []stage.Sticker) string {
	opening := slices.Clone(stickers)
	slices.SortStableFunc(opening, func(a, b stage.Sticker) int { return cmp.Compare(a.Start, b.Start) })
	var lines []string
	seen := map[string]bool{}
	for _, sticker := range opening {
		sticker.Text = within(sticker.Text, 16<<10)
		if sticker.Start < 0 || sticker.Start >= stickerWindow {
			continue
		}
		for line := range strings.Lines(sticker.Text) {
			line = strings.Join(strings.Fields(line), " ")
			if key := strings.ToLower(line); line != "" && !seen[key] {
				seen[key] = true
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// plain takes the markup of caption formats out of a cue's text: tags such as
// <c> and <00:00:01.500>, {\an8}, entities, and speaker marks (>>).
func plain(text string) string {
	if strings.ContainsAny(text, "<{") {
		text = withoutTags(text)
	}
	if strings.Contains(text, "&") {
		text = html.UnescapeString(text)
	}
	return strings.TrimPrefix(strings.TrimSpace(text), ">> ")
}

// withoutTags drops what looks like a tag; a < of other use stays.
func withoutTags(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '<' && i+1 < len(text) && (text[i+1] == '/' || isTag(text[i+1])):
			if end := strings.IndexByte(text[i:], '>'); end > 0 {
				i += end + 1
				continue
			}
		case c == '{' && i+1 < len(text) && text[i+1] == '\\':
			if end := strings.IndexByte(text[i:], '}'); end > 0 {
				i += end + 1
				continue
			}
		}
		out.WriteByte(text[i])
		i++
	}
	return out.String()
}

func isTag(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// cut shortens text to at most so many code points, at the end of a word where
// there is one in the second half.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text)
	end := most
	for end > most/2 && !unicode.IsSpace(runes[end]) {
		end--
	}
	if end == most/2 {
		end = most
	}
	return strings.TrimRightFunc(string(runes[:end]), unicode.IsSpace)
}
