package formats

import (
	"cmp"
	"encoding/json"
	"time"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/plugins/stage"
)

// fitsOwn takes whatever names a platform, so that one without an id is reported as such.
// Flat objects with such names are another tool's.
func fitsOwn(o *object) bool {
	if o.any("metrics", "metadata", "source", "evidence") {
		return o.any("externalId", "platform")
	}
	if o.any("views", "likes", "plays", "view_count", "viewCount", "play_count", "playCount", "like_count", "likeCount", "caption", "handle") {
		return false
	}
	return o.has("externalId") || o.has("platform") && !o.has("id") && len(holds(o)) == 0
}

func readOwn(d *draft, o *object) error {
	var own video
	// Strict, as its metadata travel on byte for byte.
	if err := jsonx.Unmarshal(o.raw, &own); err != nil {
		return err
	}
	if own.Platform == "" && own.ExternalID == "" {
		return errNoVideo
	}
	if !d.sample {
		own.PostedDaysAgo = nil
	}
	var err error
	if d.rec, d.doubtful, err = own.record(d.now); err != nil || d.doubtful == 0 {
		return err
	}
	m := &d.rec.Metrics
	for i, to := range []**int64{&m.Views, &m.Likes, &m.Comments, &m.Shares, &m.Saves, &m.Followers} {
		path := "metrics." + countFields[i]
		if n := o.number(path); n.bad && !n.hidden {
			d.doubtful--
			*to = d.shown(o, path, false)
		}
	}
	if d.rounded {
		m.Semantics = cmp.Or(m.Semantics, "rounded")
	}
	return nil
}

// video is one video in the feed's own form.
type video struct {
	Platform   text   `json:"platform"`
	ExternalID text   `json:"externalId"`
	SourceURL  text   `json:"sourceUrl"`
	PostedAt   moment `json:"postedAt"`
	// PostedDaysAgo counts back from the start of the run's day; only the sample
	// library uses it, so that its videos stay young.
	PostedDaysAgo *float64 `json:"postedDaysAgo"`
	CreatorID     text     `json:"creatorId"`
	Source        *struct {
		Kind     text `json:"kind"`
		Handle   text `json:"handle"`
		SeededBy text `json:"seededBy"`
	} `json:"source"`
	Metadata jsontext.Value `json:"metadata"`
	Metrics  struct {
		Views      number `json:"views"`
		Likes      number `json:"likes"`
		Comments   number `json:"comments"`
		Shares     number `json:"shares"`
		Saves      number `json:"saves"`
		ObservedAt moment `json:"observedAt"`
		Semantics  text   `json:"semantics"`
		Followers  number `json:"followers"`
	} `json:"metrics"`
	Evidence *struct {
		Spoken       *text          `json:"spoken"`
		OnScreenText *text          `json:"onScreenText"`
		Visual       jsontext.Value `json:"visual"`
		Language     text           `json:"language"`
	} `json:"evidence"`
	Cues     []cue     `json:"cues"`
	Stickers []sticker `json:"stickers"`
	Keys     []struct {
		Key   text `json:"key"`
		Label text `json:"label"`
	} `json:"keys"`
}

type cue struct {
	Start number `json:"start"`
	End   number `json:"end"`
	Text  text   `json:"text"`
}

type sticker struct {
	Text  text   `json:"text"`
	Start number `json:"start"`
}

var (
	errNoVideo = &fault{NoID, "platform or externalId is missing or unusable"}
	errTooDeep = &fault{Malformed, "metadata is nested too deeply"}
)

// record turns the video into what stages pass on. doubtful counts the values
// that made no sense and were left out.
func (v *video) record(now int64) (rec stage.Record, doubtful int, err error) {
	rec.Ref = stage.Ref{Platform: platformName(string(v.Platform)), ExternalID: string(v.ExternalID)}
	if rec.Platform == "" || !usableID(rec.ExternalID) {
		return rec, 0, errNoVideo
	}
	take := func(n number) *int64 {
		if n.bad {
			doubtful++
		}
		return n.value
	}
	rec.SourceURL = webAddress(string(v.SourceURL))
	if rec.SourceURL == "" && v.SourceURL != "" {
		doubtful++
	}
	rec.PostedAt = take(number(v.PostedAt))
	if v.PostedDaysAgo != nil && rec.PostedAt == nil {
		rec.PostedAt = daysAgo(now, *v.PostedDaysAgo)
	}
	rec.CreatorID = string(v.CreatorID)
	if v.Source != nil {
		rec.Source = &stage.Source{Kind: string(v.Source.Kind), Handle: string(v.Source.Handle), SeededBy: string(v.Source.SeededBy)}
	}
	rec.Metadata, err = usable(v.Metadata)
	if err != nil {
		return rec, 0, err
	}
	if rec.Metadata == nil && len(v.Metadata) > 0 && v.Metadata.Kind() != 'n' {
		doubtful++
	}
	m := v.Metrics
	rec.Metrics = stage.Metrics{
		Views: take(m.Views), Likes: take(m.Likes), Comments: take(m.Comments), Shares: take(m.Shares), Saves: take(m.Saves),
		ObservedAt: take(number(m.ObservedAt)), Semantics: string(m.Semantics), Followers: take(m.Followers),
	}
	v.evidence(&rec)
	rec.Keys = captionKeys(rec.Metadata)
	for _, key := range v.Keys {
		if key.Key != "" {
			label := string(key.Label)
			if label == "" {
				label = string(key.Key)
			}
			rec.Keys = append(rec.Keys, stage.Key{Key: string(key.Key), Label: label})
		}
	}
	return rec, doubtful, nil
}

func (v *video) evidence(rec *stage.Record) {
	if e := v.Evidence; e != nil {
		out := stage.Evidence{Spoken: (*string)(e.Spoken), OnScreenText: (*string)(e.OnScreenText), Language: stage.LanguageOf(string(e.Language))}
		if kind := e.Visual.Kind(); kind == '"' || kind == '{' {
			out.Visual = json.RawMessage(e.Visual)
		}
		if out.Spoken != nil || out.OnScreenText != nil || out.Visual != nil || out.Language != "" { // which may be of the cues
			rec.Evidence = &out
		}
	}
	for _, c := range v.Cues {
		if c.Start.value == nil || c.Text == "" {
			continue
		}
		end := *c.Start.value
		if c.End.value != nil && *c.End.value > end {
			end = *c.End.value
		}
		rec.Cues = append(rec.Cues, stage.Cue{Start: *c.Start.value, End: end, Text: string(c.Text)})
	}
	for _, s := range v.Stickers {
		if s.Text == "" {
			continue
		}
		var start int64
		if s.Start.value != nil {
			start = *s.Start.value
		}
		rec.Stickers = append(rec.Stickers, stage.Sticker{Text: string(s.Text), Start: start})
	}
}

// usable is raw where it is a JSON object that others can take, else nil.
func usable(raw jsontext.Value) (json.RawMessage, error) {
	if len(raw) == 0 || raw.Kind() != '{' {
		return nil, nil
	}
	depth, inside := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			if depth++; depth > 64 {
				return nil, errTooDeep
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return json.RawMessage(raw), nil
}

// captionKeys are the hashtags of the caption where the metadata lists none:
// what the source wrote stays as it is, and its tags still make trends.
func captionKeys(metadata json.RawMessage) []stage.Key {
	if len(metadata) == 0 {
		return nil
	}
	var have struct {
		Hashtags jsontext.Value `json:"hashtags"`
		Caption  text           `json:"caption"`
		Title    text           `json:"title"`
	}
	if err := jsonx.Unmarshal(metadata, &have); err != nil || have.Hashtags.Kind() == '[' {
		return nil
	}
	return tagKeys(Hashtags(string(have.Caption + "\n" + have.Title)))
}

func tagKeys(tags []string) []stage.Key {
	var keys []stage.Key
	for _, tag := range tags {
		keys = append(keys, stage.Key{Key: "hashtag:" + fold(tag), Label: "#" + tag})
	}
	return keys
}

// daysAgo is the time so many days before the day of now began.
func daysAgo(now int64, days float64) *int64 {
	const day = int64(24 * time.Hour / time.Millisecond)
	if !(days >= 0 && days < 36500) {
		return nil
	}
	at := now - now%day - int64(days*float64(day))
	return &at
}
