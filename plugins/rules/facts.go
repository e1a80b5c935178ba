package rules

import (
	"strings"
	"time"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	text string
	tags map[string]bool
	// tagStems are the tags as phrases are compared with them.
	tagStems map[string]bool
	// tagText are the tags without digits at their end, a space around each.
	tagText  string
	declared string
	// languages are worked out when they are first asked for.
	languages []string
	// stems are the stemmed words of the text, with a space around each.
	stems string
	// plain are the same words as they are written, in lower case.
	plain string
	// words are the stems of the text and of the tags.
	words []string
	// lower is the text in lower case.
	lower string
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
	f.split()
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
		if end := strings.IndexFunc(rest, func(r rune) bool { return !wordRune(r) }); end >= 0 {
			tag = rest[:end]
		}
		f.tags[strings.ToLower(tag)] = true
	}
	delete(f.tags, "")
}

// split makes the stemmed words of the text.
func (f *facts) split() {
	f.lower = strings.ToLower(f.text)
	var out, plain strings.Builder
	out.Grow(len(f.lower) + 2)
	plain.Grow(len(f.lower) + 2)
	out.WriteByte(' ')
	plain.WriteByte(' ')
	const usualWord = 6 // with the space after it
	f.words = make([]string, 0, len(f.lower)/usualWord+len(f.tags))
	for w := range strings.FieldsFuncSeq(f.lower, apart) {
		w = unelided(w)
		plain.WriteString(w)
		plain.WriteByte(' ')
		w = stemLower(w)
		f.words = append(f.words, w)
		out.WriteString(w)
		out.WriteByte(' ')
	}
	var tags strings.Builder
	f.tagStems = make(map[string]bool, 2*len(f.tags))
	for tag := range f.tags {
		whole := stem(tag)
		f.words = append(f.words, whole)
		f.tagStems[whole] = true
		if strings.Contains(tag, "_") {
			f.tagStems[stem(strings.ReplaceAll(tag, "_", ""))] = true
		}
		tags.WriteString(" " + strings.ReplaceAll(strings.TrimRight(tag, "0123456789"), "_", "") + " ")
	}
	f.tagText = tags.String()
	f.stems, f.plain = out.String(), plain.String()
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

// unelided is a word without what French and Italian run into it: "l’iphone", "d'apple".
func unelided(w string) string {
	head, rest, found := strings.Cut(w, "’")
	if !found {
		head, rest, found = strings.Cut(w, "'")
	}
	if found && len(rest) > 2 && strings.Contains(elided, " "+head+" ") {
		return rest
	}
	return w
}

const elided = " l d j m n s t c qu dell all nell sull dall un "

// stem takes off the commonest English endings, so that "giveaways" is found by
// "giveaway" and "political" by "politics". It is rough on purpose: both sides of
// a comparison go through it.
func stem(w string) string { return stemLower(strings.ToLower(w)) }

// stemLower is stem of a word in lower case.
func stemLower(w string) string {
	if w == "" {
		return w
	}
	if first, last := w[0], w[len(w)-1]; first == '\'' || first == '_' || first >= 0x80 || last == '\'' || last == '_' || last >= 0x80 {
		w = strings.Trim(w, "'’_")
	}
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
	if len(w) < 4 {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:len(w)-1]
	}
	switch {
	case strings.HasSuffix(w, "ing") && len(w) > 5:
		w = double(w[:len(w)-3])
	case strings.HasSuffix(w, "ed") && len(w) > 4:
		w = double(w[:len(w)-2])
	case strings.HasSuffix(w, "ical"):
		w = w[:len(w)-2]
	}
	if len(w) > 4 && strings.HasSuffix(w, "e") {
		w = w[:len(w)-1]
	}
	return w
}

// double takes "unboxx" and "planned" endings back to one letter.
func double(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}
