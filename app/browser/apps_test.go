package browser_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// hostPage is a host of MCP Apps: it shows a page in a frame that may run scripts and nothing
// else, and passes calls of tools on. `heard` has the methods of the page's messages.
const hostPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title><body style="margin:0"><script>
const heard = [], answers = {}, wanted = new URLSearchParams(location.search), frame = document.createElement('iframe');
const say = (message) => frame.contentWindow.postMessage({jsonrpc: '2.0', ...message}, '*');
const call = async (params) => (await (await fetch('/call', {method: 'POST', body: JSON.stringify(params)})).json()).result;
const given = JSON.parse(wanted.get('given'));
addEventListener('message', async ({source, data}) => {
	if (source !== frame.contentWindow) return;
	if (data.probe) { answers[data.probe] = data.found; return; }
	heard.push(data.method ?? 'result');
	if (data.method === 'ui/initialize') {
		window.asked = data.params;
		say({id: data.id, result: {protocolVersion: '2026-01-26', hostInfo: {name: 'test', version: '1'}, hostCapabilities: {serverTools: {}}, hostContext: {theme: 'dark'}}});
	} else if (data.method === 'ui/notifications/initialized') {
		say({method: 'ui/notifications/tool-input', params: {arguments: given}});
		say({method: 'ui/notifications/tool-result', params: await call({name: wanted.get('tool'), arguments: given})});
	} else if (data.method === 'ui/notifications/size-changed') {
		frame.style.height = data.params.height + 'px';
	} else if (data.method === 'tools/call') {
		say({id: data.id, result: await call(data.params)});
	}
});
frame.sandbox = 'allow-scripts';
frame.title = 'The app';
frame.style = 'border:0;width:100%;height:400px';
frame.src = '/frame?uri=' + encodeURIComponent(wanted.get('uri'));
document.body.append(frame);
</script></body></html>`

// probes answer what the test asks of the frame, whose document it cannot reach.
const probes = `<script>
addEventListener('message', async ({data}) => {
	if (!data?.probe) return;
	const named = (name) => [...document.querySelectorAll('button, summary')].find((e) => e.innerText.trim() === name || e.getAttribute('aria-label') === name);
	const found = {
		see: () => ({
			text: document.body.innerText, theme: document.documentElement.dataset.theme, plots: document.querySelectorAll('canvas').length,
			rows: document.querySelectorAll('tbody tr').length, wide: document.documentElement.scrollWidth - innerWidth,
			bad: [...(window.hacked ? ['a script of a text ran'] : []), ...[...document.querySelectorAll('img, iframe, x-evil, svg[onload], a')].map((e) => e.outerHTML.slice(0, 100))],
			reports: window.reports,
		}),
		press: () => { const e = named(data.name); e?.click(); return Boolean(e); },
		// Colours fade, so contrast is measured when they have arrived.
		axe: async () => (await Promise.allSettled(document.getAnimations().map((one) => one.finished)), await axe.run(document, {resultTypes: ['violations']})).violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + v.help + ': ' + n.html.slice(0, 160))),
		reach: async () => {
			const got = await fetch('https://example.com/').then(() => 'fetched', () => 'refused');
			await new Promise((done) => setTimeout(done, 50)); // the report of it, which is wanted, comes later
			window.reports = [];
			return got;
		},
	}[data.what];
	parent.postMessage({probe: data.probe, found: await found()}, '*');
});
</script>`

// strict is the policy of a host for a page that names no domain.
const strict = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// host serves the pages of a host whose calls go to a server with a key.
type host struct {
	t      *testing.T
	caller *apptest.Caller
	axe    string
}

func (h *host) ask(method string, params any) []byte {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		h.t.Error(err)
	}
	return h.caller.Do(h.t, "POST /mcp "+string(body), "Accept: application/json, text/event-stream").Body
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/frame":
		var answer struct {
			Result struct {
				Contents []struct {
					MIMEType, Text string
					Meta           struct {
						UI struct{ CSP map[string][]string }
					} `json:"_meta"`
				}
			}
		}
		raw := h.ask("resources/read", map[string]any{"uri": r.URL.Query().Get("uri")})
		if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Result.Contents) != 1 {
			h.t.Errorf("read the page: %v %.200s", err, raw)
			return
		}
		found := answer.Result.Contents[0]
		for kind, domains := range found.Meta.UI.CSP {
			if len(domains) > 0 {
				h.t.Errorf("the page wants %s of %q", kind, domains)
			}
		}
		if found.MIMEType != "text/html;profile=mcp-app" || found.Meta.UI.CSP == nil {
			h.t.Errorf("got a page of the type %q with the policy %v", found.MIMEType, found.Meta.UI.CSP)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", strict)
		page := strings.Replace(found.Text, "<body>", "<body><script>"+h.axe+"</script>"+probes, 1)
		_, _ = io.WriteString(w, strings.Replace(page, "<head>", "<head><script>"+collect+"</script>", 1))
	case "/call":
		var params map[string]any
		if err := json.NewDecoder(r.Body).Decode(&params); err != nil {
			h.t.Error(err)
		}
		_, _ = w.Write(h.ask("tools/call", params))
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, hostPage)
	}
}

// seen is what the frame shows.
type seen struct {
	Text, Theme string
	Plots, Rows int
	Wide        int
	Bad         []string
	Reports     []string
}

// probe asks the frame.
func probe[T any](b *tab, what, name string) T {
	b.t.Helper()
	return eval[T](b, `new Promise((done) => { const probe = Math.random().toString(36); say({probe, what: `+quoted(what)+`, name: `+quoted(name)+`});
		const timer = setInterval(() => { if (probe in answers) { clearInterval(timer); done(answers[probe]); } }, 10); })`)
}

// awaits asks the frame until it shows what is wanted.
func awaits(b *tab, what string, is func(seen) bool) seen {
	b.t.Helper()
	var last seen
	for range 400 {
		if last = probe[seen](b, "see", ""); is(last) {
			return last
		}
		eval[bool](b, "new Promise((done) => setTimeout(() => done(true), 50))")
	}
	b.t.Fatalf("the app does not show %s: %+v", what, last)
	return last
}

// presses clicks in the frame.
func presses(b *tab, name string) {
	b.t.Helper()
	if !probe[bool](b, "press", name) {
		b.t.Fatalf("the app has no button %q", name)
	}
}

// TestAppsOfAHost shows the plot and the coverage of a hostile library as a host of MCP Apps
// does.
func TestAppsOfAHost(t *testing.T) {
	needBrowser(t)
	folder := hostileFeed(t)
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("FEED_DIR", folder)
		cfg.Console = os.DirFS(bundle)
	})
	account := running.Account(t, "pro")
	var ignored map[string]any
	account.Get(t, `POST /v1/workspace {"name":"Hostile","description":"<x-evil>","competitors":["@mallory.example","@<img>.example"]}`, &ignored)
	scroll := account.Scroll(t, `{"prompt":"<x-evil>anything</x-evil>"}`)
	script, err := os.ReadFile(axe)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, caller: account, axe: string(script)}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	browser := launch(t)

	b := browser.tab(t, server.URL)
	b.open("/?tool=getOutliers&uri=ui://scrollery/outliers&given=" + `{"limit":2}`)
	awaits(b, "a plot", func(s seen) bool { return s.Plots == 1 && strings.Contains(s.Text, "2 above their baseline") })
	presses(b, "Show as table")
	first := awaits(b, "a table", func(s seen) bool { return s.Rows > 0 })
	presses(b, "Show more")
	awaits(b, "the next page", func(s seen) bool { return s.Rows > first.Rows })
	presses(b, "Why")
	all := awaits(b, "the peers of a video", func(s seen) bool { return strings.Contains(s.Text, "Expected views") })
	h.sound(b, "app-outliers", all)
	if asked := eval[map[string]any](b, "asked"); asked["protocolVersion"] != "2026-01-26" || asked["appInfo"] == nil || asked["appCapabilities"] == nil {
		t.Errorf("the app introduced itself with %v, want the protocol 2026-01-26, its name and its capabilities", asked)
	}
	eval[bool](b, `say({method: 'ui/notifications/host-context-changed', params: {theme: 'light'}}), true`)
	h.sound(b, "app-outliers-light", awaits(b, "the colours of the host", func(s seen) bool { return s.Theme == "light" }))
	eval[bool](b, `say({method: 'ui/notifications/tool-result', params: {isError: true, content: [{type: 'text', text: '{"code":"rate_limited","message":"Slower <x-evil>."}'}]}}), true`)
	h.sound(b, "app-refused", awaits(b, "a refusal", func(s seen) bool { return strings.Contains(s.Text, "Slower <x-evil>.") }))

	b = browser.tab(t, server.URL)
	b.open("/?tool=getScroll&uri=ui://scrollery/coverage&given=" + `{"id":"` + scroll.ID + `"}`)
	h.sound(b, "app-coverage", awaits(b, "the coverage", func(s seen) bool { return s.Rows > 0 && strings.Contains(s.Text, "mallory") }))
}

// sound fails for markup of texts, reports of the browser, and faults that axe-core finds.
func (h *host) sound(b *tab, name string, shown seen) {
	h.t.Helper()
	for _, what := range append(shown.Bad, shown.Reports...) {
		h.t.Errorf("%s: %s", name, what)
	}
	if shown.Wide > 0 {
		h.t.Errorf("%s: it is %d pixels too wide", name, shown.Wide)
	}
	b.shot(name)
	for _, what := range probe[[]string](b, "axe", "") {
		h.t.Errorf("%s: axe: %s", name, what)
	}
	if got := probe[string](b, "reach", ""); got != "refused" {
		h.t.Errorf("%s: the frame may fetch", name)
	}
}
