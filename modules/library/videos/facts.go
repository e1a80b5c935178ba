package videos

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// maxKeyBytes bounds a trend key: it ends a sort key, which must fit a page token.
	maxKeyBytes = 128
	// maxKeys bounds the keys of one video; the first ones count.
	maxKeys = 100
)

// creatorHandle is a handle as the platform writes it in addresses.
func creatorHandle(handle string) string {
	return strings.TrimPrefix(strings.TrimSpace(clean(handle)), "@")
}

// facts is what scoring and trends need of a video's metadata.
type facts struct {
	Hashtags            []string
	soundID, soundTitle string
	Duration            int64 // milliseconds; 0 if unknown
	// for searches
	caption, title, language string
	// how a Short was recognised, and what its page calls it
	basis, mediaType string
}

// FactsOf reads a video's metadata. What is not of the expected form is unknown.
func FactsOf(metadata []byte) (f facts) {
	meta, ok := readMeta(metadata)
	if !ok {
		return f
	}
	eachElement(meta.hashtags, func(raw []byte) { f.Hashtags = append(f.Hashtags, plain(raw)) }) // anything but a list holds none
	f.soundID, f.soundTitle = strings.TrimSpace(plain(meta.soundID)), strings.TrimSpace(plain(meta.soundTitle))
	f.caption, f.title, f.language = plain(meta.caption), plain(meta.title), plain(meta.language)
	f.basis, f.mediaType = plain(meta.basis), plain(meta.mediaType)
	if len(meta.duration) == 0 {
		return f
	}
	seconds, err := strconv.ParseFloat(plain(meta.duration), 64)
	if err == nil && seconds > 0 && seconds < longestVideo {
		f.Duration = max(int64(seconds*1000), 1)
	}
	return f
}

// meta are members of metadata as they are written there.
type meta struct {
	hashtags, soundID, soundTitle, duration, caption, title, description, language, basis, mediaType []byte
}

// metaMember is a member by its name.
type metaMember struct {
	name string
	of   func(*meta) *[]byte
}

// metaMembers are all of them. They must not be changed.
var metaMembers = [...]metaMember{
	{"hashtags", func(m *meta) *[]byte { return &m.hashtags }},
	{"soundId", func(m *meta) *[]byte { return &m.soundID }},
	{"soundTitle", func(m *meta) *[]byte { return &m.soundTitle }},
	{durationMember, func(m *meta) *[]byte { return &m.duration }},
	{"caption", func(m *meta) *[]byte { return &m.caption }},
	{"title", func(m *meta) *[]byte { return &m.title }},
	{"description", func(m *meta) *[]byte { return &m.description }},
	{"language", func(m *meta) *[]byte { return &m.language }},
	{basisMember, func(m *meta) *[]byte { return &m.basis }},
	{mediaMember, func(m *meta) *[]byte { return &m.mediaType }},
}

// member is the place of a member, nil for others. Case does not count.
func (m *meta) member(name []byte) *[]byte {
	for i := range metaMembers {
		if one := &metaMembers[i]; len(name) == len(one.name) && strings.EqualFold(string(name), one.name) {
			return one.of(m)
		}
	}
	return nil
}

// readMeta reads metadata, an object in valid JSON; of members of one name the last one
// counts.
func readMeta(metadata []byte) (m meta, ok bool) {
	ok = eachPlainMember(metadata, func(name, value []byte) {
		if place := m.member(name); place != nil {
			*place = value
		}
	})
	if ok {
		return m, true
	}
	var slow struct { // names that are written in another way, too
		Hashtags, SoundID, SoundTitle, DurationSeconds, Caption, Title, Description, Language, FormatBasis, MediaType json.RawMessage
	}
	if json.Unmarshal(metadata, &slow) != nil {
		return meta{}, false
	}
	return meta{slow.Hashtags, slow.SoundID, slow.SoundTitle, slow.DurationSeconds, slow.Caption, slow.Title, slow.Description, slow.Language, slow.FormatBasis, slow.MediaType}, true
}

// longestVideo bounds a duration in seconds; beyond a year it is no duration.
const longestVideo = 366 * 24 * 3600

// TrendKeys are the keys that metadata gives: hashtags and sound.
func (f *facts) TrendKeys(platform string) []stage.Key {
	keys := []stage.Key{}
	for _, tag := range f.Hashtags {
		if key, ok := score.HashtagKey(tag); ok {
			keys = addKey(keys, stage.Key(key))
		}
	}
	if f.soundID != "" {
		label := f.soundTitle
		if label == "" {
			label = f.soundID
		}
		keys = addKey(keys, stage.Key{Key: "sound:" + platform + ":" + f.soundID, Label: label})
	}
	return keys
}

// hookKeys are the keys that the library itself finds in the evidence: patterns that need
// no language, and the opening.
func (h *Hook) keys() (keys []stage.Key) {
	var texts []string
	for _, text := range []*string{h.Spoken, h.OnScreenText} {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	for _, key := range score.Patterns(texts...) {
		keys = append(keys, stage.Key(key))
	}
	if opening := h.opening(); opening != "" {
		keys = append(keys, stage.Key(score.OpeningKey(opening, opens(h.Spoken, h.OnScreenText))))
	}
	return keys
}

// opening is the hook's opening, empty if there is none.
func (h *Hook) opening() string {
	if h.known == nil {
		opening := openingOf(h.Spoken, h.OnScreenText)
		h.known = &opening
	}
	return *h.known
}

// opens is the text that has the opening: what is said, else what the screen shows.
func opens(spoken, onScreenText *string) string {
	for _, text := range []*string{spoken, onScreenText} {
		if text != nil && strings.TrimSpace(*text) != "" {
			return *text
		}
	}
	return ""
}

func openingOf(spoken, onScreenText *string) string {
	start := opens(spoken, onScreenText)
	// The first words mostly have all of it, and nothing of a word depends on those behind it.
	if end := strings.LastIndexByte(start[:min(len(start), openingBytes)], ' '); end > 0 {
		if opening := score.Opening(start[:end], ""); opening != "" {
			return opening
		}
	}
	return score.Opening(start, "")
}

// openingBytes are enough words for most openings.
const openingBytes = 64

// plain is the text of a JSON string or number, empty for all else.
func plain(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	if raw[0] == '"' {
		if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
			return string(raw[1 : len(raw)-1])
		}
		s, _ := jsontext.AppendUnquote(nil, raw) // sound already, as part of a sound object
		return string(s)
	}
	if raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' {
		return string(raw)
	}
	return ""
}

// addKey adds a key that is new, short enough and of one line.
func addKey(keys []stage.Key, key stage.Key) []stage.Key {
	key.Key, key.Label = line(key.Key), line(key.Label)
	known := slices.ContainsFunc(keys, func(k stage.Key) bool { return k.Key == key.Key })
	if known || key.Key == "" || len(key.Key) > maxKeyBytes || len(keys) == maxKeys {
		return keys
	}
	return append(keys, key)
}

// line makes text fit for a line of packed keys.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, clean(s))
}

// fromMetadata reports whether metadata gives the key.
func fromMetadata(key stage.Key) bool {
	return strings.HasPrefix(key.Key, "hashtag:") || strings.HasPrefix(key.Key, "sound:")
}

// fromHook reports whether the library itself gives the key. No stage does: what such a key
// means is the same for all videos.
func fromHook(key stage.Key) bool {
	switch key.Key {
	case "hook:question", "hook:number", "hook:short", "hook:quote":
		return true
	}
	return strings.HasPrefix(key.Key, "opening:")
}

// packKeys writes keys as text: one a line, with a tab before the label.
func packKeys(keys []stage.Key) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(key.Key + "\t" + key.Label + "\n")
	}
	return b.String()
}

func unpackKeys(text string) []stage.Key {
	var keys []stage.Key
	for key, label := range PackedKeys(text) {
		keys = append(keys, stage.Key{Key: key, Label: label})
	}
	return keys
}

// PackedKeys are the keys and labels of packed text, as parts of it.
func PackedKeys(text string) iter.Seq2[string, string] {
	return func(yield func(key, label string) bool) {
		for text := text; text != ""; {
			var row string
			row, text, _ = strings.Cut(text, "\n")
			if key, label, _ := strings.Cut(row, "\t"); !yield(key, label) {
				return
			}
		}
	}
}
