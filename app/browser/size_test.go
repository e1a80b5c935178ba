package browser_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/operator"
)

// The bars of a large library in the browser.
const (
	contentBar = 1000.0 // milliseconds from opening an address to its first content
	plotBar    = 200.0  // milliseconds from the last answer to the plot on the screen
	heapBar    = 150.0  // MB of the script's memory
)

// loads is how often each page is opened; the best one counts, because the server and
// whatever else runs share the processors.
const loads = 3

// watching notes when a page shows its first row, figure or plot, and what it asks for.
const watching = `window.seen = {}, window.asked = [];
(() => {
	const wanted = {
		content: 'main tbody tr, main .ranked li, main .wall li, main ul.trends li, main .timeline li, main dl.figures, main .summary',
		plot: 'main .plot canvas',
	};
	new MutationObserver(() => {
		for (const [name, selector] of Object.entries(wanted)) {
			if (name in seen || !document.querySelector(selector)) continue;
			seen[name] = 0;
			requestAnimationFrame(() => setTimeout(() => { seen[name] = performance.now(); }));
		}
	}).observe(document, {childList: true, subtree: true});
	const plain = window.fetch;
	window.fetch = (input, init) => {
		const call = String(input.url ?? input).split('/').pop();
		const body = typeof init?.body === 'string' ? init.body : init?.body ? new TextDecoder().decode(init.body) : '{}';
		if (/^[A-Z]/.test(call)) asked.push({call, body, limit: JSON.parse(body || '{}').limit ?? 0});
		return plain(input, init);
	};
})();`

// fillLibrary imports so many invented videos of 4,000 creators, and a second reading of
// every tenth, so that there are trends.
func fillLibrary(t *testing.T, running *apptest.Running, account *apptest.Caller, videos int) {
	t.Helper()
	words := strings.Fields("moka espresso grinder latte art pour over beans roast milk kettle filter crema recipe mistake review morning budget honest secret")
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same library each time
	now := time.Now()
	folder := t.TempDir()
	write := func(name string, every int, at time.Time) {
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewWriter(file)
		for i := 0; i < videos; i += every {
			creator := i % 4000
			age := time.Duration(1+random.IntN(120*24)) * time.Hour
			if i%10 == 0 {
				age = time.Duration(30+(i/10)%(20*24)) * time.Hour
			}
			views := 500 + (creator*7919)%90_000 + random.IntN(40_000)
			if i%50 == 0 {
				views *= 30
			}
			if every > 1 {
				views *= 3
			}
			fmt.Fprintf(out, `{"platform":%q,"externalId":"f%d","postedAt":%d,"source":{"kind":%q,"handle":"maker.%d","creatorId":"c%d"},"metadata":{"caption":"%s %s %s, take %d #%s","hashtags":[%q],"durationSeconds":30},"metrics":{"views":%d,"likes":%d,"comments":%d,"observedAt":%d},"evidence":{"spoken":"%s and %s, number %d"}}`+"\n",
				[]string{"tiktok", "youtube", "instagram"}[creator%3], i, now.Add(-age).UnixMilli(), []string{"competitor", "niche"}[creator%2], creator, creator,
				words[random.IntN(len(words))], words[random.IntN(len(words))], words[random.IntN(len(words))], i, words[i/10%len(words)], words[i/10%len(words)],
				views, views/20, views/200, at.UnixMilli(), words[random.IntN(len(words))], words[random.IntN(len(words))], i)
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		report, err := running.Operator().Import(t.Context(), operator.ImportOrder{Email: account.Email, InputFiles: operator.InputFiles{Paths: []string{filepath.Join(folder, name)}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d new, %d again in %v", name, report.Total.New, report.Total.SeenAgain, time.Since(begin).Round(time.Second))
	}
	write("1.jsonl", 1, now.Add(-24*time.Hour))
	write("2.jsonl", 10, now.Add(-time.Minute))
}

// opened is what one opening of a page took.
type opened struct {
	Content, Plot, Data float64 // milliseconds; Plot is 0 without one
	Points              int
	Asked               []struct {
		Call, Body string
		Limit      int
	}
	Bytes map[string]int
	heap  float64
}

// measure opens a page and waits until it is whole.
func (b *tab) measure(address, plotCall string) opened {
	b.t.Helper()
	b.open(address)
	whole := `window.seen?.content && !document.querySelector('main .loading')`
	if plotCall != "" {
		whole += ` && window.seen.plot`
	}
	b.until(whole)
	got := eval[opened](b, `(() => {
		const calls = performance.getEntriesByType('resource').filter((e) => /\/[A-Z]\w+$/.test(e.name));
		const bytes = {};
		for (const e of calls) { const name = e.name.split('/').pop(); bytes[name] = (bytes[name] ?? 0) + e.encodedBodySize; }
		const data = calls.filter((e) => e.name.endsWith('/' + `+quoted(plotCall)+`)).map((e) => e.responseEnd);
		return {Content: seen.content, Plot: seen.plot ?? 0, Data: data.length ? Math.max(...data) : 0, Asked: asked, Bytes: bytes,
			Points: parseInt((/The plot shows ([\d,]+) of/.exec(document.querySelector('main')?.innerText)?.[1]
				?? document.querySelector('main .summary')?.innerText ?? '0').replaceAll(',', '')) || 0};
	})()`)
	metrics, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, metric := range metrics.Metrics {
		if metric.Name == "JSHeapUsedSize" {
			got.heap = metric.Value / (1 << 20)
		}
	}
	return got
}

// TestALargeLibraryInTheBrowser measures every page of results on 100,000 videos.
func TestALargeLibraryInTheBrowser(t *testing.T) {
	if os.Getenv("SCROLLERY_BENCH") == "" {
		t.Skip("a measurement: set SCROLLERY_BENCH=1, with nothing else running")
	}
	needBrowser(t)
	running := apptest.Start(t, func(cfg *app.Config) { cfg.Console = os.DirFS(bundle) })
	account := prepared(t, running)
	fillLibrary(t, running, account, 100_000)
	var best struct {
		Outliers []struct {
			Video struct {
				ID, Platform string
				Source       struct{ Handle string }
			}
		}
	}
	account.Get(t, "GET /v1/outliers/list?limit=1", &best)
	if len(best.Outliers) == 0 {
		t.Fatal("got no outlier in the library, want one")
	}
	video := best.Outliers[0].Video

	b := launch(t).tab(t, running.BaseURL)
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watching}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(b.ctx, performance.Enable, performance.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	b.signIn(account.Key, false)
	for _, at := range []struct{ name, address, plotCall string }{
		{"start", "/console/", ""},
		{"outliers", "/console/outliers", "ListScores"},
		{"hooks", "/console/hooks", ""},
		{"trends", "/console/trends", "GetTrendSeries"},
		{"library", "/console/library", ""},
		{"search", "/console/library?q=grinder", ""},
		{"video", "/console/outliers/" + video.ID, "ListObservations"},
		{"creator", "/console/creators/" + video.Platform + "/" + video.Source.Handle, "GetCreator"},
	} {
		t.Run(at.name, func(t *testing.T) {
			b.t = t
			content, plot, heap := 1e9, 1e9, 0.0
			var last opened
			for range loads {
				last = b.measure(at.address, at.plotCall)
				content, plot, heap = min(content, last.Content), min(plot, last.Plot-last.Data), max(heap, last.heap)
			}
			if at.plotCall == "" {
				plot = 0
			}
			t.Logf("first content %.0f ms, data to plot %.0f ms (%d points), script memory %.0f MB, answers in bytes %v", content, plot, last.Points, heap, last.Bytes)
			if content > contentBar || plot > plotBar || heap > heapBar {
				t.Errorf("got the first content after %.0f ms, the plot after %.0f ms and %.0f MB of memory; want at most %.0f, %.0f and %.0f", content, plot, heap, contentBar, plotBar, heapBar)
			}
			if at.name == "outliers" && last.Points != 5000 {
				t.Errorf("the plot has %d points, want 5000", last.Points)
			}
			b.onlyWhatIsShown(last)
		})
	}
}

// onlyWhatIsShown fails for a list that asks for more rows than the page has, or asks again.
func (b *tab) onlyWhatIsShown(page opened) {
	b.t.Helper()
	rows := eval[int](b, `Math.max(0, ...[...document.querySelectorAll('main tbody, main .ranked, main .wall, main ul.trends')].map((e) =>
		e.querySelectorAll(':scope > *').length + e.querySelectorAll('.similar li').length))`)
	times := map[string]int{}
	for _, ask := range page.Asked {
		times[ask.Call+ask.Body]++
		list := ask.Call == "GetLibrary" || ask.Call == "ListOutliers" || ask.Call == "ListHooks" || ask.Call == "ListTrends"
		if list && (ask.Limit == 0 || ask.Limit > max(rows, 25) || times[ask.Call+ask.Body] > 1) {
			b.t.Errorf("%s is asked for %d rows, turn %d; the page shows %d", ask.Call, ask.Limit, times[ask.Call+ask.Body], rows)
		}
	}
}
