package scrolls

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// library is a world whose library has videos, and whose next scroll collects none
// of them; sources are those of its template.
func library(t *testing.T, db *store.DB, cfg Config, known []stage.Record, sources ...string) *world {
	template := cfg.Templates[defaultTemplate]
	template.Sources = sources
	cfg.Templates[defaultTemplate] = template
	w := setup(t, db, cfg)
	w.offline = []string{"feed"}
	w.sources["feed"].records = known
	w.complete(w.create(Start{}).ID)
	w.sources["feed"].records = videos("tiktok", 900, 1)
	w.sources["feed"].refreshes = map[stage.Ref]stage.Record{}
	return w
}

// asked lists what a source was to look up.
func (s *source) asked() string {
	var all []string
	for _, ref := range s.lookedUp {
		all = append(all, fmt.Sprintf("%s %s", ref.Platform, strings.TrimLeft(ref.ExternalID, "v0")))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func byRef(records []stage.Record) map[stage.Ref]stage.Record {
	all := map[stage.Ref]stage.Record{}
	for _, rec := range records {
		all[rec.Ref] = rec
	}
	return all
}

// TestWhatASourceCannotLookUpGoesToTheNext: a folder, which was read already, is
// the last that is asked, and what is gone is gone.
func TestWhatASourceCannotLookUpGoesToTheNext(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		known := slices.Concat(videos("tiktok", 1, 7), videos("youtube", 1, 2))
		w := library(t, db, quick(), known, "feed", "api", "tool")
		w.serves = map[string][]string{"api": {"tiktok"}, "tool": {"youtube", "tiktok"}}
		w.sources["api"] = &source{refreshes: byRef(known[:3]), gone: map[stage.Ref]bool{known[3].Ref: true}}
		w.sources["tool"] = &source{refreshes: byRef(append(known[3:6:6], known[7]))} // it would find the fourth
		w.sources["feed"].refreshes = byRef(known[6:])
		second := w.complete(w.create(Start{}).ID)
		for id, want := range map[string]string{
			"api":  "tiktok 1, tiktok 2, tiktok 3, tiktok 4, tiktok 5, tiktok 6, tiktok 7",
			"tool": "tiktok 5, tiktok 6, tiktok 7, youtube 1, youtube 2",
			"feed": "tiktok 7, youtube 2",
		} {
			t.Run(id, func(t *testing.T) {
				if got := w.sources[id].asked(); got != want {
					t.Errorf("%s was asked for %s, want %s", id, got, want)
				}
			})
		}
		for id, want := range map[string]int{"api": 3, "tool": 3, "feed": 3} { // one of feed was collected
			if n := w.number("SELECT count(*) FROM fake_observations WHERE stage = $1 AND scroll_id = $2", id, second.ID); n != want {
				t.Errorf("%d videos have a fresh observation by %s, want %d", n, id, want)
			}
		}
		if n := w.number("SELECT count(*) FROM fake_videos WHERE platform = 'tiktok' AND external_id = 'v0004'"); n != 0 {
			t.Errorf("what is gone is still there: got %v, want 0", n)
		}
		if n := w.count("fake_videos"); n != 8+1 { // and the one that was collected
			t.Errorf("%d videos, want %v", n, 8+1)
		}
	})
}

// TestReadingsNameTheirSource: those that several sources delivered are archived together, and
// each has its own.
func TestReadingsNameTheirSource(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := library(t, db, quick(), videos("tiktok", 1, 4), "feed", "api")
		w.sources["api"] = &source{records: videos("tiktok", 3, 9)}
		w.sources["feed"].records = videos("youtube", 1, 5)
		second := w.complete(w.create(Start{}).ID)
		for id, want := range map[string]int{"api": 9, "feed": 5} { // the first two of api are known
			if n := w.number("SELECT count(*) FROM fake_observations WHERE stage = $1 AND scroll_id = $2", id, second.ID); n != want {
				t.Errorf("%d readings by %s, want %d", n, id, want)
			}
		}
	})
}

// TestRefreshIsSharedOut: a platform with many known videos leaves the others
// theirs, and one with few leaves the rest of its part.
func TestRefreshIsSharedOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ limit, tiktok, youtube, instagram int }{
		{0, 0, 0, 0},
		{1, 0, 1, 0},
		{3, 1, 1, 1},
		{10, 4, 2, 4},
		{20, 9, 2, 9},
		{21, 10, 2, 9},
		{500, 25, 2, 9},
	} {
		t.Run(fmt.Sprint(c.limit), func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				cfg := quick()
				cfg.MaxRefresh = c.limit
				known := slices.Concat(videos("tiktok", 1, 25), videos("youtube", 1, 2), videos("instagram", 1, 9))
				w := library(t, db, cfg, known, "feed", "tool")
				w.sources["tool"] = &source{refreshes: byRef(known)}
				w.complete(w.create(Start{}).ID)
				got := map[string]int{}
				for _, ref := range w.sources["tool"].lookedUp {
					got[ref.Platform]++
				}
				if got["tiktok"] != c.tiktok || got["youtube"] != c.youtube || got["instagram"] != c.instagram {
					t.Errorf("of %d it is asked for %v, want tiktok %v, youtube %v and instagram %v", c.limit, got, c.tiktok, c.youtube, c.instagram)
				}
			})
		})
	}
}
