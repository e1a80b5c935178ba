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
	id := eval[string](b, `[...document.querySelectorAll('button')].find((e) => /^acct_/.test(e.textContent)).textContent`)
	t.Run("an account is shown, gets a limit of its own, and is blocked", func(t *testing.T) {
		b.press(id)
		b.until(`[...document.querySelectorAll('h3')].some((e) => e.textContent === ` + quoted(id) + `)`)
		b.fill("Other limits than the plan's", "max_video=5")
		b.press("Set limits")
		b.sees("did you mean max_videos?")
		b.fill("Other limits than the plan's", "max_videos=5")
		b.press("Set limits")
		b.until(`[...document.querySelectorAll('dd code')].some((e) => e.textContent === 'max_videos=5')`)
		b.check("operator-account")
		status := func(want int, when string) {
			t.Helper()
			if got := account.Do(t, "GET /v1/workspace", "").Status; got != want {
				t.Errorf("%s: got %d, want %d", when, got, want)
			}
		}
		balance := func(want string) {
			t.Helper()
			b.until(`[...document.querySelectorAll('dd')].some((e) => e.textContent === ` + quoted(want) + `)`)
		}
		b.fill("How many", "250")
		b.fill("Reference", "ticket 7")
		b.press("Move credits")
		balance("250, owed 0")
		b.fill("How many", "300")
		b.press("Move credits")
		b.sees("the reference moved +250 credits before, and cannot move +300")
		b.fill("How many", "a few")
		b.press("Move credits")
		b.sees("is no number of credits from 1 to 1000000000")
		eval[bool](b, `(() => { const s = [...document.querySelectorAll('select')].find((e) => e.value === 'grant'); s.value = 'take'; return s.dispatchEvent(new Event('change', { bubbles: true })); })()`)
		b.fill("How many", "260")
		b.press("Move credits")
		balance("0, owed 10")
		b.press("Block")
		b.sees("Yes, block " + id)
		status(http.StatusOK, "after one press")
		b.press("Yes, block " + id)
		b.sees("Blocked since")
		status(http.StatusForbidden, "blocked")
		b.press("End the block")
		b.until(`[...document.querySelectorAll('button')].some((e) => e.textContent === 'Block')`)
		status(http.StatusOK, "after the end of the block")
		report, err := running.Operator().Account(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if report.Limits != "max_videos=5" || len(report.Changes) < 5 || report.Credits != 0 || report.Owed != 10 || report.Changes[0].Actor != "operator_page" {
			t.Errorf("got the limits %q, %d credits, %d owed, and the audit %+v; want max_videos=5, none, 10 and changes of operator_page", report.Limits, report.Credits, report.Owed, report.Changes)
		}
	})
	t.Run("an account is left to be deleted and kept, and a key of it revoked", func(t *testing.T) {
		b.press("Delete the account")
		b.press("Yes, delete " + id)
		b.sees("Is deleted from")
		if report, err := running.Operator().Account(t.Context(), id); err != nil || report.Leaves.IsZero() {
			t.Errorf("got the deletion at %v, %v; want one that is ordered", report.Leaves, err)
		}
		b.press("Call the deletion off")
		b.until(`[...document.querySelectorAll('button')].some((e) => e.textContent === 'Delete the account')`)
		b.check("operator-keys")
		session := account.WithKey(account.Do(t, `POST /v1/api_keys/sessions {"scopes":["workspace:read"],"ttlSeconds":600}`, "").JSON(t)["apiKey"].(string))
		b.fill("Id or address of an account", id)
		b.press("Show")
		hint := "…" + session.Key[len(session.Key)-4:]
		b.until(`[...document.querySelectorAll('td code')].some((e) => e.textContent === ` + quoted(hint) + `)`)
		inRow := func(button string) {
			t.Helper()
			b.until(`[...document.querySelectorAll('tr')].some((row) => { const e = row.textContent.includes(` + quoted(hint) + `) && [...row.querySelectorAll('button')].find((e) => e.textContent === ` + quoted(button) + `); e && e.click(); return !!e; })`)
		}
		inRow("Revoke")
		inRow("Yes, revoke " + hint)
		b.until(`![...document.querySelectorAll('td code')].some((e) => e.textContent === ` + quoted(hint) + `)`)
		if status := session.Do(t, "GET /v1/workspace", "").Status; status != http.StatusUnauthorized {
			t.Errorf("a revoked key: got %d, want 401", status)
		}
	})
	t.Run("a scroll that failed is started again, and one that waits is cancelled", func(t *testing.T) {
		b.press("Start again")
		b.sees("Started as scr_")
		var started struct {
			Scrolls []struct{ ID, Status string } `json:"scrolls"`
		}
		running.Exec(t, `UPDATE scrolls SET status = 'queued' WHERE status = 'failed'`) // it is in no queue of jobs
		b.until(`[...document.querySelectorAll('button')].some((e) => e.textContent === 'Cancel' && (e.click(), true))`)
		b.press("Yes, cancel")
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			account.Get(t, "GET /v1/scrolls/list", &started)
			if len(started.Scrolls) == 2 && slices.ContainsFunc(started.Scrolls, func(s struct{ ID, Status string }) bool { return s.Status == "cancelled" }) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("got %+v, want two scrolls, one of them cancelled", started.Scrolls)
			}
		}
	})
	t.Run("an account that is not there is said to be", func(t *testing.T) {
		b.fill("Id or address of an account", "nobody@example.com")
		b.press("Show")
		b.sees("there is no account nobody@example.com")
		b.press(id)
		b.until(`[...document.querySelectorAll('h3')].some((e) => e.textContent === ` + quoted(id) + `)`)
	})
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
