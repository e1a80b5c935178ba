// Package captions is the evidence stage that reads the first seconds of a video
// from what is written about them: its caption cues and its stickers.
//
// It never fills a hook from the caption or the title.
package captions

import (
	"context"
	"errors"
	"io"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Spec is the captions stage.
func Spec() stage.Spec {
	return stage.Spec{
		ID: "captions", Version: "1.0.0", Kind: stage.EvidenceKind,
		Summary:  "Takes spoken text from caption cues and on-screen text from stickers.",
		Evidence: evidence,
	}
}

func evidence(ctx context.Context, call *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
	for {
		rec, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if finding, ok := find(rec); ok {
			if err := emit(finding); err != nil {
				return err
			}
		}
	}
}

// find reads one record; not ok where it has neither cues, subtitles, stickers
// nor evidence to take hook patterns from.
func find(rec stage.Record) (stage.Finding, bool) {
	finding := stage.Finding{Ref: rec.Ref}
	cues, language := rec.Cues, ""
	if len(cues) == 0 {
		cues, language = subtitles(rec.Metadata)
	}
	if text := spoken(cues); text != "" {
		finding.Evidence.Spoken, finding.Evidence.Language = &text, language
	}
	if text := onScreen(rec.Stickers); text != "" {
		finding.Evidence.OnScreenText = &text
	}
	finding.Keys = patterns(either(finding.Evidence.Spoken, rec.Evidence, true), either(finding.Evidence.OnScreenText, rec.Evidence, false))
	return finding, finding.Evidence.Spoken != nil || finding.Evidence.OnScreenText != nil || len(finding.Keys) > 0
}

// either is what was found, else what the source already had.
func either(found *string, had *stage.Evidence, spoken bool) string {
	switch {
	case found != nil:
		return *found
	case had == nil:
	case spoken && had.Spoken != nil:
		return *had.Spoken
	case !spoken && had.OnScreenText != nil:
		return *had.OnScreenText
	}
	return ""
}
