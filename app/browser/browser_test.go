// Package browser_test makes the whole journey of a customer in a real browser, with the
// console that `make build` bundled.
package browser_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/feed"
)

func TestMain(m *testing.M) { apptest.Main(m, func() { endBrowser() }) }

func serve(t *testing.T) *apptest.Running {
	t.Helper()
	return apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("FEED_DIR", feed.Sample)
		cfg.Console = os.DirFS(bundle)
	})
}

func TestJourney(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	b := launch(t).tab(t, running.BaseURL)

	b.open("/console/")
	b.sees("Sign in with a key")
	b.check("welcome")

	b.press("Subscribe")
	b.sees("Choose a plan")
	b.until(`document.querySelector('main section h2')`)
	b.check("subscribe")
	b.press("Choose " + eval[string](b, `document.querySelector('main section h2').textContent`))
	b.sees("Test checkout")
	b.fill("E-mail address", "ana@example.com")
	eval[bool](b, `document.querySelector('button[value=pay]').click(), true`)
	b.press("Continue there")
	b.sees("You are signed in")
	b.check("claimed")
	key := eval[string](b, `document.querySelector('.secret code').textContent`)
	b.press("Begin with the brief")
	b.sees("Three steps to your first results.")
	b.check("start-brief")

	tour := feed.SampleBrief()
	b.fill("What you make, and for whom", tour.Description)
	b.fill("Competitors", strings.Join(tour.Competitors, "\n"))
	b.press("Save the brief")
	b.fill("Rules", tour.Rules)
	b.check("start-rules")
	b.press("Save the rules")
	b.sees("What to look for this time")
	b.press("Start a scroll")
	b.until(`document.querySelectorAll('.stepper .done').length > 0`)
	b.sees("Completed")
	b.sees("What every source brought")
	b.check("scroll")
	b.press("Examples")
	b.until(`document.querySelector('.examples li')`)
	b.check("scroll-examples")
	b.press("All scrolls")
	b.sees("Nothing repeats.")
	b.check("scrolls")

	b.press("Account")
	b.sees("Today")
	b.check("usage")
	b.press("Keys")
	b.sees("this session")
	b.check("keys")
	b.press("Webhooks")
	b.sees("No webhooks")
	b.fill("Address", "https://hooks.example.com/scrollery")
	b.press("Make the webhook")
	b.sees("Signing secret")
	b.check("webhooks")
	b.press("https://hooks.example.com/scrollery")
	b.sees("Nothing was sent yet")
	b.check("webhook")

	session := eval[string](b, current+`.token`)
	caller := running.Anonymous().WithKey(session)
	if got := caller.Do(t, "GET /v1/usage", "").Status; got != http.StatusOK {
		t.Errorf("before signing out the session answers %d, want 200", got)
	}
	b.press("Sign out")
	b.sees("Sign in with a key")
	b.clean("signed out")
	deadline := time.Now().Add(patience)
	for caller.Do(t, "GET /v1/usage", "").Status != http.StatusUnauthorized {
		if time.Now().After(deadline) {
			t.Fatal("got a session that outlives signing out, want it ended")
		}
	}
	if kept := eval[[]string](b, `[...Object.keys(sessionStorage), document.cookie].filter(Boolean)`); slices.ContainsFunc(kept, func(name string) bool { return !strings.HasPrefix(name, "scrollery.since.") }) {
		t.Errorf("after signing out the browser keeps %q, want only scrollery.since.…", kept)
	}
	if stored := eval[string](b, `JSON.stringify({...localStorage, ...sessionStorage}) + document.documentElement.innerHTML`); strings.Contains(stored, "scr_") && strings.Contains(stored, key) {
		t.Error("after signing out: got the key in the browser, want it gone")
	}
}
