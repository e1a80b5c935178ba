package library

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// searchBar is what a page of a search may cost, in pages of the list without a filter.
const searchBar = 5

// TestSearchesStayNearTheFloorOfTheList compares first pages, uncached, in turns. One
// video in 10 has the word tenth, and so on; few have what is rare.
func TestSearchesStayNearTheFloorOfTheList(t *testing.T) {
	measured(t)
	size := map[string]int{"strict": 100_000, "1M": 1_000_000}[os.Getenv("SCROLLERY_BENCH")]
	if size == 0 {
		size = 10_000
	}
	b := setup(t, storetest.SQLite(t))
	for from := 0; from < size; from += 2000 {
		records := sampleRecords(from, 2000)
		for i := range records {
			words := ""
			for every, word := range map[int]string{2: "half", 10: "tenth", 20: "twentieth", 40: "fortieth", 1000: "rare"} {
				if (from+i)%every == 1 {
					words += word + " "
				}
			}
			records[i].Metadata = bytes.Replace(records[i].Metadata, []byte(`"caption":"`), fmt.Appendf(nil, `"caption":"%s`, words), 1)
		}
		b.archive(1, now+int64(from), records...)
	}
	bare, err := New(Config{}, b.db, b.runs, b.runs, b.runs, b.runs, b.kept(), nil, videos.Thinning{})
	if err != nil {
		t.Fatal(err)
	}
	call := func(p lists.Page) func() {
		return func() {
			made, err := bare.Lists.Read(b.ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			if made.Done != nil {
				made.Done()
			}
		}
	}
	whole := lists.Page{List: lists.Videos, Limit: 25, Paged: true}
	for name, filter := range map[string]lists.Filter{
		"a word of all":       lists.Filter{}.With("shot"),
		"two words of all":    lists.Filter{}.With("shot", "pull"),
		"a word of half":      lists.Filter{}.With("half"),
		"a word of a tenth":   lists.Filter{}.With("tenth"),
		"a word of a 20th":    lists.Filter{}.With("twentieth"),
		"a word of a 40th":    lists.Filter{}.With("fortieth"),
		"a rare word":         lists.Filter{}.With("rare"),
		"a word of none":      lists.Filter{}.With("nowhere"),
		"a word and views":    {MinViews: 50_000, Terms: "shot"},
		"views":               {MinViews: 50_000},
		"views that none has": {MinViews: 1 << 40},
	} {
		p := whole
		p.Filter = filter
		hold(t, "a search for "+name, func() (fault string) {
			list, found := inTurns(call(whole), call(p))
			ratio := float64(found) / float64(list)
			t.Logf("%s: %v, the list %v: %.2f, bar %d", name, found, list, ratio, searchBar)
			if ratio > searchBar {
				fault = fmt.Sprintf("got %.2f times the cost of the list, want at most %d", ratio, searchBar)
			}
			return fault
		})
	}
}
