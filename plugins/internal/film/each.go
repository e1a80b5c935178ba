package film

import (
	"context"
	"errors"
	"io"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Each hands over the records that have media. What is wrong with one file is
// noted and passes by, so that it spoils no other; any other error ends the work.
func Each(ctx context.Context, call *stage.Call, next func() (stage.Record, error), look func(stage.Record) error) error {
	for {
		rec, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if rec.Media == "" {
			continue
		}
		call.Progress("looking at a video")
		switch err := look(rec); {
		case Unreadable(err):
			call.Log.Warn("video cannot be read", "platform", rec.Platform, "id", rec.ExternalID, "error", err)
		case err != nil:
			return err
		}
	}
}
