package film_test

import (
	"image/color"
	"path/filepath"
	"testing"

	"github.com/scrollery/scrollery/plugins/internal/film"
	"github.com/scrollery/scrollery/plugins/plugintest/filmtest"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestStrip(t *testing.T) {
	t.Parallel()
	filmtest.Need(t, "ffmpeg")
	made := func(source string, args ...string) string {
		path := filepath.Join(t.TempDir(), "film.mp4")
		filmtest.FFmpeg(t, append(append([]string{"-f", "lavfi", "-i", source}, args...), path)...)
		return path
	}
	shots := filmtest.Clip(t, "", filmtest.Scene{Seconds: 1, Colour: color.White, Lines: []string{"one"}}, filmtest.Scene{Seconds: 3, Colour: color.Black, Lines: []string{"two"}})
	for name, c := range map[string]struct {
		clip string
		want int
	}{
		"a clip":       {shots, 3},
		"a short clip": {filmtest.Clip(t, "", filmtest.Scene{Seconds: 1.5, Colour: color.White}), 2},
		// Noise is what hardly compresses.
		"noise":            {made("nullsrc=s=480x854:r=5:d=3,geq=random(1)*255:128:128"), 3},
		"a small picture":  {made("testsrc=s=102x178:r=5:d=3"), 3},
		"a tower":          {made("testsrc=s=120x2000:r=5:d=3"), 3},
		"a place in words": {made("testsrc=s=480x854:r=5:d=3", "-metadata", "location=+48.85+002.35/", "-metadata", "comment=secret"), 3},
	} {
		t.Run(name, func(t *testing.T) {
			call := newCall(t)
			if frames, err := film.Strip(t.Context(), call, c.clip); err != nil || frames != nil {
				t.Errorf("a run that keeps none: got %d frames, %v", len(frames), err)
			}
			call.Run.Frames = true
			frames, err := film.Strip(t.Context(), call, c.clip)
			if err != nil || len(frames) != c.want {
				t.Fatalf("got %d frames, %v; want %d", len(frames), err, c.want)
			}
			finding := stage.Finding{Ref: stage.Ref{Platform: "tiktok", ExternalID: "1"}, Frames: frames}
			if _, err := finding.Clean(); err != nil {
				t.Errorf("the host refuses them: %v", err)
			}
			for n, frame := range frames {
				if frame.At != int64(n)*1000 {
					t.Errorf("frame %d is of %d ms", n, frame.At)
				}
			}
		})
	}
	t.Run("no video", func(t *testing.T) {
		call := newCall(t)
		call.Run.Frames = true
		if frames, err := film.Strip(t.Context(), call, filepath.Join(t.TempDir(), "gone")); err != nil || frames != nil {
			t.Errorf("got %d frames, %v; want none", len(frames), err)
		}
	})
}
