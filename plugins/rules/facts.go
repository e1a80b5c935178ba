package rules

import (
	"strings"
	"time"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/internal/words"
	"github.com/scrollery/scrollery/plugins/stage"
)

// facts is what the checks see of a record.
type facts struct {
	now      time.Time
	platform string
	creator  string
	kind     string
	sound    string
	posted   *int64
	duration float64
	metrics  stage.Metrics
	// known is false if nothing at all is known of the video's words.
	known bool
	// text is what the caption, the title and the first seconds say.
	text     string
	tags     map[string]bool
	declared string
	// languages are worked out when they are first asked for.
	languages []string
	// Text is the text with its tags, to search it.
	words.Text
	// parts are the texts of which it is known where they are.
	parts map[Part]string
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

// look gathers the facts of a record.
func look(rec stage.Record, now time.Time) *facts {
	f := &facts{now: now, platform: rec.Platform, posted: rec.PostedAt, metrics: rec.Metrics, tags: map[string]bool{}}
	if rec.Source != nil {
		f.kind = rec.Source.Kind
		f.creator = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(rec.Source.Handle), "@"))
	}
	var m metadata
	if len(rec.Metadata) > 0 && jsonx.Unmarshal(rec.Metadata, &m, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		m = metadata{}
	}
	f.parts = partsOf(rec, m)
	var texts []string
	for _, part := range []Part{Caption, Speech, OnScreen} {
		if text := f.parts[part]; text != "" {
			texts = append(texts, text)
		}
	}
	f.text = clip(strings.Join(texts, "\n"), mostText)
	f.tag(m.Hashtags, rec.Keys)
	_, captioned := f.parts[Caption]
	f.known = captioned || f.text != "" || len(f.tags) > 0
	f.sound = strings.ToLower(strings.TrimSpace(string(m.SoundTitle) + " " + string(m.SoundID)))
	f.declared = strings.ToLower(string(m.Language))
	f.duration = seconds(m.Duration)
	f.Text = words.In(f.text, f.tags)
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
func (f *facts) tag(list jsontext.Value, keys []stage.Key) {
	var listed []flexible
	if list.Kind() == '[' && jsonx.Unmarshal(list, &listed) == nil {
		for _, tag := range listed[:min(len(listed), mostTags)] {
			f.tags[strings.ToLower(strings.TrimPrefix(string(tag), "#"))] = true
		}
	}
	for _, key := range keys {
		if tag, ok := strings.CutPrefix(key.Key, "hashtag:"); ok {
			f.tags[tag] = true
		}
	}
	rest := f.text
	for len(f.tags) < mostTags {
		at := strings.IndexByte(rest, '#')
		if at < 0 {
			break
		}
		rest = rest[at+1:]
		tag := rest
		if end := strings.IndexFunc(rest, func(r rune) bool { return !words.Rune(r) }); end >= 0 {
			tag = rest[:end]
		}
		f.tags[strings.ToLower(tag)] = true
	}
	delete(f.tags, "")
}

// rate is likes, or all reactions, by views.
func (f *facts) rate(likesOnly bool) (float64, bool) {
	m := f.metrics
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
