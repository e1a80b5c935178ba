package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// keys presses keys, one after the other, as a person does who types nothing.
func (b *tab) keys(pressed string) {
	b.t.Helper()
	for _, key := range pressed {
		b.do("the key "+string(key), chromedp.KeyEvent(string(key)))
	}
}

// TestAListIsReadByKeys moves in a list, opens a video of it and comes back to the row, the
// filter, the pages and the place on the screen that were left.
func TestAListIsReadByKeys(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.sees("New outliers")
	b.press("Library")
	focused := `document.activeElement.type === 'search'`
	for range 100 { // a page that comes later takes the focus to its title
		if b.keys("/"); eval[bool](b, focused) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.until(focused)
	b.fill("Search", "coffee jk")
	b.sees("Nothing matches these filters.")
	b.fill("Search", "coffee")
	b.until(`location.search === '?q=coffee' && document.querySelectorAll('tbody tr').length === 25`)
	eval[bool](b, `document.activeElement.blur(), true`)
	b.press("Show more")
	b.until(`document.querySelectorAll('tbody tr').length > 25`)
	shown := eval[int](b, `document.querySelectorAll('tbody tr').length`)
	b.keys(strings.Repeat("j", 30) + "k")
	row := `[...document.querySelectorAll('tbody tr')].findIndex((e) => e.contains(document.activeElement))`
	if at := eval[int](b, row); at != 28 {
		t.Fatalf("after 30 steps down and one up the focus is in row %d, want 28", at)
	}
	b.keys("x")
	b.until(`document.querySelectorAll('tbody tr')[28].querySelector('input').checked`)
	y := eval[int](b, `Math.round(scrollY)`)
	if y == 0 {
		t.Fatal("the row is on the first screen, want a list that was scrolled")
	}
	for name, back := range map[string]func(){
		"the browser's back": func() { b.do("back", chromedp.NavigateBack()) },
		"the page's link":    func() { b.press("← Library") },
	} {
		b.keys("o")
		b.until(`location.pathname.includes('/library/vid_') && document.querySelector('main .figures')`)
		back()
		b.until(`location.search === '?q=coffee' && ` + row + ` === 28`)
		if at := eval[int](b, `Math.round(scrollY)`); at < y-2 || at > y+2 {
			t.Errorf("%s: the list is scrolled by %d, want %d", name, at, y)
		}
		if n := eval[int](b, `document.querySelectorAll('tbody tr').length`); n != shown {
			t.Errorf("%s: the list has %d rows, want %d", name, n, shown)
		}
	}
	b.keys("e")
	b.until(`document.querySelectorAll('tbody tr')[28].innerText.includes('Archived')`)
	b.keys("?")
	b.sees("Archive or restore")
	b.check("keys")
	eval[bool](b, `document.querySelector('dialog input').click(), true`)
	b.press("Close")
	b.until(row + ` === 28`) // the focus is where it was, once the dialog is gone
	b.keys("j")
	if at := eval[int](b, row); at != 28 {
		t.Errorf("keys that are turned off move to row %d, want 28", at)
	}
}

// TestTheFirstOutlierIsOnTheFirstScreen opens the list on a phone, and the pages behind their button.
func TestTheFirstOutlierIsOnTheFirstScreen(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.sees("New outliers")
	b.do("phone", chromedp.EmulateViewport(390, 844))
	b.open("/console/outliers")
	b.until(`document.querySelector('.ranked li a') && document.querySelector('main canvas')`)
	if bottom := eval[int](b, `Math.round(document.querySelector('.ranked li').getBoundingClientRect().bottom)`); bottom > 844 {
		t.Errorf("the first outlier ends at %d, want it on the screen of 844", bottom)
	}
	b.accessible("outliers on a phone")
	b.press("More filters")
	b.fill("Least score", "3")
	b.until(`location.search === '?min=3'`)
	b.press("Menu")
	b.accessible("the menu")
	b.press("Hooks")
	b.until(`document.querySelector('.wall .hook') && !(` + find("Hooks") + `)`)
}
