package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/billing/stripetest"
	"github.com/scrollery/scrollery/modules/scrolls"
)

// finding is what the doctor says of one check.
type finding struct{ Check, Status, Detail string }

// diagnose asks the doctor; its error and `ok` follow from the findings.
func diagnose(t *testing.T, cfg app.Config) map[string]finding {
	t.Helper()
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	began := time.Now()
	err := app.Doctor(t.Context(), cfg, &out, true)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the doctor took %v, want at most 5 s", took)
	}
	var report struct {
		OK     bool
		Checks []finding
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	all, bad := map[string]finding{}, false
	for _, one := range report.Checks {
		if _, twice := all[one.Check]; twice {
			t.Errorf("two findings of %s, want not twice", one.Check)
		}
		all[one.Check], bad = one, bad || one.Status == "FAIL"
	}
	if bad != (err != nil) || bad == report.OK {
		t.Errorf("got the error %v and ok %t with a failed check: %t; want an error, and not ok, exactly where a check fails", err, report.OK, bad)
	}
	return all
}

// patient is a configuration with a data folder and ports of its own.
func patient(t *testing.T) app.Config {
	cfg := app.Defaults()
	cfg.DataDir, cfg.OpsAddr = t.TempDir(), apptest.FreeAddress(t)
	return cfg
}

func TestDoctorSaysOKOfNoGap(t *testing.T) {
	t.Parallel()
	all := diagnose(t, patient(t))
	got := map[string]string{}
	for name, one := range all {
		if got[name] = one.Status; one.Detail == "" {
			t.Errorf("%s has no detail, want Detail not empty", name)
		}
	}
	delete(got, "confinement") // depends on this machine
	want := map[string]string{
		"data folder": "ok", "scratch": "ok", "plugins": "ok", "templates": "ok",
		"feed folder": "not set", "database": "not set", "server": "not set", "base address": "not set", "proxies": "not set",
		"mail": "not set", "payments": "not set", "model": "not set", "speech": "not set", "agent": "not set",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status of each check (-want +got):\n%s", diff)
	}
}

// TestDoctorLooksAtYTDLP where it is on, and says how to install what is missing.
func TestDoctorLooksAtYTDLP(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	cfg := patient(t)
	if _, looked := diagnose(t, cfg)["yt-dlp"]; looked {
		t.Error("looked at yt-dlp, which is off")
	}
	cfg.Plugins.Settings = map[string]map[string]string{"ytdlp": {"enabled": "yes"}}
	if got := diagnose(t, cfg)["yt-dlp"]; got.Status != "FAIL" || !strings.Contains(got.Detail, "pip install") {
		t.Errorf("got %+v, want a failure with the command that installs it", got)
	}
}

// TestDoctorReportsWhatServingRefuses: a template with a stage that no one has.
func TestDoctorReportsWhatServingRefuses(t *testing.T) {
	t.Parallel()
	cfg := patient(t)
	template := cfg.Scrolls.Templates["default"]
	template.Screens = []string{"nobody"}
	cfg.Scrolls.Templates = map[string]scrolls.Template{"default": template}
	if err := cfg.Complete(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := app.Doctor(t.Context(), cfg, &out, false); err == nil || !strings.Contains(out.String(), `there is no stage "nobody"`) {
		t.Errorf("got %v, want an error and the finding that there is no stage \"nobody\":\n%s", err, out.String())
	}
}

func TestDoctorTriesWhatBreaks(t *testing.T) {
	t.Parallel()
	models := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/none/models":
			http.NotFound(w, r)
		case r.Header.Get("Authorization") != "Bearer right":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			fmt.Fprint(w, `{"data":[{"id":"other"},{"id":"judge"}]}`)
		}
	}))
	t.Cleanup(models.Close)
	model := func(path, name, key string) func(*app.Config) {
		return func(cfg *app.Config) {
			cfg.SetStage("MODEL_URL", models.URL+path)
			cfg.SetStage("MODEL", name)
			cfg.SetStage("MODEL_KEY", key)
		}
	}
	stripe := func(prepare func(*stripetest.Double, app.Config)) func(*app.Config) {
		return func(cfg *app.Config) {
			double := stripetest.New(t)
			cfg.StripeSecretKey, cfg.StripeWebhookSecret, cfg.StripeAPIURL = stripetest.SecretKey, "whsec_1", double.URL
			cfg.BaseURL, cfg.TrustedProxies = "https://research.example.com", []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
			if err := cfg.Complete(); err != nil {
				t.Fatal(err)
			}
			prepare(double, *cfg)
		}
	}
	sell := func(cfg app.Config) {
		if _, err := billing.NewStripe(cfg.Billing).Setup(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		check, status, words string
		change               func(*app.Config)
	}{
		"a data folder that is a file": {"data folder", "FAIL", "not a directory", func(cfg *app.Config) {
			cfg.DataDir = filepath.Join(cfg.DataDir, "file")
			if err := os.WriteFile(cfg.DataDir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		"a feed folder that is not there": {"feed folder", "FAIL", "no such file", func(cfg *app.Config) { cfg.SetStage("FEED_DIR", filepath.Join(cfg.DataDir, "feed")) }},
		"no database server":              {"database", "FAIL", "connect", func(cfg *app.Config) { cfg.DatabaseURL = "postgres://u:p@" + apptest.FreeAddress(t) + "/db" }},
		"no mail server":                  {"mail", "FAIL", "refused", func(cfg *app.Config) { cfg.SMTPURL = "smtp://" + apptest.FreeAddress(t) + "?tls=off" }},
		"an address of this machine":      {"base address", "FAIL", "not a public address", func(cfg *app.Config) { cfg.BaseURL = "https://127.0.0.1" }},
		"an address without TLS":          {"base address", "FAIL", "use https", func(cfg *app.Config) { cfg.BaseURL = "http://192.0.2.1" }},
		"a proxy that is not trusted":     {"proxies", "FAIL", "TRUSTED_PROXIES", func(cfg *app.Config) { cfg.BaseURL = "https://127.0.0.1" }},
		"a model's wrong key":             {"model", "FAIL", "401", model("", "judge", "wrong")},
		"a model that is not there":       {"model", "FAIL", "does not list the model nobody", model("", "nobody", "right")},
		"a model":                         {"model", "ok", "judge", model("", "judge", "right")},
		"an endpoint without a list":      {"model", "gap", "not tried", model("/none", "judge", "right")},
		"no endpoint":                     {"speech", "FAIL", "refused", func(cfg *app.Config) { cfg.SetStage("SPEECH_URL", "http://"+apptest.FreeAddress(t)) }},
		"Stripe without prices":           {"payments", "FAIL", "billing setup", stripe(func(*stripetest.Double, app.Config) {})},
		"a key that Stripe refuses": {"payments", "FAIL", "401", stripe(func(double *stripetest.Double, _ app.Config) {
			double.Breaks(func(stripetest.Request) stripetest.Trouble {
				return stripetest.Trouble{Status: http.StatusUnauthorized}
			})
		})},
		"Stripe without our webhook": {"payments", "FAIL", "no enabled webhook", stripe(func(double *stripetest.Double, cfg app.Config) {
			sell(cfg)
			double.Webhook("https://elsewhere.example.com/webhooks/stripe")
		})},
		"Stripe": {"payments", "ok", "prices and webhook", stripe(func(double *stripetest.Double, cfg app.Config) {
			sell(cfg)
			double.Webhook("https://research.example.com/webhooks/stripe")
		})},
		"a publishable key as webhook secret": {"payments", "FAIL", "whsec_", stripe(func(_ *stripetest.Double, cfg app.Config) { sell(cfg) })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := patient(t)
			test.change(&cfg)
			if strings.HasPrefix(name, "a publishable") {
				cfg.StripeWebhookSecret = "pk_1"
			}
			if got := diagnose(t, cfg)[test.check]; got.Status != test.status || !strings.Contains(got.Detail, test.words) {
				t.Errorf("%s: %s %s, want %s with %q", test.check, got.Status, got.Detail, test.status, test.words)
			}
		})
	}
}

// TestDoctorBesideAServer: what only the server knows it asks the server.
func TestDoctorBesideAServer(t *testing.T) {
	t.Parallel()
	beside := func(running *apptest.Running) app.Config {
		cfg := running.Config
		cfg.OpsAddr, cfg.BaseURL = strings.TrimPrefix(running.OpsURL, "http://"), ""
		return cfg
	}
	want := func(t *testing.T, cfg app.Config, check, status, words string) {
		t.Helper()
		if got := diagnose(t, cfg)[check]; got.Status != status || !strings.Contains(got.Detail, words) {
			t.Errorf("%s: %s %s, want %s with %q", check, got.Status, got.Detail, status, words)
		}
	}
	t.Run("on both databases all is well", func(t *testing.T) {
		apptest.Each(t, func(t *testing.T, running *apptest.Running) {
			for _, check := range []string{"server", "schema", "database"} {
				want(t, beside(running), check, "ok", "")
			}
			if running.Config.DatabaseURL == "" {
				want(t, beside(running), "integrity", "ok", "quick_check")
				return
			}
			want(t, beside(running), "connections", "ok", " are free")
			want(t, beside(running), "clock", "ok", "s from the database's")
			want(t, beside(running), "integrity", "not set", "")
		})
	})
	t.Run("the file was replaced", func(t *testing.T) {
		t.Parallel()
		running := apptest.Start(t)
		path := filepath.Join(running.Config.DataDir, "scrollery.db")
		if err := os.Rename(path, path+".aside"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want(t, beside(running), "server", "FAIL", "not the one that was opened")
		if err := os.Rename(path+".aside", path); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("the database is lost", func(t *testing.T) {
		t.Parallel()
		address, err := url.Parse(apptest.ScratchPostgres(t))
		if err != nil {
			t.Fatal(err)
		}
		line := newCable(t, address.Host)
		address.Host = line.Address()
		running := apptest.Start(t, func(cfg *app.Config) { cfg.DatabaseURL = address.String() })
		line.Cut()
		want(t, beside(running), "database", "FAIL", "")
		want(t, beside(running), "server", "FAIL", "database: ")
		line.Mend()
		becomes(t, running, http.StatusOK, "ok")
	})
	t.Run("the schema is a newer one", func(t *testing.T) {
		apptest.Each(t, func(t *testing.T, running *apptest.Running) {
			running.Exec(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)")
			want(t, beside(running), "schema", "FAIL", "newer")
		})
	})
}

// TestDamageIsTold overwrites a page of a stopped server's library: the doctor finds it,
// and the next server's probe fails once a request has met it, until the page is back.
func TestDamageIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	t.Run("fill", func(t *testing.T) {
		running := apptest.Start(t, sampleFeed, func(cfg *app.Config) { cfg.DataDir = dir })
		caller := running.Account(t, "pro")
		caller.Get(t, setBrief, new(any))
		if done := caller.Scroll(t, `{}`); done.Status != "completed" {
			t.Fatalf(`the scroll is %s, want "completed"`, done.Status)
		}
	})
	path := filepath.Join(dir, "scrollery.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := bytes.Clone(whole)
	const page = 4096
	damaged := 0
	for at := page; at+page <= len(broken); at += page { // pages with text of videos
		if bytes.Contains(broken[at:at+page], []byte(`"sourceUrl"`)) {
			copy(broken[at:at+page], bytes.Repeat([]byte{0xee}, page))
			damaged++
		}
	}
	if damaged == 0 {
		t.Fatalf("no page has a video: got %v, want damaged not 0", damaged)
	}
	write := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(broken)
	cfg := patient(t)
	cfg.DataDir = dir
	if got := diagnose(t, cfg)["integrity"]; got.Status != "FAIL" {
		t.Errorf("integrity: %s %s, want FAIL", got.Status, got.Detail)
	}
	running := apptest.StartBy(t, app.Start, sampleFeed, func(c *app.Config) { c.DataDir = dir })
	caller := running.Account(t, "pro") // the tester of before: the first address again
	for _, list := range []string{"GET /v1/hooks", "GET /v1/library", "GET /v1/outliers"} {
		caller.Do(t, list, "")
	}
	becomes(t, running, http.StatusServiceUnavailable, "malformed")
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() }) // after the server: closing frees SQLite's locks
	for at := page; at+page <= len(whole); at += page {
		if !bytes.Equal(whole[at:at+page], broken[at:at+page]) {
			if _, err := file.WriteAt(whole[at:at+page], int64(at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	becomes(t, running, http.StatusOK, "ok")
}
