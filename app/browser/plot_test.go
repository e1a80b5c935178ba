package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/operator"
)

// importLines brings videos into the library of an account, a line of a feed each.
func importLines(t *testing.T, running *apptest.Running, account *apptest.Caller, lines []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "videos.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := running.Operator().Import(t.Context(), operator.ImportOrder{Email: account.Email, InputFiles: operator.InputFiles{Paths: []string{path}}}); err != nil {
		t.Fatal(err)
	}
}

// TestAPlotNeverContradictsItsList has more videos than a plot has points, and the outliers
// among those that were seen first. What the plot says by any filter is true of the list.
func TestAPlotNeverContradictsItsList(t *testing.T) {
	needBrowser(t)
	running := apptest.Start(t, func(cfg *app.Config) { cfg.Console = os.DirFS(bundle) })
	account := prepared(t, running)
	now := time.Now()
	line := func(i, views int) string {
		return fmt.Sprintf(`{"platform":"tiktok","externalId":"p%d","postedAt":%d,"source":{"kind":"competitor","handle":"maker.%d","creatorId":"c%d"},"metadata":{"caption":"Pour over, take %d"},"metrics":{"views":%d,"likes":%d,"observedAt":%d}}`,
			i, now.Add(-time.Duration(10+i%20)*24*time.Hour).UnixMilli(), i%100, i%100, i, views, views/20, now.Add(-time.Hour).UnixMilli())
	}
	var first, later []string
	for i := range 600 {
		views := 1000 + i%7
		if i < 3 {
			views = 200_000 + i
		}
		first = append(first, line(i, views))
	}
	for i := 600; i < 5800; i++ {
		later = append(later, line(i, 1000+i%7))
	}
	importLines(t, running, account, first)
	importLines(t, running, account, later)

	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, false)
	// Start counts all of them as new.
	b.until(`document.querySelector('main dl.figures')?.innerText.includes('5,800')`)
	b.open("/console/outliers?min=50")
	b.until(`document.querySelectorAll('.ranked li').length === 3 && !document.querySelector('main .loading')`)
	b.sees("3 videos, 3 above their baseline.")
	if got := eval[string](b, `document.querySelector('main .card').innerText`); strings.Contains(got, "No outliers") {
		t.Errorf("above three outliers the plot says:\n%s", got)
	}
	b.open("/console/outliers")
	b.sees("The plot shows 5,000 of 5,800: all above their baseline, and an even sample of the others.")
	b.sees("5,800 videos, ")
	b.check("outliers-sample")
	b.german()
	b.sees("Das Diagramm zeigt 5.000 von 5.800")
	b.open("/console/outliers?q=unknown")
	b.until(`[...document.querySelectorAll('main .empty')].length === 2`)
}
