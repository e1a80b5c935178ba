package browser_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestAResultThatIsNothingIsNotGreen makes scrolls whose videos all are dropped, or known.
func TestAResultThatIsNothingIsNotGreen(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := prepared(t, running)
	var ignored map[string]any
	account.Get(t, `PUT /v1/rules {"text":"- at least 900000000 views"}`, &ignored)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, true)
	b.prompt("latte art")
	b.press("Start a scroll")
	b.sees("Almost all dropped")
	b.sees("Most by:")
	if tone := eval[string](b, `document.querySelector('main .badge').className`); tone != "badge warn" {
		t.Errorf("got the badge %q, want it amber", tone)
	}
	if text := eval[string](b, `document.querySelector('main .notice').innerText`); !strings.Contains(text, "at least 900000000 views") {
		t.Errorf("got the notice %q, want the rule in it", text)
	}
	b.check("scroll-dropped")
	b.press("Change the rules")
	b.sees("Version 2 is in force")
	account.Get(t, `PUT /v1/rules {"text":"- no giveaways"}`, &ignored)
	for range 12 { // the sample has new videos for some days
		b.open("/console/scroll")
		b.estimated()
		b.press("Start a scroll")
		b.until(`location.pathname.includes('/scroll/scr_') && /Completed|Nothing new/.test(document.body.innerText)`)
		if eval[bool](b, `document.body.innerText.includes('Nothing new')`) {
			b.check("scroll-known")
			b.press("Change the brief")
			b.sees("Later scrolls use what you save here.")
			return
		}
	}
	t.Error("got new videos of every scroll, want one that says that it brought none")
}

// TestTheBriefIsReadAndChanged changes every field of a brief, and empties the list.
func TestTheBriefIsReadAndChanged(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := prepared(t, running)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, true)
	b.press("Brief")
	b.until(field("What you make, and for whom") + `?.value === 'Espresso at home'`)
	b.check("brief")
	b.fill("App in a store", "https://apps.apple.com/app/id123456789")
	b.sees("trends begin anew")
	b.fill("Name", "Coffee")
	eval[bool](b, `(() => { const e = `+field("Competitors")+`; e.focus(); e.value = ''; e.dispatchEvent(new Event('input', {bubbles: true})); return true; })()`)
	b.press("Save the brief")
	b.until(field("Competitors") + `?.value === '' && !document.querySelector('main .notice')`)
	var got struct {
		Workspace struct {
			Name, AppStoreURL string
			Competitors       []string
		}
	}
	account.Get(t, "GET /v1/workspace", &got)
	if got.Workspace.Name != "Coffee" || got.Workspace.AppStoreURL == "" || len(got.Workspace.Competitors) > 0 {
		t.Errorf("got %+v, want the name Coffee, an address in a store and no competitors", got.Workspace)
	}
}

// TestDeletingIsCountedAndUndone deletes a video, and brings it back.
func TestDeletingIsCountedAndUndone(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.sees("New outliers")
	b.open("/console/library")
	b.until(`document.querySelector('tbody th a')`)
	eval[bool](b, `document.querySelector('tbody th a').click(), true`)
	b.sees("Archive")
	at := b.path()
	b.press("Delete")
	b.sees("1 video with ")
	b.check("delete")
	b.press("Delete now")
	b.sees("It is deleted.")
	b.open(at)
	b.sees("The library does not have this video")
	b.open("/console/library")
	b.until(`document.querySelector('tbody tr')`)
	rows := eval[string](b, `document.querySelector('tbody').innerText`)
	eval[bool](b, `[...document.querySelectorAll('tbody button')].find((e) => e.innerText === 'Delete').click(), true`)
	b.sees("1 video with ")
	b.press("Delete now")
	b.press("Undo the deletion")
	b.until(`document.querySelector('tbody')?.innerText === ` + quoted(rows))
}

// TestAnAgentIsConnected reads the address and the snippets.
func TestAnAgentIsConnected(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(prepared(t, running).Key, false)
	b.open("/console/account/agents")
	b.sees(running.BaseURL + "/mcp")
	b.check("agents")
	b.german()
	b.sees("Was ein Agent darf")
}

// TestPagesNameVideosForPeople: what names a video is its caption, or who made it and when.
func TestPagesNameVideosForPeople(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.sees("New outliers")
	b.open("/console/outliers")
	b.until(`document.querySelector('.ranked li a') && document.querySelector('main canvas')`)
	eval[bool](b, `document.querySelector('main details.twin').open = true`)
	b.until(`document.querySelectorAll('main tbody tr').length > 5`)
	seen := func(where string) {
		if text := eval[string](b, `document.querySelector('main').innerText`); strings.Contains(text, "vid_") {
			t.Errorf("%s: got an id on the page, want a name:\n%s", where, text)
		}
	}
	seen("outliers")
	eval[bool](b, `document.querySelector('.ranked li a').click(), true`)
	b.sees("Other videos of this creator")
	b.until(`!document.querySelector('.loading')`)
	seen("a video")
	b.open("/console/trends")
	b.until(`document.querySelector('main ul.trends a')`)
	eval[bool](b, `document.querySelector('main ul.trends a').click(), true`)
	b.until(`location.pathname.includes('/trends/') && document.querySelectorAll('main tbody tr').length > 1`)
	seen("a trend")
}

// TestPlayingIsAPersonsChoice imports a video of each platform. Nothing is asked of a
// platform before the button is pressed, and the player's address is made of the id.
func TestPlayingIsAPersonsChoice(t *testing.T) {
	needBrowser(t)
	running := apptest.Start(t, func(cfg *app.Config) { cfg.Console = os.DirFS(bundle) })
	account := prepared(t, running)
	line := func(platform, id string) string {
		return fmt.Sprintf(`{"platform":%q,"externalId":%q,"sourceUrl":"https://evil.example/embed","postedAt":%d,"source":{"kind":"competitor","handle":"maker"},"metadata":{"caption":"On %s","durationSeconds":42},"metrics":{"views":1000,"observedAt":%d}}`,
			platform, id, time.Now().Add(-50*time.Hour).UnixMilli(), platform, time.Now().Add(-time.Hour).UnixMilli())
	}
	importLines(t, running, account, []string{line("youtube", "dQw4w9WgXcQ"), line("tiktok", "7106594312292453675"), line("instagram", "3141592653589793238"), line("youtube", `"><script>`)})
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, false)
	for platform, want := range map[string]string{
		"youtube": "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ", "tiktok": "https://www.tiktok.com/player/v1/7106594312292453675",
		"instagram": "https://www.instagram.com/p/",
	} {
		t.Run(platform, func(t *testing.T) {
			b.t = t
			b.open("/console/library?view=grid&platform=" + platform)
			b.until(`document.querySelector('.video-card')`)
			if platform == "tiktok" {
				b.check("grid")
			}
			eval[bool](b, `[...document.querySelectorAll('.video-card')].at(-1).click(), true`)
			b.sees("Archive")
			if platform == "youtube" && !eval[bool](b, `Boolean(`+find("Play here")+`)`) { // the other one has no id of the platform
				eval[bool](b, `history.back(), true`)
				b.until(`document.querySelector('.video-card')`)
				eval[bool](b, `document.querySelector('.video-card').click(), true`)
			}
			b.until(find("Play here"))
			if n := eval[int](b, `document.querySelectorAll('iframe').length + performance.getEntriesByType('resource').filter((e) => !e.name.startsWith(location.origin)).length`); n != 0 {
				t.Errorf("before the press: got %d frames and requests to others, want none", n)
			}
			b.check("play-" + platform)
			b.press("Play here")
			b.until(`document.querySelector('iframe')`)
			type frame struct{ Src, Sandbox, Policy string }
			got := eval[frame](b, `(() => { const e = document.querySelector('iframe'); return {Src: e.src, Sandbox: e.getAttribute('sandbox'), Policy: e.referrerPolicy}; })()`)
			if !strings.HasPrefix(got.Src, want) || got.Sandbox != "allow-scripts allow-same-origin allow-presentation" || got.Policy != "strict-origin" {
				t.Errorf("got the frame %+v, want it sandboxed, at %s", got, want)
			}
			b.clean("with a player")
		})
	}
	b.t = t
	b.open("/console/account")
	b.until(`document.querySelector('main input[type=checkbox]')`)
	eval[bool](b, `document.querySelector('main input[type=checkbox]').click(), true`)
	b.open("/console/library?view=grid&platform=tiktok")
	b.until(`document.querySelector('.video-card')`)
	eval[bool](b, `document.querySelector('.video-card').click(), true`)
	b.sees("Archive")
	if eval[bool](b, `Boolean(`+find("Play here")+`)`) {
		t.Error("turned off: got a button to play, want none")
	}
}

// TestAGridShowsTwenty: a laptop's screen shows at least 20 videos at once.
func TestAGridShowsTwenty(t *testing.T) {
	needBrowser(t)
	base, opens := serveSample(t)
	b := launch(t).tab(t, base)
	b.open(opens)
	b.sees("New outliers")
	b.open("/console/library?view=grid")
	b.until(`document.querySelectorAll('.video-card').length >= 20`)
	b.check("grid-library")
	eval[bool](b, `document.querySelector('.grid').scrollIntoView({behavior: 'instant'}), true`)
	b.shot("grid-scrolled")
	if n := eval[int](b, `[...document.querySelectorAll('.frame-9-16')].filter((e) => e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().bottom <= innerHeight).length`); n < 20 {
		t.Errorf("got %d whole cards on a screen of %d by %d, want at least 20", n, width, height)
	}
}
