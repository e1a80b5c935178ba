package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
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
	apptest.OnEach(t, func(t *testing.T, address string) {
		lines := &logLines{}
		start := func(ctx context.Context, cfg app.Config, _ *slog.Logger) (*app.Service, error) {
			return app.Start(ctx, cfg, app.NewLog(lines, slog.LevelInfo))
		}
		running := apptest.StartBy(t, start, sampleFeed, func(cfg *app.Config) { cfg.DatabaseURL = address })
		logOfAJourney(t, running, lines)
	})
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
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) { // a line is written after its answer
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
	starts := slices.DeleteFunc(slices.Clone(others), func(line string) bool { return !strings.Contains(line, `"msg":"starting"`) })
	if len(starts) != 1 || !regexp.MustCompile(`"version":"scrollery .*"database":"(sqlite|postgres [^"@]+/[^"]+)","data_dir":"/[^"]+","roles":\["api","worker"\]`).MatchString(strings.Join(starts, "")) {
		t.Errorf("got %v, want one line with version, database, data folder and roles", starts)
	}
	if len(others) > 12 {
		t.Errorf("got %d lines beside those of requests, want at most 12:\n%s", len(others), strings.Join(others, ""))
	}
}

// TestLogWhileTheDatabaseIsAway: of each package one line a minute says so, and the next one
// how many it left out. Requests keep their lines, and other errors all of theirs.
func TestLogWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lines := &logLines{}
		log := app.NewLog(lines, slog.LevelInfo).With("scroll", "scr_1")
		away := fmt.Errorf("claim: %w", io.ErrUnexpectedEOF)
		for range 100 {
			log.Error("jobs cannot be taken", "error", away)
			log.Error("another fault", "error", errors.New("disk on fire"))
			log.Warn("request", "code", "temporary_service_error", "error", away)
			log.Warn("Elector: Error attempting to elect", "err", "failed to connect to `host=x`")
		}
		count := func(parts ...string) (n int) {
			for _, line := range lines.lines {
				if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
					n++
				}
			}
			return n
		}
		for _, c := range []struct {
			name  string
			parts []string
			want  int
		}{
			{"lines of the database", []string{`"component":"app_test"`, `"scr_1"`}, 1},
			{"with the first error", []string{`"level":"ERROR"`, "jobs cannot be taken", "unexpected EOF"}, 1},
			{"other errors", []string{"disk on fire"}, 100},
			{"requests", []string{`"level":"INFO"`, `"msg":"request"`, "temporary_service_error"}, 100},
			{"all lines", nil, 201},
		} {
			if got := count(c.parts...); got != c.want {
				t.Errorf("%s: got %d, want %d", c.name, got, c.want)
			}
		}
		time.Sleep(61 * time.Second)
		if got := count("199 more lines", `"component":"app_test"`); got != 1 || count() != 202 {
			t.Errorf("after a minute: got %d lines of what was left out and %d in all, want 1 and 202", got, count())
		}
		log.Error("jobs cannot be taken", "error", away)
		if got := count(); got != 202 {
			t.Errorf("in the minute of the sum: got %d lines, want 202", got)
		}
		time.Sleep(3 * time.Minute)
		log.Error("jobs cannot be taken", "error", away)
		if got := count("jobs cannot be taken", `"level":"ERROR"`); got != 2 || count() != 204 {
			t.Errorf("later: got %d errors and %d lines, want 2 and 204: the sum of one, and an error again", got, count())
		}
		time.Sleep(2 * time.Minute)
	})
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
