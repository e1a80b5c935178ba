package browser_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// load keeps the page busy most of the time, as a slow machine would be.
const load = `setInterval(() => { const end = performance.now() + 120; while (performance.now() < end); }, 160), true`

// typeSlowly types a text as a person does, 50 to 500 ms a key.
func (b *tab) typeSlowly(label, text string, random *rand.Rand) {
	b.t.Helper()
	b.until(`(` + field(label) + `)?.offsetParent`)
	eval[bool](b, `(() => { const e = `+field(label)+`; e.focus(); e.select?.(); return true; })()`)
	for _, key := range text {
		b.do("type into "+label, chromedp.KeyEvent(string(key)))
		time.Sleep(time.Duration(50+random.IntN(450)) * time.Millisecond)
	}
}

// TestTypingIsNeverOverwritten types into the filters and forms of a busy page, each with
// pauses about as long as a filter waits before it takes effect.
func TestTypingIsNeverOverwritten(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.sees("New outliers")
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same pauses each time
	for _, at := range []struct{ page, label, text, query string }{
		{"outliers", "Search", "pour over grinder", "q"},
		{"outliers", "Least score", "12.75", "min"},
		{"library", "Creator", "brewfox.example", "creator"},
		{"library", "Least views", "1250000", "minViews"},
		{"trends", "Least growth", "1.25", "minGrowth"},
		{"scroll", "What to look for this time", "latte art, slowly", ""},
		{"rules", "Rules", "no giveaways and hauls", ""},
	} {
		t.Run(at.page+" "+at.label, func(t *testing.T) {
			b.t = t
			b.open("/console/" + at.page)
			b.until(field(at.label))
			if eval[bool](b, `!(`+field(at.label)+`).offsetParent`) {
				b.press("More filters")
			}
			eval[bool](b, load)
			b.typeSlowly(at.label, at.text, random)
			if got := eval[string](b, field(at.label)+`.value`); got != at.text {
				t.Errorf("typed %q, the field has %q", at.text, got)
			}
			if at.query != "" {
				b.until(`new URLSearchParams(location.search).get(` + quoted(at.query) + `) === ` + quoted(at.text))
				if got := eval[string](b, field(at.label)+`.value`); got != at.text {
					t.Errorf("after the filter took effect the field has %q, want %q", got, at.text)
				}
			}
		})
	}
	b.t = t
	b.open("/console/library?q=espresso")
	b.until(field("Search") + `.value === 'espresso'`)
	b.press("Clear filters")
	b.until(field("Search") + `.value === '' && location.search === ''`)
}
