package app_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/recipe"
	"github.com/scrollery/scrollery/plugins/youtube/youtubetest"
)

// lines is a log to be read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

const (
	operatorsKey = "AIza-of-the-operator-0001"
	tenantsKey   = "AIza-of-the-tenant-000042"
	refusedKey   = "AIza-that-is-refused-0099"
	misplacedKey = "AIza-in-a-wrong-place-0007"
)

// keyring has the double of YouTube accept two keys, and counts the requests with each.
type keyring struct {
	mu    sync.Mutex
	asked map[string]int
}

func (k *keyring) intercept(w http.ResponseWriter, r *http.Request) bool {
	key := r.Header.Get("X-Goog-Api-Key")
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked[key]++
	if key == refusedKey { // a site that repeats what it refuses
		youtubetest.Fail(w, 400, "badRequest", "API key not valid: "+key)
		return true
	}
	r.Header.Set("X-Goog-Api-Key", youtubetest.Key)
	return false
}

// since returns the requests with each key since the last call.
func (k *keyring) since() map[string]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	defer func() { k.asked = map[string]int{} }()
	return k.asked
}

// own is the source youtube as an account sees it.
type own struct {
	Source, State string
	Reason        *string
	Own           bool
	Secrets       []struct {
		Name string
		Set  bool
		Hint *string
	}
	Quotas []struct {
		Name        string
		Limit, Left float64
	}
}

func youtubeOf(t *testing.T, account *apptest.Caller) own {
	t.Helper()
	var got struct{ Sources []own }
	account.Get(t, "GET /v1/sources/list", &got)
	for _, source := range got.Sources {
		if source.Source == "youtube" {
			return source
		}
	}
	t.Fatalf("got %+v, want youtube among them", got.Sources)
	return own{}
}

func setKey(t *testing.T, account *apptest.Caller, key, units string) {
	t.Helper()
	account.Get(t, fmt.Sprintf(`POST /v1/sources/set {"source":"youtube","secrets":{"api_key":%q},"settings":{"derived_metrics_accepted":"yes","units_per_day":%q}}`, key, units), &struct{}{})
}

// TestAccountsUseTheirOwnKeys has three accounts: one with a key of its own, one with a key that the
// site refuses, and one with none. Whatever they do, a key is seen by the site alone.
func TestAccountsUseTheirOwnKeys(t *testing.T) {
	t.Parallel()
	p, keys, log, folder := newPlatforms(t), &keyring{asked: map[string]int{}}, &lines{}, t.TempDir()
	p.youtube.Intercept = keys.intercept
	running := apptest.StartBy(t, func(ctx context.Context, cfg app.Config, _ *slog.Logger) (*app.Service, error) {
		return app.Start(ctx, cfg, slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	}, p.configure, func(cfg *app.Config) {
		cfg.DataDir = folder
		cfg.SetStage("YOUTUBE_API_KEY", operatorsKey)
		cfg.Plugins.Settings["youtube"]["units_per_day"] = "10"
	})
	owner, without, refused := running.Account(t, "pro"), running.Account(t, "pro"), running.Account(t, "pro")
	var said strings.Builder // what the API ever said
	outcome := func(t *testing.T, account *apptest.Caller) string {
		t.Helper()
		account.Get(t, `POST /v1/workspace {"description":"kettle","competitors":["youtube:kettle.co"]}`, &struct{}{})
		scroll := account.Scroll(t, `{"template":"competitors"}`)
		answer := account.Do(t, "GET /v1/scrolls?id="+scroll.ID, "")
		said.Write(answer.Body)
		var got struct {
			Scroll struct{ Progress struct{ Coverage []told } }
		}
		account.Get(t, "GET /v1/scrolls?id="+scroll.ID, &got)
		return on(t, got.Scroll.Progress.Coverage, "youtube")["kettle.co"].Outcome
	}
	used := func(t *testing.T, want int64) {
		t.Helper()
		if got := quotaNamed(t, running, "units").Used; got != want {
			t.Errorf("got %d units of the operator used, want %d", got, want)
		}
	}
	asked := func(t *testing.T, key string) {
		t.Helper()
		if got := keys.since(); len(got) != 1 || got[key] == 0 {
			t.Errorf("got requests by key %v, want them with %s alone", got, key)
		}
	}
	setKey(t, owner, tenantsKey, "100")
	setKey(t, refused, refusedKey, "100")
	t.Run("the list shows the end of a key", func(t *testing.T) {
		got := youtubeOf(t, owner)
		if !got.Own || got.State != "ready" || !got.Secrets[0].Set || *got.Secrets[0].Hint != "0042" {
			t.Errorf("got %+v, want a key of its own that ends in 0042", got)
		}
		if got := youtubeOf(t, without); got.Own || got.State != "ready" || got.Secrets[0].Set || got.Secrets[0].Hint != nil {
			t.Errorf("of an account without a key: got %+v, want the operator's and nothing of it", got)
		}
	})
	t.Run("a scroll uses the account's key and quota", func(t *testing.T) {
		if got := outcome(t, owner); got != "ok" {
			t.Errorf("got outcome %s, want ok", got)
		}
		asked(t, tenantsKey)
		used(t, 0)
		if diff := cmp.Diff([]int64{3, 97}, estimatedUnits(t, owner)); diff != "" {
			t.Errorf("estimated to need and left of the account's 100 (-want +got):\n%s", diff)
		}
	})
	t.Run("another account uses the operator's", func(t *testing.T) {
		if got := outcome(t, without); got != "ok" {
			t.Errorf("got outcome %s, want ok", got)
		}
		asked(t, operatorsKey)
		used(t, 3)
	})
	t.Run("a key that is refused is replaced by no other", func(t *testing.T) {
		if got := outcome(t, refused); got != "misconfigured" {
			t.Errorf("got outcome %s, want misconfigured", got)
		}
		asked(t, refusedKey)
		used(t, 3)
	})
	t.Run("a try makes a real request", func(t *testing.T) {
		for _, c := range []struct {
			account     *apptest.Caller
			key, status string
		}{{owner, tenantsKey, "ok"}, {without, operatorsKey, "ok"}, {refused, refusedKey, "misconfigured"}} {
			answer := c.account.Do(t, `POST /v1/sources/try {"source":"youtube","seed":"@kettle.co"}`, "")
			said.Write(answer.Body)
			got := answer.JSON(t)
			if got["status"] != c.status || (got["returned"] == 3.0) != (c.status == "ok") || got["own"] != (c.key != operatorsKey) {
				t.Errorf("got %s, want %s, and 3 videos if it is ok", answer.Body, c.status)
			}
			asked(t, c.key)
		}
		used(t, 6)
		var library struct{ Videos []struct{ Platform string } }
		fresh := running.Account(t, "pro")
		fresh.Get(t, `POST /v1/sources/try {"source":"youtube","seed":"@kettle.co"}`, &struct{}{})
		if fresh.Get(t, "GET /v1/library?limit=25", &library); len(library.Videos) > 0 {
			t.Errorf("got %d videos in the library, want none of a try", len(library.Videos))
		}
		keys.since()
	})
	t.Run("no other account removes a key", func(t *testing.T) {
		if got := without.Do(t, `POST /v1/sources/remove {"source":"youtube"}`, "").JSON(t); got["found"] != false {
			t.Errorf("got %v, want nothing found", got)
		}
		if got := youtubeOf(t, owner); !got.Own {
			t.Errorf("got %+v, want the owner's key still there", got)
		}
	})
	secrets := []string{tenantsKey, refusedKey, misplacedKey}
	t.Run("a key in a wrong place is refused", func(t *testing.T) {
		for _, request := range []string{
			`POST /v1/sources/set {"source":"youtube","secrets":{"KEY":"api_key"}}`,
			`POST /v1/sources/set {"source":"youtube","secrets":{"api_key":{"KEY":1}}}`,
			`POST /v1/sources/set {"source":"youtube","secrets":"KEY"}`,
			`POST /v1/sources/set {"source":"youtube","settings":{"units_per_day":"KEY"}}`,
			`POST /v1/sources/set {"source":"youtube","settings":{"KEY":"1"}}`,
			`POST /v1/sources/set {"source":"KEY"}`,
			`POST /v1/sources/set {"source":"youtube","KEY":"api_key"}`,
			`POST /v1/sources/set {"source":"youtube","secrets":{"api_key":"KEY`,
			`POST /v1/sources/set?api_key=KEY {"source":"youtube","secrets":{"api_key":""}}`,
			`POST /scrollery.v1.SourcesService/SetSource {"source":"youtube","secrets":{"KEY":"api_key"}}`,
			`POST /scrollery.v1.SourcesService/SetSource {"source":"youtube","KEY":"api_key"}`,
		} {
			if answer := without.Do(t, strings.ReplaceAll(request, "KEY", misplacedKey), ""); answer.Status < 400 {
				t.Errorf("%s: got %d, want a refusal", request, answer.Status)
			}
		}
	})
	t.Run("the export has the settings without the keys", func(t *testing.T) {
		text := exported(t, owner)
		if !strings.Contains(text, `"source":"youtube"`) || !strings.Contains(text, "units_per_day") {
			t.Errorf("got an export without the source, want it: %.300s", text)
		}
		wantNothingOf(t, append(secrets, operatorsKey), "the export", text)
	})
	t.Run("no answer, log line or file has a key", func(t *testing.T) {
		for _, account := range []*apptest.Caller{owner, without, refused} {
			said.WriteString(everything(t, account))
			said.Write(account.Do(t, "GET /v1/sources/list", "").Body)
		}
		wantNothingOf(t, append(secrets, operatorsKey), "an answer", said.String())
		text := log.String()
		if !strings.Contains(text, `"outcome":"misconfigured"`) {
			t.Error("got no line about the site's refusal in the log, want one: it repeats the key")
		}
		wantNothingOf(t, append(secrets, operatorsKey), "the log", text)
		files := 0
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if files++; err == nil {
				wantNothingOf(t, secrets, path, string(content))
			}
			return err
		})
		if err != nil || files == 0 {
			t.Errorf("got %d files and error %v, want those of the database", files, err)
		}
	})
	t.Run("a source that the operator did not set up is ready with keys alone", func(t *testing.T) {
		other := apptest.Start(t, func(cfg *app.Config) {
			cfg.Plugins.Settings = map[string]map[string]string{"youtube": {"api_url": p.youtube.URL, "patience": "0s"}}
		})
		account := other.Account(t, "pro")
		if got := youtubeOf(t, account); got.State != "unset" || got.Reason == nil || strings.Contains(*got.Reason, "SCROLLERY_") {
			t.Errorf("got %+v, want unset, in words for the account", got)
		}
		setKey(t, account, tenantsKey, "100")
		if got := outcome(t, account); got != "ok" {
			t.Errorf("got outcome %s, want ok", got)
		}
		asked(t, tenantsKey)
	})
	t.Run("after its removal the operator's key is used", func(t *testing.T) {
		owner.Get(t, `POST /v1/sources/remove {"source":"youtube"}`, &struct{}{})
		if got := outcome(t, owner); got != "ok" && got != "quota" {
			t.Errorf("got outcome %s, want ok or quota", got)
		}
		if got := keys.since(); got[tenantsKey] > 0 {
			t.Errorf("got %d requests with the removed key, want none", got[tenantsKey])
		}
	})
}

// exported is the text of all files of an account's export.
func exported(t *testing.T, account *apptest.Caller) string {
	t.Helper()
	answer := account.Do(t, "GET /v1/account/export", "")
	reader, err := zip.NewReader(bytes.NewReader(answer.Body), int64(len(answer.Body)))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, file := range reader.File {
		in, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&text, in); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// TestATryCountsWhatCame: the feed gives all that is in its folder, whichever creator it was asked for.
func TestATryCountsWhatCame(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, sampleFeed)
	var tried struct {
		Returned int
		Fields   []struct {
			Name   string
			Videos int
		}
	}
	running.Account(t, "pro").Get(t, `POST /v1/sources/try {"source":"feed","seed":"@moka"}`, &tried)
	most := 0
	for _, field := range tried.Fields {
		most = max(most, field.Videos)
	}
	if tried.Returned == 0 || most != tried.Returned {
		t.Errorf("got %d videos, and a field of %d, want as many", tried.Returned, most)
	}
}

// TestAccountsCheckTheirKeys without a seed: a source that can says whether they work, by one
// request that costs little.
func TestAccountsCheckTheirKeys(t *testing.T) {
	t.Parallel()
	p, keys := newPlatforms(t), &keyring{asked: map[string]int{}}
	p.youtube.Intercept = keys.intercept
	running := apptest.Start(t, p.configure, func(cfg *app.Config) { cfg.SetStage("YOUTUBE_API_KEY", operatorsKey) })
	owner, refused, without := running.Account(t, "pro"), running.Account(t, "pro"), running.Account(t, "pro")
	setKey(t, owner, tenantsKey, "100")
	setKey(t, refused, refusedKey, "100")
	type checked struct {
		State                    string
		Own                      bool
		Checked, Failure, Detail *string
		Status                   *string
		Asked, Returned          int
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	for name, c := range map[string]struct {
		account      *apptest.Caller
		key          string
		line, failed string
	}{
		"the account's own keys": {owner, tenantsKey, "YouTube accepts the API key", ""},
		"the operator's keys":    {without, operatorsKey, "YouTube accepts the API key", ""},
		"keys that are refused":  {refused, refusedKey, "", "source_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			var got checked
			c.account.Get(t, `POST /v1/sources/try {"source":"youtube"}`, &got)
			if got.State != "ready" || got.Own != (c.key != operatorsKey) || text(got.Checked) != c.line || text(got.Failure) != c.failed {
				t.Errorf("got %+v with %q, %q, want %q, %q", got, text(got.Checked), text(got.Failure), c.line, c.failed)
			}
			if got.Status != nil || got.Asked != 0 || got.Returned != 0 {
				t.Errorf("got %+v, want no outcome of a check", got)
			}
			if said := text(got.Detail); (said != "") != (c.failed != "") || strings.Contains(said, c.key) {
				t.Errorf("got the detail %q, want a reason without the key exactly where the check fails", said)
			}
			if asked := keys.since(); len(asked) != 1 || asked[c.key] != 1 {
				t.Errorf("got the requests %v, want one with %s", asked, c.key)
			}
		})
	}
	t.Run("a check spends the account's own quota", func(t *testing.T) {
		for _, quota := range youtubeOf(t, owner).Quotas {
			if quota.Name == "units" && quota.Left != 99 {
				t.Errorf("got %v units left, want 99 of 100", quota.Left)
			}
		}
	})
	t.Run("a source without a check needs a seed", func(t *testing.T) {
		for _, request := range []string{`{"source":"youtube-feed"}`, `{"source":"youtube","seed":""}`} {
			if answer := without.Do(t, "POST /v1/sources/try "+request, ""); answer.Status != 400 || !strings.Contains(string(answer.Body), `"seed"`) {
				t.Errorf("%s: got %d %s, want a fault of the seed", request, answer.Status, answer.Body)
			}
		}
	})
	t.Run("the list says who can check", func(t *testing.T) {
		var got struct {
			Sources []struct {
				Source string
				Checks bool
			}
		}
		without.Get(t, "GET /v1/sources/list", &got)
		for _, one := range got.Sources {
			if want := slices.Contains(append(recipe.ShippedIDs(), "youtube", "tiktok", "instagram"), one.Source); one.Checks != want {
				t.Errorf("%s: checks %t, want %t", one.Source, one.Checks, want)
			}
		}
	})
}

// TestSourcesHavePages: each source of the list names a page, and a part of the server's own page
// that is there.
func TestSourcesHavePages(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	account := running.Account(t, "pro")
	var got struct {
		Sources []struct {
			Source  string
			DocsURL *string `json:"docsUrl"`
		}
	}
	account.Get(t, "GET /v1/sources/list", &got)
	page := string(account.Do(t, "GET /docs/sources", "").Body)
	own := 0
	for _, s := range got.Sources {
		if s.DocsURL == nil {
			t.Errorf("%s has no page, want one", s.Source)
			continue
		}
		if part, is := strings.CutPrefix(*s.DocsURL, running.BaseURL+"/docs/sources#"); is {
			own++
			if !strings.Contains(page, `id="`+part+`"`) {
				t.Errorf("%s: %s is no part of the page, want one", s.Source, part)
			}
		} else if !strings.HasPrefix(*s.DocsURL, "https://") || strings.Contains(*s.DocsURL, " ") {
			t.Errorf("%s: got %q, want the address of a page of the provider", s.Source, *s.DocsURL)
		}
	}
	if own != 6 || len(got.Sources) < 9 {
		t.Errorf("got %d sources, %d with a part of the server's page, want at least 9 and 6", len(got.Sources), own)
	}
}

// TestOperatorTurnsOffOwnKeys: what an account stored before is shown and can be removed, and no
// request is made with it.
func TestOperatorTurnsOffOwnKeys(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, operatorTurnsOffOwnKeys)
}

func operatorTurnsOffOwnKeys(t *testing.T, database string) {
	p, keys, folder := newPlatforms(t), &keyring{asked: map[string]int{}}, t.TempDir()
	p.youtube.Intercept = keys.intercept
	start := func(t *testing.T, ownKeys bool) *apptest.Running {
		return apptest.Start(t, p.configure, func(cfg *app.Config) {
			cfg.DatabaseURL, cfg.DataDir, cfg.OwnKeys = database, folder, ownKeys
			cfg.SetStage("YOUTUBE_API_KEY", operatorsKey)
		})
	}
	var of [2]string // keys of the accounts
	t.Run("while they are on", func(t *testing.T) {
		running := start(t, true)
		owner := running.Account(t, "pro")
		setKey(t, owner, tenantsKey, "100")
		of = [2]string{owner.Key, running.Account(t, "pro").Key}
	})
	running := start(t, false)
	owner, fresh := apptest.CallerOf(running.BaseURL, of[0]), apptest.CallerOf(running.BaseURL, of[1])
	for name, account := range map[string]*apptest.Caller{"with stored keys": owner, "without": fresh} {
		t.Run("an account "+name+" is refused", func(t *testing.T) {
			for _, request := range []string{
				`{"source":"youtube","secrets":{"api_key":"AIza-another-one-0001"}}`,
				`{"source":"youtube","settings":{"derived_metrics_accepted":"yes"}}`,
				`{"source":"youtube","secrets":{"api_kee":"AIza-another-one-0001"}}`,
				`{"source":"feed","secrets":{}}`,
			} {
				answer := account.Do(t, "POST /v1/sources/set "+request, "")
				if answer.Status != 400 || !slices.Equal(answer.IssuePaths(t), []string{"source"}) || !strings.Contains(string(answer.Body), "removeSource") {
					t.Errorf("%s: got %d %s, want an issue of the source, and what to do", request, answer.Status, answer.Body)
				}
			}
			answer := account.Do(t, `POST /scrollery.v1.SourcesService/SetSource {"source":"youtube","secrets":{"api_key":"AIza-another-one-0001"}}`, "")
			if got := answer.JSON(t); got["code"] != "invalid_argument" || !strings.Contains(string(answer.Body), "removeSource") {
				t.Errorf("by Connect: got %s, want invalid_argument, and what to do", answer.Body)
			}
		})
	}
	t.Run("the list shows no place for keys", func(t *testing.T) {
		for account, own := range map[*apptest.Caller]bool{owner: true, fresh: false} {
			if got := youtubeOf(t, account); got.Own != own || got.State != "ready" || len(got.Secrets) > 0 || got.Quotas[2].Limit != 10_000 {
				t.Errorf("got %+v, want own keys stored: %v, no secrets, and the operator's quotas", got, own)
			}
		}
	})
	t.Run("requests have the operator's key", func(t *testing.T) {
		keys.since()
		got := owner.Do(t, `POST /v1/sources/try {"source":"youtube","seed":"@kettle.co"}`, "").JSON(t)
		if asked := keys.since(); got["own"] != false || got["status"] != "ok" || asked[operatorsKey] == 0 || len(asked) != 1 {
			t.Errorf("a try: got %v with requests by key %v, want the operator's alone", got, asked)
		}
		owner.Get(t, `POST /v1/workspace {"description":"kettle","competitors":["youtube:kettle.co"]}`, &struct{}{})
		owner.Scroll(t, `{"template":"competitors"}`)
		if asked := keys.since(); asked[operatorsKey] == 0 || len(asked) != 1 {
			t.Errorf("a scroll: got requests by key %v, want the operator's alone", asked)
		}
	})
	t.Run("stored keys can be removed", func(t *testing.T) {
		if got := owner.Do(t, `POST /v1/sources/remove {"source":"youtube"}`, "").JSON(t); got["found"] != true {
			t.Errorf("got %v, want them found", got)
		}
		if got := youtubeOf(t, owner); got.Own {
			t.Errorf("got %+v, want no own keys any more", got)
		}
	})
	t.Run("a source that only keys would set up is for the operator", func(t *testing.T) {
		other := apptest.Start(t, func(cfg *app.Config) { cfg.OwnKeys = false })
		got := youtubeOf(t, other.Account(t, "pro"))
		if got.State != "off" || got.Reason == nil || strings.Contains(*got.Reason, "Set keys") {
			t.Errorf("got %+v, want off, and no word of setting keys", got)
		}
	})
}
