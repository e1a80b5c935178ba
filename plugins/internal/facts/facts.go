// Package facts is what a stage can know of a record: whose it is, its counts, and what it says,
// in all and in its parts. What strangers wrote is read, and never followed.
package facts

import (
	"strings"
	"time"
	"unicode/utf8"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/internal/language"
	"github.com/scrollery/scrollery/plugins/internal/words"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Part is a part of what a video says.
type Part string

// The parts. Speech and on-screen text are known once an evidence stage has read them.
const (
	Speech   Part = "speech"
	OnScreen Part = "on-screen text"
	Caption  Part = "caption"
	Hook     Part = "hook"
)

// Facts are what is known of a record.
type Facts struct {
	// Now is when ages are counted from.
	Now time.Time

	Platform, Creator, Kind, Sound string

	Posted   *int64
	Duration float64
	Metrics  stage.Metrics
	// Known is false if nothing at all is known of the video's words.
	Known bool
	// Written is what the caption, the title and the first seconds say.
	Written string
	Tags    map[string]bool
	// Declared is the language that the source names.
	Declared string
	// Text is what is written with its tags, to search it.
	words.Text
	// Parts are the texts of which it is known where they are.
	Parts map[Part]string

	// languages are worked out when they are first asked for.
	languages []string
}

// flexible is a JSON string or a number; anything else is empty.
type flexible string

func (t *flexible) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if kind := dec.PeekKind(); kind != '"' && kind != '0' {
		*t = ""
		return dec.SkipValue()
	}
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	*t = flexible(token.String())
	return nil
}

type metadata struct {
	Caption     *flexible      `json:"caption"`
	Title       *flexible      `json:"title"`
	Description flexible       `json:"description"`
	Hashtags    jsontext.Value `json:"hashtags"`
	SoundTitle  flexible       `json:"soundTitle"`
	SoundID     flexible       `json:"soundId"`
	Language    flexible       `json:"language"`
	Duration    jsontext.Value `json:"durationSeconds"`
}

// The bounds of what is searched of one record.
const (
	mostText = 64 << 10
	mostTags = 500
)

// Of gathers the facts of a record.
func Of(rec stage.Record, now time.Time) *Facts {
	f := &Facts{Now: now, Platform: rec.Platform, Posted: rec.PostedAt, Metrics: rec.Metrics, Tags: map[string]bool{}}
	if rec.Source != nil {
		f.Kind = rec.Source.Kind
		f.Creator = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(rec.Source.Handle), "@"))
	}
	var m metadata
	if len(rec.Metadata) > 0 && jsonx.Unmarshal(rec.Metadata, &m, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		m = metadata{}
	}
	f.Parts = partsOf(rec, m)
	var texts []string
	for _, part := range []Part{Caption, Speech, OnScreen} {
		if text := f.Parts[part]; text != "" {
			texts = append(texts, text)
		}
	}
	f.Written = words.Clip(strings.Join(texts, "\n"), mostText)
	f.tag(m.Hashtags, rec.Keys)
	_, captioned := f.Parts[Caption]
	f.Known = captioned || f.Written != "" || len(f.Tags) > 0
	f.Sound = strings.ToLower(strings.TrimSpace(string(m.SoundTitle) + " " + string(m.SoundID)))
	f.Declared = strings.ToLower(string(m.Language))
	f.Duration = seconds(m.Duration)
	f.Text = words.In(f.Written, f.Tags)
	return f
}

func seconds(raw jsontext.Value) float64 {
	var n float64
	if raw.Kind() != '0' || jsonx.Unmarshal(raw, &n) != nil {
		return 0
	}
	return n
}

// tag gathers the hashtags that are listed, keyed, or in the text.
func (f *Facts) tag(list jsontext.Value, keys []stage.Key) {
	var listed []flexible
	if list.Kind() == '[' && jsonx.Unmarshal(list, &listed) == nil {
		for _, tag := range listed[:min(len(listed), mostTags)] {
			f.Tags[strings.ToLower(strings.TrimPrefix(string(tag), "#"))] = true
		}
	}
	for _, key := range keys {
		if tag, ok := strings.CutPrefix(key.Key, "hashtag:"); ok {
			f.Tags[tag] = true
		}
	}
	rest := f.Written
	for len(f.Tags) < mostTags {
		at := strings.IndexByte(rest, '#')
		if at < 0 {
			break
		}
		rest = rest[at+1:]
		tag := rest
		if end := strings.IndexFunc(rest, func(r rune) bool { return !words.Rune(r) }); end >= 0 {
			tag = rest[:end]
		}
		f.Tags[strings.ToLower(tag)] = true
	}
	delete(f.Tags, "")
}

// Rate is likes, or all reactions, by views.
func (f *Facts) Rate(likesOnly bool) (float64, bool) {
	m := f.Metrics
	if m.Views == nil || *m.Views <= 0 || m.Likes == nil {
		return 0, false
	}
	sum := float64(*m.Likes)
	if !likesOnly {
		for _, n := range []*int64{m.Comments, m.Shares, m.Saves} {
			if n != nil {
				sum += float64(*n)
			}
		}
	}
	return sum / float64(*m.Views), true
}

// partsOf gives the texts of which it is known where they are. Speech and on-screen text
// are there once they were looked for, and empty if there are none.
func partsOf(rec stage.Record, m metadata) map[Part]string {
	parts := map[Part]string{}
	add := func(part Part, text *string) {
		if text != nil {
			parts[part] = words.Clip(strings.Trim(parts[part]+"\n"+*text, "\n"), mostText)
		}
	}
	add(Caption, (*string)(m.Caption))
	add(Caption, (*string)(m.Title))
	if m.Description != "" {
		add(Caption, (*string)(&m.Description))
	}
	if e := rec.Evidence; e != nil {
		add(Speech, e.Spoken)
		add(OnScreen, e.OnScreenText)
	}
	for _, cue := range rec.Cues[:min(len(rec.Cues), 50)] {
		add(Speech, &cue.Text)
	}
	for _, sticker := range rec.Stickers[:min(len(rec.Stickers), 50)] {
		add(OnScreen, &sticker.Text)
	}
	for _, part := range []Part{Speech, OnScreen} { // as the hook's opening: speech first
		if text, known := parts[part]; known && parts[Hook] == "" {
			parts[Hook] = text
		}
	}
	return parts
}

// Part are the facts of one part of the text; nil if it is not known.
func (f *Facts) Part(of Part) *Facts {
	text, known := f.Parts[of]
	if !known {
		return nil
	}
	one := &Facts{Now: f.Now, Known: true, Written: text, Tags: map[string]bool{}}
	one.tag(nil, nil)
	one.Text = words.In(text, one.Tags)
	return one
}

// Asks reports whether the first sentence of the hook is a question, if it has one.
func (f *Facts) Asks() (asks, known bool) {
	hook, known := f.Parts[Hook]
	if !known || strings.TrimSpace(hook) == "" {
		return false, false
	}
	if end := strings.IndexAny(hook, "?？؟.!。！\n"); end >= 0 {
		r, _ := utf8.DecodeRuneInString(hook[end:])
		return strings.ContainsRune("?？؟", r), true
	}
	return false, true
}

// Languages are the language that the source declares, else those that the text
// may be in; none where it is unclear.
func (f *Facts) Languages() []string {
	if f.languages == nil {
		if declared := language.Code(f.Declared); declared != "" {
			f.languages = []string{declared}
		} else {
			f.languages = append([]string{}, language.Guess(f.Written)...)
		}
	}
	return f.languages
}
