package browser_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/plugins/feed"
	"github.com/scrollery/scrollery/plugins/plugintest/filmtest"
)

// TestFramesOfAVideo shows the strip on the page of a video that has one, and on no other. A
// file that no browser can decode, behind a header that is fit, breaks nothing.
func TestFramesOfAVideo(t *testing.T) {
	needBrowser(t)
	filmtest.Need(t, "ffmpeg")
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("FEED_DIR", feed.Sample)
		cfg.Console = os.DirFS(bundle)
	})
	account := prepared(t, running)
	account.Scroll(t, "{}")
	var library struct{ Videos []struct{ ID string } }
	account.Get(t, "GET /v1/library", &library)
	path := filepath.Join(t.TempDir(), "frame.webp")
	filmtest.FFmpeg(t, "-f", "lavfi", "-i", "testsrc=s=240x426", "-frames:v", "1", "-c:v", "libwebp", path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := append([]byte{}, good...)
	clear(broken[30:])
	video, _ := publicid.Parse(publicid.Video, library.Videos[0].ID)
	for place, webp := range [][]byte{good, broken, good} {
		running.Exec(t, "INSERT INTO frames (id, account_id, video_id, place, at, webp) SELECT $1, account_id, id, $2, $3, $4 FROM videos WHERE id = $5", place+1, place, place*1000, webp, video)
	}
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, true)
	b.open("/console/library/" + library.Videos[0].ID)
	b.until(`document.querySelectorAll('main img').length === 3 && [...document.querySelectorAll('main img')].every((e) => e.complete)`)
	type frame struct {
		Alt   string
		Width int
		Own   bool
	}
	want := []frame{{"Frame at 0 s", 240, true}, {"Frame at 1 s", 240, true}, {"Frame at 2 s", 240, true}}
	got := eval[[]frame](b, `[...document.querySelectorAll('main img')].map((e, i) => ({Alt: e.alt, Width: i === 1 ? 240 : e.naturalWidth, Own: e.src.startsWith('data:image/webp;base64,')}))`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
	if got, want := eval[string](b, `document.querySelector('main img').src`), "data:image/webp;base64,"+base64.StdEncoding.EncodeToString(good); got != want {
		t.Errorf("the first frame is %.60q, want the one of the library", got)
	}
	b.check("frames")
	b.open("/console/library/" + library.Videos[1].ID)
	b.sees("Archive")
	b.until(`!document.querySelector('.loading')`)
	if n := eval[int](b, `document.querySelectorAll('main img').length`); n > 0 {
		t.Errorf("a video without frames shows %d pictures, want none", n)
	}
	b.clean("frames")
}
