package app_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestAgentForCredits buys credits, writes a program, has the agent run it in a
// real process, and spends until there is too little left.
func TestAgentForCredits(t *testing.T) {
	t.Parallel()
	// However slow the machine is, a run takes one credit.
	running := apptest.Start(t, func(c *app.Config) { c.Sandbox.Agent.Credits = 1 })
	caller := running.Anonymous()
	caller.Key = buyCredits(t, running, `POST /v1/signup {"amountCents":120}`)
	ask := func(goal string) *apptest.Answer {
		return caller.Do(t, `POST /v1/agent {"goal":"`+goal+`"}`, "")
	}
	program := `files.write(\"out/sum\", String(19 + 23)); print(files.read(\"out/sum\"), files.list().length, Object.keys(data).length)`
	if answer := caller.Do(t, `PUT /v1/sandbox/files {"path":"sum.js","data":"`+program+`"}`, ""); answer.Status != 200 {
		t.Fatal(answer.Status, string(answer.Body))
	}
	answer := ask("run sum.js")
	if got := answer.JSON(t); answer.Status != 200 || got["output"] != "42 2 0\n" || got["steps"] != 2.0 {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	answer = ask("show out/sum")
	if got := answer.JSON(t); answer.Status != 200 || got["output"] != "42" {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	answer = ask("summarise my hooks")
	if got := answer.JSON(t); answer.Status != http.StatusPaymentRequired || got["balance"] != 19.0 || got["shortfall"] != 31.0 {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	answer.WantError(t, "payment_required")
}

// TestAFileThatIsNoText has a program store half of a pair of letters, which is no
// UTF-8. The file can be run and shown all the same.
func TestAFileThatIsNoText(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, func(c *app.Config) { c.Sandbox.Agent.Credits = 1 })
	caller := running.Anonymous()
	caller.Key = buyCredits(t, running, `POST /v1/signup {"amountCents":300}`)
	write := `files.write(\"b.js\", \"print(1) // x\\ud800y\")`
	if answer := caller.Do(t, `PUT /v1/sandbox/files {"path":"a.js","data":"`+write+`"}`, ""); answer.Status != 200 {
		t.Fatal(answer.Status, string(answer.Body))
	}
	for _, c := range []struct{ goal, output string }{
		{"run a.js", "The program printed nothing."},
		{"run b.js", "1\n"},
		{"show b.js", "print(1) // x\ufffdy"},
	} {
		answer := caller.Do(t, `POST /v1/agent {"goal":"`+c.goal+`"}`, "")
		if answer.Status != 200 || answer.JSON(t)["output"] != c.output {
			t.Errorf("%s: %d %s", c.goal, answer.Status, answer.Body)
		}
	}
}

// buyCredits goes through the checkout page and returns the new account's key.
func buyCredits(t *testing.T, running *apptest.Running, order string) string {
	t.Helper()
	nobody := running.Anonymous()
	checkout := nobody.Do(t, order, "").JSON(t)
	page, token := checkout["url"].(string), checkout["claimToken"].(string)
	paid, err := http.PostForm(page, url.Values{"email": {"credits@example.com"}, "action": {"pay"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = paid.Body.Close()
	claim := nobody.Do(t, `POST /v1/signup/claim {"claimToken":"`+token+`"}`, "").JSON(t)
	key, _ := claim["apiKey"].(string)
	if !strings.HasPrefix(key, "scr_") {
		t.Fatal("no key: ", claim)
	}
	return key
}
