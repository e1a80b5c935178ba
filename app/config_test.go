package app_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/modules/scrolls"
)

func TestTheFileChangesWhatItNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.yaml")
	text := "scrolls:\n  templates:\n    default: {sources: [feed], screens: [rules], evidence: [captions, loud]}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	unset := func(string) (string, bool) { return "", false }
	cfg, err := app.Load(unset, map[string]string{"config": path, "data-dir": t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Scrolls.Templates["default"].Evidence; len(got) != 2 {
		t.Errorf("default has evidence %q, want 2", got)
	}
	for _, name := range []string{"competitors", "niche", "own", "import"} {
		if _, ok := cfg.Scrolls.Templates[name]; !ok {
			t.Errorf("template %s is gone, want one", name)
		}
	}
	if len(cfg.Scrolls.Deadlines) == 0 {
		t.Errorf("the deadlines are gone: got %v, want some", len(cfg.Scrolls.Deadlines))
	}
}

func TestTheFormerNameOfAPart(t *testing.T) {
	t.Parallel()
	load := func(text string) (app.Config, error) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return app.Load(func(string) (string, bool) { return "", false }, map[string]string{"config": path, "data-dir": t.TempDir()})
	}
	for _, name := range []string{"protocols", "door"} {
		t.Run(name+" sets a tier", func(t *testing.T) {
			t.Parallel()
			cfg, err := load("addr: 127.0.0.1:1\n" + name + ":\n  tiers: {getTrends: max}\n")
			if got, want := cfg.Protocols.Tiers["getTrends"], "max"; err != nil || got != want {
				t.Errorf("the tier is %q, error %v; want %q", got, err, want)
			}
		})
	}
	t.Run("both names are refused", func(t *testing.T) {
		t.Parallel()
		_, err := load("protocols: {tiers: {getHooks: max}}\ndoor: {tiers: {getTrends: max}}\n")
		if err == nil || !strings.Contains(err.Error(), "former name") {
			t.Errorf("error %v, want one about the former name", err)
		}
	})
}

// A file whose lines are commented out leaves the defaults, whole or in part.
func TestAFileThatNamesNothingChangesNothing(t *testing.T) {
	t.Parallel()
	unset := func(string) (string, bool) { return "", false }
	load := func(text string) (app.Config, error) {
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := app.Load(unset, map[string]string{"config": path, "data-dir": "data"})
		cfg.Plugins.Builtins, cfg.Plugins.Late = nil, nil // functions cannot be compared
		return cfg, err
	}
	want, err := app.Load(unset, map[string]string{"data-dir": "data"})
	if err != nil {
		t.Fatal(err)
	}
	want.Plugins.Builtins, want.Plugins.Late = nil, nil
	for _, text := range []string{"", "\n", "# addr: 1\n", "---\n", "{}", "null", "billing:\n# pro: {}\n", "billing:\n  pro:\n    # label: x\naddr:\n", "scrolls: {templates: {default: }}\nroles:\n"} {
		t.Run(fmt.Sprintf("%q changes nothing", text), func(t *testing.T) {
			got, err := load(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.IgnoreFields(app.Config{}, "again")); diff != "" {
				t.Errorf("%q differs from the defaults (-want +got):\n%s", text, diff)
			}
		})
	}
	for _, text := range []string{"adr: x", "billing: {por: {}}", "billing: 7", "a: b: c", "addr: x\n---\naddr: y\n"} {
		t.Run(fmt.Sprintf("%q is refused", text), func(t *testing.T) {
			if _, err := load(text); err == nil {
				t.Errorf("%q was taken, want an error", text)
			}
		})
	}
	if got, err := load("# first\nbilling:\n  pro: {label: Best, monthly_cents: 5}\n"); err != nil || got.Billing.Pro.Label != "Best" || got.Billing.Pro.AnnualCents != want.Billing.Pro.AnnualCents || got.Billing.Standard != want.Billing.Standard {
		t.Errorf(`got error %v, plans %+v; want pro with the label Best at %v cents a year, and standard as %v`, err, got.Billing, want.Billing.Pro.AnnualCents, want.Billing.Standard)
	}
}

// TestTemplatesAreJudgedAtStart: a pipeline that cannot work is no surprise later.
func TestTemplatesAreJudgedAtStart(t *testing.T) {
	t.Parallel()
	start := func(template scrolls.Template, configure ...func(*app.Config)) error {
		cfg := app.Defaults()
		cfg.Addr, cfg.OpsAddr, cfg.DataDir = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
		cfg.Scrolls.Templates = map[string]scrolls.Template{"mine": template}
		for _, change := range configure {
			change(&cfg)
		}
		if err := cfg.Complete(); err != nil {
			t.Fatal(err)
		}
		service, err := app.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err == nil {
			err = service.Stop()
		}
		return err
	}
	settings := map[string]map[string]string{"feed": {"csv_map": "{}"}}
	good := scrolls.Template{Sources: []string{"feed"}, Screens: []string{"rules"}, Evidence: []string{"captions"}, Settings: settings}
	if err := start(good); err != nil {
		t.Errorf("a good template: %v", err)
	}
	for want, template := range map[string]scrolls.Template{
		`there is no stage "fed"`:                                                  {Sources: []string{"fed"}},
		`stage "rules" is for screen, not for source`:                              {Sources: []string{"rules"}},
		`stage "feed" is for source, not for evidence`:                             {Sources: []string{"feed"}, Evidence: []string{"feed"}},
		`"feed": there is no setting "folder"`:                                     {Sources: []string{"feed"}, Settings: map[string]map[string]string{"feed": {"folder": "x"}}},
		`"csvmap"; did you mean csv_map?`:                                          {Sources: []string{"feed"}, Settings: map[string]map[string]string{"feed": {"csvmap": "x"}}},
		`setting "days": 366 is out of bounds; want a whole number, from 1 to 365`: {Sources: []string{"feed"}, Settings: map[string]map[string]string{"tiktok": {"days": "366"}}},
		`settings of "nobody"`:                                                     {Sources: []string{"feed"}, Settings: map[string]map[string]string{"nobody": {"a": "b"}}},
	} {
		t.Run(want, func(t *testing.T) {
			if err := start(template); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", template, err, want)
			}
		})
	}
	t.Run("settings of the configuration", func(t *testing.T) {
		for want, settings := range map[string]map[string]map[string]string{
			`plugins.settings: "tiktik": there is no such plugin; did you mean tiktok?`:    {"tiktik": {"days": "5"}},
			`plugins.settings: "youtube": there is no setting "oder"; did you mean order?`: {"youtube": {"oder": "date"}},
			`setting "order": "newest" is not relevance or viewCount or date`:              {"youtube": {"order": "newest"}},
			`setting "patience": "8" is not a time such as 90s or 1h30m`:                   {"ocr": {"patience": "8"}},
		} {
			if err := start(good, func(cfg *app.Config) { cfg.Plugins.Settings = settings }); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %s", err, want)
			}
		}
		err := start(good, func(cfg *app.Config) { cfg.Plugins.Secrets = map[string]map[string]string{"yotube": {"api_key": "x"}} })
		if want := `plugins.secrets: there is no plugin "yotube"; did you mean youtube?`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	})
}

// TestSpeechHasAnEndpointOfItsOwn reads the settings of both endpoints.
func TestSpeechHasAnEndpointOfItsOwn(t *testing.T) {
	t.Parallel()
	given := map[string]string{
		app.Prefix + "DATA_DIR": t.TempDir(), app.Prefix + "MODEL_URL": "https://models.example.com/v1", app.Prefix + "MODEL": "seer",
		app.Prefix + "SPEECH_URL": "http://10.0.0.7:8000/v1", app.Prefix + "SPEECH_KEY": "sk-speech",
	}
	variable := func(name string) (string, bool) { value, ok := given[name]; return value, ok }
	cfg, err := app.Load(variable, nil)
	if err != nil {
		t.Fatal(err)
	}
	settings, secrets := cfg.Plugins.Settings, cfg.Plugins.Secrets
	for stage, want := range map[string][]string{
		"speech": {given[app.Prefix+"SPEECH_URL"], "", "sk-speech"},
		"vision": {given[app.Prefix+"MODEL_URL"], "seer", ""},
	} {
		if diff := cmp.Diff(want, []string{settings[stage]["endpoint"], settings[stage]["model"], secrets[stage]["key"]}); diff != "" {
			t.Errorf("endpoint, model and key of %s (-want +got):\n%s", stage, diff)
		}
	}
	for _, address := range []string{"models.example.com", "ftp://models.example.com", "https://user:pass@models.example.com"} {
		t.Run(address+" is refused", func(t *testing.T) {
			given[app.Prefix+"SPEECH_URL"] = address
			if _, err := app.Load(variable, nil); err == nil || !strings.Contains(err.Error(), "SPEECH_URL") {
				t.Errorf(`%s, want an error and text with "SPEECH_URL": %v`, address, err)
			}
		})
	}
}

// TestStageSettings: the variables of the built-in stages follow from their specs.
func TestStageSettings(t *testing.T) {
	t.Parallel()
	load := func(t *testing.T, file string, environment map[string]string) (app.Config, error) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		look := func(name string) (string, bool) {
			value, ok := environment[strings.TrimPrefix(name, app.Prefix)]
			return value, ok
		}
		return app.Load(look, map[string]string{"config": path, "data-dir": t.TempDir()})
	}
	want := func(t *testing.T, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	t.Run("no name is lost or new", func(t *testing.T) {
		var got []string
		for _, setting := range app.Settings() {
			if strings.Contains("FEED YTDLP MODEL SPEECH YOUTUBE TIKTOK INSTAGRAM", strings.Split(setting.Name, "_")[0]) {
				got = append(got, fmt.Sprintf("%s %v", setting.Name, setting.Secret))
			}
		}
		slices.Sort(got)
		want(t, got, []string{
			"FEED_DIR false", "INSTAGRAM_TOKEN true", "INSTAGRAM_USER_ID false", "MODEL false", "MODEL_KEY true", "MODEL_TOKENS_PER_DAY false", "MODEL_URL false",
			"SPEECH_KEY true", "SPEECH_MODEL false", "SPEECH_URL false", "TIKTOK_CLIENT_KEY true", "TIKTOK_CLIENT_SECRET true", "TIKTOK_ELIGIBLE false",
			"YOUTUBE_API_KEY true", "YOUTUBE_DERIVED_METRICS_ACCEPTED false", "YOUTUBE_FEED false", "YTDLP false",
		})
	})
	t.Run("a key of the file sets a setting and a secret", func(t *testing.T) {
		cfg, err := load(t, "tiktok_eligible: \"yes\"\ntiktok_client_key: 17\nytdlp: \"yes\"\ninstagram_token: it\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		want(t, cfg.Plugins.Settings, map[string]map[string]string{"tiktok": {"eligible": "yes"}, "ytdlp": {"enabled": "yes"}})
		want(t, cfg.Plugins.Secrets, map[string]map[string]string{"tiktok": {"client_key": "17"}, "instagram": {"access_token": "it"}})
	})
	t.Run("the environment wins over the file", func(t *testing.T) {
		cfg, err := load(t, "feed_dir: /of/file\n", map[string]string{"FEED_DIR": "/of/environment"})
		if err != nil {
			t.Fatal(err)
		}
		want(t, cfg.Plugins.Settings["feed"], map[string]string{"dir": "/of/environment"})
	})
	t.Run("a stage with an endpoint of its own takes nothing of the shared one", func(t *testing.T) {
		cfg, err := load(t, "plugins: {settings: {vision: {endpoint: https://own.example.com}}}\n",
			map[string]string{"MODEL_URL": "https://shared.example.com", "MODEL": "m", "MODEL_KEY": "k"})
		if err != nil {
			t.Fatal(err)
		}
		shared := map[string]string{"endpoint": "https://shared.example.com", "model": "m"}
		want(t, cfg.Plugins.Settings, map[string]map[string]string{"vision": {"endpoint": "https://own.example.com"}, "plan": shared, "rules": shared, "brief": shared})
		want(t, cfg.Plugins.Secrets, map[string]map[string]string{"plan": {"key": "k"}, "rules": {"key": "k"}, "brief": {"key": "k"}})
	})
	for _, c := range []struct{ name, value, fault string }{
		{"YOUTUBE_FEED", "off", `SCROLLERY_YOUTUBE_FEED: "off" is not yes or no`},
		{"YTDLP", "on", `SCROLLERY_YTDLP: "on" is not yes`},
		{"MODEL_URL", "https://m.example.com", "SCROLLERY_MODEL: needed with SCROLLERY_MODEL_URL"},
		{"MODEL_URL", "m.example.com", "SCROLLERY_MODEL_URL: not an http or https address"},
	} {
		t.Run(c.name+" "+c.value+" is refused", func(t *testing.T) {
			_, err := load(t, "", map[string]string{c.name: c.value})
			if err == nil || strings.Count(err.Error(), c.fault) != 1 {
				t.Errorf("got %v, want %q once", err, c.fault)
			}
		})
	}
}

// TestFaultsOfSettingsShowTheForm: a value that cannot be read is answered with the form that it needs.
func TestFaultsOfSettingsShowTheForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, fault string }{
		{"LAME_DUCK", "5", `SCROLLERY_LAME_DUCK: "5" is not a time with a unit, such as 15s or 1m`},
		{"STATEMENT_TIMEOUT", "soon", `SCROLLERY_STATEMENT_TIMEOUT: "soon" is not a time with a unit, such as 15s or 1m`},
		{"LOCK_TIMEOUT", "1", `SCROLLERY_LOCK_TIMEOUT: "1" is not a time with a unit, such as 15s or 1m`},
		{"DATABASE_POOL", "many", `SCROLLERY_DATABASE_POOL: "many" is not a whole number`},
		{"MCP_BUDGET", "16k", `SCROLLERY_MCP_BUDGET: "16k" is not a whole number`},
		{"TRUSTED_PROXIES", "10.0.0.1,proxy", `SCROLLERY_TRUSTED_PROXIES: "proxy" is neither an IP address nor a range such as 10.0.0.0/8`},
		{"LOG_LEVEL", "loud", `SCROLLERY_LOG_LEVEL: "loud" is not debug, info, warn or error`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			given := map[string]string{app.Prefix + c.name: c.value}
			_, err := app.Load(func(name string) (string, bool) { value, ok := given[name]; return value, ok }, nil)
			if err == nil || err.Error() != c.fault {
				t.Errorf("got %v, want %q", err, c.fault)
			}
		})
	}
}
