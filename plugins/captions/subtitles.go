package captions

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// subtitles takes cues from the texts of caption files in a record's metadata:
// `subtitles` and `automatic_captions` as yt-dlp names them ({"en": [{"ext":
// "vtt", "data": "…"}]}), a list of {ext, data}, or one text. Written ones go
// before automatic ones, the video's language and English before others. language is that
// of the speech; empty if the cues may be a translation.
func subtitles(metadata json.RawMessage) (cues []stage.Cue, language string) {
	if !maySubtitle(metadata) {
		return nil, ""
	}
	var have struct {
		Subtitles json.RawMessage `json:"subtitles"`
		Automatic json.RawMessage `json:"automatic_captions"`
		Language  any             `json:"language"`
	}
	if json.Unmarshal(metadata, &have) != nil {
		return nil, ""
	}
	own, _ := have.Language.(string)
	for _, raw := range []json.RawMessage{have.Subtitles, have.Automatic} {
		for _, track := range tracks(raw, own) {
			if cues := Parse(track.Data); len(cues) > 0 {
				return cues, stage.LanguageOf(track.language)
			}
		}
	}
	return nil, ""
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

// file is a caption file.
type file struct {
	Data string `json:"data"`
	// language is that of the speech, as the file is named or says itself; empty if it may
	// be a translation.
	language string
}

// tracks are the caption files of a member, in the order in which they are tried. own is the
// language that the metadata gives the video.
func tracks(raw json.RawMessage, own string) []file {
	var text string
	var list []file
	var byLanguage map[string]json.RawMessage
	switch {
	case len(raw) == 0:
		return nil
	case json.Unmarshal(raw, &text) == nil:
		return withData([]file{{Data: text}}, "")
	case json.Unmarshal(raw, &list) == nil:
		return withData(list, "")
	case json.Unmarshal(raw, &byLanguage) != nil:
		return nil
	}
	languages := make([]string, 0, len(byLanguage))
	for name := range byLanguage {
		languages = append(languages, name)
	}
	isOwn := func(name string) bool { return own != "" && (name == own || strings.HasPrefix(name, own+"-")) }
	rank := func(name string) int {
		switch {
		case isOwn(name):
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
	var all []file
	for _, name := range languages {
		spoken := ""
		// Of several, only the video's own is what is said: the others are translations.
		if isOwn(name) || own == "" && len(languages) == 1 || strings.HasSuffix(name, original) {
			spoken = name
		}
		var list []file
		var text string
		if json.Unmarshal(byLanguage[name], &list) != nil && json.Unmarshal(byLanguage[name], &text) == nil {
			list = []file{{Data: text}}
		}
		all = append(all, withData(list, cmp.Or(spoken, unknown))...)
	}
	return all
}

const (
	// original ends the name of the automatic captions that were not translated.
	original = "-orig"
	// unknown is no language: what a file says of itself is not asked.
	unknown = "und"
)

// withData leaves out files without a text. Where nothing names their language, they may
// say it themselves.
func withData(files []file, language string) (all []file) {
	for _, f := range files {
		if f.Data != "" {
			f.language = cmp.Or(language, headed(f.Data))
			all = append(all, f)
		}
	}
	return all
}

// headed is the language in the head of a WebVTT file, as YouTube writes it.
func headed(text string) string {
	if !strings.HasPrefix(strings.TrimPrefix(text, "\ufeff"), "WEBVTT") {
		return ""
	}
	for n, line := range strings.SplitN(within(text, 1<<10), "\n", 6) {
		if language, found := strings.CutPrefix(strings.TrimSpace(line), "Language:"); found && n > 0 {
			return language
		}
		if strings.TrimSpace(line) == "" {
			break
		}
	}
	return ""
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
