// Package vision is the evidence stage that says what the first seconds of a video
// show.
//
// What it can measure it measures with ffmpeg: shots, motion, light and colours.
// Where a chat endpoint is configured that sees pictures, that describes three
// frames besides; without an answer the measures are alone, and say so. Faces are
// left out: none is recognised or described.
package vision

import (
	"context"
	"encoding/json"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/film"
	"github.com/scrollery/scrollery/plugins/internal/model"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Spec is the vision stage.
func Spec() stage.Spec {
	return model.Chat(stage.Spec{
		ID: "vision", Version: "1.0.0", Kind: stage.EvidenceKind, NeedsMedia: true,
		Summary:  "Measures shots, motion, light and colours of the first seconds; describes them where a model is set.",
		Programs: []string{"ffmpeg"},
		Limits:   stage.Limits{Call: 10 * time.Minute},
		Evidence: evidence,
	})
}

// Visual is what is kept of a video.
type Visual struct {
	Summary string `json:"summary"`
	// Method is `model` or `measured`.
	Method string `json:"method"`
	// Setting, Action and Objects are the model's.
	Setting string   `json:"setting,omitempty"`
	Action  string   `json:"action,omitempty"`
	Objects []string `json:"objects,omitempty"`
	// Measured is what ffmpeg found.
	Measured Facts `json:"measured"`
	// Note says why there is no description where one was asked for.
	Note string `json:"note,omitempty"`
}

func evidence(ctx context.Context, call *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
	asker := newAsker(call)
	return film.Each(ctx, call, next, func(rec stage.Record) error {
		if rec.Evidence != nil && len(rec.Evidence.Visual) > 0 {
			return nil
		}
		measured, err := measure(ctx, call, rec.Media)
		if err != nil {
			return err
		}
		visual := Visual{Summary: measured.Summary(), Method: "measured", Measured: measured}
		if err := asker.describe(ctx, rec, &visual); err != nil {
			return err
		}
		raw, err := json.Marshal(visual)
		if err != nil {
			return err
		}
		strip, err := film.Strip(ctx, call, rec.Media)
		if err != nil {
			return err
		}
		return emit(stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{Visual: raw}, Frames: strip})
	})
}
