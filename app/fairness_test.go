package app_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/operator"
)

// What a tenant at full rate may do to the others.
const (
	readBar  = 3               // times the p99 of their reads
	startBar = 5 * time.Second // until a scroll of theirs runs
)

// measuredOnEach runs a measurement on each database, if measurements are asked for.
func measuredOnEach(t *testing.T, measure func(t *testing.T, address string)) {
	t.Helper()
	if os.Getenv("SCROLLERY_BENCH") == "" {
		t.Skip("a measurement: set SCROLLERY_BENCH=1, with nothing else running")
	}
	t.Run("sqlite", func(t *testing.T) { measure(t, "") })
	t.Run("postgres", func(t *testing.T) { measure(t, apptest.ScratchPostgres(t)) })
}

// TestOneTenantAtFullRate measures what others notice of one tenant, on a server process
// of its own with all limits on: its rulesets of 500 items, previews, programs and agent
// calls at its full rate, and its scrolls over some thousand videos.
func TestOneTenantAtFullRate(t *testing.T) {
	measuredOnEach(t, func(t *testing.T, address string) {
		s := serveAlone(t, address, 3000, 10, "")
		s.readFor(t, 2*time.Second) // fills caches
		quiet := s.readFor(t, 5*time.Second)
		for range 2 { // a machine that was disturbed in one part is not called quiet
			if part := s.readFor(t, 5*time.Second); p99(part) < p99(quiet) {
				quiet = part
			}
		}
		ctx, rest := context.WithCancel(t.Context())
		var work sync.WaitGroup
		work.Go(func() { s.strain(ctx, t) })
		work.Go(func() { s.startScrolls(ctx, t) })
		work.Go(func() { s.runPrograms(ctx, t) })
		loaded := s.readFor(t, 30*time.Second)
		rest()
		work.Wait()
		after := s.readFor(t, 10*time.Second)
		slow := float64(p99(loaded)) / float64(p99(quiet))
		t.Logf("reads: quiet p50 %v p99 %v, loaded p50 %v p99 %v (%.1f times), afterwards p50 %v p99 %v",
			median(quiet), p99(quiet), median(loaded), p99(loaded), slow, median(after), p99(after))
		t.Logf("scrolls started after %v, programs ended after %v; the tenant at full rate got %v", s.starts, s.programs, s.answers)
		if slow > readBar {
			t.Errorf("reads of others have %.1f times their p99, want at most %d", slow, readBar)
		}
		s.wantStarts(t)
	})
}

// TestEveryOperationAtOnce has one tenant call each operation 40 times at once, over and over,
// and compares the reads of others with those of the quiet moment before. Its rate is more than
// twice the usual one, so that it has its burst again for each operation.
func TestEveryOperationAtOnce(t *testing.T) {
	measuredOnEach(t, func(t *testing.T, address string) {
		s := serveAlone(t, address, 3000, 10, "protocols: {account_rate: 25, account_burst: 50}\n")
		s.fillGreedy(t)
		s.readFor(t, time.Second) // fills caches
		for _, o := range keyedOps(t) {
			if o.isStream || o.Id == "eraseAccount" {
				continue
			}
			t.Run(o.Id, func(t *testing.T) {
				quiet := s.readFor(t, 2*time.Second)
				ctx, rest := context.WithCancel(t.Context())
				var work sync.WaitGroup
				for range 40 {
					work.Go(func() {
						for ctx.Err() == nil {
							if status, _ := s.call(ctx, s.greedy, o.exampleCall()); status == http.StatusTooManyRequests {
								time.Sleep(100 * time.Millisecond)
							}
						}
					})
				}
				loaded := s.readFor(t, 2*time.Second)
				rest()
				work.Wait()
				if slow := float64(p99(loaded)) / float64(p99(quiet)); slow > readBar {
					t.Errorf("beside 40 calls (%v), reads of others have %.1f times their p99 of %v, want at most %d", o.Class, slow, p99(quiet), readBar)
				}
			})
		}
	})
}

// fillGreedy gives the greedy tenant a library: dear reads of an empty one show nothing.
func (s *alone) fillGreedy(t *testing.T) {
	t.Helper()
	for n := range 2 {
		status, body := s.call(t.Context(), s.greedy, `POST /v1/scrolls {}`)
		if status != http.StatusAccepted {
			t.Fatalf("scroll %d of the greedy tenant: %d %s, want status %v", n+1, status, body, http.StatusAccepted)
		}
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
			if _, body = s.call(t.Context(), s.greedy, "GET /v1/scrolls/list?limit=5"); strings.Contains(string(body), `"status":"completed"`) && !strings.Contains(string(body), `"status":"running"`) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("scroll %d of the greedy tenant: got %s after a minute, want it completed", n+1, body)
			}
		}
	}
}

// exampleCall is the call of the operation's example.
func (o op) exampleCall() string {
	if o.Method != "GET" {
		return o.Method + " " + o.Path + " " + cmp.Or(o.Example, "{}")
	}
	values, query := map[string]any{}, url.Values{}
	_ = json.Unmarshal([]byte(o.Example), &values)
	for name, value := range values {
		query.Set(name, fmt.Sprint(value))
	}
	return o.Method + " " + o.Path + "?" + query.Encode()
}

// TestFloorOfPlaces is the small version of TestOneTenantAtFullRate: scrolls and programs of
// others start while one tenant has all that it can get of two places each.
func TestFloorOfPlaces(t *testing.T) {
	measured(t)
	// What this machine does beside the test must not refuse a call: places are counted here.
	s := serveAlone(t, "", 1000, 0, "scrolls: {concurrency: 2}\nsandbox: {runs: {at_once: 2}}\nprotocols: {max_wait: 20s}\n")
	ctx, rest := context.WithTimeout(t.Context(), 6*time.Second)
	defer rest()
	var work sync.WaitGroup
	work.Go(func() { s.strain(ctx, t) })
	work.Go(func() { s.startScrolls(ctx, t) })
	work.Go(func() { s.runPrograms(ctx, t) })
	work.Wait()
	t.Logf("scrolls started after %v, programs ended after %v; the tenant at full rate got %v", s.starts, s.programs, s.answers)
	s.wantStarts(t)
	if s.answers["PUT /v1/rules 200"] == 0 || s.answers["POST /v1/scrolls 202"] == 0 {
		t.Errorf("the tenant at full rate got %v, so nothing is shown, want PUT /v1/rules 200 not 0 and POST /v1/scrolls 202 not 0", s.answers)
	}
}

// alone is a server process with one greedy tenant and others.
type alone struct {
	base    string
	pid     int
	greedy  string   // the key of the tenant at full rate
	other   string   // the key of one that starts scrolls and programs
	readers []string // the keys of those that read

	mu               sync.Mutex
	answers          map[string]int // of the greedy tenant
	starts, programs []time.Duration
}

// asServer makes the test binary a server, configured by the environment.
const asServer = "SCROLLERY_TEST_AS_SERVER"

// serve runs the server of serveAlone until it is told to end.
func serve() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cfg, err := app.Load(os.LookupEnv, nil)
	if err == nil {
		err = app.Serve(ctx, cfg, app.NewLog(os.Stderr, cfg.LogLevel))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveAlone starts a server with limits on and a feed of so many videos, and its tenants.
func serveAlone(t *testing.T, database string, videos, readers int, config string) *alone {
	t.Helper()
	feed, file := t.TempDir(), filepath.Join(t.TempDir(), "scrollery.yaml")
	write(t, file, config)
	write(t, filepath.Join(feed, "videos.jsonl"), invented(videos))
	environment := map[string]string{
		"SCROLLERY_ADDR": apptest.FreeAddress(t), "SCROLLERY_OPS_ADDR": apptest.FreeAddress(t), "SCROLLERY_DATA_DIR": t.TempDir(),
		"SCROLLERY_DATABASE_URL": database, "SCROLLERY_FEED_DIR": feed, "SCROLLERY_LOG_LEVEL": "error", "SCROLLERY_LAME_DUCK": "0s", "SCROLLERY_CONFIG": file,
	}
	cfg, err := app.Load(func(name string) (string, bool) { v, ok := environment[name]; return v, ok }, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), asServer+"=1")
	for name, value := range environment {
		server.Env = append(server.Env, name+"="+value)
	}
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ended := make(chan struct{})
		go func() { // the second signal cuts the work short
			for ; ; time.Sleep(300 * time.Millisecond) {
				select {
				case <-ended:
					return
				default:
					_ = server.Process.Signal(syscall.SIGTERM)
				}
			}
		}()
		defer close(ended)
		if err := server.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	for deadline := time.Now().Add(2 * time.Minute); app.Ready(t.Context(), cfg, io.Discard) != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("got no readiness within a minute, want the server ready")
		}
	}
	commands, err := app.NewOperator(t.Context(), cfg, app.NewLog(os.Stderr, cfg.LogLevel))
	if err != nil {
		t.Fatal(err)
	}
	defer commands.Close()
	s := &alone{base: "http://" + cfg.Addr, pid: server.Process.Pid, answers: map[string]int{}}
	account := func(name, plan string) (key string) {
		email := name + "@example.com"
		key, err := commands.CreateKey(t.Context(), operator.KeyOrder{Email: email, Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		if status, body := s.call(t.Context(), key, `POST /v1/workspace {"description":"coffee"}`); status >= 300 {
			t.Fatalf("the workspace of %s: %d %s, want less than 300", name, status, body)
		}
		if _, err := commands.GrantCredits(t.Context(), email, 100_000, "test"); err != nil {
			t.Fatal(err)
		}
		return key
	}
	s.greedy, s.other = account("greedy", "pro"), account("other", "standard")
	for i := range readers {
		name := fmt.Sprintf("reader%d", i)
		s.readers = append(s.readers, account(name, "standard"))
		input := operator.InputFiles{Paths: []string{"-"}, Input: strings.NewReader(invented(200))}
		if _, err := commands.Import(t.Context(), operator.ImportOrder{Email: name + "@example.com", InputFiles: input}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// invented are lines of a feed.
func invented(videos int) string {
	var lines strings.Builder
	for i := range videos {
		fmt.Fprintf(&lines, `{"platform":"tiktok","externalId":"f%d","postedAt":%d,"source":{"kind":"competitor","handle":"maker%d"},"metadata":{"caption":%q,"hashtags":["coffee%d"]},"metrics":{"views":%d,"likes":3},"evidence":{"spoken":"hello %d"}}`+"\n",
			i, time.Now().Add(-48*time.Hour).UnixMilli(), i%20, strings.Repeat("a caption of some length ", 20), i%60, 1000+(i*7919)%90_000, i)
	}
	return lines.String()
}

// call makes a call written as `METHOD path body`; status 0 is none.
func (s *alone) call(ctx context.Context, key, call string) (status int, body []byte) {
	method, rest, _ := strings.Cut(call, " ")
	path, text, _ := strings.Cut(rest, " ")
	var payload io.Reader
	if text != "" {
		payload = strings.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, s.base+path, payload)
	if err != nil {
		return 0, nil
	}
	request.Header.Set("Authorization", "Bearer "+key)
	if text != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := loadClient.Do(request)
	if err != nil {
		return 0, nil
	}
	defer answer.Body.Close()
	body, _ = io.ReadAll(answer.Body)
	return answer.StatusCode, body
}

var loadClient = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 128}}

// readFor reads outliers 100 times a second, each reader at its full rate, and returns
// the times from when each read was due.
func (s *alone) readFor(t *testing.T, length time.Duration) []time.Duration {
	t.Helper()
	const every = 10 * time.Millisecond
	took := make([]time.Duration, length/every)
	var reads sync.WaitGroup
	begin := time.Now()
	for i := range took {
		due := begin.Add(time.Duration(i) * every)
		time.Sleep(time.Until(due))
		reads.Go(func() {
			status, body := s.call(t.Context(), s.readers[i%len(s.readers)], "GET /v1/outliers")
			if took[i] = time.Since(due); status != http.StatusOK {
				t.Errorf("a read answered %d, want %v: %s", status, http.StatusOK, body)
			}
		})
	}
	reads.Wait()
	slices.Sort(took)
	return took
}

func p99(sorted []time.Duration) time.Duration    { return sorted[len(sorted)*99/100] }
func median(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

// strain makes the greedy tenant's calls at its full rate, ten a second.
func (s *alone) strain(ctx context.Context, t *testing.T) {
	var calls sync.WaitGroup
	defer calls.Wait()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		call := "PUT /v1/rules " + ruleset(n)
		switch n % 10 {
		case 0, 5:
			call = `POST /v1/scrolls {}`
		case 1, 4:
			call = "POST /v1/agent " + goal("let s = 0; while (true) s += Math.sqrt(s + 1)")
		case 7:
			call = "POST /v1/agent " + goal("let all = []; while (true) all.push(new Array(1000).fill(all.length))")
		case 8:
			call = "POST /v1/rules/preview " + ruleset(n)
		}
		calls.Go(func() {
			if status, _ := s.call(ctx, s.greedy, call); status != 0 {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.answers[strings.Join(strings.Fields(call)[:2], " ")+fmt.Sprint(" ", status)]++
			}
		})
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// ruleset has as many rules as may be, and none of those of the call before.
func ruleset(n int) string {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "- drop videos about subject %d.%d\n", n, i)
	}
	body, _ := json.Marshal(map[string]string{"text": text.String()})
	return string(body)
}

func goal(program string) string {
	body, _ := json.Marshal(map[string]string{"goal": "```js\n" + program + "\n```"})
	return string(body)
}

// startScrolls starts one scroll of the other tenant after the other, and has each
// cancelled once it runs.
func (s *alone) startScrolls(ctx context.Context, t *testing.T) {
	for n := 0; n == 0 || ctx.Err() == nil; n++ {
		began := time.Now()
		status, body := s.call(t.Context(), s.other, `POST /v1/scrolls {}`)
		var got struct{ Scroll struct{ ID, Status string } }
		if err := json.Unmarshal(body, &got); err != nil || status != http.StatusAccepted {
			t.Errorf("a scroll of another tenant: %d %s, want no error and status %v", status, body, http.StatusAccepted)
			return
		}
		waitFor := func(done func(status string) bool) bool {
			for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
				status, body = s.call(t.Context(), s.other, "GET /v1/scrolls?id="+got.Scroll.ID)
				if json.Unmarshal(body, &got) == nil && status == http.StatusOK && done(got.Scroll.Status) {
					return true
				}
			}
			t.Errorf("another tenant's scroll: got %d %s after 2 min, want it further", status, body)
			return false
		}
		if !waitFor(func(status string) bool { return status != "queued" }) {
			return
		}
		s.starts = append(s.starts, time.Since(began).Round(time.Millisecond))
		s.call(t.Context(), s.other, fmt.Sprintf(`POST /v1/scrolls/cancel {"id":%q}`, got.Scroll.ID))
		if !waitFor(func(status string) bool { return status != "running" }) {
			return
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// runPrograms runs one short program of the other tenant after the other.
func (s *alone) runPrograms(ctx context.Context, t *testing.T) {
	for n := 0; n == 0 || ctx.Err() == nil; n++ {
		began := time.Now()
		if status, body := s.call(t.Context(), s.other, "POST /v1/agent "+goal("print(6 * 7)")); status != http.StatusOK || !strings.Contains(string(body), "42") {
			t.Errorf(`a program of another tenant: %d %s, want status %v and body with "42"`, status, body, http.StatusOK)
			return
		}
		s.programs = append(s.programs, time.Since(began).Round(time.Millisecond))
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// wantStarts compares the starts of scrolls with the bar.
func (s *alone) wantStarts(t *testing.T) {
	t.Helper()
	for what, times := range map[string][]time.Duration{"scroll runs": s.starts, "program has ended": s.programs} {
		if len(times) == 0 || slices.Max(times) > startBar {
			t.Errorf("another tenant's %s after %v, want each within %v", what, times, startBar)
		}
	}
}
