package app_test

import (
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// probed is the answer of one address.
type probed struct {
	status int
	header http.Header
	text   string
}

func get(t *testing.T, address string) probed {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return probed{answer.StatusCode, answer.Header, string(text)}
}

// becomes waits until the probe answers the status, which it must within 5 seconds.
func becomes(t *testing.T, running *apptest.Running, status int, words string) {
	t.Helper()
	began := time.Now()
	for {
		answer := get(t, running.OpsURL+"/readyz")
		if answer.status == status && strings.Contains(answer.text, words) {
			t.Logf("%d after %v: %s", status, time.Since(began).Round(time.Millisecond), strings.TrimSpace(answer.text))
			if status == http.StatusServiceUnavailable && answer.header.Get("Retry-After") == "" {
				t.Error("got 503 without Retry-After, want a time")
			}
			return
		}
		if time.Since(began) > 5*time.Second {
			t.Fatalf("after 5 s the probe answers %d, want %d with %q: %s", answer.status, status, words, answer.text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestEveryRoleHasAnOperationsPort(t *testing.T) {
	t.Parallel()
	for _, roles := range [][]string{{"api"}, {"worker"}, {"api", "worker"}} {
		t.Run(strings.Join(roles, "+"), func(t *testing.T) {
			t.Parallel()
			database := apptest.ScratchPostgres(t)
			cfg := app.Defaults()
			cfg.Addr, cfg.OpsAddr, cfg.DataDir, cfg.DatabaseURL, cfg.Roles = "127.0.0.1:0", "127.0.0.1:0", t.TempDir(), database, roles
			if err := cfg.Complete(); err != nil {
				t.Fatal(err)
			}
			service, err := app.Start(t.Context(), cfg, app.NewLog(t.Output(), cfg.LogLevel))
			if err != nil {
				t.Fatal(err)
			}
			for path, want := range map[string]string{"/livez": "ok\n", "/readyz": "schema: version ", "/metrics": "scrollery_queue_oldest_seconds 0\n"} {
				t.Run(path, func(t *testing.T) {
					answer := get(t, service.OpsURL()+path)
					if answer.status != http.StatusOK || !strings.Contains(answer.text, want) {
						t.Errorf("%s answers %d, want 200 with %q: %s", path, answer.status, want, answer.text)
					}
					if !slices.Contains(roles, "api") {
						return
					}
					if answer := get(t, service.BaseURL()+path); answer.status != http.StatusNotFound || !strings.Contains(answer.text, `"not_found"`) {
						t.Errorf("the public port answers %s with %d, want 404 not_found: %s", path, answer.status, answer.text)
					}
				})
			}
			if err := service.Stop(); err != nil {
				t.Error(err)
			}
			if _, err := http.Get(service.OpsURL() + "/livez"); err == nil {
				t.Error("the port answers after the stop, want an error")
			}
		})
	}
}

func TestReadinessNoticesAReplacedFile(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	path := filepath.Join(running.Config.DataDir, "scrollery.db")
	becomes(t, running, http.StatusOK, "ok")
	if err := os.Rename(path, path+".aside"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	becomes(t, running, http.StatusServiceUnavailable, "not the one that was opened")
	if err := os.Rename(path+".aside", path); err != nil {
		t.Fatal(err)
	}
	becomes(t, running, http.StatusOK, "ok")
}

// TestReadinessNoticesALostDatabase cuts the connections, and refuses new ones for a
// while. Nothing that was answered is lost, and the server needs no restart.
func TestReadinessNoticesALostDatabase(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(apptest.ScratchPostgres(t))
	if err != nil {
		t.Fatal(err)
	}
	line := newCable(t, address.Host)
	address.Host = line.Address()
	running := apptest.Start(t, sampleFeed, func(cfg *app.Config) { cfg.DatabaseURL = address.String() })
	caller := running.Account(t, "pro")
	const write = `PUT /v1/workspace {"description":"Filter coffee"}`
	caller.Get(t, `POST /v1/workspace {"description":"Coffee"}`, new(any))
	becomes(t, running, http.StatusOK, "ok")

	line.Cut()
	becomes(t, running, http.StatusServiceUnavailable, "database: ")
	if got := get(t, running.OpsURL+"/livez"); got.status != http.StatusOK {
		t.Errorf("/livez answers %d, want 200", got.status)
	}
	answer := caller.Do(t, write, "")
	if answer.Status != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a write answers %d, Retry-After %q, want 503 and a time: %s", answer.Status, answer.Header.Get("Retry-After"), answer.Body)
	}
	answer.WantError(t, "temporary_service_error")

	line.Mend()
	becomes(t, running, http.StatusOK, "ok")
	if got := caller.Read(t, "GET /v1/workspace"); !strings.Contains(got, `"Coffee"`) {
		t.Errorf("the workspace is %s, want the answered description", got)
	}
	caller.Get(t, write, new(any))
	if ended := caller.Scroll(t, `{}`); ended.Status != "completed" {
		t.Errorf("a scroll after the loss: got %s, want it completed", ended.Status)
	}
}

// TestMetricsOfAJourney scrapes a server after a scroll. The names are all that there
// are, and those that alerts and dashboard read.
func TestMetricsOfAJourney(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, sampleFeed)
	caller := running.Account(t, "pro")
	caller.Get(t, setBrief, &struct{}{})
	if done := caller.Scroll(t, `{}`); done.Status != "completed" {
		t.Fatalf(`the scroll is %s, want "completed"`, done.Status)
	}
	// The end of a scroll is seen a moment before the worker counts it: the worker waits for the disk.
	text := ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if text = get(t, running.OpsURL+"/metrics").text; strings.Contains(text, `outcome="completed"} 1`) {
			break
		}
	}
	exported := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(text, -1) {
		exported[match[1]] = match[2]
	}
	own := maps.Clone(exported)
	maps.DeleteFunc(own, func(name, _ string) bool { return !strings.HasPrefix(name, "scrollery_") })
	want := map[string]string{
		"scrollery_requests_total": "counter", "scrollery_request_duration_seconds": "histogram",
		"scrollery_scrolls_total": "counter", "scrollery_scroll_step_duration_seconds": "histogram",
		"scrollery_queue_oldest_seconds":  "gauge",
		"scrollery_source_outcomes_total": "counter", "scrollery_quota_left": "gauge", "scrollery_plugin_ends_total": "counter",
		"scrollery_mail_failures_total": "counter", "scrollery_webhook_failures_total": "counter",
		"scrollery_db_connections": "gauge", "scrollery_group_commit_events": "histogram", "scrollery_guessing_total": "counter",
	}
	delete(own, "scrollery_queue_depth") // it is there once a job was seen waiting
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	for _, line := range []string{
		`scrollery_scrolls_total{outcome="completed"} 1`, `scrollery_scrolls_total{outcome="failed"} 0`,
		`scrollery_scroll_step_duration_seconds_count{step="collect"} 1`, `scrollery_plugin_ends_total{cause="ok",plugin="feed"} 1`,
		`scrollery_source_outcomes_total{outcome="ok",plugin="feed"} `, `scrollery_quota_left{plugin="youtube",quota="`,
		`scrollery_db_connections{state="max"} `, `go_goroutines `, `process_open_fds `,
	} {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("no line %s, want with %v", line, "\n"+line)
		}
	}
	exported["up"], exported["scrollery_queue_depth"] = "gauge", "gauge" // Prometheus's own, and see above
	reads := regexp.MustCompile(`\b(?:up|(?:scrollery|go|process)_[a-z0-9_]+)\b`)
	for _, file := range []string{"alerts.yml", "dashboard.json"} {
		t.Run(file, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join("..", "docs", "deploy", file))
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, expr := range regexp.MustCompile(`"?\bexpr"?: .*`).FindAllString(string(content), -1) {
				for _, name := range reads.FindAllString(expr, -1) {
					found++
					short := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
					if exported[name] == "" && exported[short] != "histogram" {
						t.Errorf("%s reads %s: got no such metric from the server, want it exported", file, name)
					}
				}
			}
			if found < 10 {
				t.Errorf("%s reads %d metrics, want more", file, found)
			}
		})
	}
}

func TestWaitingJobsAreCounted(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		queue := map[string]string{
			"":         "INSERT INTO jobs (id, kind, args, attempt, max_attempts, run_at, lease_until, last_error, created_at) VALUES (1, 'nobodys', '{}', 0, 3, 1000, 0, '', 1000)",
			"postgres": "INSERT INTO river_job (kind, queue, args, max_attempts, state, scheduled_at) VALUES ('nobodys', 'nobodys', '{}', 3, 'available', now() - interval '1 hour')",
		}
		database, _, _ := strings.Cut(running.Config.DatabaseURL, ":")
		running.Exec(t, queue[database])
		depth := regexp.MustCompile(`(?m)^scrollery_queue_depth\{kind="nobodys"\} 1$`)
		oldest := regexp.MustCompile(`(?m)^scrollery_queue_oldest_seconds (\S+)$`)
		for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			text := get(t, running.OpsURL+"/metrics").text
			age, _ := strconv.ParseFloat(oldest.FindStringSubmatch(text)[1], 64)
			if depth.MatchString(text) && age >= 3600 {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("got no count of the waiting job within 2 min, or an oldest of %v s; want one job, of at least 3600 s", age)
			}
		}
	})
}

// TestFailedMailAndWebhooksAreCounted has a mail server that is not there.
func TestFailedMailAndWebhooksAreCounted(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SMTPURL = "smtp://" + apptest.FreeAddress(t) + "?tls=off"
		cfg.StripeSecretKey, cfg.StripeWebhookSecret, cfg.StripeAPIURL = "sk_test_1", "whsec_1", "http://"+apptest.FreeAddress(t)
	})
	caller := running.Account(t, "pro")
	caller.Do(t, `POST /v1/api_keys/recover {"email":"`+caller.Email+`"}`, "")
	answer, err := http.Post(running.BaseURL+"/webhooks/stripe", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		text := get(t, running.OpsURL+"/metrics").text
		mail := regexp.MustCompile(`(?m)^scrollery_mail_failures_total [1-9]`).MatchString(text)
		webhook := strings.Contains(text, "\nscrollery_webhook_failures_total 1\n")
		if mail && webhook {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got failures counted of mail: %t, of the webhook: %t; want both within 2 min", mail, webhook)
		}
	}
}

// cable is a connection to a database that can be cut.
type cable struct {
	listener net.Listener
	target   string
	mu       sync.Mutex
	cut      bool
	open     map[net.Conn]bool
}

func newCable(t *testing.T, target string) *cable {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{listener: listener, target: target, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go c.join(near)
		}
	}()
	return c
}

func (c *cable) Address() string { return c.listener.Addr().String() }

func (c *cable) join(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", c.target)
	if err != nil {
		return
	}
	defer far.Close()
	c.mu.Lock()
	refused := c.cut
	c.open[near], c.open[far] = true, true
	c.mu.Unlock()
	if refused {
		return
	}
	go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
	_, _ = io.Copy(near, far)
	c.mu.Lock()
	delete(c.open, near)
	delete(c.open, far)
	c.mu.Unlock()
}

// Cut ends all connections, and new ones at once.
func (c *cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for conn := range c.open {
		_ = conn.Close()
	}
}

func (c *cable) Mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = false
}
