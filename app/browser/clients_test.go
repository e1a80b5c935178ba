package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/feed"
)

// current is the script that returns the session of the client that the tab works for.
const current = `(() => { const kept = JSON.parse(sessionStorage.getItem('scrollery.session')); return kept.clients.find((one) => one.account === kept.current); })()`

// asking notes the key and the text of each call that a document makes.
const asking = `window.asked = [];
const real = window.fetch;
window.fetch = (...given) => {
	const request = new Request(...given);
	const key = request.headers.get('Authorization');
	if (key) request.clone().text().then((body) => window.asked.push({key: key.replace('Bearer ', ''), body, call: request.url.split('/').pop()}));
	return real(request);
};`

// addClient adds a client by the list of the frame, for changes too.
func (b *tab) addClient(name, key string) {
	b.t.Helper()
	eval[bool](b, `window.before = true`)
	b.act("button.client", 0)
	b.press("Add a client")
	if name != "" {
		b.fill("Name of the client", name)
	}
	b.fill("API key", key)
	eval[bool](b, `document.querySelector('dialog input[type=checkbox]').click(), true`)
	b.press("Add and show")
	b.until(`!window.before && document.querySelector('button.client')`)
}

// switchTo works for another client, by two clicks of the mouse.
func (b *tab) switchTo(from, to string) {
	b.t.Helper()
	b.press("Client: " + from)
	b.until(`document.querySelector('dialog .choose')`)
	b.press(to)
	b.until(`document.querySelector('button.client')?.innerText.trim() === ` + quoted(to))
}

// bearing has a library with one video of its own.
func bearing(t *testing.T, running *apptest.Running, mark string) *apptest.Caller {
	t.Helper()
	account := prepared(t, running)
	importLines(t, running, account, []string{fmt.Sprintf(`{"platform":"youtube","externalId":"dQw4w9WgXcQ","sourceUrl":"https://www.youtube.com/watch?v=dQw4w9WgXcQ","postedAt":%d,"source":{"kind":"competitor","handle":"maker"},"metadata":{"caption":%q},"metrics":{"views":1000,"observedAt":%d}}`,
		time.Now().Add(-50*time.Hour).UnixMilli(), mark, time.Now().Add(-time.Hour).UnixMilli())})
	return account
}

// TestClientsAreNeverMixed works for two clients in turn: each page, call and draft is of the one
// in the frame, and a key of the other does not go on for it.
func TestClientsAreNeverMixed(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	accounts := map[string]*apptest.Caller{"Acme": bearing(t, running, "the mark of Acme"), "Bolt": bearing(t, running, "the mark of Bolt")}
	b := launch(t).tab(t, running.BaseURL)
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: asking}); err != nil {
		t.Fatal(err)
	}
	other := map[string]string{"Acme": "Bolt", "Bolt": "Acme"}
	// apart looks at the page of a client, and at all that its document asked for.
	apart := func(name, where string) {
		t.Helper()
		if text := eval[string](b, `document.documentElement.innerHTML`); strings.Contains(text, "the mark of "+other[name]) || strings.Contains(text, "draft of "+other[name]) {
			t.Errorf("%s: the page of %s has texts of %s", where, name, other[name])
		}
		type ask struct{ Key, Body, Call string }
		key := eval[string](b, current+`.token`)
		for _, one := range eval[[]ask](b, `window.asked`) {
			if one.Call == "CreateSessionKey" || one.Call == "RevokeKey" {
				continue // made by the key that it is about
			}
			if one.Key != key || strings.Contains(one.Body, "draft of "+other[name]) {
				t.Errorf("%s: the document of %s asks for %s with another key, or with %q", where, name, one.Call, one.Body)
			}
		}
	}
	draft := func(name string) {
		t.Helper()
		b.press("Rules")
		b.sees("Version 1 is in force")
		if got := b.typed(); got != "- no giveaways" {
			t.Errorf("%s: got the draft %q, want none yet", name, got)
		}
		b.fill("Rules", "- no giveaways\n- draft of "+name)
		b.sees("Not saved yet")
		apart(name, "with a draft")
	}
	b.signIn(accounts["Acme"].Key, true)
	b.press("Client: Unnamed client")
	b.check("clients")
	b.fits("clients")
	b.press("Rename")
	b.fill("Name of the client", "Acme")
	b.press("Save the name")
	b.press("Done")
	draft("Acme")
	b.press("Library")
	b.sees("the mark of Acme")
	b.act("tbody th a", 0)
	b.sees("Archive")

	b.addClient("Bolt", accounts["Bolt"].Key)
	if at := b.path(); at != "/console/library" {
		t.Errorf("the address is %q, want the page without the id of the other client", at)
	}
	b.sees("the mark of Bolt")
	apart("Bolt", "after it was added")
	b.until(`document.activeElement.tagName === 'H1' && document.title === 'Library · Bolt · Scrollery'`)
	if said := eval[string](b, `document.querySelector('.hidden[role=status]').innerText`); said != "This is Bolt now." {
		t.Errorf("it says %q, want the client", said)
	}
	draft("Bolt")
	for _, name := range []string{"Acme", "Bolt"} {
		b.switchTo(other[name], name)
		b.until(`document.querySelector('main textarea')?.value.includes('draft of ` + name + `')`)
		b.sees("Not saved yet")
		apart(name, "on the rules")
		b.press("Start")
		b.sees("The last seven days")
		b.press("Library")
		b.sees("the mark of " + name)
		apart(name, "in the library")
		b.press("Rules")
	}
	// What a visit has read is kept by the workspace: each has its own.
	if n := eval[int](b, `new Set(Object.keys(localStorage).filter((name) => name.startsWith('scrollery.visited.'))).size`); n != 2 {
		t.Errorf("the browser keeps %d last visits, want one of each client", n)
	}

	// The key of another client does not answer for this one.
	b.until(`document.querySelector('main textarea')?.value.includes('draft of Bolt')`)
	b.sees("What the next scroll would do") // the preview has its answer: the save alone meets the ended session
	if got := accounts["Bolt"].Do(t, `POST /v1/api_keys/revoke {"id":"`+eval[string](b, current+`.keyId`)+`"}`, "").Status; got != http.StatusOK {
		t.Fatalf("ending the session answers %d, want 200", got)
	}
	b.press("Save the rules")
	b.sees("Your session is over")
	b.until(`document.querySelector('dialog').innerText.includes('Bolt')`)
	b.fill("API key", accounts["Acme"].Key)
	b.press("Go on")
	b.sees("This key is not of the client that this page shows.")
	b.check("another-client")
	eval[bool](b, `window.asked = [], true`) // until here with the session that ended
	b.fill("API key", accounts["Bolt"].Key)
	b.press("Go on")
	b.sees("Version 2 is in force")
	apart("Bolt", "after the key")
	if rules := accounts["Acme"].Read(t, "GET /v1/rules"); strings.Contains(rules, "draft of") {
		t.Errorf("Acme has the rules %s, want them as they were", rules)
	}
	if rules := accounts["Bolt"].Read(t, "GET /v1/rules"); !strings.Contains(rules, "draft of Bolt") {
		t.Errorf("Bolt has the rules %s, want its draft saved", rules)
	}

	// By keys alone, on a phone.
	b.do("phone", chromedp.EmulateViewport(390, 844))
	if r := eval[[]float64](b, `(() => { const r = document.querySelector('button.client').getBoundingClientRect(); return [r.x, r.right, r.y]; })()`); r[0] < 0 || r[1] > 390 || r[2] > 120 {
		t.Errorf("on a phone the client stands at %v, want it on the first screen", r)
	}
	eval[bool](b, `document.querySelector('.brand').focus(), true`)
	b.do("to the client", chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r"))
	b.until(`document.activeElement.closest('dialog .choose')?.innerText.includes('Acme')`)
	b.do("the other client", chromedp.KeyEvent("\r"))
	b.until(`document.querySelector('button.client')?.innerText.trim() === 'Acme' && document.activeElement.tagName === 'H1'`)
	b.until(`document.querySelector('main textarea')?.value.includes('draft of Acme')`)
	apart("Acme", "on a phone")
	b.do("wide", chromedp.EmulateViewport(width, height))

	keys := eval[[]string](b, `JSON.parse(sessionStorage.getItem('scrollery.session')).clients.map((one) => one.token)`)
	b.press("Sign out of all 2")
	b.sees("Sign in with a key")
	if left := eval[[]string](b, `Object.keys(sessionStorage).filter((name) => !name.startsWith('scrollery.since.'))`); len(left) > 0 {
		t.Errorf("after signing out the tab keeps %q", left)
	}
	for _, key := range keys {
		for deadline := time.Now().Add(patience); running.Anonymous().WithKey(key).Do(t, "GET /v1/usage", "").Status != http.StatusUnauthorized; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("got a session that outlives signing out, want all ended")
			}
		}
	}
}

// TestThreeReportsInTenClicks makes the links of three clients' reports, each a public page, from the
// first page; then one of them on paper and as a file.
func TestThreeReportsInTenClicks(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	names, rules := []string{"Acme", "Bolt", "Crux"}, []string{"at least 5001 views", "at least 5002 views", "at least 5003 views"}
	b := launch(t).tab(t, running.BaseURL)
	b.clipboard()
	brief := feed.SampleBrief()
	for i, name := range names {
		account := running.Account(t, "pro")
		var ignored map[string]any
		account.Get(t, fmt.Sprintf(`POST /v1/workspace {"name":%q,"description":%q,"competitors":[%q]}`, name, brief.Description, strings.Join(brief.Competitors, `","`)), &ignored)
		account.Get(t, fmt.Sprintf(`PUT /v1/rules {"text":"- no giveaways\n- %s"}`, rules[i]), &ignored)
		for range 2 {
			account.Scroll(t, `{"prompt":"espresso"}`)
		}
		if i == 0 {
			b.signIn(account.Key, true)
		} else {
			b.addClient("", account.Key) // called as in its brief
		}
		b.until(`document.querySelector('button.client')?.innerText.trim() === ` + quoted(name))
	}
	b.switchTo("Crux", "Acme")
	b.press("Start")
	b.until(`document.querySelector('main h1')`)
	b.until(loadedScript("clients"))
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: counting}); err != nil {
		t.Fatal(err)
	}
	eval[bool](b, `(() => { `+counting+` })(), true`)

	began := time.Now()
	links := map[string]string{}
	b.press("Report")
	for i, name := range names {
		if i > 0 {
			b.switchTo(names[i-1], name)
		}
		b.press("Make the link")
		b.sees("Copied.")
		links[name] = eval[string](b, "navigator.clipboard.readText()")
	}
	clicks := eval[int](b, `Number(sessionStorage.getItem('test.clicks'))`)
	t.Logf("three clients' reports as links in %d clicks and %v", clicks, time.Since(began).Round(100*time.Millisecond))
	if clicks > 10 || clicks < len(names) {
		t.Errorf("got %d clicks for three reports, want at most 10", clicks)
	}
	b.check("report-link")
	anyone := launch(t).tab(t, running.BaseURL)
	for i, name := range names {
		anyone.open(strings.TrimPrefix(links[name], running.BaseURL))
		anyone.sees(name + ": ")
		anyone.sees("kept ")
		for j, rule := range rules {
			if text := eval[string](anyone, `document.body.innerText`); strings.Contains(text, rule) != (i == j) {
				t.Errorf("the report of %s, and the rule of %s in it: got %t\n%s", name, names[j], i != j, text)
			}
		}
	}

	b.press("Done")
	b.until(find("Make the link"))
	b.check("report")
	b.fits("report")
	sections := eval[[]int](b, `[...document.querySelectorAll('main .card > ol')].map((e) => e.children.length)`)
	if len(sections) < 3 || sections[0] == 0 {
		t.Errorf("the report has the lists %v, want outliers, hooks and rules", sections)
	}
	eval[bool](b, `(() => { const real = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then((text) => { window.csv = text; }); return real(blob); }; return true; })()`)
	b.press("Save as CSV")
	b.until(`window.csv`)
	rows := strings.Split(strings.TrimSpace(strings.TrimPrefix(eval[string](b, `window.csv`), "\ufeff")), "\r\n")
	total := 0
	for _, n := range sections {
		total += n
	}
	if len(rows) != total+1 || !strings.HasPrefix(rows[1], `"Crux",`) {
		t.Errorf("the file has %d rows, want a head and a row for each of the %d things of the page: %q", len(rows), total, rows)
	}
	for _, row := range rows {
		if n := strings.Count(row, ","); n < 18 {
			t.Errorf("got the row %q of %d cells, want 19", row, n+1)
		}
	}
	// On paper there is the report alone.
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	b.shot("report-paper")
	shown := eval[[]bool](b, `['.side', 'main form', 'main .button', 'main h1', 'main ol.report li'].map((name) => document.querySelector(name).offsetParent !== null)`)
	if diff := cmp.Diff([]bool{false, false, false, true, true}, shown); diff != "" {
		t.Errorf("what is shown on paper of frame, fields, buttons, heading and list (-want +got):\n%s", diff)
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}); err != nil {
		t.Fatal(err)
	}
	b.open("/console/report?from=2026-01-05&to=2026-01-01")
	b.sees("The first day is after the last one.")
	b.open("/console/report?from=2020-01-01&to=2020-01-31")
	b.sees("No outlier was posted in these days.")
	b.sees("0 scrolls of these days collected 0 videos and kept 0 out.")
	b.check("report-empty")
	b.german()
	b.sees("Aus diesen Tagen ist kein Ausreißer.")
	b.act("button.client", 0)
	b.sees("wird gezeigt")
}

// counting is the script that counts the clicks of a person on links, buttons and fields, over documents.
const counting = `addEventListener('click', (e) => { if (e.isTrusted && e.target.closest('a, button, input, select')) sessionStorage.setItem('test.clicks', Number(sessionStorage.getItem('test.clicks') ?? 0) + 1); }, true);`

// TestAStreamEndsWithItsClient follows a scroll whose source does not answer, and works for another
// client: the stream of the first one is over, and the second asks for nothing of it.
func TestAStreamEndsWithItsClient(t *testing.T) {
	needBrowser(t)
	done := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-done:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() {
		close(done)
		silent.Close()
	})
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("YOUTUBE_FEED", "yes")
		cfg.Plugins.Settings = map[string]map[string]string{"youtube-feed": {"url": silent.URL}}
		cfg.Console, cfg.Protocols.MaxStreams = os.DirFS(bundle), 1
	})
	first, second := prepared(t, running), prepared(t, running)
	var ignored map[string]any
	first.Get(t, `PUT /v1/workspace {"competitors":["https://www.youtube.com/channel/UC000000000000000000000a"]}`, &ignored)
	var started struct{ Scroll struct{ ID string } }
	first.Get(t, `POST /v1/scrolls {"prompt":"espresso"}`, &started)
	b := launch(t).tab(t, running.BaseURL)
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: asking}); err != nil {
		t.Fatal(err)
	}
	b.signIn(first.Key, true)
	b.addClient("Bolt", second.Key)
	b.switchTo("Bolt", "Unnamed client")
	b.open("/console/scroll/" + started.Scroll.ID)
	b.until(`window.asked.some((one) => one.call === 'WatchScroll')`)
	session := first.WithKey(eval[string](b, current+`.token`))
	// A call that waits is a stream of its key, too, and a key has one here.
	free := func() bool { return session.Do(t, "GET /v1/changes?cursor=now&wait=1", "").Status == http.StatusOK }
	if free() {
		t.Fatal("the key of the first client has no stream open before the switch, want one")
	}
	b.switchTo("Unnamed client", "Bolt")
	if at := b.path(); at != "/console/scroll" {
		t.Errorf("the address is %q, want it without the scroll of the other client", at)
	}
	for deadline := time.Now().Add(patience); !free(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the stream of the first client goes on, want it ended with its document")
		}
	}
	b.sees("What to look for this time")
	if asked := eval[string](b, `JSON.stringify(window.asked)`); strings.Contains(asked, started.Scroll.ID) {
		t.Errorf("the second client asks for the scroll of the first: %s", asked)
	}

	// An address with a code opens a page of its own client, beside those that there are.
	third := bearing(t, running, "the mark of Crux")
	coded := `{ const real = window.fetch; window.fetch = (...given) => given[0] === '/console/exchange' ? Promise.resolve(Response.json({apiKey: ` + quoted(third.Key) + `})) : real(...given); }`
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: coded}); err != nil {
		t.Fatal(err)
	}
	b.open("/console/library#code=abc123")
	b.sees("the mark of Crux")
	key := eval[string](b, current+`.token`)
	if other := eval[[]string](b, `window.asked.filter((one) => one.key !== `+quoted(key)+`).map((one) => one.call)`); len(other) > 0 {
		t.Errorf("the document of the third client asks by other keys for %q", other)
	}
	b.sees("Sign out of all 3")
}
