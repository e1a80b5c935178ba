package browser_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/app/apptest"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// offline cuts the tab's network, or gives it back.
func (b *tab) offline(cut bool) {
	b.t.Helper()
	rules := []*network.Conditions{{Offline: cut, DownloadThroughput: -1, UploadThroughput: -1}}
	if _, err := chromedp.Call(b.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: rules}); err != nil {
		b.t.Fatal(err)
	}
}

// signIn signs in by key, for changes too if they are wanted.
func (b *tab) signIn(key string, changes bool) {
	b.t.Helper()
	b.open("/console/")
	b.fill("API key", key)
	if changes {
		eval[bool](b, `document.querySelector('main input[type=checkbox]').click(), true`)
	}
	b.press("Sign in")
	b.sees("Sign out")
}

// estimated waits until the form of a scroll shows what it would take.
func (b *tab) estimated() {
	b.t.Helper()
	b.until(`document.querySelector('.estimate[aria-busy=false] p') && !document.querySelector('.estimate .loading')`)
}

// estimates is the script that counts the estimates that were answered.
const estimates = `performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/EstimateScroll')).length`

// prompt opens the form of a scroll, types what to look for and waits for its estimate: the
// page asks for nothing more by itself.
func (b *tab) prompt(text string) {
	b.t.Helper()
	b.estimated()
	b.press("Scrolls")
	b.estimated()
	before := eval[int](b, estimates)
	b.fill("What to look for this time", text)
	b.until(estimates + fmt.Sprintf(" > %d && document.querySelector('.estimate[aria-busy=false]')", before))
}

// typed is what the first text area has.
func (b *tab) typed() string {
	b.t.Helper()
	return eval[string](b, `document.querySelector('main textarea').value`)
}

// prepared returns the key of an account with a brief and rules.
func prepared(t *testing.T, running *apptest.Running) *apptest.Caller {
	t.Helper()
	account := running.Account(t, "pro")
	var ignored map[string]any
	account.Get(t, `POST /v1/workspace {"description":"Espresso at home","competitors":["@brewfox.example"]}`, &ignored)
	account.Get(t, `PUT /v1/rules {"text":"- no giveaways"}`, &ignored)
	return account
}

func TestTheFirstChangeAsksForTheKey(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := prepared(t, running)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, false)
	b.prompt("latte art")
	b.press("Start a scroll")
	b.sees("This session can only read")
	b.check("ask-scopes")
	b.press("Not now")
	b.until(`!document.querySelector('dialog')`)
	if got := b.typed(); got != "latte art" {
		t.Errorf(`after declining the text is %q, want "latte art"`, got)
	}
	b.press("Start a scroll")
	b.fill("API key", account.Key)
	b.press("Go on")
	b.sees("Completed")
	b.clean("after the change")
}

func TestASessionThatEndedGoesOn(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := prepared(t, running)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, true)
	b.prompt("latte art")
	id := eval[string](b, current+`.keyId`)
	if got := account.Do(t, `POST /v1/api_keys/revoke {"id":"`+id+`"}`, "").Status; got != http.StatusOK {
		t.Fatalf("ending the session answers %d, want %v", got, http.StatusOK)
	}
	b.press("Start a scroll")
	b.sees("Your session is over")
	b.check("ask-expired")
	if got := b.typed(); got != "latte art" {
		t.Errorf(`while it asks the text is %q, want "latte art"`, got)
	}
	b.fill("API key", account.Key)
	b.press("Go on")
	b.sees("Completed")
}

func TestALostNetworkGoesOn(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := prepared(t, running)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, true)
	b.prompt("latte art")
	b.offline(true)
	b.press("Start a scroll")
	b.sees("What you typed is still here")
	if got := b.typed(); got != "latte art" {
		t.Errorf(`without network the text is %q, want "latte art"`, got)
	}
	b.check("offline")
	b.offline(false)
	b.press("Start a scroll")
	b.sees("Completed")
	b.until(loadedScript("account")) // when nothing else was to be done
	b.offline(true)
	b.press("Account")
	b.sees("No connection.")
	b.offline(false)
	b.sees("Today")
	b.until(`!document.body.innerText.includes('No connection.')`)
	if scrolls := account.Read(t, "GET /v1/scrolls/list"); strings.Count(scrolls, `"id":"scr_`) != 1 {
		t.Errorf("after two presses there are these scrolls, want one: %s", scrolls)
	}
}

func TestALimitIsWaitedFor(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(prepared(t, running).Key, false)
	b.estimated() // else the estimate gets the answer below
	// The answer that the server gives at its limit, once: the page's other calls succeed meanwhile.
	wait := 4.0
	detail, err := proto.Marshal(&pb.Error{Error: "rate_limited", Message: "Too many calls.", RetryAfter: &wait})
	if err != nil {
		t.Fatal(err)
	}
	body := `{"code":"resource_exhausted","message":"Too many calls.","details":[{"type":"scrollery.v1.Error","value":"` + base64.RawStdEncoding.EncodeToString(detail) + `"}]}`
	eval[bool](b, `(() => { const real = window.fetch; window.fetch = () => { window.fetch = real; return Promise.resolve(new Response(`+quoted(body)+`, {status: 429, headers: {'Content-Type': 'application/json'}})); }; return true; })()`)
	b.press("Account")
	b.sees("Too many calls in a short time.")
	b.sees("Today")
	b.until(`!document.body.innerText.includes('Too many calls in a short time.')`)
	b.clean("after the limit")
}

func TestASubscriptionThatEndedIsSaid(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := prepared(t, running)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, true)
	b.prompt("latte art")
	running.Exec(t, "UPDATE subscriptions SET status = 'past_due'")
	time.Sleep(noticed)
	b.press("Start a scroll")
	b.sees("This account has no active subscription.")
	b.check("no-subscription")
	running.Exec(t, "UPDATE subscriptions SET status = 'active'")
	time.Sleep(noticed)
	if got := b.typed(); got != "latte art" {
		t.Errorf(`without a subscription the text is %q, want "latte art"`, got)
	}
	b.press("Start a scroll")
	b.sees("Completed")
	b.until(`!document.body.innerText.includes('This account has no active subscription.')`)
}

// noticed is after how long each process sees what another one changed of a key's account.
const noticed = time.Second + 100*time.Millisecond

func TestTwoTabsTwoAccounts(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	browser := launch(t)
	first, second := browser.tab(t, running.BaseURL), browser.tab(t, running.BaseURL)
	first.signIn(prepared(t, running).Key, false)
	second.signIn(prepared(t, running).Key, false)
	own := func(b *tab) string {
		b.open("/console/account/keys")
		b.sees("this session")
		return eval[string](b, `document.querySelector('tbody').innerText`)
	}
	if one, other := own(first), own(second); one == other {
		t.Errorf("both tabs show the same keys: %s, want other than %v", one, other)
	}
	first.press("Sign out")
	first.sees("Sign in with a key")
	own(second)
}

// loadedScript is the script that says whether the tab has loaded a part of the console.
func loadedScript(name string) string {
	return `performance.getEntriesByType('resource').some((e) => e.name.includes('/console/` + name + `-') && e.responseEnd > 0)`
}

// TestPartsOfTheConsoleComeLater opens pages before and after their scripts are there.
func TestPartsOfTheConsoleComeLater(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := prepared(t, running)
	b := launch(t).tab(t, running.BaseURL)
	// Without the second in which a tab has nothing to do, no part is loaded by itself.
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `window.requestIdleCallback = () => 0`}); err != nil {
		t.Fatal(err)
	}
	b.signIn(account.Key, true)
	for _, name := range []string{"results", "account", "plots"} {
		if eval[bool](b, loadedScript(name)) {
			t.Errorf("got the part %q with the first page, want it later", name)
		}
	}
	b.offline(true)
	b.press("Rules")
	b.sees("This part of the page did not load.")
	b.check("part-missing")
	b.press("Try again")
	b.press("Try again")
	b.sees("This part of the page did not load.")
	b.offline(false)
	eval[bool](b, `dispatchEvent(new Event('online'))`) // as a browser does that has a network again
	b.sees("One rule a line.")

	if _, err := chromedp.Call(b.ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	// The parts of another version are not there: trying again gets the document again.
	if _, err := chromedp.Call(b.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/console/account-*.js", Block: true}}}); err != nil {
		t.Fatal(err)
	}
	b.press("Account")
	b.sees("This part of the page did not load.")
	eval[bool](b, `window.before = true`)
	b.press("Try again")
	b.until(`!window.before`)
	b.sees("This part of the page did not load.")
	b.sees("with changes") // the session is that of the tab
	if _, err := chromedp.Call(b.ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{}); err != nil {
		t.Fatal(err)
	}
	b.press("Try again")
	b.sees("Today")
}
