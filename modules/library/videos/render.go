package videos

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// texts is how a video is stored: JSON text that lists join, rendered when the
// video changes and never when it is read.
type texts struct {
	// doc is the API's Video.
	doc string
	// hook holds the members of a Hook after its video; nil without evidence.
	hook *string
	// language is that of the speech; nil if unknown. The contract's Hook has no such member.
	language *string
	// keys are the trend keys, packed.
	keys string
}

// AsWritten keeps the text of metadata as it is, and replaces broken UTF-8 elsewhere.
func AsWritten() json.Options {
	return json.JoinOptions(jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// Render returns the texts of the video. Metadata, annotations and what a hook shows are
// valid JSON, which they have as it is.
func (v *Video) Render() (made texts) {
	size := 512 + len(v.SourceURL) + len(v.Metadata) + len(v.Annotations)
	made.doc, made.keys = string(v.append(make([]byte, 0, size))), packKeys(v.Keys)
	if v.Hook.Version > 0 {
		hook := string(v.Hook.append(make([]byte, 0, 256+len(v.Hook.Visual))))
		made.hook, made.language = &hook, v.Hook.Language
	}
	return made
}

// append appends the video as the API shows it.
func (v *Video) append(b []byte) []byte {
	b = AppendString(append(b, `{"id":`...), v.ID)
	b = AppendString(append(b, `,"platform":`...), v.Platform)
	b = AppendString(append(b, `,"externalId":`...), v.ExternalID)
	b = AppendString(append(b, `,"sourceUrl":`...), v.SourceURL)
	b = appendNumber(append(b, `,"postedAt":`...), v.PostedAt)
	b = strconv.AppendInt(append(b, `,"firstSeenAt":`...), v.FirstSeenAt, 10)
	b = append(b, `,"source":`...)
	if o := v.Origin; o == nil {
		b = append(b, "null"...)
	} else {
		b = AppendString(append(b, `{"kind":`...), o.Kind)
		if o.Handle != nil {
			b = AppendString(append(b, `,"handle":`...), *o.Handle)
		}
		if o.SeededBy != nil {
			b = AppendString(append(b, `,"seededBy":`...), *o.SeededBy)
		}
		b = append(b, '}')
	}
	b = appendValue(append(b, `,"agentMetadata":`...), v.Annotations)
	b = appendValue(append(b, `,"metadata":`...), v.Metadata)
	b = strconv.AppendInt(append(b, `,"lastSeenAt":`...), v.LastSeenAt, 10)
	m := &v.Metrics
	b = appendNumber(append(b, `,"metrics":{"views":`...), m.Views)
	b = appendNumber(append(b, `,"likes":`...), m.Likes)
	b = appendNumber(append(b, `,"comments":`...), m.Comments)
	b = appendNumber(append(b, `,"shares":`...), m.Shares)
	b = appendNumber(append(b, `,"saves":`...), m.Saves)
	b = appendNumber(append(b, `,"observedAt":`...), m.ObservedAt)
	return append(b, "}}"...)
}

// append appends the members of a Hook after its video, and its end.
func (h *Hook) append(b []byte) []byte {
	b = appendValue(append(b, `,"visual":`...), h.Visual)
	b = appendText(append(b, `,"spoken":`...), h.Spoken)
	b = appendText(append(b, `,"onScreenText":`...), h.OnScreenText)
	b = strconv.AppendInt(append(b, `,"version":`...), int64(h.Version), 10)
	return append(b, '}')
}

// ShowHook appends what a hook has after its video, as our lists show it: the evidence with
// the text of the hook and the language of the speech, the score of the video with its baseline if it has one, and its early views
// likewise. A video without evidence has version 0.
func ShowHook(b []byte, v *Item) []byte {
	if v.Hook != nil {
		b = append(b, (*v.Hook)[:len(*v.Hook)-1]...)
	} else {
		b = append(b, `,"visual":null,"spoken":null,"onScreenText":null,"version":0`...)
	}
	if v.HookText != nil {
		b = AppendString(append(b, `,"hookText":`...), *v.HookText)
	}
	if v.Language != nil {
		b = AppendString(append(b, `,"language":`...), *v.Language)
	}
	if v.TwiceBaseline > 0 {
		b = jsontext.AppendFloat(append(b, `,"score":`...), v.Score, 64)
		b = jsontext.AppendFloat(append(b, `,"baselineViews":`...), float64(v.TwiceBaseline)/2, 64)
	}
	if v.Early > 0 {
		b = ShowEarly(append(b, `,"early":`...), v.Early, v.Alike, v.Peers, v.AlikeCreators)
	}
	return append(b, '}')
}

func appendNumber(b []byte, n *int64) []byte {
	if n == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, *n, 10)
}

func appendText(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return AppendString(b, *s)
}

func appendValue(b []byte, value jsontext.Value) []byte {
	if len(value) == 0 {
		return append(b, "null"...)
	}
	return append(b, value...)
}

// terms are the terms that a search finds the video by.
func (v *Video) terms() string {
	known := v.facts()
	text := Text{
		Words: []string{known.caption, known.title}, Handle: v.identity.handle, Hashtags: known.Hashtags, Language: known.language,
		Annotated: len(v.Annotations) > 0 && string(v.Annotations) != "null",
	}
	if said := v.Hook.Language; said != nil { // what is spoken is known better than what a source says
		text.Language = *said
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
	if err := json.Unmarshal([]byte(stored.doc), v, AsWritten()); err != nil {
		return fmt.Errorf("read video %d: %w", v.id, err)
	}
	if stored.hook != nil {
		if err := json.Unmarshal([]byte("{"+(*stored.hook)[1:]), &v.Hook, AsWritten()); err != nil {
			return fmt.Errorf("read hook of video %d: %w", v.id, err)
		}
	}
	v.Hook.Language, v.Keys = stored.language, unpackKeys(stored.keys)
	return nil
}

// appendOutlier appends an outlier's own members, after its video.
func appendOutlier(b []byte, score, baseline float64, peers int, observedAt int64) []byte {
	b = jsontext.AppendFloat(append(b, `,"score":`...), score, 64)
	b = append(b, `,"baselineViews":`...)
	if whole := int64(baseline); float64(whole) == baseline && whole < 1<<53 { // the same text in half the time
		b = strconv.AppendInt(b, whole, 10)
	} else {
		b = jsontext.AppendFloat(b, baseline, 64)
	}
	b = strconv.AppendInt(append(b, `,"sampleCount":`...), int64(peers), 10)
	b = strconv.AppendInt(append(b, `,"observedAt":`...), observedAt, 10)
	return append(b, '}')
}

// AppendString appends s as a JSON string. Broken UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error reports what was replaced
	return dst
}

// sourceURL is the public page of a video, where the platform's form is known.
// The handle, if there is one, makes TikTok's address the usual one.
func sourceURL(ref stage.Ref, origin *Origin, format score.Format) string {
	handle := ""
	if origin != nil && origin.Handle != nil {
		handle = creatorHandle(*origin.Handle)
	}
	return platforms.Address(ref.Platform, ref.ExternalID, handle, format == score.ShortFormat)
}
