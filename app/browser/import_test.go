package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// droppedRows is the size of the file that is dropped.
const droppedRows = 2000

// exported is a table as some tool exports it, whose views have a name that says nothing.
// One video of each of 40 creators has thirty times the views of the others.
func exported(now time.Time) string {
	var table strings.Builder
	table.WriteString("video link;total;likes;posted;note\n")
	for i := range droppedRows {
		posted := now.Add(-time.Duration(10*24+i%40*12+i/40) * time.Hour)
		// An id of TikTok has the time of the post in its upper half.
		id := uint64(posted.Unix())<<32 + uint64(i)
		views := 1000 + i%40*10 + i/40
		if i/40 == 25 {
			views *= 30
		}
		likes := fmt.Sprint(views / 20)
		if i == 3 {
			likes = "many"
		}
		fmt.Fprintf(&table, "https://www.tiktok.com/@maker%d.example/video/%d;%d;%s;%s;x\n", i%40, id, views, likes, posted.UTC().Format(time.RFC3339))
	}
	return table.String()
}

// drop drops a file on the page.
func (b *tab) drop(name, text string) {
	b.t.Helper()
	b.until(`document.querySelector('.drop')`)
	eval[bool](b, `(() => { const data = new DataTransfer(); data.items.add(new File([`+quoted(text)+`], `+quoted(name)+`));
		document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: data})); return true; })()`)
}

// choose says what a column is.
func (b *tab) choose(column, field string) {
	b.t.Helper()
	eval[bool](b, `(() => { const e = document.querySelector('select[aria-label$=": '+`+quoted(column)+`+'"]'); e.value = `+quoted(field)+`; e.dispatchEvent(new Event('change', {bubbles: true})); return true; })()`)
}

// TestAFileIsDropped takes an empty account from a dropped table to its first outliers: the
// first screen offers it, the warning comes first, one column is chosen by hand, and nothing
// is stored before that. Then the import is undone from the library's page, in German.
func TestAFileIsDropped(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := running.Account(t, "pro")
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, true)
	b.sees("Import a file")
	b.check("import-empty")

	began := time.Now()
	b.drop("my_export.csv", exported(began))
	b.sees(`"total" may have them`)
	type row struct{ Column, Is string }
	rows := `[...document.querySelectorAll('tbody tr')].filter((e) => e.querySelector('select')).map((e) => ({Column: e.querySelector('th').innerText, Is: e.querySelector('select').selectedOptions[0].text}))`
	want := []row{{"video link", "Address"}, {"total", "Not used"}, {"likes", "Likes"}, {"posted", "Posted"}, {"note", "Not used"}}
	if diff := cmp.Diff(want, eval[[]row](b, rows)); diff != "" {
		t.Errorf("columns, -want +got:\n%s", diff)
	}
	b.choose("total", "views")
	b.sees("Import 2,000 readings")
	b.sees(`Not understood: likes, line 5: “many”`)
	if first := eval[bool](b, `!!(document.querySelector('.warnings').compareDocumentPosition(document.querySelector('main table')) & Node.DOCUMENT_POSITION_FOLLOWING)`); !first {
		t.Error("got the columns before the warnings, want the warnings first")
	}
	if shown := eval[int](b, `[...document.querySelectorAll('main table')].at(-1).querySelectorAll('tbody tr').length`); shown != 5 {
		t.Errorf("got %d videos, want 5", shown)
	}
	b.check("import-preview")
	b.press("Import 2,000 readings (20 units)")
	b.sees("2,000 new videos, 0 seen again, 0 already there")
	b.check("import-done")
	b.press("See the outliers")
	b.until(`document.querySelector('main .ranked li')`)
	t.Logf("from the drop to the first outlier in %v, by four clicks", time.Since(began).Round(100*time.Millisecond))

	b.german()
	b.press("Bibliothek")
	b.sees("Datei importieren")
	b.drop("noch_eine.csv", "video link;Aufrufe\nhttps://www.tiktok.com/@maker1.example/video/7290000000000000001;12.345\n")
	b.press("1 Messung importieren (10 Einheiten)")
	b.sees("1 neues Video")
	b.press("Rückgängig machen")
	b.sees("Rückgängig gemacht: 1 Video wurde gelöscht.")
	b.check("import-undone")
}
