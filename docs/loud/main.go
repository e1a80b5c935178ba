// Command loud is the stage that docs/extenders-reference.md shows.
package main

import (
	"context"
	"errors"
	"io"

	"github.com/scrollery/scrollery/plugins/stage"
)

func main() { stage.Main(spec()) }

func spec() stage.Spec {
	return stage.Spec{
		ID: "loud", Version: "1.0.0", Kind: stage.EvidenceKind,
		Summary:  "Takes the first sticker for the on-screen text.",
		Evidence: evidence,
	}
}

func evidence(_ context.Context, _ *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
	for {
		video, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(video.Stickers) == 0 {
			continue
		}
		found := stage.Evidence{OnScreenText: &video.Stickers[0].Text}
		if err := emit(stage.Finding{Ref: video.Ref, Evidence: found}); err != nil {
			return err
		}
	}
}
