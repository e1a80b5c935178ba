package library

import (
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestExamplesByHand holds lists to numbers that were worked out on paper.
func TestExamplesByHand(t *testing.T) {
	t.Parallel()
	old := func(id, handle string, views, likes int64) stage.Record {
		one := clip(id, handle, views)
		if one.Metrics.Likes = &likes; likes < 0 {
			one.Metrics.Likes = nil
		}
		return one
	}
	aged := func(one stage.Record, hours int64) stage.Record {
		one.PostedAt = ptr(now + 3600_000 - hours*3600_000)
		one.Metrics.ObservedAt = ptr(now + 3600_000) // not midnight, which would be a date
		return one
	}
	for name, c := range map[string]struct {
		records []stage.Record
		want    []string
	}{
		"a grown-up video against 100, 200 and 300": {
			[]stage.Record{old("x", "a", 1000, -1), old("1", "a", 100, -1), old("2", "a", 200, -1), old("3", "a", 300, -1)},
			[]string{"x 5 200 3"},
		},
		"a day old, against grown-up ones": {
			[]stage.Record{aged(old("x", "a", 900, -1), 24), old("1", "a", 1000, -1), old("2", "a", 1000, -1), old("3", "a", 1400, -1)},
			[]string{"x 1.2 750 3"},
		},
		"one own video and three of others": {
			[]stage.Record{old("x", "a", 600, -1), old("y", "a", 400, -1), old("1", "b", 100, -1), old("2", "c", 100, -1), old("3", "d", 50, -1)},
			[]string{"x 1.5 400 4"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				b := setup(t, db)
				b.scroll(1, now, c.records...)
				var got []string
				for _, o := range b.all(lists.Page{List: lists.Outliers}).Outliers {
					if o.Video.ExternalID == "x" {
						got = append(got, fmt.Sprint(o.Video.ExternalID, " ", o.Score, " ", o.BaselineViews, " ", o.SampleCount))
					}
				}
				if diff := gocmp.Diff(c.want, got); diff != "" {
					t.Errorf("outliers (-want +got):\n%s", diff)
				}
			})
		})
	}
	t.Run("bought views come last", func(t *testing.T) {
		b := setup(t, storetest.SQLite(t))
		records := []stage.Record{old("bought", "a", 100_000, 400), old("real", "b", 110, -1)}
		for i := range 4 {
			records = append(records, old(fmt.Sprint("a", i), "a", 1000, 50), old(fmt.Sprint("b", i), "b", 100, -1))
		}
		b.scroll(1, now, records...)
		var got []string
		for _, o := range b.all(lists.Page{List: lists.Outliers}).Outliers {
			got = append(got, o.Video.ExternalID)
		}
		if diff := gocmp.Diff([]string{"real", "bought"}, got); diff != "" {
			t.Errorf("outliers (-want +got):\n%s", diff)
		}
	})
	t.Run("three creators of a week, and one of the week before", func(t *testing.T) {
		storetest.Each(t, func(t *testing.T, db *store.DB) {
			b := setup(t, db)
			for run := range int64(2) {
				var records []stage.Record
				add := func(id, creator string, daysAgo int64, views [2]int64, tags string) {
					one := old(id, creator, views[run], -1)
					one.PostedAt, one.Metrics.ObservedAt = ptr(now-daysAgo*day), ptr(now+run*1000)
					one.Metadata = fmt.Appendf(nil, `{"hashtags":[%s]}`, tags)
					records = append(records, one)
				}
				flat := [2]int64{500, 500}
				add("p1", "p", 2, [2]int64{1000, 3000}, `"a","b"`)
				add("q1", "q", 2, [2]int64{50, 400}, `"a","b"`)
				add("r1", "r", 2, [2]int64{1, 0}, `"a","b"`)
				add("s1", "s", 2, flat, ``)
				add("p0", "p", 9, [2]int64{0, 0}, `"a"`)
				add("q0", "q", 9, flat, ``)
				add("r0", "r", 9, flat, ``)
				add("s0", "s", 9, flat, ``)
				b.scroll(run+1, now+run*1000, records...)
			}
			var got []string
			for _, t := range b.all(lists.Page{List: lists.Trends}).Trends {
				got = append(got, fmt.Sprint(t.Key, " ", t.Metrics.MedianGrowthMultiple, " ", t.Metrics.VideoCount))
			}
			if diff := gocmp.Diff([]string{"hashtag:b 3.5 3"}, got); diff != "" {
				t.Errorf("trends (-want +got):\n%s", diff)
			}
		})
	})
}
