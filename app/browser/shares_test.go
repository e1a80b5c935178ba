package browser_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMondayToASharedLink goes from the first page to the link of a saved finding by five clicks,
// opens it elsewhere and ends it.
func TestMondayToASharedLink(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.until(`document.querySelector('.findings li')`)
	b.clipboard()
	finding := eval[string](b, `document.querySelector('.findings li .strong').innerText`)
	proof := eval[string](b, `document.querySelector('.findings li .muted').innerText`)
	b.until(loadedScript("collections"))
	eval[bool](b, `(() => { window.clicks = 0; addEventListener('click', (e) => { if (e.isTrusted && e.target.closest('a, button')) window.clicks++; }, true); return true; })()`)

	b.press(eval[string](b, `document.querySelector('.findings button').getAttribute('aria-label')`))
	b.press("Save to a new collection")
	b.press("Share")
	b.sees("Nothing of your account")
	b.until(`document.querySelector('dialog')?.innerText.includes(` + quoted(finding) + `)`)
	b.press("Make the link")
	b.press("Copy the link")
	b.sees("Copied")
	if n := eval[int](b, `window.clicks`); n > 5 {
		t.Errorf("got %d clicks from the first page to the link of a saved finding, want at most 5", n)
	}
	b.check("share-made")
	link := eval[string](b, "navigator.clipboard.readText()")
	if !strings.HasPrefix(link, base+"/share/") {
		t.Fatalf("got %q in the clipboard, want the address of a page", link)
	}

	other := launch(t).tab(t, base)
	other.open(strings.TrimPrefix(link, base))
	other.sees(finding)
	other.sees(proof)
	b.press("Shared links")
	b.sees("Pages that everyone with their link can read.")
	b.until(`document.querySelector('tbody tr')`)
	row := eval[[]string](b, `[...document.querySelectorAll('tbody tr > *')].map((e) => e.innerText)`)
	if got, want := row[:3], []string{finding, "A finding", "1"}; !cmp.Equal(got, want) {
		t.Errorf("got the row %q, want it to begin with %q", got, want)
	}
	b.check("shares")
	b.press("End: " + finding[:min(60, len(finding))])
	b.check("shares-end")
	b.press("End the page")
	b.sees("Nothing is shared")
	other.open(strings.TrimPrefix(link, base))
	other.sees("There is no such page")
	b.german()
	b.sees("Nichts ist geteilt")
}

// TestVideosAndCollectionsAreShared makes a page of each and ends the first where it was made.
func TestVideosAndCollectionsAreShared(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.sees("What matters now")
	link := func() string {
		b.press("Make the link")
		b.until(`document.querySelector('dialog .secret code')`)
		return strings.TrimPrefix(eval[string](b, `document.querySelector('dialog .secret code').innerText`), base)
	}
	other := launch(t).tab(t, base)

	b.press("Library")
	b.act("tbody th a", 0)
	b.sees("Archive")
	name := eval[string](b, `document.querySelector('h1').innerText`)
	b.press("Share")
	b.until(field("Heading of the page") + `?.offsetParent`)
	b.check("share")
	b.fill("Heading of the page", "For the team")
	page := link()
	other.open(page)
	other.sees("For the team")
	other.sees(name)
	b.press("End it at once")
	b.until(`!document.querySelector('dialog')`)
	other.open(page)
	other.sees("There is no such page")

	b.press("Save")
	b.press("Save to a new collection")
	b.press("Open the collection")
	b.until(`document.querySelector('.collected > li')`)
	b.press("Share")
	b.sees("The first 1 of 1 videos in words")
	page = link()
	other.open(page)
	other.sees("Saved findings")
	other.sees(name)
}

// TestNotForMeRanksDown ranks a kind of findings down, in this browser, and up again.
func TestNotForMeRanksDown(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.until(`document.querySelector('.findings li')`)
	shown := func() []string {
		return eval[[]string](b, `[...document.querySelectorAll('.findings li .strong')].map((e) => e.innerText)`)
	}
	before := shown()
	if len(before) < 2 {
		t.Fatalf("got the findings %q, want two to rank", before)
	}
	b.press(eval[string](b, `document.querySelector('.findings button[aria-label^="Not for me"]').getAttribute('aria-label')`))
	want := append(slices.Clone(before[1:]), before[0])
	b.sees("Ranked down in this browser")
	if diff := cmp.Diff(want, shown()); diff != "" {
		t.Errorf("after Not for me (-want +got):\n%s", diff)
	}
	b.check("start-ranked")
	b.open("/console/")
	b.until(`document.querySelector('.findings li')`)
	b.sees("Ranked down in this browser")
	if diff := cmp.Diff(want, shown()); diff != "" {
		t.Errorf("after another visit (-want +got):\n%s", diff)
	}
	b.act(".ranked-down button", 0)
	b.until(`!document.body.innerText.includes('Ranked down in this browser')`)
	if diff := cmp.Diff(before, shown()); diff != "" {
		t.Errorf("ranked as before (-want +got):\n%s", diff)
	}
}
