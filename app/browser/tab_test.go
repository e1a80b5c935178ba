package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const (
	chromium = "/usr/bin/chromium"
	bundle   = "../../modules/console/dist"
	axe      = "../../modules/console/node_modules/axe-core/axe.min.js"
	// The window, in pixels.
	width, height = 1360, 900
	// patience is how long one step of a page may take.
	patience = 2 * time.Minute
	// screensVariable names the folder for the pictures; without it none are taken.
	screensVariable = "SCROLLERY_SCREENSHOTS"
)

// collect keeps what the browser reports about the page's policy and its errors.
const collect = `window.reports = [];
addEventListener('securitypolicyviolation', (e) => reports.push(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample));
addEventListener('error', (e) => reports.push('error ' + e.message));
addEventListener('unhandledrejection', (e) => reports.push('rejection ' + e.reason));`

// needBrowser skips a test that cannot run here. In CI everything is there.
func needBrowser(t *testing.T) {
	t.Helper()
	missing := ""
	switch {
	case !exists(bundle + "/console.js"):
		missing = "the console was not bundled: make console"
	case !exists(chromium):
		missing = chromium + " is missing"
	case !exists(axe):
		missing = "axe-core is not installed: make console"
	}
	if missing == "" {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("got %v, want a browser in CI", missing)
	}
	t.Skip(missing)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// shared is the browser of all tests, started by the first.
var shared = sync.OnceValues(func() (started context.Context, err error) {
	dir, err := os.MkdirTemp("", "scrollery-browser-")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("lang", "en-GB"), chromedp.UserDataDir(dir))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	endBrowser = func() {
		stop()
		cancel()
		_ = os.RemoveAll(dir)
	}
	return ctx, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
})

var endBrowser = func() {}

// chrome is a browser as if it were new: it shares nothing with that of another test. Each
// tab has a context of its own.
type chrome struct{ ctx context.Context }

func launch(t *testing.T) *chrome {
	t.Helper()
	started, err := shared()
	if err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	ctx, stop := chromedp.NewContext(started, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	c := &chrome{ctx}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("open a window: %v", err)
	}
	return c
}

// tab is one browser tab on a server.
type tab struct {
	t    testing.TB
	ctx  context.Context
	base string
	axe  string
	once sync.Map
}

func (c *chrome) tab(t *testing.T, base string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(c.ctx)
	t.Cleanup(cancel)
	script, err := os.ReadFile(axe)
	if err != nil {
		t.Fatal(err)
	}
	tab := &tab{t: t, ctx: ctx, base: base, axe: string(script)}
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: collect}); err != nil {
		t.Fatal(err)
	}
	tab.scheme("light")
	tab.do("size", chromedp.EmulateViewport(width, height))
	return tab
}

// do runs steps; at the end of its patience it says what the page showed.
func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.failed(what, err)
	}
}

func (b *tab) failed(what string, err error) {
	b.t.Helper()
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText + "\n" + JSON.stringify(window.reports ?? [])`))
	if folder := os.Getenv(screensVariable); folder != "" {
		if picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot()); err == nil {
			_ = os.WriteFile(filepath.Join(folder, "failed.png"), picture, 0o644) // the failure is what matters
		}
	}
	b.t.Fatalf("%s: %v; the page shows:\n%s", what, err, text)
}

func eval[T any](b *tab, script string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.failed(script, err)
	}
	return value
}

// open loads an address of the server.
func (b *tab) open(path string) {
	b.t.Helper()
	b.do("open "+path, chromedp.Navigate(b.base+path))
}

// until waits until a script is true, in whatever document the tab shows by then.
func (b *tab) until(script string) {
	b.t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+script+")"))
		if err == nil && ok {
			return
		}
		if time.Now().After(deadline) {
			b.failed("wait until "+script, err)
		}
		<-tick.C
	}
}

// sees waits until the page shows a text.
func (b *tab) sees(text string) {
	b.t.Helper()
	b.until("document.body.innerText.includes(" + quoted(text) + ")")
}

// find is the script that returns the visible link, button or summary with a name.
func find(name string) string {
	return `[...document.querySelectorAll('dialog[open] a, dialog[open] button, a, button, summary')].find((e) =>
		(e.innerText.trim() === ` + quoted(name) + ` || e.getAttribute('aria-label') === ` + quoted(name) + `) && e.offsetParent !== null && !e.disabled)`
}

// aim is the script that scrolls to a link or a button and returns where the mouse meets it:
// null while it is not there, or while something else, as a dialog, lies above it. From then
// on `pressed` says whether a click has reached it.
func aim(name string) string {
	return `(() => {
		const e = ` + find(name) + `;
		e?.scrollIntoView({block: 'center', behavior: 'instant'});
		const r = e?.getBoundingClientRect(), x = r?.x + r?.width / 2, y = r?.y + r?.height / 2;
		if (!e || !e.contains(document.elementFromPoint(x, y))) return null;
		window.pressed = false;
		document.addEventListener('click', (click) => { window.pressed = click.composedPath().includes(e); }, {capture: true, once: true});
		return [x, y];
	})()`
}

// press waits for a link or a button with this name and clicks it as a mouse does. A click
// that missed, because the page moved under the mouse, is made again.
func (b *tab) press(name string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		spot, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](aim(name)))
		cancel()
		switch {
		case err != nil && !navigated(err):
			b.failed("press "+name, err)
		case err != nil || spot == nil:
			continue // it is not there yet, or the document before goes
		}
		b.do("press "+name, chromedp.MouseClickXY(spot[0], spot[1]))
		if b.hit() {
			return
		}
	}
	b.failed("press "+name, context.DeadlineExceeded)
}

// navigated reports whether a script failed since its document went.
func navigated(err error) bool {
	return err != nil && strings.Contains(err.Error(), "navigated or closed")
}

// hit reports whether the click of press reached its target. Where it loads another document,
// `pressed` is gone, or goes while it is asked for.
func (b *tab) hit() bool {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	hit, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`window.pressed !== false`))
	if navigated(err) {
		return true
	}
	if err != nil {
		b.failed("window.pressed", err)
	}
	return hit
}

// field is the script that returns the control with a label.
func field(label string) string {
	return `[...document.querySelectorAll('label')].filter((e) => e.textContent.trim() === ` + quoted(label) + `).map((e) => e.control)[0]`
}

// fill types into the control with a label, as a keyboard does.
func (b *tab) fill(label, text string) {
	b.t.Helper()
	b.until(`(` + field(label) + `)?.offsetParent`) // in a dialog that is not open yet it takes no focus
	eval[bool](b, `(() => { const e = `+field(label)+`; e.focus(); e.select?.(); return true; })()`)
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.do("a new line", chromedp.KeyEvent("\r"))
		}
		b.do("type into "+label, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			return insert(ctx, target, line)
		}))
	}
}

// scheme sets what the system prefers.
func (b *tab) scheme(name string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// clean fails for what the browser reported about this document since it was loaded.
func (b *tab) clean(where string) {
	b.t.Helper()
	if reports := eval[[]string](b, `(() => { const all = window.reports; window.reports = []; return all; })()`); len(reports) > 0 {
		b.t.Errorf("%s: the browser reports:\n%s", where, strings.Join(reports, "\n"))
	}
}

// check looks at the page in both schemes: its policy, its accessibility, its pictures
// and that it does not scroll sideways, at a narrow width too.
func (b *tab) check(name string) {
	b.t.Helper()
	b.clean(name)
	for _, scheme := range []string{"dark", "light"} {
		b.scheme(scheme)
		b.shot(name + "-" + scheme)
		b.accessible(name + ", " + scheme)
	}
	b.do("narrow", chromedp.EmulateViewport(320, 720))
	if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > 320 {
		b.t.Errorf("%s: the page is %d pixels wide on a screen of 320: %s", name, wide, eval[string](b, `[...document.querySelectorAll('main *, .side *')].filter((e) => e.getBoundingClientRect().right > 321 && !e.closest('.scroller')).slice(0, 5).map((e) => e.outerHTML.slice(0, 120)).join('\n')`))
	}
	b.shot(name + "-narrow")
	b.do("wide", chromedp.EmulateViewport(width, height))
}

// accessible runs axe-core. What it does to the page itself is not the page's fault.
func (b *tab) accessible(where string) {
	b.t.Helper()
	if !eval[bool](b, "Boolean(window.axe)") {
		eval[bool](b, b.axe+"; true")
	}
	type violation struct{ ID, Help, Target string }
	found := eval[[]violation](b, `axe.run(document, {resultTypes: ['violations']}).then((r) =>
		r.violations.flatMap((v) => v.nodes.map((n) => ({ID: v.id, Help: v.help, Target: n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')}))))`)
	for _, v := range found {
		b.t.Errorf("%s: axe: %s: %s: %s", where, v.ID, v.Help, v.Target)
	}
	eval[bool](b, `window.reports = [], true`)
}

// shot stores a picture of the window; the first of a name wins.
func (b *tab) shot(name string) {
	folder := os.Getenv(screensVariable)
	if folder == "" {
		return
	}
	if _, taken := b.once.LoadOrStore(name, true); taken {
		return
	}
	// Plots are drawn again in the frame after a change of colours or size.
	eval[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true)))))`)
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644)
	}
	if err != nil {
		b.t.Errorf("store the picture %s: %v", name, err)
	}
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprintf("quote %q: %v", text, err)) // strings always marshal
	}
	return string(raw)
}

// path is the address that the tab is at, without the server.
func (b *tab) path() string {
	b.t.Helper()
	at, err := url.Parse(eval[string](b, "location.href"))
	if err != nil {
		b.t.Fatal(err)
	}
	return at.RequestURI()
}
