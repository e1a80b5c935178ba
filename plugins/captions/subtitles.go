package captions

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// subtitles takes cues from the texts of caption files in a record's metadata:
// `subtitles` and `automatic_captions` as yt-dlp names them ({"en": [{"ext":
// "vtt", "data": "…"}]}), a list of {ext, data}, or one text. Written ones go
// before automatic ones, the video's language and English before others.
func subtitles(metadata json.RawMessage) []stage.Cue {
	if !maySubtitle(metadata) {
		return nil
	}
	var have struct {
		Subtitles json.RawMessage `json:"subtitles"`
		Automatic json.RawMessage `json:"automatic_captions"`
		Language  any             `json:"language"`
	}
	if json.Unmarshal(metadata, &have) != nil {
		return nil
	}
	language, _ := have.Language.(string)
	for _, raw := range []json.RawMessage{have.Subtitles, have.Automatic} {
		for _, data := range texts(raw, language) {
			if cues := Parse(data); len(cues) > 0 {
				return cues
			}
		}
	}
	return nil
}

// maySubtitle is false for most metadata without texts of caption files: neither of the
// members has its name there, in any case, and no name is written with escapes. The first and
// last letters are left out, as other ones than s count as s in the names of members.
func maySubtitle(metadata []byte) bool {
	for at := 0; at < len(metadata); at++ {
		rest := metadata[at:]
		switch metadata[at] {
		case 'b', 'B': // subtitles
			if begins(rest, "btitle") {
				return true
			}
		case '_': // automatic_captions
			if begins(rest, "_caption") {
				return true
			}
		case '\\':
			if begins(rest, `\u`) {
				return true
			}
			at++ // what it escapes
		}
	}
	return false
}

// begins reports whether a text begins with letters of ASCII, in any case.
func begins(text []byte, with string) bool {
	return len(text) >= len(with) && strings.EqualFold(string(text[:len(with)]), with)
}

type file struct {
	Data string `json:"data"`
}

func texts(raw json.RawMessage, language string) []string {
	var text string
	var list []file
	var byLanguage map[string]json.RawMessage
	switch {
	case len(raw) == 0:
		return nil
	case json.Unmarshal(raw, &text) == nil:
		return []string{text}
	case json.Unmarshal(raw, &list) == nil:
		return datas(list)
	case json.Unmarshal(raw, &byLanguage) != nil:
		return nil
	}
	languages := make([]string, 0, len(byLanguage))
	for name := range byLanguage {
		languages = append(languages, name)
	}
	rank := func(name string) int {
		switch {
		case language != "" && (name == language || strings.HasPrefix(name, language+"-")):
			return 0
		case strings.HasPrefix(name, "en"):
			return 1
		}
		return 2
	}
	slices.SortFunc(languages, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var all []string
	for _, name := range languages {
		all = append(all, texts(byLanguage[name], language)...)
	}
	return all
}

func datas(list []file) []string {
	var all []string
	for _, f := range list {
		if f.Data != "" {
			all = append(all, f.Data)
		}
	}
	return all
}

// Parse reads the text of a caption file: WebVTT, SubRip, or YouTube's json3,
// by their form. What is no cue is left out, and a file that breaks off
// or breaks the rules gives the cues that it has: the known libraries give none then.
func Parse(text string) []stage.Cue {
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return parseJSON3(text)
	}
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
	var cues []stage.Cue
	var open *stage.Cue
	for n, line := range lines {
		if start, end, ok := timing(line); ok {
			if len(cues) == maxCues {
				break
			}
			cues = append(cues, stage.Cue{Start: start, End: end})
			open = &cues[len(cues)-1]
			continue
		}
		switch {
		case open == nil:
		case strings.TrimSpace(line) == "":
			if closes(lines[n:]) {
				open = nil
			}
		case open.Text == "":
			open.Text = line
		default:
			open.Text += "\n" + line
		}
	}
	return slices.DeleteFunc(cues, func(c stage.Cue) bool { return strings.TrimSpace(c.Text) == "" })
}

// closes reports whether a line without text ends a cue. An empty one does. One of
// spaces is in cues of automatic captions for the line that is still empty;
// in files that were edited by hand it is followed by a number or the next times.
func closes(lines []string) bool {
	if lines[0] == "" || len(lines) < 2 {
		return true
	}
	next := strings.TrimSpace(lines[1])
	_, err := strconv.ParseUint(next, 10, 32)
	_, _, times := timing(next)
	return next == "" || times || err == nil
}

// maxCues bounds what is held of one file; the opening is far before it.
const maxCues = 20_000

// timing reads `00:01.500 --> 00:04.000 …`, with a comma or a point.
func timing(line string) (start, end int64, ok bool) {
	from, to, found := strings.Cut(line, "-->")
	if !found {
		return 0, 0, false
	}
	to, _, _ = strings.Cut(strings.TrimSpace(to), " ")
	start, ok1 := clock(strings.TrimSpace(from))
	end, ok2 := clock(strings.TrimSpace(to))
	return start, max(start, end), ok1 && ok2
}

// clock is [h:]mm:ss[.fff] in milliseconds.
func clock(s string) (ms int64, ok bool) {
	s = strings.Replace(s, ",", ".", 1)
	whole, fraction, _ := strings.Cut(s, ".")
	parts := strings.Split(whole, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	for _, part := range parts {
		n, err := strconv.ParseUint(part, 10, 24)
		if err != nil {
			return 0, false
		}
		ms = ms*60 + int64(n)
	}
	ms *= 1000
	if fraction != "" {
		n, err := strconv.ParseUint((fraction + "00")[:3], 10, 16)
		if err != nil {
			return 0, false
		}
		ms += int64(n)
	}
	return ms, true
}
