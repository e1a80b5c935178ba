package library

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/plugins/stage"
)

// A Video's JSON is rendered when it changes and never when it is read. It has two
// halves: the document (what seldom changes) and the facts (what every observation
// changes); one after the other they are the whole object.

// document is what the slow half of a Video's JSON says. It can be read back from it.
type document struct {
	ID          string  `json:"id"`
	Platform    string  `json:"platform"`
	ExternalID  string  `json:"externalId"`
	SourceURL   string  `json:"sourceUrl"`
	PostedAt    *int64  `json:"postedAt"`
	FirstSeenAt int64   `json:"firstSeenAt"`
	Source      *source `json:"source"`
	// AgentMetadata belongs to the caller; null where there is none.
	AgentMetadata json.RawMessage `json:"agentMetadata"`
	Metadata      json.RawMessage `json:"metadata"`
}

type source struct {
	Kind     string  `json:"kind"`
	Handle   *string `json:"handle"`
	SeededBy *string `json:"seededBy"`
}

func (d *document) render() string {
	b := make([]byte, 0, 400+len(d.Metadata)+len(d.AgentMetadata))
	b = appendString(append(b, `{"id":`...), d.ID)
	b = appendString(append(b, `,"platform":`...), d.Platform)
	b = appendString(append(b, `,"externalId":`...), d.ExternalID)
	b = appendString(append(b, `,"sourceUrl":`...), d.SourceURL)
	b = appendInt(append(b, `,"postedAt":`...), d.PostedAt)
	b = strconv.AppendInt(append(b, `,"firstSeenAt":`...), d.FirstSeenAt, 10)
	b = append(b, `,"source":`...)
	if d.Source == nil {
		b = append(b, "null"...)
	} else {
		b = appendString(append(b, `{"kind":`...), d.Source.Kind)
		if d.Source.Handle != nil {
			b = appendString(append(b, `,"handle":`...), *d.Source.Handle)
		}
		if d.Source.SeededBy != nil {
			b = appendString(append(b, `,"seededBy":`...), *d.Source.SeededBy)
		}
		b = append(b, '}')
	}
	b = appendRaw(append(b, `,"agentMetadata":`...), d.AgentMetadata, "null")
	b = appendRaw(append(b, `,"metadata":`...), d.Metadata, "{}")
	return string(b)
}

// halves parts a Video's JSON. Facts are numbers, so the last such name is theirs,
// whatever a creator wrote.
func halves(video string) (document, facts string) {
	i := max(strings.LastIndex(video, factsBegin), 0)
	return video[:i], video[i:]
}

const factsBegin = `,"lastSeenAt":`

// readDocument reads the slow half back.
func readDocument(text string) (*document, error) {
	var d document
	if err := json.Unmarshal([]byte(text+"}"), &d); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	return &d, nil
}

// facts is the fast half of a Video's JSON: the newest snapshot.
type facts struct {
	LastSeenAt int64   `json:"lastSeenAt"`
	Metrics    metrics `json:"metrics"`
}

type metrics struct {
	Views      *int64 `json:"views"`
	Likes      *int64 `json:"likes"`
	Comments   *int64 `json:"comments"`
	Shares     *int64 `json:"shares"`
	Saves      *int64 `json:"saves"`
	ObservedAt *int64 `json:"observedAt"`
}

func (f *facts) render() string {
	b := make([]byte, 0, 200)
	b = strconv.AppendInt(append(b, factsBegin...), f.LastSeenAt, 10)
	b = appendInt(append(b, `,"metrics":{"views":`...), f.Metrics.Views)
	b = appendInt(append(b, `,"likes":`...), f.Metrics.Likes)
	b = appendInt(append(b, `,"comments":`...), f.Metrics.Comments)
	b = appendInt(append(b, `,"shares":`...), f.Metrics.Shares)
	b = appendInt(append(b, `,"saves":`...), f.Metrics.Saves)
	b = appendInt(append(b, `,"observedAt":`...), f.Metrics.ObservedAt)
	return string(append(b, "}}"...))
}

// readFacts reads rendered facts back.
func readFacts(text string) (*facts, error) {
	var f facts
	if len(text) < 2 {
		return nil, fmt.Errorf("read facts: %q is too short", text)
	}
	if err := json.Unmarshal([]byte("{"+text[1:]), &f); err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return &f, nil
}

// evidence is a hook's own members, after its video.
type evidence struct {
	Visual       json.RawMessage `json:"visual"`
	Spoken       *string         `json:"spoken"`
	OnScreenText *string         `json:"onScreenText"`
	Version      int             `json:"version"`
}

func (e *evidence) render() string {
	b := appendRaw([]byte(`,"visual":`), e.Visual, "null")
	b = appendText(append(b, `,"spoken":`...), e.Spoken)
	b = appendText(append(b, `,"onScreenText":`...), e.OnScreenText)
	b = strconv.AppendInt(append(b, `,"version":`...), int64(e.Version), 10)
	return string(append(b, '}'))
}

// readEvidence reads a rendered hook back; nil gives none at all.
func readEvidence(text *string) (*evidence, error) {
	var e evidence
	if text == nil {
		return &e, nil
	}
	if err := json.Unmarshal([]byte("{"+(*text)[1:]), &e); err != nil {
		return nil, fmt.Errorf("read hook: %w", err)
	}
	if string(e.Visual) == "null" {
		e.Visual = nil
	}
	return &e, nil
}

// appendOutlier appends an outlier's own members, after its video.
func appendOutlier(b []byte, score, baseline float64, peers int, observedAt int64) []byte {
	b = appendFloat(append(b, `,"score":`...), score)
	b = appendFloat(append(b, `,"baselineViews":`...), baseline)
	b = strconv.AppendInt(append(b, `,"sampleCount":`...), int64(peers), 10)
	b = strconv.AppendInt(append(b, `,"observedAt":`...), observedAt, 10)
	return append(b, '}')
}

// renderTrend returns a trend up to its first example.
func renderTrend(key, label string, videos int, growth float64) string {
	b := appendString([]byte(`{"key":`), key)
	b = appendString(append(b, `,"label":`...), label)
	b = strconv.AppendInt(append(b, `,"metrics":{"videoCount":`...), int64(videos), 10)
	b = appendFloat(append(b, `,"medianGrowthMultiple":`...), growth)
	return string(append(b, `},"examples":[`...))
}

// sourceURL is the public page of a video, where the platform's form is known.
// The handle, where there is one, makes TikTok's address the usual one.
func sourceURL(ref stage.Ref, handle string) string {
	id := url.PathEscape(ref.ExternalID)
	switch ref.Platform {
	case "tiktok":
		if handle = creatorHandle(handle); handle == "" {
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

// round4 rounds to the 4 decimals that scores and growth are shown with.
func round4(f float64) float64 {
	if f >= 1<<40 { // no decimals worth rounding, and f*10000 would lose the number
		return math.Round(f)
	}
	return math.Round(f*10000) / 10000
}

func publicID(video int64) string { return publicid.Format(publicid.Video, video) }

// appendFloat appends a number without exponent.
func appendFloat(dst []byte, f float64) []byte { return strconv.AppendFloat(dst, f, 'f', -1, 64) }

func appendInt(dst []byte, n *int64) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, *n, 10)
}

func appendText(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	return appendString(dst, *s)
}

func appendRaw(dst []byte, raw json.RawMessage, absent string) []byte {
	if len(raw) == 0 {
		return append(dst, absent...)
	}
	return append(dst, raw...)
}
