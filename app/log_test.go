package app_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// logLines collects a log.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(line))
	return len(line), nil
}

// requests are the lines of requests, and others all others.
func (l *logLines) split(t *testing.T) (requests []map[string]any, others []string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			t.Fatalf("not JSON: %s, want no error", line)
		}
		if members["msg"] == "request" {
			requests = append(requests, members)
		} else {
			others = append(others, line)
		}
	}
	return requests, others
}

// TestLogOfAJourney reads the log, at its default level, of requests over every protocol
// and of a scroll.
func TestLogOfAJourney(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(testing.TB) string{
		"sqlite":   func(testing.TB) string { return "" },
		"postgres": apptest.ScratchPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := &logLines{}
			start := func(ctx context.Context, cfg app.Config, _ *slog.Logger) (*app.Service, error) {
				return app.Start(ctx, cfg, app.NewLog(lines, slog.LevelInfo))
			}
			address := database(t)
			running := apptest.StartBy(t, start, sampleFeed, func(cfg *app.Config) { cfg.DatabaseURL = address })
			logOfAJourney(t, running, lines)
		})
	}
}

func logOfAJourney(t *testing.T, running *apptest.Running, lines *logLines) {
	caller := running.Account(t, "pro")
	caller.Get(t, setBrief, new(any))
	scroll := caller.Scroll(t, `{}`)
	if scroll.Status != "completed" {
		t.Fatalf(`the scroll is %s, want "completed"`, scroll.Status)
	}
	before, _ := lines.split(t)
	made := 0
	for _, call := range []string{"GET /v1/hooks", "GET /v1/nothing", "POST /v1/hooks", "GET /v1/library?limit=0", "GET /openapi.json", "GET /checkout/secret-of-a-checkout", "POST /webhooks/stripe {}"} {
		caller.Do(t, call, "")
		made++
	}
	for _, protocol := range apptest.Protocols() {
		services := caller.RPC(protocol)
		if _, err := services.Workspace.GetWorkspace(t.Context(), &scrolleryv1.GetWorkspaceRequest{}); err != nil {
			t.Errorf("%s: %v", protocol.Name, err)
		}
		made++
	}
	if answer, err := http.Get(running.OpsURL + "/readyz"); err != nil {
		t.Error(err)
	} else {
		_ = answer.Body.Close()
	}
	var after []map[string]any
	var others []string
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) { // a line is written after its answer
		if after, others = lines.split(t); len(after) >= len(before)+made || time.Now().After(end) {
			break
		}
	}
	if got := len(after) - len(before); got != made {
		t.Errorf("got %d lines, want one for each of %d requests", got, made)
	}
	account, duration := regexp.MustCompile(`^acct_[0-9a-z]+$`), regexp.MustCompile(`^[0-9.]+(µs|ms|s)$`)
	named := 0
	for _, line := range after[len(before):] {
		if took, _ := line["took"].(string); !duration.MatchString(took) {
			t.Errorf("took %v, want a number with its unit: %v", line["took"], line)
		}
		if id, found := line["account"]; found {
			named++
			if text, _ := id.(string); !account.MatchString(text) {
				t.Errorf("account %v, want acct_…", id)
			}
		}
	}
	if want := len(apptest.Protocols()) + 2; named != want { // GET /v1/hooks and GET /v1/library have its key too
		t.Errorf("got an account in %d of %d lines, want %d", named, made, want)
	}
	raw := regexp.MustCompile(`\b[0-9]{15,}\b`) // an id of a row, or nanoseconds
	for _, line := range append(others, text(t, after)...) {
		switch {
		case raw.MatchString(line):
			t.Errorf("got the line %s, want no number that clients do not know, like %s", line, raw.FindString(line))
		case strings.Contains(line, "secret-of-a-checkout"):
			t.Errorf(`a secret of a page: %s, want without "secret-of-a-checkout"`, line)
		case strings.Contains(line, "River") || strings.Contains(line, "river") || strings.Contains(line, "Elector"):
			t.Errorf(`the queue's own routine: %s, want line without "River", line without "river" and line without "Elector"`, line)
		}
	}
	if len(others) > 12 {
		t.Errorf("got %d lines beside those of requests, want at most 12:\n%s", len(others), strings.Join(others, ""))
	}
}

func text(t *testing.T, lines []map[string]any) (all []string) {
	t.Helper()
	for _, line := range lines {
		one, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(one))
	}
	return all
}
