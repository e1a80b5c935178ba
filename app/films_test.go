package app_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/scrolls"
	"github.com/scrollery/scrollery/plugins/plugintest/filmtest"
	"github.com/scrollery/scrollery/plugins/plugintest/modeltest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// films is a source that has clips in a folder, and fetches them from there. The
// test binary is it, under its name.
const films = "films"

func filmSource() stage.Spec {
	return stage.Spec{
		ID: films, Version: "1", Kind: stage.SourceKind, Platforms: []string{"youtube"},
		Settings: []stage.Setting{{Name: "dir", Path: true, Required: true}},
		Collect: func(_ context.Context, call *stage.Call, _ []stage.Seed, emit func(stage.Record) error) ([]stage.Outcome, error) {
			names, err := os.ReadDir(call.Settings["dir"])
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				views := int64(1000)
				record := stage.Record{Ref: stage.Ref{Platform: "youtube", ExternalID: name.Name()}, Metrics: stage.Metrics{Views: &views}}
				if err := emit(record); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
		Media: func(_ context.Context, call *stage.Call, refs []stage.Ref, emit func(stage.File) error) ([]stage.Outcome, error) {
			for n, ref := range refs {
				if ref.ExternalID == "gone" {
					continue
				}
				clip, err := os.ReadFile(filepath.Join(call.Settings["dir"], ref.ExternalID))
				if err != nil {
					return nil, err
				}
				name := fmt.Sprint("film", n)
				if err := os.WriteFile(filepath.Join(call.Scratch, name), clip, 0o600); err != nil {
					return nil, err
				}
				if err := emit(stage.File{Ref: ref, Name: name}); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
	}
}

// withFilms has the app use the source films with clips of a folder.
func withFilms(t *testing.T, clips string) func(*app.Config) {
	t.Helper()
	dir := t.TempDir()
	sum := copyFile(t, "/proc/self/exe", filepath.Join(dir, films), 0o700)
	manifest := fmt.Sprintf("id: %s\nsha256: %s\nsettings: {dir: %q}\n", films, sum, clips)
	if err := os.WriteFile(filepath.Join(dir, films+".yaml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(cfg *app.Config) {
		cfg.PluginDir = dir
		template := cfg.Scrolls.Templates["default"]
		template.Sources = []string{films}
		cfg.Scrolls.Templates = map[string]scrolls.Template{"default": template}
	}
}

func copyFile(t *testing.T, from, to string, mode os.FileMode) (hash string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, mode)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, sum), in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// TestFilms makes a scroll over clips of known words, cuts and sound: the hooks say
// what they show, and what cannot be read fails nothing.
func TestFilms(t *testing.T) {
	t.Parallel()
	filmtest.Need(t, "ffmpeg", "tesseract")
	clips, scratch := t.TempDir(), t.TempDir()
	copyFile(t, filmtest.Clip(t, "sine=frequency=440",
		filmtest.Scene{Seconds: 1, Colour: color.RGBA{R: 200, G: 30, B: 30, A: 255}, Lines: []string{"3 moka pot", "mistakes"}},
		filmtest.Scene{Seconds: 3, Colour: color.RGBA{R: 20, G: 60, B: 160, A: 255}, Lines: []string{"Number two"}}), filepath.Join(clips, "good"), 0o600)
	copyFile(t, filmtest.Clip(t, "", filmtest.Scene{Seconds: 2, Colour: color.Black}), filepath.Join(clips, "plain"), 0o600)
	for name, content := range map[string]string{"broken": "<html>Sign in</html>", "gone": "", "list": "ffconcat version 1.0\nfile '" + clips + "/good'\n"} {
		if err := os.WriteFile(filepath.Join(clips, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := modeltest.New(t, func(*http.Request, modeltest.Question) modeltest.Answer {
		return modeltest.Answer{Raw: `{"text":"Stop.","segments":[{"start":0.5,"end":1,"text":" Stop scrolling."}]}`}
	})
	running := apptest.Start(t, withFilms(t, clips), func(cfg *app.Config) {
		cfg.Plugins.ScratchDir = scratch
		cfg.SetStage("SPEECH_URL", server.URL+"/v1")
		cfg.SetStage("SPEECH_KEY", modeltest.Key)
	})
	caller := running.Account(t, "pro")
	caller.Get(t, setBrief, &struct{}{})
	scroll := caller.Scroll(t, "{}")
	if scroll.Status != "completed" || scroll.ResultCounts.Videos != 5 {
		t.Fatalf(`the scroll: %+v, want Status "completed" and Videos 5`, scroll)
	}
	var hooks struct {
		Hooks []struct {
			Visual       json.RawMessage
			Spoken       *string
			OnScreenText *string
		}
	}
	caller.Get(t, "GET /v1/hooks?limit=25", &hooks)
	var good, plain string
	for _, hook := range hooks.Hooks {
		text := fmt.Sprint(value(hook.Spoken), " | ", value(hook.OnScreenText), " | ", string(hook.Visual))
		if strings.Contains(text, "2 shots") {
			good = text
		} else {
			plain = text
		}
	}
	if len(hooks.Hooks) != 2 || !strings.HasPrefix(good, "Stop scrolling. | 3 moka pot\nmistakes\nNumber two | ") || !strings.Contains(good, "cut at 1.0 s") {
		t.Errorf(`%d hooks; of the good clip: %s, want 2 Hooks, good starting with %q and good with "cut at 1.0 s"`, len(hooks.Hooks), good, "Stop scrolling. | 3 moka pot\nmistakes\nNumber two | ")
	}
	if !strings.HasPrefix(plain, "- | - | ") || !strings.Contains(plain, "One shot in the first 2.0 s") {
		t.Errorf(`of the plain clip: %s, want plain starting with "- | - | " and plain with "One shot in the first 2.0 s"`, plain)
	}
	accounts := map[string]string{}
	for _, one := range scroll.Progress.Evidence {
		accounts[one.Stage] = fmt.Sprintf("%s %d/%d", one.Outcome, one.Found, one.Asked)
	}
	want := map[string]string{"captions": "ok 0/5", "films": "partial 4/5", "ocr": "ok 1/4", "vision": "ok 2/4", "speech": "ok 1/4"}
	if fmt.Sprint(accounts) != fmt.Sprint(want) {
		t.Errorf("evidence %v, want %v", accounts, want)
	}
	if left, _ := os.ReadDir(scratch); len(left) > 0 {
		t.Errorf("left in scratch: %v, want none", left)
	}
}

func value(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}
