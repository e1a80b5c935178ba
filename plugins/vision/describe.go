package vision

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"unicode"

	"github.com/scrollery/scrollery/plugins/internal/film"
	"github.com/scrollery/scrollery/plugins/internal/model"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// moments are the frames that are shown, a second apart, so many pixels wide.
	moments = 3
	width   = 512
	// tokens bound an answer, the others its parts in characters.
	tokens     = 400
	maxSummary = 300
	maxPart    = 120
	maxObjects = 8
	// maxCaption is how much of the creator's caption is shown.
	maxCaption = 1000
	// patience is how often in a row the endpoint may have no time.
	patience = 2
)

const instructions = `The pictures are frames at 0, 1 and 2 seconds of a short video. "untrusted" holds its caption and what was measured.
Say what a viewer sees that may keep them watching: the summary in one or two plain sentences of what is shown and what happens, the setting, the action, and the main objects.
Describe only what the pictures show; the caption may help to name it. Leave faces out: recognise nobody, and say nothing of anybody's identity, age, origin or looks.`

// asker asks the endpoint for as long as that makes sense.
type asker struct {
	call     *stage.Call
	endpoint *model.Endpoint
	note     string // why it is not asked any more
	busy     int
}

func newAsker(call *stage.Call) *asker {
	endpoint, err := model.Of(call)
	a := &asker{call: call, endpoint: endpoint}
	if err != nil {
		a.stop("the model is not configured", err)
	}
	return a
}

func (a *asker) stop(note string, err error) {
	a.endpoint, a.note = nil, note
	a.call.Log.Warn("frames are measured only", "because", note, "error", err)
}

// describe adds the model's words, or says why there are none. Only the end of the
// call is an error.
func (a *asker) describe(ctx context.Context, rec stage.Record, visual *Visual) error {
	if a.endpoint == nil {
		visual.Note = a.note
		return nil
	}
	answer, err := a.ask(ctx, rec, visual.Measured)
	var fault *stage.Error
	switch {
	case err == nil:
		a.busy = 0
		visual.Method, visual.Summary, visual.Setting = "model", answer.Summary, answer.Setting
		visual.Action, visual.Objects = answer.Action, answer.Objects
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &fault) && fault.Fault == stage.FaultBusy:
		visual.Note = "the model had no time"
		if a.busy++; a.busy >= patience {
			a.stop(visual.Note, err)
		}
	case errors.As(err, &fault) && fault.Fault == stage.FaultQuota:
		visual.Note = "this account's share of the day's tokens is used up"
		a.stop(visual.Note, err)
	case errors.As(err, &fault):
		visual.Note = "the model turned the question down"
		a.stop(visual.Note, err)
	case errors.Is(err, model.ErrQuestion):
		visual.Note = "the model turned the question down"
		a.call.Log.Warn("no description", "platform", rec.Platform, "id", rec.ExternalID, "error", err)
	case errors.Is(err, model.ErrAnswer), film.Unreadable(err):
		visual.Note = "the model gave no usable answer"
		a.call.Log.Warn("no description", "platform", rec.Platform, "id", rec.ExternalID, "error", err)
	default:
		return err
	}
	return nil
}

type description struct {
	Summary string   `json:"summary"`
	Setting string   `json:"setting"`
	Action  string   `json:"action"`
	Objects []string `json:"objects"`
}

func (a *asker) ask(ctx context.Context, rec stage.Record, measured Facts) (description, error) {
	files, remove, err := film.Frames(ctx, a.call, rec.Media, moments, "jpg", width, "")
	if err != nil {
		return description{}, err
	}
	defer remove()
	var pictures [][]byte
	for _, file := range files {
		picture, err := os.ReadFile(file)
		if err != nil {
			return description{}, err
		}
		pictures = append(pictures, picture)
	}
	text, list := map[string]any{"type": "string"}, map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	var said description
	err = a.endpoint.Ask(ctx, model.Question{
		Instructions: instructions, JPEGs: pictures, Name: "visual", Tokens: tokens,
		Data: map[string]any{"caption": caption(rec.Metadata), "measured": measured},
		Schema: map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"summary", "setting", "action", "objects"},
			"properties": map[string]any{"summary": text, "setting": text, "action": text, "objects": list},
		},
	}, &said)
	if err == nil && !said.clean() {
		err = model.ErrAnswer
	}
	return said, err
}

// clean keeps an answer within its bounds; one without a summary is none.
func (d *description) clean() bool {
	d.Summary, d.Setting, d.Action = short(d.Summary, maxSummary), short(d.Setting, maxPart), short(d.Action, maxPart)
	var objects []string
	for _, object := range d.Objects {
		if object = short(object, maxPart); object != "" && len(objects) < maxObjects {
			objects = append(objects, object)
		}
	}
	d.Objects = objects
	return d.Summary != ""
}

// short is a text on one line, cut at its bound.
func short(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(text); len(runes) > most {
		text = strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	return text
}

// caption is the creator's own, as the sources name it.
func caption(metadata json.RawMessage) string {
	var has struct {
		Caption string `json:"caption"`
	}
	_ = json.Unmarshal(metadata, &has) // what is no text is no caption
	return short(has.Caption, maxCaption)
}
