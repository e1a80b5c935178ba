package browser_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// hostile are texts that creators could write.
var hostile = []string{
	`<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`,
	`"><svg/onload=window.hacked=1> {{constructor.constructor('window.hacked=1')()}} ${window.hacked=1}`,
	"\u202Egnp.exe\u202C \u2066right\u2069 \u200Fשלום\u200E \u0000\u0007 zero\u200Bwidth",
	strings.Repeat("20 KB of a caption without end ", 660),
	strings.Repeat("unbroken", 2500),
	`=HYPERLINK("https://evil.example","x")`,
	`</textarea></script><iframe src="javascript:window.hacked=1"></iframe>`,
}

// hostileFeed writes videos with hostile texts in every field, and returns the folder.
func hostileFeed(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	var lines strings.Builder
	for i := range 40 {
		text := hostile[i%len(hostile)]
		line, err := json.Marshal(map[string]any{
			"platform": []string{"youtube", "tiktok", "instagram"}[i%3], "externalId": "hostile-" + strings.Repeat("x", i),
			"sourceUrl": []string{"javascript:window.hacked=1", "https://evil.example/" + text[:20], "https://www.youtube.com.evil.example/a", "https://www.youtube.com/watch?v=a"}[i%4],
			"postedAt":  time.Now().Add(-time.Duration(i+2) * 24 * time.Hour).UnixMilli(),
			"source":    map[string]any{"kind": "competitor", "handle": "mallory<x-evil>.example", "seededBy": "mallory<x-evil>.example"},
			"metadata":  map[string]any{"caption": text, "title": text, "hashtags": []string{"<x-evil>tag</x-evil>", "tag\u202Egat"}, "soundId": "s<x-evil>", "soundTitle": text[:30], "durationSeconds": 12},
			"metrics":   map[string]any{"views": 1000 * (i*i + 1), "likes": 10 * i, "comments": i, "observedAt": time.Now().Add(-time.Hour).UnixMilli()},
			"evidence":  map[string]any{"spoken": text, "onScreenText": text, "visual": map[string]any{"summary": text}},
		})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(line)
		lines.WriteByte('\n')
	}
	if err := os.WriteFile(filepath.Join(folder, "hostile.jsonl"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestHostileTextsAreShownAsText(t *testing.T) {
	needBrowser(t)
	folder := hostileFeed(t)
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("FEED_DIR", folder)
		cfg.Console = os.DirFS(bundle)
	})
	account := running.Account(t, "pro")
	var ignored map[string]any
	brief, err := json.Marshal(map[string]any{"name": hostile[0], "description": hostile[1], "competitors": []string{"@mallory.example"}})
	if err != nil {
		t.Fatal(err)
	}
	account.Get(t, "POST /v1/workspace "+string(brief), &ignored)
	rules, err := json.Marshal(map[string]any{"text": "- Skip " + hostile[0] + "\n- at least 2000 views"})
	if err != nil {
		t.Fatal(err)
	}
	account.Get(t, "PUT /v1/rules "+string(rules), &ignored)
	for range 2 {
		if scroll := account.Scroll(t, `{"prompt":"<x-evil>anything</x-evil>"}`); scroll.Status != "completed" {
			t.Fatalf(`the scroll is %s, want "completed"`, scroll.Status)
		}
	}
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, false)
	pages := eval[[]string](b, `[...document.querySelectorAll('nav a')].map((a) => new URL(a.href).pathname)`)
	if len(pages) < 3 {
		t.Fatalf("the navigation has %q, want at least 3", pages)
	}
	var video struct{ Videos []struct{ ID string } }
	account.Get(t, "GET /v1/library?limit=1", &video)
	var scrolls struct{ Scrolls []struct{ ID string } }
	account.Get(t, "GET /v1/scrolls/list?limit=1", &scrolls)
	pages = append(pages, "/console/scroll/"+scrolls.Scrolls[0].ID)
	for _, page := range []string{"/console/outliers", "/console/library"} {
		for _, known := range pages {
			if known == page {
				pages = append(pages, page+"/"+video.Videos[0].ID)
				break
			}
		}
	}
	for _, page := range pages {
		b.open(page)
		b.until(`document.querySelector('main h1') && !document.querySelector('.loading')`)
		b.harmless(page)
		b.check("hostile" + strings.ReplaceAll(page, "/", "-"))
	}
}

// harmless fails where a text became markup, or a link leads elsewhere than to a platform.
func (b *tab) harmless(page string) {
	b.t.Helper()
	found := eval[[]string](b, `[
		...(window.hacked ? ['a script of a text ran'] : []),
		...[...document.querySelectorAll('main img, main script, main iframe, x-evil, svg[onload]')].map((e) => e.outerHTML.slice(0, 100)),
		...[...document.querySelectorAll('main a')].filter((a) => {
			const url = new URL(a.href);
			if (url.origin === location.origin) return false;
			const platform = ['youtube.com', 'youtu.be', 'tiktok.com', 'instagram.com'].some((host) => url.hostname === host || url.hostname.endsWith('.' + host));
			return !platform || url.protocol !== 'https:' || a.rel !== 'noopener noreferrer nofollow';
		}).map((a) => a.outerHTML.slice(0, 200)),
	]`)
	for _, what := range found {
		b.t.Errorf("%s: %s", page, what)
	}
}
