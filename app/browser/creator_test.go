package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// twin opens the table beside the plot in the card with a title, and returns the sum of
// its counts and the number of its rows.
func (b *tab) twin(title string) (sum, rows int) {
	b.t.Helper()
	card := `[...document.querySelectorAll('main .card')].find((e) => e.getAttribute('aria-label') === ` + quoted(title) + `)`
	b.until(card + `?.querySelector('canvas')`)
	eval[bool](b, card+`.querySelector('.twin summary').click(), true`)
	b.until(card + `.querySelector('.twin[open] tbody tr')`)
	counts := eval[[]int](b, `[...`+card+`.querySelectorAll('.twin tbody tr')].map((e) => parseInt(e.lastElementChild.innerText))`)
	for _, count := range counts {
		sum += count
	}
	return sum, len(counts)
}

func TestCreator(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.press("Library")
	b.until(`document.querySelector('tbody .byline a[href*="/creators/"][href*="."]')`)
	eval[bool](b, `document.querySelector('tbody .byline a[href*="/creators/"][href*="."]').focus(), true`)
	name := eval[string](b, `document.activeElement.innerText`)
	b.do("the Enter key", chromedp.KeyEvent("\r"))
	b.until(`document.activeElement.tagName === 'H1' && document.activeElement.innerText === ` + quoted(name) + ` && document.querySelectorAll('main canvas').length === 2`)
	address := b.path()
	if !strings.HasPrefix(address, "/console/creators/") || !strings.HasSuffix(address, name[1:]) {
		t.Errorf("the address of %s is %q, want a page of creators with the name at its end", name, address)
	}
	b.open(address) // a handle may have a dot
	b.until(`document.querySelectorAll('main canvas').length === 2 && !document.querySelector('.loading')`)
	b.check("creator")
	videos := eval[int](b, `parseInt([...document.querySelectorAll('.figures dt')].find((e) => e.innerText === 'Videos').nextElementSibling.innerText)`)
	listed := eval[int](b, `document.querySelectorAll('.card:last-child tbody tr').length`)
	if videos == 0 || listed != min(videos, 25) {
		t.Errorf("%s has %d videos and %d are listed, want all up to 25", name, videos, listed)
	}
	for title, want := range map[string]int{"Days of posting, in UTC": 7, "Hours of posting, in UTC": 24} {
		if sum, rows := b.twin(title); rows != want || sum != videos {
			t.Errorf("%s: the table has %d rows with %d videos, want %d with %d", title, rows, sum, want, videos)
		}
	}
	eval[bool](b, `document.querySelector('h2').scrollIntoView(), true`)
	b.check("creator-tables")
	eval[bool](b, `document.querySelector('.card:last-child').scrollIntoView(), true`)
	b.check("creator-list")

	b.open("/console/creators/tiktok/never.heard.of")
	b.sees("The library has no videos of this creator")
	b.check("creator-missing")
	b.open("/console/creators/tiktok/" + strings.Repeat("x", 201))
	b.sees("Some of the input cannot be used")
	b.check("creator-refused")
	b.open(address)
	b.until(`document.querySelectorAll('main canvas').length === 2`)
	b.german()
	b.sees("Tage der Posts, in UTC")
	b.until(`document.querySelectorAll('main canvas').length === 2`)
	b.check("creator-german")
}

// TestACreatorIsCompleted: the filter proposes the creators of the library, each once, and a
// proposal that is taken chooses their videos.
func TestACreatorIsCompleted(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.sees("New outliers")
	proposed := `[...(` + field("Creator") + `?.list?.options ?? [])].map((e) => e.value)`
	for _, page := range []string{"outliers", "library"} {
		t.Run(page, func(t *testing.T) {
			b.t = t
			b.open("/console/" + page)
			b.until(`document.querySelector('main .byline a[href*="/creators/"]') && ` + field("Creator"))
			listed := eval[[]string](b, `[...document.querySelectorAll('main .byline a[href*="/creators/"]')].map((e) => e.innerText)`)
			if eval[bool](b, `!(`+field("Creator")+`).offsetParent`) {
				b.press("More filters")
			}
			if got := eval[int](b, proposed+`.length`); got != 0 {
				t.Errorf("got %d names before anyone types, want none asked for", got)
			}
			eval[bool](b, field("Creator")+`.focus(), true`)
			b.until(proposed + `.length > 1`)
			names := eval[[]string](b, proposed)
			seen := map[string]bool{}
			for _, name := range names {
				if folded := strings.ToLower(name); seen[folded] || name == "" || strings.HasPrefix(name, "@") {
					t.Errorf("got %q among %q, want each name once, without @", name, names)
				} else {
					seen[folded] = true
				}
			}
			for _, name := range listed {
				if !seen[strings.ToLower(strings.TrimPrefix(name, "@"))] {
					t.Errorf("got %q, want %s of the list among them", names, name)
				}
			}
			if !eval[bool](b, `document.activeElement === `+field("Creator")) {
				t.Error("the field lost the focus when the names came, want it to keep it")
			}
			b.check("creator-completed-" + page)
			name := strings.TrimPrefix(listed[0], "@")
			eval[bool](b, field("Creator")+`.focus(), true`)
			b.do("take a proposal", chromedp.KeyEvent(name))
			b.until(`new URLSearchParams(location.search).get('creator') === ` + quoted(name) +
				` && !document.querySelector('main .loading') && [...document.querySelectorAll('main .byline a[href*="/creators/"]')].every((e) => e.innerText === ` + quoted(listed[0]) + `)`)
		})
	}
}
