package captions

import (
	"encoding/json"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// event of YouTube's timed text. A number may be written as a string. One that is
// marked aAppend adds to what is on the screen, mostly a line's end: a cue of its own.
type event struct {
	Start    json.Number `json:"tStartMs"`
	Duration json.Number `json:"dDurationMs"`
	Segments []struct {
		Text string `json:"utf8"`
	} `json:"segs"`
}

// parseJSON3 reads YouTube's caption events: those before the place where the text
// breaks off, without those that are none.
func parseJSON3(text string) []stage.Cue {
	var cues []stage.Cue
	eachEvent(text, func(e event) bool {
		if cue, ok := e.cue(); ok {
			cues = append(cues, cue)
		}
		return len(cues) < maxCues
	})
	return cues
}

// eachEvent hands over the elements of the top-level member `events`.
func eachEvent(text string, do func(event) bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return
		}
		if name != "events" {
			var skipped json.RawMessage
			if decoder.Decode(&skipped) != nil {
				return
			}
			continue
		}
		if token, err := decoder.Token(); err != nil || token != json.Delim('[') {
			return
		}
		for decoder.More() {
			var raw json.RawMessage
			if decoder.Decode(&raw) != nil {
				return
			}
			var e event
			if json.Unmarshal(raw, &e) == nil && !do(e) {
				return
			}
		}
		return
	}
}

// day bounds times, in milliseconds.
const day = 24 * 3600 * 1000

func (e event) cue() (stage.Cue, bool) {
	var said strings.Builder
	for _, segment := range e.Segments {
		said.WriteString(segment.Text)
	}
	start, length := number(e.Start), number(e.Duration)
	if strings.TrimSpace(said.String()) == "" || !(start >= 0 && start < day) {
		return stage.Cue{}, false
	}
	length = min(max(length, 0), day)
	return stage.Cue{Start: int64(start), End: int64(start + length), Text: said.String()}, true
}

// number is 0 for what is none, as YouTube leaves a time of 0 out.
func number(n json.Number) float64 {
	value, err := n.Float64()
	if err != nil {
		return 0
	}
	return value
}
