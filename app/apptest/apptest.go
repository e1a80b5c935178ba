// Package apptest runs the whole app for a test: real HTTP, a scratch database,
// real plugin processes.
package apptest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/operator"
)

// Running is an app that a test started; it stops with the test.
type Running struct {
	// BaseURL is where it answers.
	BaseURL string
	// OpsURL is its operations port.
	OpsURL string
	// Handler answers without a network, for benchmarks.
	Handler http.Handler
	// Config that it runs with.
	Config   app.Config
	commands *app.Operator
	accounts atomic.Int64
}

// Main lets the test binary be its own plugin: call it from TestMain. After the tests it
// calls what ends things that they shared.
func Main(m *testing.M, after ...func()) {
	app.RunPlugin(os.Args)
	debug.SetGCPercent(400) // as docs/deploy/scrollery.service has it
	code := m.Run()
	for _, end := range after {
		end()
	}
	os.Exit(code)
}

// Start runs the app on SQLite in a scratch folder, with rates off; configure
// may change anything before it starts.
func Start(t testing.TB, configure ...func(*app.Config)) *Running {
	t.Helper()
	return StartBy(t, app.Start, configure...)
}

// StartBy is Start for a test that puts something of its own into the app.
func StartBy(t testing.TB, start func(context.Context, app.Config, *slog.Logger) (*app.Service, error), configure ...func(*app.Config)) *Running {
	t.Helper()
	cfg := app.Defaults()
	cfg.Addr, cfg.OpsAddr = "127.0.0.1:0", "127.0.0.1:0"
	cfg.DataDir = t.TempDir()
	empty := cfg.DataDir
	cfg.RateLimit = false
	cfg.Protocols.MaxWait = 30 * time.Second // a busy machine refuses no call
	cfg.ReadPages = false                    // tests reach no network
	cfg.SetStage("YOUTUBE_FEED", "no")
	cfg.LogLevel = slog.LevelWarn
	for _, change := range configure {
		change(&cfg)
	}
	if cfg.DatabaseURL == "" && cfg.DataDir == empty {
		storetest.WriteSQLite(t, empty)
	}
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	log := app.NewLog(testWriter{t}, cfg.LogLevel)
	service, err := start(context.Background(), cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	running := &Running{BaseURL: service.BaseURL(), OpsURL: service.OpsURL(), Config: cfg, Handler: service.Handler()}
	t.Cleanup(func() {
		if running.commands != nil {
			if err := running.commands.Close(); err != nil {
				t.Errorf("close the operator: %v", err)
			}
		}
		if err := service.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	commands, err := app.NewOperator(context.Background(), cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	running.commands = commands
	return running
}

// Exec puts the database into a state that no call leads to.
func (r *Running) Exec(t testing.TB, query string, args ...any) {
	t.Helper()
	part := store.Defaults()
	part.DatabaseURL, part.DataDir = r.Config.DatabaseURL, r.Config.DataDir
	db := storetest.Open(t, part)
	err := db.Write(viewer.System(context.Background()), func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// Each runs a test on the app on both databases.
func Each(t *testing.T, test func(t *testing.T, running *Running), configure ...func(*app.Config)) {
	t.Helper()
	OnEach(t, func(t *testing.T, address string) {
		test(t, Start(t, append(slices.Clone(configure), func(cfg *app.Config) { cfg.DatabaseURL = address })...))
	})
}

// OnEach runs a test on both databases at once: on SQLite, whose address is empty, and on a new
// migrated database of PostgreSQL.
func OnEach(t *testing.T, test func(t *testing.T, address string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, ScratchPostgres(t))
	})
}

// Operator is the command line's side of the running app.
func (r *Running) Operator() *app.Operator { return r.commands }

// Account opens a complimentary account and returns a caller with its key.
func (r *Running) Account(t testing.TB, plan string) *Caller {
	t.Helper()
	email := fmt.Sprintf("tester%d@example.com", r.accounts.Add(1))
	secret, err := r.commands.CreateKey(context.Background(), operator.KeyOrder{Email: email, Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	return &Caller{base: r.BaseURL, Key: secret, Email: email}
}

// Anonymous returns a caller without a key.
func (r *Running) Anonymous() *Caller { return &Caller{base: r.BaseURL} }

// CallerOf makes calls to a server that the test started itself.
func CallerOf(base, key string) *Caller { return &Caller{base: base, Key: key} }

// Caller makes calls with one key.
type Caller struct {
	base string
	// Key is empty for a caller without one.
	Key string
	// Email of the account.
	Email string
}

// Answer is the answer to a call.
type Answer struct {
	Request *http.Request
	Status  int
	Header  http.Header
	Body    []byte
}

// Do makes a call written as `METHOD path body`. header, `Name: value`, replaces
// or adds one header. What is true of every answer is looked at in each.
func (c *Caller) Do(t testing.TB, call, header string) *Answer {
	t.Helper()
	answer, err := c.try(t.Context(), call, header)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Header.Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("%s: got X-Content-Type-Options %q, want nosniff", call, got)
	}
	return answer
}

// Together makes n calls at once; call writes each.
func (c *Caller) Together(t testing.TB, n int, call func(i int) string) []*Answer {
	t.Helper()
	answers, ready := make([]*Answer, n), make(chan struct{})
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			<-ready
			answer, err := c.try(t.Context(), call(i), "")
			if err != nil {
				t.Error(err)
				answer = &Answer{}
			}
			answers[i] = answer
		})
	}
	close(ready)
	running.Wait()
	return answers
}

func (c *Caller) try(ctx context.Context, call, header string) (*Answer, error) {
	method, rest, _ := strings.Cut(call, " ")
	path, body, hasBody := strings.Cut(rest, " ")
	var payload io.Reader
	if hasBody {
		payload = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, payload)
	if err != nil {
		return nil, err
	}
	if hasBody {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if name, value, found := strings.Cut(header, ": "); found {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return &Answer{Request: request, Status: response.StatusCode, Header: response.Header, Body: text}, nil
}

// Get decodes a call that must succeed into out.
func (c *Caller) Get(t testing.TB, call string, out any) {
	t.Helper()
	answer := c.Do(t, call, "")
	if answer.Status >= 300 {
		t.Fatalf("%s answered %d, want less than 300: %s", call, answer.Status, answer.Body)
	}
	if err := json.Unmarshal(answer.Body, out); err != nil {
		t.Fatalf("%s: %v", call, err)
	}
}

// Read returns the body of a call, which must answer 200.
func (c *Caller) Read(t testing.TB, call string) string {
	t.Helper()
	answer := c.Do(t, call, "")
	if answer.Status != http.StatusOK {
		t.Fatalf("%s answered %d, want 200: %s", call, answer.Status, answer.Body)
	}
	return string(answer.Body)
}

// Scroll starts a scroll and waits until it has ended.
func (c *Caller) Scroll(t testing.TB, body string) Scroll {
	t.Helper()
	var started struct{ Scroll Scroll }
	c.Get(t, "POST /v1/scrolls "+body, &started)
	return c.Await(t, started.Scroll.ID)
}

// Await waits until a scroll has ended.
func (c *Caller) Await(t testing.TB, id string) Scroll {
	t.Helper()
	deadline := time.Now().Add(8 * time.Minute) // of a machine that is busy with other tests
	for time.Now().Before(deadline) {
		var got struct{ Scroll *Scroll }
		c.Get(t, "GET /v1/scrolls?id="+id, &got)
		if got.Scroll == nil {
			t.Fatalf("scroll %s is not found, want Scroll not nil", id)
		}
		if got.Scroll.Status != "queued" && got.Scroll.Status != "running" {
			return *got.Scroll
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("scroll %s did not end", id)
	return Scroll{}
}

// Scroll is what tests look at of a scroll.
type Scroll struct {
	ID, Status  string
	FailureCode *string
	Progress    struct {
		Percent          float64
		DispatchAttempts int
		Collected        int
		Reobserved       int
		Dropped          int
		Coverage         []struct {
			Seed, Platform, Outcome                   string
			Asked, Returned, New, Reobserved, Dropped int
		}
		UnclearRules []string
		Evidence     []struct {
			Stage, Outcome string
			Asked, Found   int
		}
	}
	ResultCounts struct{ Videos int }
}

// JSON is the answer's top level.
func (a *Answer) JSON(t testing.TB) map[string]any {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(a.Body, &members); err != nil {
		t.Fatalf("not a JSON object: %v: %s", err, a.Body)
	}
	return members
}

// WantError checks the error form.
func (a *Answer) WantError(t testing.TB, code string) {
	t.Helper()
	members := a.JSON(t)
	if members["error"] != code {
		t.Errorf("error %v, want %s: %s", members["error"], code, a.Body)
	}
	if message, _ := members["message"].(string); message == "" {
		t.Errorf("no message: %s, want message not empty", a.Body)
	}
}

// IssuePaths are the sorted paths of an invalid_request.
func (a *Answer) IssuePaths(t testing.TB) []string {
	t.Helper()
	var body struct {
		Issues []struct{ Path, Message string }
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		t.Fatal(err)
	}
	paths := make([]string, 0, len(body.Issues))
	for _, issue := range body.Issues {
		if issue.Message == "" {
			t.Errorf("the issue at %q has no message, want Message not empty", issue.Path)
		}
		paths = append(paths, issue.Path)
	}
	slices.Sort(paths)
	return paths
}

var client = &http.Client{
	Timeout:       60 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
}

// testWriter sends log lines to the test's own log.
type testWriter struct{ t testing.TB }

func (w testWriter) Write(line []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(line)))
	}
	return len(line), nil
}
