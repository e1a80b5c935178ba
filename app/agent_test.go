package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/operator"
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
		t.Fatalf("storing sum.js: got %d %s, want 200", answer.Status, answer.Body)
	}
	answer := ask("run sum.js")
	if got := answer.JSON(t); answer.Status != 200 || got["output"] != "42 2 0\n" || got["steps"] != 2.0 {
		t.Errorf("%d %s, want Status 200, output %q and steps 2.0", answer.Status, answer.Body, "42 2 0\n")
	}
	answer = ask("show out/sum")
	if got := answer.JSON(t); answer.Status != 200 || got["output"] != "42" {
		t.Errorf(`%d %s, want Status 200 and output "42"`, answer.Status, answer.Body)
	}
	answer = ask("summarise my hooks")
	if got := answer.JSON(t); answer.Status != http.StatusPaymentRequired || got["balance"] != 19.0 || got["shortfall"] != 31.0 {
		t.Errorf("got %d %s, want %d with the balance 19 and the shortfall 31", answer.Status, answer.Body, http.StatusPaymentRequired)
	}
	answer.WantError(t, "payment_required")
}

// TestTwoServersShareTheSandbox writes a program on one server, runs it on another, in a
// real process, and reads on the first what it wrote. The servers share the database alone.
func TestTwoServersShareTheSandbox(t *testing.T) {
	t.Parallel()
	address := apptest.ScratchPostgres(t)
	scratch := t.TempDir()
	start := func() *apptest.Running {
		return apptest.Start(t, func(c *app.Config) {
			c.DatabaseURL, c.Plugins.ScratchDir, c.Sandbox.Agent.Credits = address, scratch, 1
		})
	}
	running, other := start(), start()
	one, two := running.Anonymous(), other.Anonymous()
	one.Key = buyCredits(t, running, `POST /v1/signup {"amountCents":300}`)
	two.Key = one.Key
	program := `files.write(\"out/sum\", String(19 + 23)); files.remove(\"old\"); print(files.list().length)`
	for _, call := range []string{
		`PUT /v1/sandbox/files {"path":"sum.js","data":"` + program + `"}`,
		`PUT /v1/sandbox/files {"path":"old","data":"x"}`,
	} {
		if answer := one.Do(t, call, ""); answer.Status != http.StatusOK {
			t.Fatalf("write on the first server: %d %s, want %v", answer.Status, answer.Body, http.StatusOK)
		}
	}
	for _, c := range []struct {
		on           *apptest.Caller
		goal, output string
	}{
		{two, "run sum.js", "2\n"},
		{one, "show out/sum", "42"},
		{one, "list my files", fmt.Sprintf("2 files:\n- out/sum (2 bytes)\n- sum.js (%d bytes)", len(strings.ReplaceAll(program, `\"`, `"`)))},
	} {
		t.Run(c.goal, func(t *testing.T) {
			answer := c.on.Do(t, `POST /v1/agent {"goal":"`+c.goal+`"}`, "")
			if answer.Status != http.StatusOK || answer.JSON(t)["output"] != c.output {
				t.Errorf("%s: %d %s, want %q", c.goal, answer.Status, answer.Body, c.output)
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(scratch, "files-*")); err != nil || len(left) > 0 {
		t.Errorf("left in scratch: got %v, error %v; want nothing", left, err)
	}
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
		t.Fatalf("storing a.js: got %d %s, want 200", answer.Status, answer.Body)
	}
	for _, c := range []struct{ goal, output string }{
		{"run a.js", "The program printed nothing."},
		{"run b.js", "1\n"},
		{"show b.js", "print(1) // x\ufffdy"},
	} {
		t.Run(c.goal, func(t *testing.T) {
			answer := caller.Do(t, `POST /v1/agent {"goal":"`+c.goal+`"}`, "")
			if answer.Status != 200 || answer.JSON(t)["output"] != c.output {
				t.Errorf("%s: %d %s, want Status 200 and output %v", c.goal, answer.Status, answer.Body, c.output)
			}
		})
	}
}

// TestBigMetadata has an account whose videos have nearly as much metadata as a
// video may have: 64 of 250 KiB, of which 25 have hooks that fit into a page only
// where little else is known of them.
func TestBigMetadata(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text int
		want string
	}{
		"all that fits":       {10, "hooks: 25 of 256000\noutliers: 25 of 256000\n"},
		"hooks that are more": {60_000, "hooks: hooks are too big for a program: 94XXXXX bytes, of which at most 8388608 are handed over\noutliers: 25 of 256000\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			running := apptest.Start(t, func(c *app.Config) { c.Sandbox.Runs.Time = 30 * time.Second })
			caller := running.Account(t, "pro")
			if _, err := running.Operator().GrantCredits(t.Context(), caller.Email, 120, "test"); err != nil {
				t.Fatal(err)
			}
			caller.Get(t, `POST /v1/workspace {"description":"Espresso at home"}`, &struct{}{})
			importBig(t, running, caller.Email, c.text)
			program := `for (const name of ["hooks", "outliers"]) try { const list = data[name][name]; print(name + ":", list.length, "of", list[0].video.metadata.caption.length) } catch (e) { print(name + ":", e.message.replace(/\d{5} bytes/, "XXXXX bytes")) }`
			goal, err := json.Marshal(map[string]string{"goal": "```js\n" + program + "\n```"})
			if err != nil {
				t.Fatal(err)
			}
			answer := caller.Do(t, "POST /v1/agent "+string(goal), "")
			if answer.Status != 200 || answer.JSON(t)["output"] != c.want {
				t.Errorf("%d %.500s, want Status 200 and output %v", answer.Status, answer.Body, c.want)
			}
		})
	}
}

// importBig gives an account's creator 39 videos that few saw and 25 that many did,
// with hooks of twice so many bytes of text.
func importBig(t *testing.T, running *apptest.Running, email string, text int) {
	t.Helper()
	caption, said := strings.Repeat("x", 250<<10), strings.Repeat("y", text)
	var lines strings.Builder
	for n := range 64 {
		views, evidence := 100, ""
		if n >= 39 {
			views, evidence = 100_000+n, `,"evidence":{"visual":{"summary":"`+said+`"},"onScreenText":"`+said+`"}`
		}
		fmt.Fprintf(&lines, `{"platform":"tiktok","externalId":"big-%d","creatorId":"c","postedAt":1760000000000,"source":{"kind":"own","handle":"beans"},"metrics":{"views":%d,"likes":1},"metadata":{"caption":"%s"}%s}`+"\n",
			n, views, caption, evidence)
	}
	report, err := running.Operator().Import(t.Context(), operator.ImportOrder{Email: email, InputFiles: operator.InputFiles{Paths: []string{"-"}, Input: strings.NewReader(lines.String())}})
	if err != nil || report.Total.New != 64 {
		t.Fatalf("got %+v, error %v; want 64 new", report.Total, err)
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
		t.Fatalf(`no key: %v, want starting with "scr_"`, claim)
	}
	return key
}
