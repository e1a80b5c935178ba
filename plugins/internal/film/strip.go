package film

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/scrollery/scrollery/plugins/stage"
)

// qualities are tried one after another until a strip is small enough: of 100, as libwebp
// counts. Of noise, the last one makes fewer frames.
var qualities = []int{70, 30, 1}

// Strip is the frames at 0 s, 1 s, … as they are kept; none if the run keeps none, and where
// ffmpeg cannot make them, for it may have been built without WebP.
func Strip(ctx context.Context, call *stage.Call, path string) (frames []stage.Frame, err error) {
	if !call.Run.Frames {
		return nil, nil
	}
	fit := 0
	for _, quality := range qualities {
		frames, err = strip(ctx, call, path, quality)
		if Unreadable(err) {
			call.Log.Warn("no frames are kept", "error", err)
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		fit = 0
		for size := 0; fit < len(frames); fit++ {
			if size += len(frames[fit].WebP); size > stage.MaxFrameBytes {
				break
			}
		}
		if fit == len(frames) {
			break
		}
	}
	return frames[:fit], nil
}

func strip(ctx context.Context, call *stage.Call, path string, quality int) ([]stage.Frame, error) {
	files, remove, err := Frames(ctx, call, path, stage.MaxFrames, "webp", stage.MaxFrameWidth, fmt.Sprintf("scale=-2:'min(%d,ih)',format=yuv420p", stage.MaxFrameHeight),
		"-c:v", "libwebp", "-q:v", strconv.Itoa(quality), "-map_metadata", "-1")
	if err != nil {
		return nil, err
	}
	defer remove()
	frames := make([]stage.Frame, len(files))
	for n, file := range files {
		webp, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		frames[n] = stage.Frame{At: int64(n) * 1000, WebP: webp}
	}
	return frames, nil
}
