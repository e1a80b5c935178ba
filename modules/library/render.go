package library

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/search"
	"github.com/scrollery/scrollery/plugins/stage"
)

// texts is how a video is stored: JSON text that lists join, rendered when the
// video changes and never when it is read.
type texts struct {
	// doc is the API's Video.
	doc string
	// hook holds the members of a Hook after its video; nil without evidence.
	hook *string
	// keys are the trend keys, packed.
	keys string
}

// asWritten keeps the text of metadata as it is, and replaces broken UTF-8 elsewhere.
func asWritten() json.Options {
	return json.JoinOptions(jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// Render returns the texts of the video.
func (v *Video) Render() (made texts, err error) {
	doc, err := json.Marshal(v, asWritten())
	if err != nil {
		return made, fmt.Errorf("render video %d: %w", v.id, err)
	}
	made.doc, made.keys = string(doc), packKeys(v.Keys)
	if v.Hook.Version > 0 {
		members, err := json.Marshal(v.Hook, asWritten())
		if err != nil {
			return made, fmt.Errorf("render hook of video %d: %w", v.id, err)
		}
		hook := "," + string(members[1:])
		made.hook = &hook
	}
	return made, nil
}

// terms are the terms that a search finds the video by.
func (v *Video) terms() string {
	known := v.facts()
	text := search.Text{
		Words: []string{known.caption, known.title}, Handle: v.identity.handle, Hashtags: known.hashtags, Language: known.language,
		Annotated: len(v.Annotations) > 0 && string(v.Annotations) != "null",
	}
	for _, part := range []*string{v.Hook.Spoken, v.Hook.OnScreenText} {
		if part != nil {
			text.Words = append(text.Words, *part)
		}
	}
	return text.Terms()
}

// parse reads back what Render returned.
func (v *Video) parse(stored texts) error {
	v.known = nil
	if err := json.Unmarshal([]byte(stored.doc), v, asWritten()); err != nil {
		return fmt.Errorf("read video %d: %w", v.id, err)
	}
	if stored.hook != nil {
		if err := json.Unmarshal([]byte("{"+(*stored.hook)[1:]), &v.Hook, asWritten()); err != nil {
			return fmt.Errorf("read hook of video %d: %w", v.id, err)
		}
	}
	v.Keys = unpackKeys(stored.keys)
	return nil
}

// appendOutlier appends an outlier's own members, after its video.
func appendOutlier(b []byte, score, baseline float64, peers int, observedAt int64) []byte {
	b = jsontext.AppendFloat(append(b, `,"score":`...), score, 64)
	b = jsontext.AppendFloat(append(b, `,"baselineViews":`...), baseline, 64)
	b = strconv.AppendInt(append(b, `,"sampleCount":`...), int64(peers), 10)
	b = strconv.AppendInt(append(b, `,"observedAt":`...), observedAt, 10)
	return append(b, '}')
}

// renderTrend returns a Trend without its examples, open at the end.
func renderTrend(t *score.Trend) (string, error) {
	type metrics struct {
		VideoCount           int     `json:"videoCount"`
		MedianGrowthMultiple float64 `json:"medianGrowthMultiple"`
	}
	text, err := json.Marshal(struct {
		Key     string  `json:"key"`
		Label   string  `json:"label"`
		Metrics metrics `json:"metrics"`
	}{t.Key, t.Label, metrics{t.VideoCount, t.MedianGrowth.Float64()}}, asWritten())
	if err != nil {
		return "", fmt.Errorf("render trend: %w", err)
	}
	return string(text[:len(text)-1]) + `,"examples":[`, nil
}

// appendString appends s as a JSON string. Broken UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error reports what was replaced
	return dst
}

// sourceURL is the public page of a video, where the platform's form is known.
// The handle, where there is one, makes TikTok's address the usual one.
func sourceURL(ref stage.Ref, origin *Origin) string {
	id := url.PathEscape(ref.ExternalID)
	switch ref.Platform {
	case "tiktok":
		handle := ""
		if origin != nil && origin.Handle != nil {
			handle = creatorHandle(*origin.Handle)
		}
		if handle == "" {
			handle = "_"
		}
		return "https://www.tiktok.com/@" + url.PathEscape(handle) + "/video/" + id
	case "youtube":
		return "https://www.youtube.com/shorts/" + id
	case "instagram":
		return "https://www.instagram.com/reel/" + id + "/"
	default:
		return ""
	}
}
