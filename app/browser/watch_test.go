package browser_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/youtubefeed/feedtest"
)

// TestFirstMinuteOnThePage takes an empty account from the names of three channels to an outlier
// of each, without a key or a setting of its own.
func TestFirstMinuteOnThePage(t *testing.T) {
	needBrowser(t)
	feeds := feedtest.New(t)
	feeds.Channels = feedtest.Watched("ada", "bob", "cyd")
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("YOUTUBE_FEED", "yes")
		cfg.Plugins.Settings = map[string]map[string]string{"youtube-feed": {"url": feeds.URL}}
		cfg.Console = os.DirFS(bundle)
	})
	account := running.Account(t, "pro")
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, true)
	b.sees("Whom do you watch?")
	b.check("watch")

	began := time.Now()
	const label = "Up to ten creators"
	b.fill(label, "@someone-a @someone-b\n@a1 @a2 @a3 @a4 @a5 @a6 @a7 @a8 @a9")
	b.sees("These are 11 creators; at most ten are watched here.")
	if !eval[bool](b, `[...document.querySelectorAll('main button')].find((e) => e.innerText === 'Find their outliers').disabled`) {
		t.Error("eleven creators can be sent, want at most ten")
	}
	b.fill(label, "@ada, https://www.youtube.com/@bob\nyoutube.com/channel/"+feeds.Channels[2].ID)
	b.press("Find their outliers")
	b.until(`location.pathname.includes('/scroll/scr_') && document.body.innerText.includes('Completed')`)
	b.sees("The strongest outliers now")
	for _, caption := range []string{"ada 7", "bob 7", "cyd 7"} {
		b.sees(caption)
	}
	took := time.Since(began)
	t.Logf("from the names of three channels to their outliers in %v, by one field and one click", took.Round(100*time.Millisecond))
	if took > time.Minute {
		t.Errorf("it took %v, want at most a minute", took)
	}
	if asked := feeds.Asked(); len(asked) != 5 {
		t.Errorf("%d requests: %v; want 2 pages of handles and 3 feeds", len(asked), asked)
	}
	b.check("watch-outliers")

	var brief struct {
		Workspace struct{ Competitors []string }
	}
	account.Get(t, "GET /v1/workspace", &brief)
	if len(brief.Workspace.Competitors) != 3 {
		t.Errorf("got the brief %+v, want the three channels in it", brief)
	}
	b.open("/console/")
	b.until(`document.querySelector('main h1')`)
	if eval[bool](b, `document.body.innerText.includes('Whom do you watch?')`) {
		t.Error("the question is asked again, want it once")
	}
}

// TestFirstMinuteOfAFailingSite: what the site does to some channels costs those alone, and the page
// says of each what happened.
func TestFirstMinuteOfAFailingSite(t *testing.T) {
	needBrowser(t)
	feeds, want := feedtest.Troubled(t)
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("YOUTUBE_FEED", "yes")
		cfg.Plugins.Settings = map[string]map[string]string{"youtube-feed": {"url": feeds.URL}}
		cfg.Console = os.DirFS(bundle)
	})
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(running.Account(t, "pro").Key, true)
	creators := "@ada"
	for name := range want {
		creators += "\n@" + name
	}
	b.fill("Up to ten creators", creators)
	b.press("Find their outliers")
	b.until(`location.pathname.includes('/scroll/scr_') && document.body.innerText.includes('Completed')`)
	b.sees("ada 7")
	words := map[string]string{"blocked": "Refused", "changed": "Platform changed", "not_found": "Unknown name"}
	for name, outcome := range want {
		row := eval[string](b, `[...document.querySelectorAll('tr')].map((e) => e.innerText).find((text) => text.includes("`+name+`") && text.includes("outube")) ?? document.body.innerText`)
		if !strings.Contains(strings.ToLower(row), strings.ToLower(words[outcome])) {
			t.Errorf("of %s the page says %q, want %q", name, row, words[outcome])
		}
	}
	b.check("watch-failing")
}
