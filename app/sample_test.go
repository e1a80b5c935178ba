package app_test

import (
	"context"
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
	cfg := app.Defaults()
	cfg.Addr, cfg.OpsAddr, cfg.DataDir, cfg.ReadPages = "127.0.0.1:0", "127.0.0.1:0", t.TempDir(), false
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
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

// tryBrief serves the sample and makes the call that is printed.
func tryBrief(t *testing.T, cfg app.Config) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := app.ServeSample(ctx, cfg, writer, io.Discard)
		_ = writer.CloseWithError(io.ErrUnexpectedEOF)
		ended <- err
	}()
	text := make([]byte, 8192)
	n, err := io.ReadAtLeast(reader, text, 200)
	command := printed.FindStringSubmatch(string(text[:n]))
	if err != nil || command == nil {
		t.Fatalf("got %q, %v; want a command for a brief", text[:n], err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, command[3], strings.NewReader(command[2]))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+command[1])
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), `"status":"drafted"`) {
		t.Errorf("got %d %s, %v; want a brief", answer.StatusCode, body, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("serve the sample: %v", err)
	}
}
