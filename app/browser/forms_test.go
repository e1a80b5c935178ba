package browser_test

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// german changes the language of the page.
func (b *tab) german() {
	b.t.Helper()
	b.speak("de")
}

func (b *tab) speak(language string) {
	b.t.Helper()
	eval[bool](b, `(() => { const e = [...document.querySelectorAll('select')].find((e) => [...e.options].some((o) => o.value === 'de')); e.value = '`+language+`'; e.dispatchEvent(new Event('change', {bubbles: true})); return true; })()`)
}

// TestRulesAreReadBesideTheText types rules and compares the readings beside them. What was
// typed and not saved is gone after signing out.
func TestRulesAreReadBesideTheText(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(prepared(t, running).Key, true)
	b.press("Rules")
	b.sees("Version 1 is in force")
	b.fill("Rules", "no giveaways, and at least 500 views\nonly English\nskip giveaways, under 60 seconds")
	b.until(`document.querySelector('.readings[aria-busy=false]') && document.querySelectorAll('.readings li').length === 3`)
	type line struct{ Text, Reading, Badge string }
	got := eval[[]line](b, `[...document.querySelectorAll('.readings li')].map((e) => ({Text: e.querySelector('.reading-line').innerText,
		Reading: [...e.querySelectorAll('.compiled')].map((e) => e.innerText).join(' | '), Badge: e.querySelector('.badge').innerText}))`)
	want := []line{
		{"no giveaways, and at least 500 views", `drops videos that mention the word "giveaways"; keeps only videos with at least 500 views`, "Understood, drops none"},
		{"only English", "keeps only videos in English", "Understood, drops none"},
		{"skip giveaways, under 60 seconds", "", "Unclear"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the readings (-want +got):\n%s", diff)
	}
	b.check("rules-reading")
	b.german()
	b.until(`document.querySelector('.readings[aria-busy=false] .compiled')?.innerText.startsWith('entfernt Videos mit dem Wort „giveaways“')`)
	if why := eval[string](b, `document.querySelector('.readings .why').innerText`); !strings.HasPrefix(why, "Aus dieser Regel wurde keine Prüfung") {
		t.Errorf("in German it is unclear since %q, want German", why)
	}
	b.speak("en")
	b.sees("How they are read")

	kept := `Object.keys(sessionStorage).filter((name) => name.startsWith('scrollery.draft.')).length`
	if n := eval[int](b, kept); n != 1 {
		t.Errorf("before signing out the browser keeps %d drafts, want 1", n)
	}
	b.press("Sign out")
	b.sees("Sign in with a key")
	if n := eval[int](b, kept); n != 0 {
		t.Errorf("after signing out the browser keeps %d drafts, want none", n)
	}
	if stored := eval[string](b, `JSON.stringify({...localStorage, ...sessionStorage})`); strings.Contains(stored, "giveaways") {
		t.Errorf(`after signing out the browser keeps %s, want without "giveaways"`, stored)
	}
}

// TestTheFormEstimatesTheScroll reads what a scroll takes and what is not asked, before it
// starts, in both languages.
func TestTheFormEstimatesTheScroll(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := prepared(t, running)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, false)
	b.estimated()
	b.press("Scrolls")
	b.sees("It takes 100 units to start, at most 1,100 with new videos.")
	b.sees("Not asked: ")
	if got := eval[string](b, `document.querySelector('.estimate li').innerText`); !strings.HasPrefix(got, "feed") || !strings.Contains(got, "Ready") {
		t.Errorf("the first source is %q, want that the feed is ready", got)
	}
	if n := eval[int](b, estimates); n != 1 {
		t.Errorf("the form asked for %d estimates, want 1", n)
	}
	b.fill("What to look for this time", "latte art")
	b.until(estimates + ` === 2 && document.querySelector('.estimate[aria-busy=false]')`)
	b.check("scroll-estimate")
	b.german()
	b.sees("Der Start kostet 100 Einheiten, mit neuen Videos höchstens 1.100.")
	b.sees("Nicht gefragt: ")
	if scrolls := account.Read(t, "GET /v1/scrolls/list"); strings.Contains(scrolls, `"id":"scr_`) {
		t.Errorf("the estimate started %s, want without %q", scrolls, `"id":"scr_`)
	}
}

func TestTheFormSaysWhatHoldsAScrollBack(t *testing.T) {
	needBrowser(t)
	running := apptest.Start(t, func(cfg *app.Config) { cfg.Console = os.DirFS(bundle) })
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(prepared(t, running).Key, false)
	b.press("Scrolls")
	b.sees("This server has no source that can be asked.")
	b.german()
	b.sees("Dieser Server hat keine Quelle, die gefragt werden kann.")
}

// TestWideScreens looks at pages on screens up to 4K: nothing scrolls sideways, and the text
// keeps a line that can be read.
func TestWideScreens(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.sees("New outliers")
	for _, screen := range []struct {
		name          string
		width, height int
	}{{"2560", 2560, 1440}, {"3840", 3840, 2160}} {
		t.Run(screen.name, func(t *testing.T) {
			b.do("size", chromedp.EmulateViewport(int64(screen.width), int64(screen.height)))
			for page, ready := range map[string]string{
				"outliers": `document.querySelector('.ranked li a') && document.querySelector('main canvas')`,
				"rules":    `document.body.innerText.includes('Tried on the newest')`,
			} {
				b.open("/console/" + page)
				b.until(ready)
				b.shot("wide-" + page + "-" + screen.name)
				got := eval[[]int](b, `[document.documentElement.scrollWidth, document.querySelector('main').getBoundingClientRect().width, parseFloat(getComputedStyle(document.documentElement).fontSize)].map(Math.round)`)
				if got[0] > screen.width {
					t.Errorf("%s: the page is %d pixels wide, want at most %d", page, got[0], screen.width)
				}
				if got[1]*2 < screen.width {
					t.Errorf("%s: the content takes %d of %d pixels, want half at least", page, got[1], screen.width)
				}
				if got[1] > 100*got[2] {
					t.Errorf("%s: the content is %d pixels wide at a letter of %d, want at most 100 times", page, got[1], got[2])
				}
			}
		})
	}
}
