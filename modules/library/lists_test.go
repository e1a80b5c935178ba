package library

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestFiltersChooseWhatTheListHas compares pages by filters with the whole list, filtered here:
// each filter of each list in long pages, and in short ones of one list by turns.
func TestFiltersChooseWhatTheListHas(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		for from := 0; from < 1400; from += 200 {
			b.archive(1, now+int64(from), told(sampleRecords(from, 200), from)...)
		}
		b.complete(1)
		first, _ := b.read(lists.Page{List: lists.Videos, Limit: 5})
		annotated := map[string]bool{}
		for _, v := range first.Videos[:3] {
			annotated[v.ID] = true
			if _, _, err := b.edits.Annotate(b.ctx, v.ID, json.RawMessage(`{"angle":"price"}`)); err != nil {
				t.Fatal(err)
			}
		}
		for i, v := range first.Videos {
			if _, err := b.edits.ArchiveVideo(b.ctx, v.ID, i%2 == 1, true); err != nil {
				t.Fatal(err)
			}
		}
		views := func(v *shown) int64 { return whole64(string(v.Metrics["views"])) }
		type which struct {
			lists.List
			withArchived bool
		}
		whole := map[which][]item{}
		for _, l := range []lists.List{lists.Videos, lists.Hooks, lists.Outliers} {
			for _, withArchived := range []bool{false, true} {
				whole[which{l, withArchived}] = itemsOf(b.all(lists.Page{List: l, WithArchived: withArchived, Limit: 100, Paged: true}))
			}
		}
		for turn, c := range []struct {
			name   string
			filter lists.Filter
			keep   func(v item) bool
		}{
			{"no filter", lists.Filter{}, func(item) bool { return true }},
			{"platform", lists.Filter{Platform: "youtube"}, func(v item) bool { return v.Platform == "youtube" }},
			{"kind", lists.Filter{Kind: videos.Niche}, func(v item) bool { return v.Source["kind"] == videos.Niche }},
			{"creator", lists.Filter{Creator: "creator7"}, func(v item) bool { return v.Source["handle"] == "creator7" }},
			{"views", lists.Filter{MinViews: 90_000}, func(v item) bool { return views(&v.shown) >= 90_000 }},
			{"least followers", lists.Filter{MinFollowers: 2000}, func(v item) bool { return followersOf(&v.shown) >= 2000 }},
			{"most followers", lists.Filter{MaxFollowers: 2000}, func(v item) bool { return followersOf(&v.shown) > 0 && followersOf(&v.shown) <= 2000 }},
			{"followers and a rare word", lists.Filter{MinFollowers: 1, MaxFollowers: 3000}.With(videos.Words("ristretto")...), func(v item) bool {
				return followersOf(&v.shown) > 0 && followersOf(&v.shown) <= 3000 && number(v.ExternalID[5:])%70 == 5
			}},
			{"followers and no annotation", lists.Filter{MinFollowers: 3000, Without: videos.Annotated}, func(v item) bool {
				return followersOf(&v.shown) >= 3000 && !annotated[v.ID]
			}},
			{"posted", lists.Filter{PostedAfter: now - 100*day, PostedBefore: now - 50*day}, func(v item) bool {
				return *v.PostedAt >= now-100*day && *v.PostedAt < now-50*day
			}},
			{"two filters", lists.Filter{Platform: "tiktok", MinViews: 50_000}, func(v item) bool {
				return v.Platform == "tiktok" && views(&v.shown) >= 50_000
			}},
			{"nothing", lists.Filter{Creator: "unknown"}, func(item) bool { return false }},
			{"a creator by the index", lists.Filter{Creator: "creator7"}.With(videos.Creator("creator7")), func(v item) bool { return v.Source["handle"] == "creator7" }},
			{"a word of all", lists.Filter{}.With(videos.Words("PULL a Shot")...), func(item) bool { return true }},
			{"a rare word", lists.Filter{}.With(videos.Words("ristretto")...), func(v item) bool { return number(v.ExternalID[5:])%70 == 5 }},
			{"a rare word and a filter", lists.Filter{MinViews: 50_000}.With(videos.Words("Über RISTRETTO")...), func(v item) bool {
				return number(v.ExternalID[5:])%70 == 5 && views(&v.shown) >= 50_000
			}},
			{"a frequent word and another one", lists.Filter{}.With(videos.Words("lungo shot")...), func(v item) bool { return number(v.ExternalID[5:])%2 == 0 }},
			{"letters without spaces", lists.Filter{}.With(videos.Words("猫カフェ")...), func(v item) bool { return number(v.ExternalID[5:])%70 == 5 }},
			{"one letter", lists.Filter{}.With(videos.Words("猫")...), func(v item) bool { return number(v.ExternalID[5:])%70 == 5 }},
			{"words on the screen", lists.Filter{}.With(videos.Words("wait it")...), func(item) bool { return true }},
			{"no such word", lists.Filter{}.With(videos.Words("shot unknown")...), func(item) bool { return false }},
			{"syntax is text", lists.Filter{}.With(videos.Words(`shot OR "NOT* ^shot' & !a:*`)...), func(item) bool { return false }},
			{"a hashtag", lists.Filter{}.With(videos.Hashtag("#Ristretto_Bar")), func(v item) bool { return number(v.ExternalID[5:])%70 == 5 }},
			{"a language", lists.Filter{}.With(videos.Language("EN")), func(v item) bool { return number(v.ExternalID[5:])%2 == 0 }},
			{"annotated", lists.Filter{}.With(videos.Annotated), func(v item) bool { return annotated[v.ID] }},
			{"not annotated", lists.Filter{Without: videos.Annotated}, func(v item) bool { return !annotated[v.ID] }},
			{"score", lists.Filter{MinScore: 1.5}, func(v item) bool { return v.score >= 1.5 }},
		} {
			for i, l := range []lists.List{lists.Videos, lists.Hooks, lists.Outliers} {
				if c.filter.MinScore > 0 && l != lists.Outliers {
					continue
				}
				for _, withArchived := range []bool{false, true} {
					// 7 ends most pages by their length, 100 at the last row that they look at.
					limits := []int{100}
					switch {
					case i != turn%3 && c.filter.MinScore == 0:
					case withArchived == (turn/3%2 == 0):
						limits = []int{7, 100}
					default:
						limits = []int{25, 100}
					}
					t.Run(fmt.Sprint(c.name, " of ", string(rune(l)), ", archived ", withArchived), func(t *testing.T) {
						p := lists.Page{List: l, WithArchived: withArchived, Paged: true, Filter: c.filter}
						var want []string
						for _, v := range whole[which{l, withArchived}] {
							if c.keep(v) {
								want = append(want, v.ID)
							}
						}
						for _, p.Limit = range limits {
							byPages(t, b, p, want)
						}
						none := slices.Contains([]string{"nothing", "no such word", "syntax is text"}, c.name)
						if withArchived && (len(want) == 0) != none {
							t.Errorf("the test tests little: got %d items of the whole list, want none %t", len(want), none)
						}
					})
				}
			}
		}
		t.Run("another tenant has none of them", func(t *testing.T) {
			for _, l := range []lists.List{lists.Videos, lists.Hooks, lists.Outliers} {
				for _, f := range []lists.Filter{{MinViews: 1}, lists.Filter{}.With("ristretto"), lists.Filter{}.With("shot")} {
					if got := itemsOf(b.as(8).all(lists.Page{List: l, Filter: f, Paged: true})); len(got) > 0 {
						t.Errorf("list %c: got %d items, want none", l, len(got))
					}
				}
			}
		})
		t.Run("a page of few items ends with a cursor", func(t *testing.T) {
			got, next := b.read(lists.Page{List: lists.Videos, Filter: lists.Filter{Creator: "creator3"}, Paged: true})
			if len(got.Videos) > 0 || next == "" {
				t.Errorf("got %d items and cursor %q, want none of the first rows and a cursor", len(got.Videos), next)
			}
		})
	})
}

// told are records with words of their own.
func told(records []stage.Record, from int) []stage.Record {
	for i := range records {
		text := string(records[i].Metadata)
		if (from+i)%2 == 0 {
			text = strings.Replace(text, `{"caption":"`, `{"language":"en-US","caption":"Lungo! `, 1)
		}
		if (from+i)%70 == 5 {
			text = strings.Replace(text, `"caption":"`, `"caption":"U\u0308ber-Ristretto: 猫カフェへ `, 1)
			text = strings.Replace(text, `"hashtags":[`, `"hashtags":["ristretto_bar",`, 1)
		}
		records[i].Metadata = json.RawMessage(text)
		if n := (from + i) / 20; n%3 != 0 {
			records[i].Metrics.Followers = ptr(int64(100 * n))
		}
	}
	return records
}

// followersOf are those that told gives a video's creator, 0 if it gives none.
func followersOf(v *shown) int64 {
	if n := int64(number(strings.TrimPrefix(v.Source["handle"], "creator"))); n%3 != 0 {
		return 100 * n
	}
	return 0
}

// TestSearchesFindWhatEarlierVersionsStored: videos without words get them in the background.
func TestSearchesFindWhatEarlierVersionsStored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b, other := setup(t, db), setup(t, db).as(8)
		for _, of := range []*bundle{b, other} {
			of.archive(1, now, told(sampleRecords(0, 450), 0)...)
		}
		rare := lists.Page{List: lists.Videos, Filter: lists.Filter{}.With("ristretto"), Paged: true}
		want := b.all(rare).Videos
		if len(want) != 7 {
			t.Fatalf("got %d videos, want 7", len(want))
		}
		storetest.Exec(t, db, "DELETE FROM video_terms")
		b.archive(2, now+1, told(sampleRecords(0, 20), 0)...) // raises the revision, and stores no words of what is as it was
		if got := b.all(rare).Videos; len(got) > 0 {
			t.Fatalf("without words: got %d videos, want none", len(got))
		}
		for _, of := range []int64{7, 8} {
			storetest.Exec(t, db, "INSERT INTO unindexed_libraries VALUES ($1, '', '')", of)
		}
		if err := b.IndexAll(viewer.System(t.Context())); err != nil {
			t.Fatal(err)
		}
		if got := b.all(rare).Videos; len(got) != len(want) {
			t.Errorf("got %d videos, want %d", len(got), len(want))
		}
		if got := other.all(rare).Videos; len(got) != len(want) {
			t.Errorf("other tenant: got %d videos, want %d", len(got), len(want))
		}
		t.Run("a deleted document leaves no words", func(t *testing.T) {
			storetest.Exec(t, db, "DELETE FROM video_docs WHERE account_id = $1", int64(8))
			var left []int64
			err := store.Scan(db.Hot("SELECT COUNT(*) FROM video_terms WHERE {tenant}").Query(other.ctx))(func(rows *sql.Rows) error {
				left = append(left, 0)
				return rows.Scan(&left[0])
			})
			if err != nil || left[0] != 0 {
				t.Errorf("got counts %v of rows with words, error %v; want 0", left, err)
			}
		})
	})
}

// TestSearchesCost compares searches with an unfiltered page, at 100,000 videos.
func TestSearchesCost(t *testing.T) {
	measured(t)
	for _, open := range []func(testing.TB) *store.DB{storetest.SQLite, storetest.Postgres} {
		b := setup(t, open(t))
		size := sizes()[len(sizes())-1]
		began := time.Now()
		for from := 0; from < size; from += 2000 {
			b.archive(1, now+int64(from), told(sampleRecords(from, 2000), from)...)
		}
		t.Logf("%s: %d videos archived in %v", b.db.Dialect(), size, time.Since(began).Round(time.Millisecond))
		b.complete(1)
		uncached, err := New(Config{}, b.db, b.runs, b.runs, b.runs, b.runs, b.kept(), nil, videos.Thinning{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []lists.List{lists.Videos, lists.Outliers, lists.Hooks} {
			cost := func(f lists.Filter) (p50, p99 time.Duration, items int) {
				p := lists.Page{List: l, Limit: 25, Filter: f, Paged: true}
				var took []time.Duration
				clock := time.Now
				if b.db.Dialect() == store.SQLite { // processor time, as others share the machine
					clock = func() time.Time { return time.Unix(0, 0).Add(used()) }
				}
				for range 200 {
					began := clock()
					made, err := uncached.Lists.Read(b.ctx, p)
					if err != nil {
						t.Fatal(err)
					}
					took = append(took, clock().Sub(began))
					items += strings.Count(string(made.Body), `"firstSeenAt"`)
					if made.Done != nil {
						made.Done()
					}
					p.Token = made.NextPageToken
				}
				slices.Sort(took)
				return took[len(took)/2], took[len(took)*99/100], items
			}
			bare50, bare, _ := cost(lists.Filter{})
			t.Logf("%s list %c, unfiltered: p50 %v, p99 %v", b.db.Dialect(), l, bare50, bare)
			for name, f := range map[string]lists.Filter{
				"rare word": lists.Filter{}.With("ristretto"), "frequent word": lists.Filter{}.With("lungo"), "two frequent words": lists.Filter{}.With("lungo", "shot"),
				"a word of all": lists.Filter{}.With("shot"), "no such word": lists.Filter{}.With("unknown"), "frequent and rare": lists.Filter{}.With("lungo", "tag1999"),
				"hashtag": lists.Filter{}.With("#tag77"), "creator": lists.Filter{Creator: "creator77"}.With("@creator77"), "views": {MinViews: 95_000},
				"views of none": {MinViews: 1 << 40}, "posted": {PostedAfter: now - 20*day}, "platform and kind": {Platform: "youtube", Kind: videos.Competitor},
			} {
				p50, p99, items := cost(f)
				t.Logf("%s list %c, %s: p50 %v, p99 %v: %.1f of unfiltered (bar 5); %d items in 200 pages", b.db.Dialect(), l, name, p50, p99, float64(p99)/float64(bare), items)
			}
		}
	}
}

// TestListedTrendsPage: the pages of listTrends are the list of getTrends.
func TestListedTrendsPage(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	b.growingTrends()
	whole, _ := b.read(lists.Page{List: lists.Trends})
	if len(whole.Trends) < 3 {
		t.Fatalf("got %d trends, want at least 3", len(whole.Trends))
	}
	paged := b.all(lists.Page{List: lists.Trends, Limit: 1, Paged: true})
	keys := func(a answer) (keys []string) {
		for _, one := range a.Trends {
			keys = append(keys, one.Key)
		}
		return keys
	}
	got, want := keys(paged), keys(whole)
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Errorf("the first of %d trends (-want +got):\n%s", len(got), diff)
	}
}

// growingTrends makes two scrolls of the same videos, whose views grow.
func (b *bundle) growingTrends() {
	first, again := sampleRecords(0, 400), sampleRecords(0, 400)
	for i := range again {
		first[i].PostedAt = ptr(now - day)
		again[i].Metrics.ObservedAt, *again[i].Metrics.Views = ptr(now+day), *again[i].Metrics.Views*int64(2+i%3)
		again[i].PostedAt = ptr(now - day)
	}
	b.scroll(1, now, first...)
	b.scroll(2, now+day, again...)
}

// TestTrendsAreFiltered compares the filters of listTrends with the whole list.
func TestTrendsAreFiltered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.growingTrends()
		whole := b.all(lists.Page{List: lists.Trends, Limit: 25, Paged: true})
		for name, c := range map[string]struct {
			page lists.Page
			want func(key string, videos int, growth float64) bool
		}{
			"by the kind of their key": {lists.Page{Kind: "hashtag"}, func(key string, videos int, growth float64) bool { return strings.HasPrefix(key, "hashtag:") }},
			"by a kind that none has":  {lists.Page{Kind: "opening"}, func(key string, videos int, growth float64) bool { return strings.HasPrefix(key, "opening:") }},
			"by their videos":          {lists.Page{Filter: lists.Filter{MinVideos: 5}}, func(key string, videos int, growth float64) bool { return videos >= 5 }},
			"by their growth":          {lists.Page{Filter: lists.Filter{MinGrowth: 3}}, func(key string, videos int, growth float64) bool { return growth >= 3 }},
			"by all of it": {
				lists.Page{Kind: "hashtag", Filter: lists.Filter{MinVideos: 5, MinGrowth: 2.5}},
				func(key string, videos int, growth float64) bool {
					return strings.HasPrefix(key, "hashtag:") && videos >= 5 && growth >= 2.5
				},
			},
		} {
			t.Run(name, func(t *testing.T) {
				var want, got []string
				for _, one := range whole.Trends {
					if c.want(one.Key, one.Metrics.VideoCount, one.Metrics.MedianGrowthMultiple) {
						want = append(want, one.Key)
					}
				}
				c.page.List, c.page.Limit, c.page.Paged = lists.Trends, 2, true
				for _, one := range b.all(c.page).Trends {
					got = append(got, one.Key)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("trends (-want +got):\n%s", diff)
				}
				if none := c.page.Kind == "opening"; (len(want) == 0) != none || len(want) == len(whole.Trends) && c.page.Kind == "" {
					t.Errorf("the test tests little: got %d of %d trends, want some but not all, or none %t", len(want), len(whole.Trends), none)
				}
			})
		}
	})
}

// item is an entry of any list; score is that of an outlier.
type item struct {
	shown
	score float64
}

func itemsOf(a answer) (items []item) {
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

// byPages reads the pages of a list from the first, and compares their ids.
func byPages(t *testing.T, b *bundle, p lists.Page, want []string) {
	t.Helper()
	var got []string
	pages := 1
	for ; pages < 1000; pages++ {
		a, next := b.read(p)
		if a.NextCursor == nil != (next == "") || next != "" && *a.NextCursor != next {
			t.Fatalf("got nextCursor %v in the body, %q beside it; want the same", a.NextCursor, next)
		}
		for _, v := range itemsOf(a) {
			got = append(got, v.ID)
		}
		if p.Token = next; next == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids by %d (-want +got):\n%s", p.Limit, diff)
	}
	if most := len(want)/p.Limit + 20; pages > most {
		t.Errorf("got %d pages of %d for %d items, want at most %d", pages, p.Limit, len(want), most)
	}
}

// TestPagesEndByTheirBytes: metadata of one video may have 256 KiB, so a page of ours ends
// before it has its 100 items. The contract's lists have what was asked for.
func TestPagesEndByTheirBytes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		records := clips(40, "big", 1000)
		for i := range records {
			records[i].Metadata = json.RawMessage(`{"note":"` + strings.Repeat("x", 250<<10) + `"}`)
			records[i].Evidence = &stage.Evidence{Spoken: ptr(fmt.Sprint("hook ", i))}
		}
		b.scroll(1, now, records...)
		for _, c := range []struct {
			name string
			page lists.Page
		}{{"library", lists.Page{List: lists.Videos}}, {"hooks", lists.Page{List: lists.Hooks, Paged: true}}, {"search", lists.Page{List: lists.Videos, Filter: lists.Filter{MinViews: 1}}}} {
			t.Run(c.name, func(t *testing.T) {
				c.page.Limit = 100
				first, next := b.read(c.page)
				if n := len(itemsOf(first)); n < 10 || n > 20 || next == "" {
					t.Errorf("got %d items and the cursor %q, want about 17 of 4 MiB and a cursor", n, next)
				}
				if n := len(itemsOf(b.all(c.page))); n != 40 {
					t.Errorf("got %d items of all pages, want 40", n)
				}
			})
		}
		contract, _ := b.read(lists.Page{List: lists.Hooks})
		check(t, "hooks of the contract", len(contract.Hooks), 25)
	})
}

// TestSearchesHaveTagsOfTheirOwn: a client may keep a tag for a path, and search for
// something else with it.
func TestSearchesHaveTagsOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	seen := map[string]lists.Page{}
	for _, l := range []lists.List{lists.Videos, lists.Hooks, lists.Outliers} {
		for _, filter := range []lists.Filter{{}, {MinViews: 5}, lists.Filter{}.With("latte"), lists.Filter{}.With("espresso")} {
			for _, paged := range []bool{false, true} {
				p := lists.Page{List: l, Limit: 25, Filter: filter, Paged: paged}
				made, err := b.reader.Read(b.ctx, p)
				if err != nil {
					t.Fatal(err)
				}
				if made.Done != nil {
					made.Done()
				}
				if other, known := seen[made.ETag]; known || made.ETag == "" {
					t.Errorf("%+v has the tag %q, as %+v has", p, made.ETag, other)
				}
				seen[made.ETag] = p
			}
		}
	}
}
