package app_test

import (
	"encoding/base64"
	"fmt"
	"image/color"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/plugintest/filmtest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestFramesOfAFilm goes the whole way: a clip that a source fetches, the stage that looks at
// it, the library, the API, the export and the deletion; and again with the operator's switch off.
func TestFramesOfAFilm(t *testing.T) {
	t.Parallel()
	filmtest.Need(t, "ffmpeg")
	clips := t.TempDir()
	copyFile(t, filmtest.Clip(t, "", filmtest.Scene{Seconds: 1, Colour: color.White, Lines: []string{"one"}}, filmtest.Scene{Seconds: 3, Colour: color.Black, Lines: []string{"two"}}),
		filepath.Join(clips, "good"), 0o600)
	looks := func(cfg *app.Config) {
		template := cfg.Scrolls.Templates["default"]
		template.Evidence = []string{"vision"}
		cfg.Scrolls.Templates["default"] = template
	}
	type answer struct {
		Frames []struct {
			At   float64
			WebP string `json:"webp"`
		}
	}
	scrolled := func(t *testing.T, running *apptest.Running) (*apptest.Caller, string) {
		t.Helper()
		caller := running.Account(t, "pro")
		caller.Get(t, setBrief, &struct{}{})
		if scroll := caller.Scroll(t, "{}"); scroll.Status != "completed" || scroll.ResultCounts.Videos != 1 {
			t.Fatalf("the scroll: got %+v, want completed with 1 video", scroll)
		}
		var library struct{ Videos []struct{ ID string } }
		caller.Get(t, "GET /v1/library", &library)
		return caller, library.Videos[0].ID
	}
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		caller, id := scrolled(t, running)
		var shown answer
		caller.Get(t, "GET /v1/library/frames?videoId="+id, &shown)
		finding := stage.Finding{Ref: stage.Ref{Platform: "youtube", ExternalID: "good"}}
		for _, f := range shown.Frames {
			webp, err := base64.StdEncoding.DecodeString(f.WebP)
			if err != nil {
				t.Fatal(err)
			}
			finding.Frames = append(finding.Frames, stage.Frame{At: int64(f.At), WebP: webp})
		}
		if _, err := finding.Clean(); err != nil || len(finding.Frames) != 3 {
			t.Fatalf("got %d frames, %v; want 3 fit ones", len(finding.Frames), err)
		}
		if got := caller.Do(t, "GET /v1/library/frames?videoId="+id, ""); got.Header.Get("Content-Type") != "application/json" || got.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("got the headers %v, want JSON that no browser takes for anything else", got.Header)
		}
		var theirs answer
		running.Account(t, "pro").Get(t, "GET /v1/library/frames?videoId="+id, &theirs)
		if len(theirs.Frames) > 0 {
			t.Errorf("another account reads %d frames, want none", len(theirs.Frames))
		}
		rows := unzipped(t, caller.Do(t, "GET /v1/account/export", "").Body)["frames.ndjson"]
		for _, f := range shown.Frames {
			if want := fmt.Sprintf(`{"videoId":%q,"at":%v,"webp":%q}`, id, f.At, f.WebP); !strings.Contains(rows, want) {
				t.Errorf("the export lacks the frame at %v ms: %.300s", f.At, rows)
			}
		}
		imported, _ := upload(t, caller, "name=a.jsonl", feedLines(0, 5, importTime))
		awaitImport(t, caller, imported, "completed")
		if caller.Get(t, "GET /v1/library/frames?videoId="+id, &theirs); len(theirs.Frames) != 3 {
			t.Errorf("after an import: got %d frames, want the 3", len(theirs.Frames))
		}
		caller.Get(t, fmt.Sprintf(`POST /v1/library/delete {"videoId":%q}`, id), &struct{}{})
		if caller.Get(t, "GET /v1/library/frames?videoId="+id, &theirs); len(theirs.Frames) > 0 {
			t.Errorf("the deleted video has %d frames, want none", len(theirs.Frames))
		}
	}, withFilms(t, clips), looks)
	t.Run("the operator keeps none", func(t *testing.T) {
		caller, id := scrolled(t, apptest.Start(t, withFilms(t, clips), looks, func(cfg *app.Config) { cfg.Scrolls.KeepFrames = false }))
		var shown answer
		if caller.Get(t, "GET /v1/library/frames?videoId="+id, &shown); len(shown.Frames) > 0 {
			t.Errorf("got %d frames, want none", len(shown.Frames))
		}
		if hooks := caller.Read(t, "GET /v1/hooks"); !strings.Contains(hooks, "cut at 1.0 s") {
			t.Errorf("got %s, want the video looked at all the same", hooks)
		}
	})
}
