package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/app/demo"
	"github.com/scrollery/scrollery/plugins/feed"
)

// printed is the command that drafts a brief, as the sample prints it.
var printed = regexp.MustCompile(`curl .*"Authorization: Bearer (\S+)".* -d '(.*)' "(http://\S+/v1/briefs)"`)

// TestTheSampleCanBeTried: the brief that `scrollery serve --sample` prints a command for is
// drafted at the first try. Credits come once, by the operator's grant.
func TestTheSampleCanBeTried(t *testing.T) {
	t.Parallel()
	cfg := sampleConfig(t)
	tryBrief(t, cfg)
	tryBrief(t, cfg)
	operator, err := app.NewOperator(t.Context(), cfg, app.NewLog(io.Discard, cfg.LogLevel))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := operator.Close(); err != nil {
			t.Error(err)
		}
	}()
	account, err := operator.Account(t.Context(), "sample@example.com")
	if err != nil {
		t.Fatal(err)
	}
	var granted []int64
	for _, m := range account.Movements {
		if m.Reason == "grant" {
			granted = append(granted, m.Amount)
		}
	}
	if account.Credits != 400 || len(granted) != 1 || granted[0] != 500 {
		t.Errorf("got %d credits after two briefs and the grants %v, want 400 and one of 500", account.Credits, granted)
	}
	var audited bool
	for _, change := range account.Changes {
		audited = audited || strings.HasPrefix(change.Actor, "operator")
	}
	if !audited {
		t.Errorf("got the audit entries %+v, want one of the operator", account.Changes)
	}
}

// TestTheSampleKeepsWhatAUserWrote changes the brief and the rules of the sample, as the README
// says, and starts it again.
func TestTheSampleKeepsWhatAUserWrote(t *testing.T) {
	t.Parallel()
	const rules = "- At least 5 views"
	running := apptest.Start(t, func(cfg *app.Config) { cfg.SetStage("FEED_DIR", feed.Sample) })
	account := running.Account(t, "pro")
	fill := func(scrolls int) {
		t.Helper()
		journey := demo.Journey{BaseURL: running.BaseURL, Description: "moka pots", Competitors: []string{"@brewfox.example"}, Rules: "- English only", Scrolls: scrolls, Out: io.Discard, Progress: io.Discard}
		if err := journey.Fill(t.Context(), account.Key); err != nil {
			t.Fatalf("fill the library: %v", err)
		}
	}
	state := func() (s struct {
		Scrolls []struct{ ID string }
		Rules   struct{ Text string }
	},
	) {
		t.Helper()
		account.Get(t, "GET /v1/scrolls/list", &s)
		account.Get(t, "GET /v1/rules", &s)
		return s
	}
	fill(1)
	if s := state(); len(s.Scrolls) != 1 || s.Rules.Text != "- English only" {
		t.Fatalf("got %+v, want a scroll and the rules", s)
	}
	account.Get(t, `PUT /v1/rules {"text":"`+rules+`"}`, &struct{}{})
	fill(2)
	if s := state(); len(s.Scrolls) != 2 || s.Rules.Text != rules {
		t.Errorf("got %+v, want two scrolls and the user's rules", s)
	}
	account.Get(t, `PUT /v1/workspace {"website":"https://example.org","competitors":["@cremalab.example"]}`, &struct{}{})
	fill(3)
	if s := state(); len(s.Scrolls) != 2 || s.Rules.Text != rules {
		t.Errorf("got %+v for a brief of the user's own, want what there was", s)
	}
}

// TestTheSampleNeedsItsFolder: it says so before anything has started.
func TestTheSampleNeedsItsFolder(t *testing.T) {
	t.Parallel()
	cfg := app.Defaults()
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	folder := filepath.Join(t.TempDir(), "missing")
	cfg.SetStage("FEED_DIR", folder)
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	err := app.ServeSample(t.Context(), cfg, io.Discard, io.Discard)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), folder) {
		t.Errorf("got %v, want an error that names %s", err, folder)
	}
	if _, err := os.Stat(cfg.DataDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the data folder: got %v, want none yet", err)
	}
}

// printedList is the command that reads a list of the library, as the sample prints it.
var printedList = regexp.MustCompile(`curl .*"Authorization: Bearer (\S+)" "(http://[^"]+)(/v1/outliers/list[^"]*)"`)

// TestTheSampleShowsEarlyViews reads what a newcomer does: creators have followers, and
// lists of outliers have videos far above their early views, by one own video and by two. They
// are explained by the same numbers.
func TestTheSampleShowsEarlyViews(t *testing.T) {
	t.Parallel()
	text := serveSample(t, sampleConfig(t))
	command := printedList.FindStringSubmatch(text)
	if command == nil {
		t.Fatalf("got %q, want a command for the list of outliers", text)
	}
	get := func(path string, to any) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, command[2]+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+command[1])
		if err := json.Unmarshal(answerOf(t, request), to); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	type early struct {
		Views, Low, High, AlikeViews float64
		OwnVideos, AlikeCreators     int
	}
	type outlier struct {
		Video struct {
			ID, Platform string
			Source       struct{ Handle string }
			Metrics      struct{ Views float64 }
		}
		Early *early
	}
	// The second is the first page of the console's list.
	for _, path := range []string{command[3], "/v1/outliers/list?limit=25"} {
		var list struct{ Outliers []outlier }
		get(path, &list)
		ahead := map[int]int{}
		for _, o := range list.Outliers {
			var read struct{ Creator struct{ Followers float64 } }
			get("/v1/library/creator?platform="+o.Video.Platform+"&handle="+o.Video.Source.Handle, &read)
			if read.Creator.Followers < 1000 {
				t.Errorf("%s: got %v followers, want some", o.Video.Source.Handle, read.Creator.Followers)
			}
			if o.Early == nil || o.Video.Metrics.Views <= o.Early.High {
				continue
			}
			ahead[o.Early.OwnVideos]++
			var explained struct{ Explanation struct{ Early early } }
			get("/v1/outliers/explain?videoId="+o.Video.ID, &explained)
			if explained.Explanation.Early != *o.Early {
				t.Errorf("%s: explained by %+v, listed with %+v", o.Video.ID, explained.Explanation.Early, *o.Early)
			}
		}
		if ahead[1] < 1 || ahead[2] < 1 {
			t.Errorf("%s: videos above their early views, by own videos: %v, want one of each, 1 and 2", path, ahead)
		}
	}
}

func sampleConfig(t *testing.T) app.Config {
	t.Helper()
	cfg := app.Defaults()
	cfg.Addr, cfg.OpsAddr, cfg.DataDir, cfg.ReadPages = "127.0.0.1:0", "127.0.0.1:0", t.TempDir(), false
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// tryBrief serves the sample and makes the call that is printed.
func tryBrief(t *testing.T, cfg app.Config) {
	t.Helper()
	t.Run("", func(t *testing.T) { // ends before the next server opens the folder
		text := serveSample(t, cfg)
		command := printed.FindStringSubmatch(text)
		if command == nil {
			t.Fatalf("got %q; want a command for a brief", text)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, command[3], strings.NewReader(command[2]))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+command[1])
		request.Header.Set("Content-Type", "application/json")
		if body := answerOf(t, request); !strings.Contains(string(body), `"status":"drafted"`) {
			t.Errorf("got %s; want a brief", body)
		}
	})
}

// serveSample serves the sample until the test ends, and returns what it prints.
func serveSample(t *testing.T, cfg app.Config) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := app.ServeSample(ctx, cfg, writer, io.Discard)
		_ = writer.CloseWithError(io.ErrUnexpectedEOF)
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve the sample: %v", err)
		}
	})
	text := make([]byte, 8192)
	n, err := io.ReadAtLeast(reader, text, 200)
	if err != nil {
		t.Fatalf("got %q, %v; want commands", text[:n], err)
	}
	return string(text[:n])
}

// answerOf is the body of an answer of 200.
func answerOf(t *testing.T, request *http.Request) []byte {
	t.Helper()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %d %s, %v; want 200", request.URL.Path, answer.StatusCode, body, err)
	}
	return body
}
