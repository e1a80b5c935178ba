package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/operator"
	"github.com/scrollery/scrollery/plugins/stage"
)

// tongue is an evidence stage, and ear a screen that looks at what it finds. The test binary
// is both, under their names.
const (
	tongue = "tongue"
	ear    = "ear"
)

// tongueStage takes the language and the words from the caption: `de: Guten Tag`.
func tongueStage() stage.Spec {
	return stage.Spec{
		ID: tongue, Version: "1", Kind: stage.EvidenceKind,
		Evidence: func(_ context.Context, _ *stage.Call, next func() (stage.Record, error), emit func(stage.Finding) error) error {
			for {
				video, err := next()
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				_, caption, _ := strings.Cut(string(video.Metadata), `"caption":"`)
				caption, _, _ = strings.Cut(caption, `"`)
				language, words, found := strings.Cut(caption, ": ")
				if !found {
					continue
				}
				if err := emit(stage.Finding{Ref: video.Ref, Evidence: stage.Evidence{Spoken: &words, Language: language}}); err != nil {
					return err
				}
			}
		},
	}
}

// earScreen drops what is spoken in another language than English, and giveaways. It waits
// while its folder has a file `closed`.
func earScreen() stage.Spec {
	return stage.Spec{
		ID: ear, Version: "1", Kind: stage.ScreenKind, AfterEvidence: true, Settings: []stage.Setting{{Name: "dir", Path: true}},
		Screen: func(ctx context.Context, call *stage.Call, next func() (stage.Record, error), emit func(stage.Verdict) error) (stage.Summary, error) {
			for ctx.Err() == nil && closed(call.Settings["dir"]) {
				call.Progress("waits")
				time.Sleep(50 * time.Millisecond)
			}
			for {
				video, err := next()
				if errors.Is(err, io.EOF) {
					return stage.Summary{Notes: []string{"ear has listened"}}, nil
				}
				if err != nil {
					return stage.Summary{}, err
				}
				verdict := stage.Verdict{Ref: video.Ref}
				switch e := video.Evidence; {
				case e == nil || e.Spoken == nil:
				case e.Language != "en":
					verdict.DroppedBy, verdict.Reason = "English only", "it is spoken in "+e.Language
				case strings.Contains(*e.Spoken, "giveaway"):
					verdict.DroppedBy, verdict.Reason = "No giveaways", "it says giveaway"
				}
				if err := emit(verdict); err != nil {
					return stage.Summary{}, err
				}
			}
		},
	}
}

func closed(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "closed"))
	return dir != "" && err == nil
}

// TestAScreenAfterEvidenceSurvivesKill has real processes of a first screen, an evidence
// stage and a screen that looks at what that found; the server is killed while the second
// screen works.
func TestAScreenAfterEvidenceSurvivesKill(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, database string) {
		dir, gate, feed := t.TempDir(), t.TempDir(), t.TempDir()
		for _, id := range []string{tongue, ear} {
			manifest := fmt.Sprintf("id: %s\nsha256: %s\n", id, copyFile(t, "/proc/self/exe", filepath.Join(dir, id), 0o700))
			if id == ear {
				manifest += fmt.Sprintf("settings: {dir: %q}\n", gate)
			}
			write(t, filepath.Join(dir, id+".yaml"), manifest)
		}
		write(t, filepath.Join(gate, "closed"), "")
		var lines strings.Builder
		for i := range 40 {
			caption, tag := "en: Good morning", "coffee"
			switch i % 8 {
			case 0:
				caption = "de: Guten Morgen"
			case 1:
				caption = "en: Join the giveaway"
			case 2:
				caption = "nothing is said"
			case 3:
				tag = "ad"
			}
			fmt.Fprintf(&lines, `{"platform":"tiktok","externalId":"f%02d","source":{"handle":"maker"},"metadata":{"caption":%q,"hashtags":[%q]},"metrics":{"views":%d}}`+"\n", i, caption, tag, 1000+i)
		}
		write(t, filepath.Join(feed, "videos.jsonl"), lines.String())
		file := filepath.Join(t.TempDir(), "scrollery.yaml")
		write(t, file, `scrolls:
  heartbeat: 200ms
  stale: 1s
  rescue_every: 300ms
  templates:
    default: {sources: [feed], screens: [ear, rules], evidence: [tongue]}
`)
		environment := map[string]string{
			"SCROLLERY_ADDR": apptest.FreeAddress(t), "SCROLLERY_OPS_ADDR": apptest.FreeAddress(t), "SCROLLERY_DATA_DIR": t.TempDir(),
			"SCROLLERY_DATABASE_URL": database, "SCROLLERY_FEED_DIR": feed, "SCROLLERY_PLUGIN_DIR": dir, "SCROLLERY_LOG_LEVEL": "warn",
			"SCROLLERY_LAME_DUCK": "0s", "SCROLLERY_CONFIG": file, "SCROLLERY_RATE_LIMIT": "off",
		}
		cfg, err := app.Load(func(name string) (string, bool) { v, ok := environment[name]; return v, ok }, nil)
		if err != nil {
			t.Fatal(err)
		}
		start := func() *exec.Cmd {
			server := exec.Command(os.Args[0])
			server.Env = append(os.Environ(), asServer+"=1")
			for name, value := range environment {
				server.Env = append(server.Env, name+"="+value)
			}
			server.Stderr = os.Stderr
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
			for deadline := time.Now().Add(5 * time.Minute); app.Ready(t.Context(), cfg, io.Discard) != nil; time.Sleep(50 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the server is not ready after 5 minutes")
				}
			}
			return server
		}
		server := start()
		commands, err := app.NewOperator(t.Context(), cfg, app.NewLog(os.Stderr, cfg.LogLevel))
		if err != nil {
			t.Fatal(err)
		}
		defer commands.Close()
		key, err := commands.CreateKey(t.Context(), operator.KeyOrder{Email: "listener@example.com", Plan: "pro"})
		if err != nil {
			t.Fatal(err)
		}
		caller := apptest.CallerOf("http://"+cfg.Addr, key)
		caller.Get(t, setBrief, &struct{}{})
		caller.Get(t, `PUT /v1/rules {"text":"No #ad"}`, &struct{}{})
		type progress struct {
			Scroll struct {
				Status, Stage string
				ResultCounts  struct{ Videos int }
				Progress      struct {
					Dropped       int
					DroppedByRule []struct {
						Rule   string
						Videos int
					}
					Evidence []struct {
						Stage        string
						Asked, Found int
					}
					Coverage    []struct{ Returned, New, Dropped int }
					ScreenNotes []string
				}
			}
		}
		var started struct{ Scroll struct{ ID string } }
		caller.Get(t, "POST /v1/scrolls {}", &started)
		look := func(until func(progress) bool) (got progress) {
			t.Helper()
			for deadline := time.Now().Add(8 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
				caller.Get(t, "GET /v1/scrolls?id="+started.Scroll.ID, &got)
				if until(got) {
					return got
				}
				if time.Now().After(deadline) || got.Scroll.Status == "failed" {
					t.Fatalf("got %+v", got)
				}
			}
		}
		look(func(p progress) bool { return p.Scroll.Stage == "evidence" && len(p.Scroll.Progress.Evidence) > 0 })
		if err := server.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = server.Wait()
		if err := os.Remove(filepath.Join(gate, "closed")); err != nil {
			t.Fatal(err)
		}
		start()
		done := look(func(p progress) bool { return p.Scroll.Status == "completed" }).Scroll
		if done.ResultCounts.Videos != 25 || done.Progress.Dropped != 15 {
			t.Errorf("%d videos, %d dropped; want 25 and 15", done.ResultCounts.Videos, done.Progress.Dropped)
		}
		byRule := map[string]int{}
		for _, d := range done.Progress.DroppedByRule {
			byRule[d.Rule] = d.Videos
		}
		if diff := cmp.Diff(map[string]int{"No #ad": 5, "English only": 5, "No giveaways": 5}, byRule); diff != "" {
			t.Errorf("dropped by (-want +got):\n%s", diff)
		}
		if e := done.Progress.Evidence; len(e) != 1 || e[0].Stage != tongue || e[0].Asked != 35 || e[0].Found != 30 {
			t.Errorf("evidence %+v, want tongue asked about 35, which found 30", e)
		}
		dropped := 0
		for _, c := range done.Progress.Coverage {
			dropped += c.Dropped
		}
		if dropped != 15 || !slices.Contains(done.Progress.ScreenNotes, "ear has listened") {
			t.Errorf("coverage: %d dropped, notes %q; want 15, and what ear says", dropped, done.Progress.ScreenNotes)
		}
		var verdicts struct {
			Verdicts []struct {
				ExternalID, Rule, Reason string
				Dropped                  bool
			}
		}
		caller.Get(t, "GET /v1/scrolls/verdicts?dropped=true", &verdicts)
		if len(verdicts.Verdicts) != 15 {
			t.Errorf("%d verdicts drop, want 15", len(verdicts.Verdicts))
		}
		// What is archived is listed by the language of its speech.
		type listed struct {
			Videos []struct{ ExternalID string }
			Hooks  []struct{ Language, Spoken string }
		}
		var all, hooks, german listed
		caller.Get(t, "GET /v1/library?language=en&limit=100", &all)
		caller.Get(t, "GET /v1/hooks/list?language=en&limit=100", &hooks)
		caller.Get(t, "GET /v1/library?language=de", &german)
		if len(all.Videos) != 20 || len(hooks.Hooks) == 0 || hooks.Hooks[0].Language != "en" || len(german.Videos) != 0 {
			t.Errorf("%d videos in English, hooks %+v, %d videos in German; want 20, in English, and none", len(all.Videos), hooks.Hooks, len(german.Videos))
		}
		if own := caller.Read(t, "GET /v1/hooks"); strings.Contains(own, `"language"`) || !strings.Contains(own, `"spoken":"Good morning"`) {
			t.Errorf("the contract's hooks have a language, or no words: %.300s", own)
		}
		for _, v := range verdicts.Verdicts {
			if v.ExternalID == "f08" && (v.Rule != "English only" || v.Reason != "it is spoken in de") {
				t.Errorf("f08: %+v, want it dropped for its language", v)
			}
		}
	})
}
