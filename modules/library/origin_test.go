package library

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestVideoWithoutASourceIsOfNoKind(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		lost, found := clip("1", "", 5), clip("2", "h", 5)
		lost.Source, lost.SourceURL = nil, ""
		b.archive(1, now, lost, found)
		for kind, want := range map[string][]string{"": {"2", "1"}, videos.Own: nil, videos.Competitor: {"2"}, videos.Niche: nil} {
			t.Run(fmt.Sprintf("kind %q", kind), func(t *testing.T) {
				var got []string
				for _, v := range b.all(lists.Page{List: lists.Videos, Kind: kind}).Videos {
					got = append(got, v.ExternalID)
				}
				slices.SortFunc(got, func(x, y string) int { return strings.Compare(y, x) })
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("ids (-want +got):\n%s", diff)
				}
			})
		}
		for _, v := range b.all(lists.Page{List: lists.Videos}).Videos {
			if v.ExternalID == "1" && (v.Source != nil || v.SourceURL != "https://www.tiktok.com/@_/video/1") {
				t.Errorf("got source %+v and address %q, want no source and an address made from the id", v.Source, v.SourceURL)
			}
		}
	})
}

func TestRefusedReadingChangesNoNumbers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.archive(1, now, clip("1", "h", 5))
		known, fresh := clip("1", "h", 5), clip("2", "h", 5)
		for _, r := range []*stage.Record{&known, &fresh} {
			r.Metrics, r.Unread = stage.Metrics{}, true
		}
		if added, again := b.archive(2, now+1000, known, fresh); added != 1 || again != 0 {
			t.Errorf("got %d new videos and %d observed again, want 1 and 0", added, again)
		}
		views := map[string]string{}
		for _, v := range b.all(lists.Page{List: lists.Videos}).Videos {
			views[v.ExternalID] = string(v.Metrics["views"])
		}
		if diff := cmp.Diff(map[string]string{"1": "5", "2": "null"}, views); diff != "" {
			t.Errorf("views of the known video 1 and the new one 2 (-want +got):\n%s", diff)
		}
		if n := b.count("observations"); n != 2 {
			t.Errorf("got %d observations, want 2", n)
		}
	})
}
