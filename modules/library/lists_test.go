package library

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/search"
)

// TestFiltersChooseWhatTheListHas compares pages by filters with the whole list, filtered here.
func TestFiltersChooseWhatTheListHas(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		for from := 0; from < 1400; from += 200 {
			b.archive(1, now+int64(from), sampleRecords(from, 200)...)
		}
		b.complete(1)
		first, _ := b.read(page{list: videos, limit: 5})
		for i, v := range first.Videos {
			if _, err := b.ArchiveVideo(b.ctx, v.ID, i%2 == 1, true); err != nil {
				t.Fatal(err)
			}
		}
		views := func(v *shown) int64 { return whole64(string(v.Metrics["views"])) }
		type item struct {
			shown
			score float64
		}
		itemsOf := func(a answer) (items []item) {
			for _, v := range a.Videos {
				items = append(items, item{shown: v})
			}
			for _, h := range a.Hooks {
				items = append(items, item{shown: h.Video})
			}
			for _, o := range a.Outliers {
				items = append(items, item{o.Video, o.Score})
			}
			return items
		}
		type which struct {
			list
			withArchived bool
		}
		whole := map[which][]item{}
		for _, l := range []list{videos, hooks, outliers} {
			for _, withArchived := range []bool{false, true} {
				whole[which{l, withArchived}] = itemsOf(b.all(page{list: l, withArchived: withArchived, limit: 25, paged: true}))
			}
		}
		for _, c := range []struct {
			name   string
			filter search.Filter
			keep   func(v item) bool
		}{
			{"no filter", search.Filter{}, func(item) bool { return true }},
			{"platform", search.Filter{Platform: "youtube"}, func(v item) bool { return v.Platform == "youtube" }},
			{"kind", search.Filter{Kind: Niche}, func(v item) bool { return v.Source["kind"] == Niche }},
			{"creator", search.Filter{Creator: "creator7"}, func(v item) bool { return v.Source["handle"] == "creator7" }},
			{"views", search.Filter{MinViews: 90_000}, func(v item) bool { return views(&v.shown) >= 90_000 }},
			{"posted", search.Filter{PostedAfter: now - 100*day, PostedBefore: now - 50*day}, func(v item) bool {
				return *v.PostedAt >= now-100*day && *v.PostedAt < now-50*day
			}},
			{"two filters", search.Filter{Platform: "tiktok", MinViews: 50_000}, func(v item) bool {
				return v.Platform == "tiktok" && views(&v.shown) >= 50_000
			}},
			{"nothing", search.Filter{Creator: "unknown"}, func(item) bool { return false }},
			{"score", search.Filter{MinScore: 1.5}, func(v item) bool { return v.score >= 1.5 }},
		} {
			for _, l := range []list{videos, hooks, outliers} {
				if c.filter.MinScore > 0 && l != outliers {
					continue
				}
				for _, withArchived := range []bool{false, true} {
					t.Run(fmt.Sprint(c.name, " of ", string(rune(l)), ", archived ", withArchived), func(t *testing.T) {
						p := page{list: l, withArchived: withArchived, limit: 7, paged: true, filter: c.filter}
						var want []string
						for _, v := range whole[which{l, withArchived}] {
							if c.keep(v) {
								want = append(want, v.ID)
							}
						}
						var got []string
						pages := 0
						for ; pages < 1000; pages++ {
							a, next := b.read(p)
							if a.NextCursor == nil != (next == "") || next != "" && *a.NextCursor != next {
								t.Fatalf("got nextCursor %v in the body, %q beside it; want the same", a.NextCursor, next)
							}
							for _, v := range itemsOf(a) {
								got = append(got, v.ID)
							}
							if p.token = next; next == "" {
								break
							}
						}
						if diff := cmp.Diff(want, got); diff != "" {
							t.Errorf("ids, want - got +:\n%s", diff)
						}
						if most := len(want)/7 + 20; pages > most {
							t.Errorf("got %d pages for %d items, want at most %d", pages, len(want), most)
						}
					})
				}
			}
		}
		t.Run("another tenant has none of them", func(t *testing.T) {
			for _, l := range []list{videos, hooks, outliers} {
				got := itemsOf(b.as(8).all(page{list: l, filter: search.Filter{MinViews: 1}, paged: true}))
				if len(got) > 0 {
					t.Errorf("list %c: got %d items, want none", l, len(got))
				}
			}
		})
		t.Run("a page of few items ends with a cursor", func(t *testing.T) {
			got, next := b.read(page{list: videos, filter: search.Filter{Creator: "creator3"}, paged: true})
			if len(got.Videos) > 0 || next == "" {
				t.Errorf("got %d items and cursor %q, want none of the first rows and a cursor", len(got.Videos), next)
			}
		})
	})
}

// TestListedTrendsPage: the pages of listTrends are the list of getTrends.
func TestListedTrendsPage(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	b.scroll(1, now, sampleRecords(0, 400)...)
	again := sampleRecords(0, 400)
	for i := range again {
		again[i].Metrics.ObservedAt, *again[i].Metrics.Views = ptr(now+day), *again[i].Metrics.Views*3
		again[i].PostedAt = ptr(now - day)
	}
	b.scroll(2, now+day, again...)
	whole, _ := b.read(page{list: trends})
	if len(whole.Trends) < 3 {
		t.Fatalf("got %d trends, want some", len(whole.Trends))
	}
	paged := b.all(page{list: trends, limit: 1, paged: true})
	keys := func(a answer) (keys []string) {
		for _, one := range a.Trends {
			keys = append(keys, one.Key)
		}
		return keys
	}
	if got, want := keys(paged), keys(whole); !slices.Equal(got[:min(len(got), len(want))], want) {
		t.Errorf("got %v, want %v first", got, want)
	}
}
