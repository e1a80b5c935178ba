// Package speech is the evidence stage that has the first seconds of a video
// written down, by a transcription endpoint that speaks as OpenAI's does. Without
// one it is not usable.
//
// A video whose captions give what is said is left alone.
package speech

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/scrollery/scrollery/plugins/internal/film"
	"github.com/scrollery/scrollery/plugins/internal/model"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// heard is how much is sent, in seconds: what starts within the window of a hook
	// is said to its end.
	heard  = 8
	window = 5.0
	// shortest is the WAV of a tenth of a second: endpoints take no less.
	shortest = film.SoundHeader + film.SoundSecond/10
	// length is the most characters that are kept.
	length = 280
	// patience is how often in a row the endpoint may have no time.
	patience = 2
)

// Where Whisper itself takes a segment for silence, or for a loop of its own.
const (
	noSpeech    = 0.6
	logProb     = -1.0
	compression = 2.4
)

// Spec is the speech stage.
func Spec() stage.Spec {
	settings := model.Settings()
	settings[0].Required = true
	settings[1].Default, settings[1].RequiredWith = "whisper-1", ""
	return stage.Spec{
		ID: "speech", Version: "1.0.0", Kind: stage.EvidenceKind, NeedsMedia: true,
		Summary:  "Has a transcription endpoint write down what the first seconds say.",
		Programs: []string{"ffmpeg"}, Settings: settings, Secrets: []string{model.KeySecret},
		Env:      map[string]string{model.EndpointSetting: "SPEECH_URL", model.ModelSetting: "SPEECH_MODEL"},
		Limits:   stage.Limits{Call: 10 * time.Minute},
		Evidence: evidence,
	}
}

func evidence(ctx context.Context, call *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
	endpoint, err := model.Of(call)
	if err != nil {
		return err
	}
	if endpoint == nil {
		return stage.Misconfiguredf("no endpoint is set")
	}
	busy := 0
	return film.Each(ctx, call, next, func(rec stage.Record) error {
		if rec.Evidence != nil && rec.Evidence.Spoken != nil {
			return nil
		}
		wav, err := film.Sound(ctx, call, rec.Media, heard)
		if err != nil || len(wav) < shortest {
			return err
		}
		said, err := endpoint.Transcribe(ctx, wav)
		var fault *stage.Error
		switch {
		case err == nil:
			busy = 0
		case errors.Is(err, model.ErrAnswer), errors.Is(err, model.ErrQuestion):
			call.Log.Warn("no transcript", "platform", rec.Platform, "id", rec.ExternalID, "error", err)
			return nil
		case errors.As(err, &fault) && fault.Fault == stage.FaultBusy:
			if busy++; busy < patience {
				return nil
			}
			return err
		default:
			return err
		}
		if text := spoken(said.Segments); text != "" {
			return emit(stage.Finding{Ref: rec.Ref, Evidence: stage.Evidence{Spoken: &text, Language: languageOf(said.Language)}})
		}
		return nil
	})
}

// spoken joins the segments that start within the window, each to its end.
func spoken(segments []model.Segment) string {
	segments = slices.Clone(segments)
	slices.SortStableFunc(segments, func(a, b model.Segment) int { return cmp.Compare(a.Start, b.Start) })
	var said []string
	for _, s := range segments {
		silent := s.NoSpeech > noSpeech && s.LogProb < logProb
		if s.Start >= 0 && s.Start < window && !silent && s.Compression <= compression {
			said = append(said, strings.FieldsFunc(s.Text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })...)
		}
	}
	return cut(strings.Join(said, " "))
}

// cut shortens a text to its bound, at the end of a word if there is one in the
// second half.
func cut(text string) string {
	runes := []rune(text)
	if len(runes) <= length {
		return text
	}
	end := length
	for end > length/2 && runes[end] != ' ' {
		end--
	}
	if end == length/2 {
		end = length
	}
	return strings.TrimSpace(string(runes[:end]))
}
