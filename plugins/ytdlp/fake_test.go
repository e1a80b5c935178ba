package ytdlp

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func prepared(t *testing.T, call stage.Call) *stage.Call {
	t.Helper()
	if call.Scratch == "" {
		call.Scratch = t.TempDir()
	}
	call.Log = slog.New(slog.DiscardHandler)
	return &call
}

var beans = []stage.Seed{{Kind: "competitor", Platform: "tiktok", Handle: "beans"}}

const video = `{"_type":"url","id":"7411111111111111111","ie_key":"TikTok","extractor_key":"TikTok","url":"https://evil.example/x","view_count":1200,"like_count":7,"save_count":3,"repost_count":2,"comment_count":null,"timestamp":1780000000,"uploader":"beans","title":"Hi #espresso"}`

func TestFlatTikTok(t *testing.T) {
	call := fake(t, "cat <<'X'\n"+video+"\nX")
	records, outcomes, err := stagetest.Collect(t, Spec(), call, beans)
	if err != nil || len(records) != 1 || outcomes[0].Status != stage.OK {
		t.Fatalf("got records %+v, outcomes %+v, error %v; want 1 record, %v", records, outcomes, err, stage.OK)
	}
	got := records[0]
	if got.SourceURL != "https://www.tiktok.com/@beans/video/7411111111111111111" {
		t.Errorf("got the address %s, want https://www.tiktok.com/@beans/video/7411111111111111111, made here", got.SourceURL)
	}
	m := got.Metrics
	if *m.Views != 1200 || *m.Likes != 7 || *m.Shares != 2 || *m.Saves != 3 || m.Comments != nil || *got.PostedAt != 1780000000000 {
		t.Errorf("got %+v, posted at %d; want 1200 views, 7 likes, 2 shares, 3 saves, comments unknown, posted at 1780000000000", m, *got.PostedAt)
	}
}

// TestHowRunsEnd: what came is kept, whatever the program says of itself then.
func TestHowRunsEnd(t *testing.T) {
	cases := map[string]struct {
		script  string
		records int
		status  stage.Status
	}{
		"error after some":      {"echo '" + video + "'; echo 'ERROR: HTTP Error 500' >&2; exit 1", 1, stage.Partial},
		"same page again":       {"echo 'ERROR: TikTok keeps sending the same page' >&2; exit 1", 0, stage.Partial},
		"private":               {"echo 'ERROR: This account is private' >&2; exit 1", 0, stage.Empty},
		"needs login":           {"echo 'ERROR: Requested content is not available, rate-limit reached or login required' >&2; exit 1", 0, stage.Blocked},
		"page has changed":      {"echo 'ERROR: Unable to extract secondary user ID; please report this issue' >&2; exit 1", 0, stage.Changed},
		"is asked too often":    {"echo 'ERROR: Unable to download webpage: HTTP Error 429: Too Many Requests' >&2; exit 1", 0, stage.Quota},
		"crash":                 {"echo 'Traceback (most recent call last):' >&2; echo \"KeyError: 'entries'\" >&2; exit 1", 0, stage.Changed},
		"options unknown":       {"echo 'yt-dlp: error: no such option: --sleep-requests' >&2; exit 2", 0, stage.Misconfigured},
		"nothing at all":        {"exit 0", 0, stage.Empty},
		"no sense":              {"echo '<html>'; exit 0", 0, stage.Empty},
		"half a line":           {"printf '%s' '{\"id\":\"74\",\"ie_key\":\"Tik'; exit 1", 0, stage.Changed},
		"limit reached":         {"echo '" + video + "'; exit 101", 1, stage.OK},
		"other platform's":      {"echo '" + strings.ReplaceAll(video, "TikTok", "Vimeo") + "'; exit 0", 0, stage.Empty},
		"killed":                {"kill -9 $$", 0, stage.Changed},
		"floods with complaint": {"i=0; while [ $i -lt 3000 ]; do echo 'WARNING: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' >&2; i=$((i+1)); done; echo 'ERROR: HTTP Error 403' >&2; exit 1", 0, stage.Blocked},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			call := fake(t, c.script)
			records, outcomes, err := stagetest.Collect(t, Spec(), call, beans)
			if err != nil || len(records) != c.records || len(outcomes) != 1 || outcomes[0].Status != c.status || outcomes[0].Returned != c.records {
				t.Errorf("got %d records, outcomes %+v, error %v; want %d records, %s", len(records), outcomes, err, c.records, c.status)
			}
			if o := outcomes[0]; o.Status != stage.OK && o.Status != stage.Empty && !strings.Contains(o.Detail, "2026.08.19") {
				t.Errorf("got detail %q, want the version 2026.08.19 in it", o.Detail)
			}
		})
	}
}

// TestSearchWithoutShorts: a filter that is ignored is no empty result.
func TestSearchWithoutShorts(t *testing.T) {
	entry := func(address string) string {
		return `{"_type":"url","id":"abcdefghijk","ie_key":"Youtube","extractor_key":"YoutubeTab","url":"` + address + `","view_count":12,"title":"Hi"}`
	}
	for name, c := range map[string]struct {
		address string
		status  stage.Status
	}{
		"long videos alone": {"https://www.youtube.com/watch?v=abcdefghijk", stage.Changed},
		"a Short":           {"https://www.youtube.com/shorts/abcdefghijk", stage.OK},
	} {
		t.Run(name, func(t *testing.T) {
			call := fake(t, "cat <<'X'\n"+entry(c.address)+"\nX")
			_, outcomes, err := stagetest.Collect(t, Spec(), call, []stage.Seed{{Kind: "niche", Platform: "youtube", Term: "espresso"}})
			if err != nil || len(outcomes) != 1 || outcomes[0].Status != c.status {
				t.Errorf("got %+v, error %v; want %s", outcomes, err, c.status)
			}
		})
	}
}

func TestProgramThatHangs(t *testing.T) {
	call := fake(t, "echo '"+video+"'; exec sleep 60")
	tl, err := find(t.Context(), prepared(t, call))
	if err != nil {
		t.Fatal(err)
	}
	tl.silence = 2 * time.Second
	began := time.Now()
	o, err := tl.list(t.Context(), beans[0], tiktok, "https://www.tiktok.com/@beans", 5, func(stage.Record) error { return nil })
	if err != nil || o.Status != stage.Partial || o.Returned != 1 || time.Since(began) > 20*time.Second || !strings.Contains(o.Detail, "said nothing") {
		t.Errorf("got %+v, error %v after %v; want 1 returned, %v because it said nothing, in at most 20 s", o, err, time.Since(began), stage.Partial)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := tl.list(ctx, beans[0], tiktok, "https://www.tiktok.com/@beans", 5, func(stage.Record) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestProgramThatIsMissingOrOff(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var fault *stage.Error
	call := stage.Call{Settings: map[string]string{"enabled": "yes"}}
	if _, _, err := stagetest.Collect(t, Spec(), call, beans); !errors.As(err, &fault) || fault.Fault != stage.FaultMisconfigured {
		t.Errorf("missing: got error %v, want a fault %s", err, stage.FaultMisconfigured)
	}
	fault = nil
	if _, _, err := stagetest.Collect(t, Spec(), stage.Call{Settings: map[string]string{"enabled": "no"}}, beans); !errors.As(err, &fault) || !strings.Contains(fault.Message, "terms") {
		t.Errorf("off: got error %v, want one that names the terms", err)
	}
}

// TestArguments: no seed becomes an option, and no option of ours is left out.
func TestArguments(t *testing.T) {
	folder := t.TempDir()
	call := fake(t, `for a in "$@"; do printf '%s\n' "$a"; done >> `+folder+`/args; env > `+folder+`/env; exit 0`)
	call.Secrets = map[string]string{"token": "t0ken"}
	t.Setenv("SCROLLERY_DATABASE_URL", "postgres://secret")
	_, _, err := stagetest.Collect(t, Spec(), call, []stage.Seed{
		{Kind: "niche", Platform: "youtube", Term: "--exec rm\n-rf"},
		{Kind: "competitor", Platform: "tiktok", Handle: "--exec"},
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(filepath.Join(folder, "args"))
	args := strings.Split(strings.TrimSpace(string(raw)), "\n")
	at := len(args) - 2
	if at < 0 || args[at] != "--" || args[at+1] != "https://www.youtube.com/results?search_query=--exec+rm+-rf&sp=EgIQCQ%3D%3D" {
		t.Errorf("got arguments %q, want the last ones to be -- and the address of a search for `--exec rm -rf` among Shorts", args)
	}
	for _, flag := range append([]string{"--no-plugin-dirs"}, always...) {
		if !strings.Contains(string(raw), flag+"\n") {
			t.Errorf("got arguments %q, want %s among them", args, flag)
		}
	}
	env, _ := os.ReadFile(filepath.Join(folder, "env"))
	if strings.Contains(string(env), "secret") || strings.Contains(string(env), "t0ken") {
		t.Errorf("got environment %s, want neither the database's address nor the token in it", env)
	}
}

// TestASiteOutOfReachIsLeftAlone: it is not asked a hundred times for a hundred videos.
func TestASiteOutOfReachIsLeftAlone(t *testing.T) {
	folder := t.TempDir()
	call := fake(t, "echo x >> "+folder+"/runs; echo 'ERROR: Unable to download webpage: timed out' >&2; exit 1")
	runs := func() int {
		raw, _ := os.ReadFile(filepath.Join(folder, "runs"))
		return strings.Count(string(raw), "x")
	}
	var refs []stage.Ref
	var seeds []stage.Seed
	for _, id := range strings.Fields("a b c d e f g h") {
		refs = append(refs, stage.Ref{Platform: "tiktok", ExternalID: id})
		seeds = append(seeds, stage.Seed{Kind: "competitor", Platform: "tiktok", Handle: id})
	}
	_, outcomes, err := stagetest.Refresh(t, Spec(), call, refs)
	if err != nil || runs() != maxBlocked || outcomes[0].Status != stage.Blocked || outcomes[0].Asked != 8 {
		t.Errorf("refresh: got %d runs, outcomes %+v, error %v; want %d runs, 8 asked, %s", runs(), outcomes, err, maxBlocked, stage.Blocked)
	}
	_, outcomes, err = stagetest.Collect(t, Spec(), call, seeds)
	if err != nil || runs() != 2*maxBlocked || len(outcomes) != 8 || outcomes[7].Status != stage.Blocked || outcomes[7].Seed != "h" || outcomes[7].RetryAt == nil {
		t.Errorf("collect: got %d runs, outcomes %+v, error %v; want %d runs, 8 outcomes, the last one %s with a time to retry", runs(), outcomes, err, 2*maxBlocked, stage.Blocked)
	}
}

func TestMedia(t *testing.T) {
	call := fake(t, `while [ $# -gt 0 ]; do [ "$1" = --output ] && out=$2; url=$1; shift; done
case "$url" in *gone*) echo 'ERROR: Video unavailable' >&2; exit 1;; esac
printf moving > "${out%.*}.mp4"`)
	ready := prepared(t, call)
	var files []stage.File
	outcomes, err := media(t.Context(), ready, []stage.Ref{{Platform: "tiktok", ExternalID: "gone"}, {Platform: "youtube", ExternalID: "abc"}}, func(f stage.File) error {
		files = append(files, f)
		return nil
	})
	if err != nil || len(files) != 1 || files[0] != (stage.File{Ref: stage.Ref{Platform: "youtube", ExternalID: "abc"}, Name: "media-2.mp4"}) {
		t.Fatalf("got files %+v, error %v; want media-2.mp4 of youtube/abc alone", files, err)
	}
	if raw, err := os.ReadFile(filepath.Join(ready.Scratch, files[0].Name)); err != nil || string(raw) != "moving" {
		t.Errorf("got file %q, error %v; want moving", raw, err)
	}
	if len(outcomes) != 2 || outcomes[0].Status != stage.NotFound || outcomes[1].Status != stage.OK {
		t.Errorf("got outcomes %+v, want %v and %v", outcomes, stage.NotFound, stage.OK)
	}
}
