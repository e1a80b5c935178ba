package browser_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// collected is the script that returns the names of a collection's videos in their order.
const collected = `[...document.querySelectorAll('.collected > li .name')].map((e) => e.innerText)`

// act clicks the n-th control of a selector.
func (b *tab) act(selector string, n int) {
	b.t.Helper()
	b.until(`document.querySelectorAll(` + quoted(selector) + `).length > ` + strconv.Itoa(n))
	eval[bool](b, `(() => { const e = document.querySelectorAll(`+quoted(selector)+`)[`+strconv.Itoa(n)+`]; e.focus(); e.click(); return true; })()`)
}

// TestCollections saves videos from three places, then orders, notes, exports and deletes.
func TestCollections(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.sees("New outliers")
	b.press("Collections")
	b.sees("No collections yet")
	b.check("collections-none")

	b.press("Outliers")
	b.act(".ranked button", 0)
	b.sees("Save to a new collection")
	b.check("save")
	b.press("Save to a new collection")
	b.sees("Saved to “Saved findings”.")
	b.press("Undo")
	b.until(`!document.querySelector('dialog')`)
	b.act(".ranked button", 0)
	b.act(".choose button", 0)
	b.sees("Saved to “Saved findings”.")
	b.press("Done")
	b.until(`document.activeElement.closest('.ranked li')`) // the focus is where it was

	// Two cards of the grid are saved together.
	b.open("/console/outliers?view=grid")
	for n := range 2 {
		b.act(".grid .choose-one", n)
	}
	b.check("select")
	b.press("Save 2 to a collection")
	b.act(".choose button", 0)
	b.until(`document.querySelector('dialog [role=status]')?.innerText.includes('Saved findings')`)
	b.press("Done")
	b.until(`!document.querySelector('.choose-one:checked')`)

	b.press("Library")
	for n := range 3 {
		b.act("tbody input[type=checkbox]", n)
	}
	b.press("Save 3 to a collection")
	b.act(".choose button", 0)
	b.until(`document.querySelector('dialog [role=status]')?.innerText.includes('Saved findings')`)
	b.press("Open the collection")
	b.until(`document.querySelectorAll('.collected > li').length >= 3`)
	b.check("collection")
	for _, wide := range []int64{390, 1280} {
		b.do("resize", chromedp.EmulateViewport(wide, 844))
		if got := eval[int64](b, `document.documentElement.scrollWidth`); got > wide {
			t.Errorf("the collection is %d pixels wide, want at most %d", got, wide)
		}
		b.accessible("collection")
	}
	b.do("wide", chromedp.EmulateViewport(width, height))

	order := func() []string { return eval[[]string](b, collected) }
	at := b.path()
	before := order()
	b.act(`.collected button[aria-label^="Down"]`, 0)
	b.until(collected + `[1] === ` + quoted(before[0]))
	b.until(`document.activeElement.getAttribute('aria-label')?.startsWith('Down: ' + ` + quoted(before[0][:10]) + `)`)
	want := append([]string{before[1], before[0]}, before[2:]...)
	b.open(at)
	b.until(`document.querySelectorAll('.collected > li').length >= 3`)
	if diff := cmp.Diff(want, order()); diff != "" {
		t.Errorf("after Down (-want +got):\n%s", diff)
	}
	// The third is dragged before the first.
	eval[bool](b, `(() => { const [first, , third] = document.querySelectorAll('.collected > li'), data = new DataTransfer();
		const say = (on, type) => on.dispatchEvent(new DragEvent(type, {bubbles: true, cancelable: true, dataTransfer: data}));
		say(third, 'dragstart'); say(first, 'dragover'); say(first, 'drop'); say(third, 'dragend'); return true; })()`)
	want = append([]string{want[2], want[0], want[1]}, want[3:]...)
	b.until(collected + `[0] === ` + quoted(want[0]))

	b.act(`.collected button[aria-label^="Note"]`, 1)
	b.fill("Note", "the cut at 2 s")
	b.press("Save the changes")
	b.until(`document.querySelectorAll('.collected > li')[1].innerText.includes('the cut at 2 s')`)
	b.act(`.collected button[aria-label^="Take out"]`, 1)
	b.sees("It stays in the library.")
	b.press("Undo")
	b.until(collected + `[1] === ` + quoted(want[1]))
	b.open(at)
	b.until(`document.querySelectorAll('.collected > li')[1]?.innerText.includes('the cut at 2 s')`)
	if diff := cmp.Diff(want, order()); diff != "" {
		t.Errorf("after a drag and an undo (-want +got):\n%s", diff)
	}

	eval[bool](b, `(() => { const real = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then((text) => { window.csv = text; }); return real(blob); }; return true; })()`)
	b.press("Save as CSV")
	b.until(`window.csv`)
	if lines := strings.Split(strings.TrimSpace(eval[string](b, `window.csv`)), "\r\n"); len(lines) != len(want)+1 || !strings.HasSuffix(lines[2], `"the cut at 2 s"`) {
		t.Errorf("got the file %q, want %d rows with the note in the second", lines, len(want))
	}

	b.press("Draft a brief from it")
	b.check("draft")
	b.press("Draft for 50 credits")
	b.sees(" 50 credits.")
	if n := eval[int](b, `document.querySelectorAll('.drafted li a').length`); n == 0 {
		t.Error("got a brief without a video to cite, want each sentence to lead to one")
	}
	b.check("drafted")
	eval[bool](b, `[...document.querySelectorAll('dialog button')].find((e) => e.innerText === 'Share').click(), true`)
	b.press("Make the link")
	b.sees("Its page ends on")
	b.press("End it at once")
	b.until(`!document.querySelector('dialog')`)

	b.press("Rename")
	b.fill("Name", "Openings to try")
	b.press("Save the changes")
	b.until(`document.querySelector('h1')?.innerText === 'Openings to try'`)
	b.press("Collections")
	b.sees("Openings to try")
	b.check("collections")
	b.fill("Name", "Openings to try")
	b.press("Make the collection")
	b.sees("There already is a collection of that name.")
	b.press("Openings to try")
	b.press("Delete the collection")
	b.sees("Its videos stay in the library.")
	b.press("Delete now")
	b.sees("No collections yet")
	b.german()
	b.sees("Noch keine Sammlungen")
}

// TestSavingAsksForTheKey saves with a session that can only read: the question lies above the
// dialog, and the video is saved when it is answered.
func TestSavingAsksForTheKey(t *testing.T) {
	needBrowser(t)
	running := apptest.Start(t, func(cfg *app.Config) { cfg.Console = os.DirFS(bundle) })
	account := prepared(t, running)
	importLines(t, running, account, []string{fmt.Sprintf(`{"platform":"youtube","externalId":"dQw4w9WgXcQ","sourceUrl":"https://www.youtube.com/watch?v=dQw4w9WgXcQ","postedAt":%d,"source":{"kind":"competitor","handle":"maker"},"metadata":{"caption":"A brew"},"metrics":{"views":1000,"observedAt":%d}}`,
		time.Now().Add(-50*time.Hour).UnixMilli(), time.Now().Add(-time.Hour).UnixMilli())})
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, false)
	b.open("/console/library?view=grid")
	b.act(".save-mark", 0)
	b.press("Save to a new collection")
	b.sees("This session can only read")
	b.check("save-ask")
	if named := eval[[]string](b, `[...document.querySelectorAll('dialog[open]')].map((e) => document.getElementById(e.getAttribute('aria-labelledby')).innerText)`); len(named) != 2 || named[0] == named[1] {
		t.Errorf("got the dialogs %q, want two by their own titles", named)
	}
	b.press("Not now")
	b.until(`document.querySelectorAll('dialog').length === 1`)
	if kept := account.Read(t, "GET /v1/collections/list"); strings.Contains(kept, `"id"`) {
		t.Errorf("after declining: got %s, want no collection", kept)
	}
	b.press("Save to a new collection")
	b.fill("API key", account.Key)
	b.press("Go on")
	b.sees("Saved to “Saved findings”.")
}
