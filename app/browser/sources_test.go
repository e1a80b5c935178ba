package browser_test

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/feed"
	"github.com/scrollery/scrollery/plugins/youtube/youtubetest"
)

// TestKeysOfSources sets keys of a source on its page, makes a real request with them, and
// removes them. The page never shows them again.
func TestKeysOfSources(t *testing.T) {
	needBrowser(t)
	const key = "AIza-of-the-tenant-000042"
	site := youtubetest.New(t)
	channel := youtubetest.Channel{ID: "UCkettlekettlekettlekett", Handle: "kettle.co", Shorts: []string{"short000001"}}
	site.Channels = []youtubetest.Channel{channel}
	site.Videos["short000001"] = youtubetest.Video{
		ID: "short000001", Title: "A kettle that sings", Channel: channel.ID, Published: time.Now().Add(-time.Hour).UTC().Format(time.RFC3339),
		Duration: "PT20S", Counts: map[string]any{"viewCount": "100"},
	}
	var mu sync.Mutex
	keys := map[string]int{}
	site.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		keys[r.Header.Get("X-Goog-Api-Key")]++
		r.Header.Set("X-Goog-Api-Key", youtubetest.Key)
		return false
	}
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("FEED_DIR", feed.Sample)
		cfg.Console = os.DirFS(bundle)
		cfg.Plugins.Settings = map[string]map[string]string{"youtube": {"api_url": site.URL, "patience": "0s"}}
	})
	account := running.Account(t, "pro")
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, false)
	b.press("Account")
	b.sees("Today")
	b.press("Sources")
	b.sees("Set keys of your own: api_key, derived_metrics_accepted.")
	b.check("sources")

	b.press("Set keys of youtube")
	b.fill("API key", account.Key) // the session can only read
	b.press("Go on")
	b.fill("api_key", "short")
	b.fill("derived_metrics_accepted", "yes")
	b.press("Save")
	b.sees("must have 6 to 500 characters")
	b.fill("api_key", key)
	b.check("sources-set")
	b.press("Save")
	b.sees("Your own keys, set")
	b.sees("api_key …0042")
	b.sees("units: 10,000 of 10,000 left today (Pacific time).")

	b.fill("A creator (@name) or a term for youtube", "@kettle.co")
	b.press("Make one real request of youtube")
	b.sees("1 video came")
	b.sees("metrics.views 1")
	b.sees("units: 9,997 of 10,000 left today (Pacific time).")
	b.check("sources-tried")
	mu.Lock()
	if keys[key] != 3 || len(keys) != 1 {
		t.Errorf("got requests by key %v, want 3 with the one of the account", keys)
	}
	mu.Unlock()
	kept := eval[string](b, `JSON.stringify({...localStorage, ...sessionStorage}) + document.documentElement.outerHTML + [...document.querySelectorAll('input')].map((e) => e.value)`)
	if strings.Contains(kept, key) {
		t.Error("got the key in the page, want it gone after it was saved")
	}

	b.press("Remove the keys of youtube")
	b.press("Delete them")
	b.sees("Set keys of your own: api_key, derived_metrics_accepted.")
}

// TestNoKeysOfSources: where the operator turned keys of accounts off, the page says so and has no
// form; keys that were stored before can be removed.
func TestNoKeysOfSources(t *testing.T) {
	needBrowser(t)
	folder := t.TempDir()
	start := func(t *testing.T, ownKeys bool) *apptest.Running {
		return apptest.Start(t, func(cfg *app.Config) {
			cfg.DataDir, cfg.OwnKeys, cfg.Console = folder, ownKeys, os.DirFS(bundle)
		})
	}
	key := ""
	t.Run("while they are on", func(t *testing.T) {
		account := start(t, true).Account(t, "pro")
		account.Get(t, `POST /v1/sources/set {"source":"youtube","secrets":{"api_key":"AIza-of-the-tenant-000042"},"settings":{"derived_metrics_accepted":"yes"}}`, &struct{}{})
		key = account.Key
	})
	b := launch(t).tab(t, start(t, false).BaseURL)
	b.signIn(key, false)
	b.press("Account")
	b.sees("Today")
	b.press("Sources")
	b.sees("turned off accounts' own keys")
	b.sees("are stored and not used")
	if eval[bool](b, `[...document.querySelectorAll('button')].some((one) => /Set keys|Change/.test(one.textContent))`) {
		t.Error("got a button that sets keys, want none")
	}
	b.check("sources-off")
	b.press("Remove the keys of youtube")
	b.fill("API key", key) // the session can only read
	b.press("Go on")
	b.press("Delete them")
	b.sees("The keys were removed.")
}
