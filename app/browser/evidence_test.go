package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// drag moves the pressed mouse across a part of an element, in parts of its size.
func (b *tab) drag(selector string, fromX, fromY, toX, toY float64) {
	b.t.Helper()
	r := eval[[]float64](b, `(() => { const e = document.querySelector(`+quoted(selector)+`); e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()`)
	at := func(x, y float64) (float64, float64) { return r[0] + x*r[2], r[1] + y*r[3] }
	x, y := at(fromX, fromY)
	steps := []chromedp.Action[chromedp.Void]{
		chromedp.MouseEvent("mouseMoved", x, y),
		chromedp.MouseEvent("mousePressed", x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	}
	for i := range 5 {
		part := float64(i+1) / 5
		x, y = at(fromX+(toX-fromX)*part, fromY+(toY-fromY)*part)
		steps = append(steps, chromedp.MouseEvent("mouseMoved", x, y, chromedp.ButtonLeft))
	}
	b.do("drag", append(steps, chromedp.MouseEvent("mouseReleased", x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))...)
}

// number reads the first number of an element, as English writes it.
func (b *tab) number(selector string) float64 {
	b.t.Helper()
	return eval[float64](b, `parseFloat(document.querySelector(`+quoted(selector)+`).innerText.replaceAll(',', ''))`)
}

func TestEvidence(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)

	b.press("Outliers")
	b.until(`document.querySelector('.scatter canvas') && !document.querySelector('.loading')`)
	all := b.number(".summary")
	b.drag(".u-over", .2, .05, .6, .6)
	b.until(`[...document.querySelectorAll('button')].some((e) => e.innerText === 'Show the whole plot')`)
	if part := b.number(".summary"); part >= all || part == 0 {
		t.Errorf("after a drag the plot has %v of %v points, want some and fewer", part, all)
	}
	b.check("outliers-part")
	b.press("Show the whole plot")
	b.until(fmt.Sprintf(`parseFloat(document.querySelector('.summary').innerText) === %v`, all))
	b.press("Show as table")
	b.until(`document.querySelectorAll('.twin[open] tbody tr').length === 25`)
	b.check("outliers-table")
	best := eval[string](b, `document.querySelector('.twin[open] tbody a').href`)
	eval[bool](b, `document.querySelector('.scatter').focus(), true`)
	b.do("the right arrow key", chromedp.KeyEvent(kb.ArrowRight))
	b.until(`document.querySelector('.tip')`)
	b.do("the Enter key", chromedp.KeyEvent("\r"))
	b.until(`document.querySelector('.reckoning')`)
	if at := eval[string](b, `location.href`); at != best {
		t.Errorf("the keyboard opened %q, want the table's first row %q", at, best)
	}
	// The score can be worked out again from what the page shows.
	formula := eval[[]float64](b, `document.querySelector('.formula').innerText.replaceAll(',', '').split(/[÷=]/).map(parseFloat)`)
	if len(formula) != 3 || formula[1] == 0 || formula[0]/formula[1]-formula[2] > .0001 || formula[2]-formula[0]/formula[1] > .0001 {
		t.Errorf("got the formula %v, want views by baseline and their ratio", formula)
	}
	used := eval[int](b, `[...document.querySelectorAll('tbody .badge')].filter((e) => e.innerText === 'used').length`)
	if used < 3 {
		t.Errorf("the page shows %d peers that were used, want at least 3", used)
	}

	b.open("/console/library?archived=1")
	b.until(`document.querySelectorAll('tbody tr').length === 25`)
	second := `document.querySelectorAll('tbody tr')[1]`
	name := eval[string](b, second+`.querySelector('button[aria-label^=Archive]').getAttribute('aria-label')`)
	id := eval[string](b, second+`.querySelector('a').href`)
	eval[bool](b, second+`.querySelector('button[aria-label^=Archive]').click(), true`)
	b.until(second + `.innerText.includes('Archived')`)
	b.open("/console/library?archived=1")
	b.until(`document.querySelectorAll('tbody tr').length === 25`)
	archived := eval[[]string](b, `[...document.querySelectorAll('tbody tr')].filter((e) => e.innerText.includes('Archived')).map((e) => e.querySelector('a').href)`)
	if len(archived) != 1 || archived[0] != id {
		t.Errorf("archived are %q, want %q", archived, id)
	}
	b.open("/console/library")
	b.until(`document.querySelectorAll('tbody tr').length === 25`)
	if eval[bool](b, `[...document.querySelectorAll('tbody a')].some((e) => e.href === `+quoted(id)+`)`) {
		t.Errorf("got %s in the list without archived videos, want it gone", id)
	}
	b.open(strings.TrimPrefix(id, base))
	b.press("Restore")
	b.until(find("Archive"))
	b.open("/console/library?archived=1")
	b.until(`document.querySelectorAll('tbody tr').length === 25 && !` + second + `.innerText.includes('Archived')`)
	if got := eval[string](b, second+`.querySelector('button[aria-label^=Archive]').getAttribute('aria-label')`); got != name {
		t.Errorf("the restored video is %q, want %q", got, name)
	}
}

func TestRulesKeepWhatWasTyped(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := prepared(t, running)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, true)
	b.press("Rules")
	b.sees("Version 1 is in force")
	b.fill("Rules", "- no giveaways\n- nothing boring")
	b.sees("Unclear")
	b.sees("Not saved yet")
	b.open("/console/rules")
	b.sees("What the next scroll would do") // the preview has its answer: the save alone meets the ended session
	b.sees("Not saved yet")
	id := eval[string](b, current+`.keyId`)
	if got := account.Do(t, `POST /v1/api_keys/revoke {"id":"`+id+`"}`, "").Status; got != http.StatusOK {
		t.Fatalf("ending the session answers %d, want %v", got, http.StatusOK)
	}
	b.press("Save the rules")
	b.sees("Your session is over")
	if got := b.typed(); got != "- no giveaways\n- nothing boring" {
		t.Errorf("while it asks the text is %q, want %q", got, "- no giveaways\n- nothing boring")
	}
	b.fill("API key", account.Key)
	b.press("Go on")
	b.sees("Version 2 is in force")
	b.until(`document.querySelector('.versions summary').innerText.includes('Version 2')`)
	eval[bool](b, `document.querySelector('.versions summary').click(), true`)
	if got := eval[[]string](b, `[...document.querySelectorAll('.versions [open] .diff .added bdi')].map((e) => e.innerText)`); len(got) != 1 || got[0] != "- nothing boring" {
		t.Errorf("the second version added %q, want one rule, - nothing boring", got)
	}
	b.check("rules-versions")
}
