// Package browser_test makes the whole journey of a customer in a real browser, with the
// console that `make build` bundled.
package browser_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/app/demo"
	"github.com/scrollery/scrollery/plugins/feed"
)

func TestMain(m *testing.M) { apptest.Main(m) }

func serve(t *testing.T) *apptest.Running {
	t.Helper()
	return apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("FEED_DIR", feed.Sample)
		cfg.Console = os.DirFS(bundle)
	})
}

// sample returns a key of an account with the sample library.
func sample(t *testing.T, running *apptest.Running) string {
	t.Helper()
	key := running.Account(t, "pro").Key
	tour := feed.SampleBrief()
	journey := demo.Journey{
		BaseURL: running.BaseURL, Scrolls: 3, Description: tour.Description, Competitors: tour.Competitors, Rules: tour.Rules,
		Out: io.Discard, Progress: io.Discard,
	}
	if err := journey.Fill(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return key
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
	if key == "" {
		t.Error("no key was shown")
	}
}

func TestSampleLibrary(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	key := sample(t, running)
	b := launch(t).tab(t, running.BaseURL)

	b.open("/console/")
	b.fill("API key", key)
	b.press("Sign in")
	b.sees("New outliers")
	b.check("start")
}
