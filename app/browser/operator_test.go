package browser_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/feed"
)

func TestOperatorPage(t *testing.T) {
	needBrowser(t)
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("FEED_DIR", feed.Sample)
		cfg.Console, cfg.OpsPage = os.DirFS(bundle), true
	})
	account := running.Account(t, "pro")
	account.Get(t, `POST /v1/workspace {"description":"hostile-brief <b>text</b>"}`, &struct{}{})
	done := account.Scroll(t, `{"prompt":"hostile-prompt"}`)
	running.Exec(t, `UPDATE observations SET stage = 'youtube', observed_at = 1000 WHERE id = (SELECT MIN(id) FROM observations)`)
	running.Exec(t, `UPDATE source_counts SET source = 'youtube' WHERE source = 'feed'`)
	running.Exec(t, `UPDATE scrolls SET status = 'failed', failure_code = 'worker_lost'`)

	link := func() string {
		t.Helper()
		cfg := running.Config
		cfg.OpsAddr = strings.TrimPrefix(running.OpsURL, "http://")
		link, err := app.OperatorLink(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimPrefix(link, running.OpsURL)
	}
	b := launch(t).tab(t, running.OpsURL)
	b.open("/operator/")
	b.sees("Sign in with a link")
	b.check("operator-out")

	once := link()
	b.open("/readyz") // another document, so that the link is loaded
	b.open(once)
	b.sees("What this installation does now.")
	b.sees("should have been deleted in 1 accounts")
	b.until(`[...document.querySelectorAll('caption')].filter((e) => /Requests by hour|What libraries keep|Calls of plugins/.test(e.textContent)).length === 3`)
	b.sees(done.ID)
	b.sees("worker_lost")
	b.sees("acct_")
	b.until(`[...document.querySelectorAll('th')].some((e) => e.textContent === 'feed')`)
	if at := eval[string](b, "location.href"); strings.Contains(at, "code") {
		t.Errorf(`the code stays in the address: %s, want without "code"`, at)
	}
	b.check("operator")
	b.press("Read settings again")
	b.sees("Nothing was changed: the configuration was not read from a file or the environment")
	shown := eval[string](b, "document.documentElement.innerHTML")
	for _, private := range []string{account.Key, account.Email, "hostile-brief", "hostile-prompt"} {
		if strings.Contains(shown, private) {
			t.Errorf("got %q in the page, want none of the customers' own", private)
		}
	}

	b.press("Sign out")
	b.sees("Sign in with a link")
	b.open("/readyz")
	b.open(once)
	b.sees("This link was used")
	b.check("operator-refused")

	for name, running := range map[string]string{
		"off by default":         serve(t).OpsURL,
		"not on the public port": running.BaseURL,
	} {
		answer, err := http.Get(running + "/operator/")
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: the page answers %d, %v, want 404", name, answer.StatusCode, err)
		}
	}
}
