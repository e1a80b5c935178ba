package library

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/plugins/stage"
)

// shownInOrder is an item of our list of outliers.
type shownInOrder struct {
	Video         shown
	Score         float64
	BaselineViews *float64
	SampleCount   int
	ObservedAt    int64
	OutlierSince  *int64
	SevenDayViews *int64
	ViewsPerHour  *float64
	Doubtful      bool
}

// inOrder reads all pages of a list in an order, by 7.
func (b *bundle) inOrder(p lists.Page) (all []shownInOrder) {
	b.t.Helper()
	for p.Limit, p.Paged = 7, true; ; {
		made, err := b.reader.Read(b.ctx, p)
		if err != nil {
			b.t.Fatal(err)
		}
		var page struct{ Outliers []shownInOrder }
		if err := json.Unmarshal(made.Body, &page); err != nil {
			b.t.Fatalf("decode %s: %v", made.Body, err)
		}
		if made.Done != nil {
			made.Done()
		}
		all = append(all, page.Outliers...)
		if p.Token = made.NextPageToken; p.Token == "" {
			return all
		}
	}
}

// TestNewAndRisingAreRecomputed has videos of all ages read by six scrolls of three weeks,
// and compares both orders with plain code.
func TestNewAndRisingAreRecomputed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		r := rand.New(rand.NewPCG(39, 1))
		start := now - now%day + 5*hour
		type known struct {
			posted, at, views, likes int64
			kind                     string
			since                    int64
		}
		library := map[string]*known{}
		for run := range int64(6) {
			at := start + run*4*day
			var records []stage.Record
			for i := range 90 {
				id := fmt.Sprintf("v%d", i+int(run)*40)
				v := library[id]
				if v == nil {
					v = &known{posted: at - r.Int64N(12*day), kind: []string{"competitor", "niche"}[i%2]}
					library[id] = v
				}
				v.at, v.views = at+r.Int64N(hour), v.views+1+r.Int64N(1<<(4+r.IntN(9)))
				v.likes = min(v.views, v.likes+r.Int64N(v.views/10+1))
				record := clip(id, fmt.Sprint("creator", (i+int(run)*40)%9), v.views)
				record.PostedAt, record.Source.Kind = ptr(v.posted), v.kind
				record.Metrics.Likes, record.Metrics.ObservedAt = ptr(v.likes), ptr(v.at)
				records = append(records, record)
			}
			b.scroll(run+1, at, records...)
			for _, o := range b.all(lists.Page{List: lists.Outliers, WithArchived: true}).Outliers {
				if v := library[o.Video.ExternalID]; v.since == 0 {
					v.since = v.at
				}
			}
		}
		newest := int64(0)
		for _, v := range library {
			newest = max(newest, v.at)
		}
		order := b.all(lists.Page{List: lists.Outliers})
		since := func(from int64) (want []string) {
			for _, o := range order.Outliers {
				if library[o.Video.ExternalID].since >= from {
					want = append(want, o.Video.ExternalID)
				}
			}
			return want
		}
		ids := func(items []shownInOrder) (got []string) {
			for _, o := range items {
				got = append(got, o.Video.ExternalID)
				if v := library[o.Video.ExternalID]; o.OutlierSince != nil && *o.OutlierSince != v.since || o.OutlierSince == nil && v.since != 0 {
					t.Errorf("%s is an outlier since %s, want %d", o.Video.ExternalID, look(o.OutlierSince), v.since)
				}
			}
			return got
		}
		for name, from := range map[string]int64{"7 days": 0, "11 days": newest - 11*day, "all": start - day} {
			t.Run("new since "+name, func(t *testing.T) {
				at := from
				if from == 0 {
					at = newest - 7*day
				}
				want, got := since(at), ids(b.inOrder(lists.Page{List: lists.NewOutliers, Filter: lists.Filter{Since: from}}))
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("new since %d (-want +got):\n%s", at, diff)
				}
				if len(want) == 0 || from == 0 && len(want) == len(order.Outliers) {
					t.Errorf("the test tests little: %d of %d outliers are new", len(want), len(order.Outliers))
				}
			})
		}
		growth := score.DefaultTable()
		rising := func(kind string) (want []string) {
			type one struct {
				id            string
				doubtful      bool
				views, number int64
			}
			var all []one
			for id, v := range library {
				if v.posted <= newest-7*day || v.posted > newest || kind != "" && v.kind != kind {
					continue
				}
				e, err := b.explainer.ExplainOutlier(b.ctx, b.idOf(id))
				if err != nil || e == nil {
					t.Fatalf("got %v, error %v; want an explanation", e, err)
				}
				all = append(all, one{id, e.Outlier.Doubtful, v.views * 1000 / growth.Share("tiktok", v.at-v.posted), e.Target.ID})
				if x := e.Message(); x.GetSevenDayViews() != float64(all[len(all)-1].views) || x.GetNewestReadingAt() != float64(newest) {
					t.Errorf("explanation of %s: got %v views at 7 days, newest reading %v; want %d, %d", id, x.GetSevenDayViews(), x.GetNewestReadingAt(), all[len(all)-1].views, newest)
				}
			}
			slices.SortFunc(all, func(a, b one) int {
				return cmp.Or(cmp.Compare(fmt.Sprint(a.doubtful), fmt.Sprint(b.doubtful)), cmp.Compare(b.views, a.views), cmp.Compare(a.number, b.number))
			})
			for _, v := range all {
				want = append(want, v.id)
			}
			return want
		}
		for _, kind := range []string{"", "niche"} {
			t.Run("rising of kind "+kind, func(t *testing.T) {
				items := b.inOrder(lists.Page{List: lists.Rising, Kind: kind})
				want := rising(kind)
				if diff := gocmp.Diff(want, ids(items)); diff != "" || len(want) < 20 {
					t.Errorf("%d rising (-want +got):\n%s", len(want), diff)
				}
				for _, o := range items {
					v := library[o.Video.ExternalID]
					age := max(v.at-v.posted, hour)
					perHour := float64((v.views*hour*20000+age)/(2*age)) / 10000
					if *o.ViewsPerHour != perHour || *o.SevenDayViews != v.views*1000/growth.Share("tiktok", v.at-v.posted) {
						t.Errorf("%s: got %v views an hour, %d at 7 days; want %v of %+v", o.Video.ExternalID, *o.ViewsPerHour, *o.SevenDayViews, perHour, v)
					}
				}
			})
		}
		t.Run("too long ago is refused", func(t *testing.T) {
			_, err := b.reader.Read(b.ctx, lists.Page{List: lists.NewOutliers, Limit: 5, Paged: true, Filter: lists.Filter{Since: newest - 100*day}})
			var fault *apierr.Error
			if !errors.As(err, &fault) || len(fault.Issues) != 1 || fault.Issues[0].Path != "since" {
				t.Errorf("got error %v, want an issue of since", err)
			}
		})
		t.Run("since a week after the newest reading there are none", func(t *testing.T) {
			for _, filter := range []lists.Filter{{Since: newest + 8*day}, {Since: newest + 8*day, Platform: "tiktok"}} {
				if got := b.inOrder(lists.Page{List: lists.NewOutliers, Filter: filter}); len(got) > 0 {
					t.Errorf("%+v: got %d items, want none", filter, len(got))
				}
			}
		})
		t.Run("another tenant has none", func(t *testing.T) {
			for _, l := range []lists.List{lists.NewOutliers, lists.Rising} {
				if got := b.as(8).inOrder(lists.Page{List: l}); len(got) > 0 {
					t.Errorf("list %c: got %d items, want none", l, len(got))
				}
			}
		})
		t.Run("a rescoring fills what an earlier version did not have", func(t *testing.T) {
			want := ids(b.inOrder(lists.Page{List: lists.Rising}))
			storetest.Exec(t, db, "UPDATE videos SET rising_order = NULL")
			storetest.Exec(t, db, "UPDATE libraries SET method = 'former', revision = revision + 1")
			if err := b.RescoreAll(viewer.System(t.Context())); err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, ids(b.inOrder(lists.Page{List: lists.Rising}))); diff != "" {
				t.Errorf("rising (-want +got):\n%s", diff)
			}
		})
	})
}

// TestBestHooksAreInTheOrderOfOutliers compares the order by score with the list of outliers.
func TestBestHooksAreInTheOrderOfOutliers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		records := sampleRecords(0, 300)
		for i := range records {
			if i%3 == 0 {
				records[i].Evidence = nil
			}
		}
		b.scroll(1, now, records...)
		has := map[string]bool{}
		for _, h := range b.all(lists.Page{List: lists.Hooks}).Hooks {
			has[h.Video.ID] = true
		}
		var want, got []string
		for _, o := range b.all(lists.Page{List: lists.Outliers}).Outliers {
			if has[o.Video.ID] {
				want = append(want, o.Video.ID)
			}
		}
		for _, h := range b.all(lists.Page{List: lists.BestHooks, Limit: 7, Paged: true}).Hooks {
			got = append(got, h.Video.ID)
		}
		if diff := gocmp.Diff(want, got); diff != "" || len(want) == 0 {
			t.Errorf("%d hooks (-want +got):\n%s", len(want), diff)
		}
	})
}

// TestOrdersAreRangesOfAnIndex: a page of an order comes sorted from ranges of its index.
func TestOrdersAreRangesOfAnIndex(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	records := sampleRecords(0, 300)
	for i := range records {
		records[i].PostedAt = ptr(now - int64(i)*hour)
	}
	b.scroll(1, now, records...)
	for list, column := range map[lists.List]string{lists.NewOutliers: "outlier_week", lists.Rising: "posted_week"} {
		b.inOrder(lists.Page{List: list})
		found := 0
		for _, s := range b.db.Hots() {
			if !strings.Contains(s.Text(), column+" = $") || strings.HasPrefix(s.Text(), "UPDATE") {
				continue
			}
			found++
			args := make([]any, strings.Count(s.Text(), "$"))
			for i := range args {
				args[i] = int64(1)
			}
			for len(args) > 0 {
				query, values, err := s.Expand(b.ctx, args...)
				if err != nil {
					args = args[1:] // an argument may recur
					continue
				}
				plan := strings.Join(planOf(t, b.db, query, values), "\n")
				if !strings.Contains(plan, "kind=? AND "+column+"=? AND ") || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN v") {
					t.Errorf("got the plan\n%s\nof %s; want ranges by %s, unsorted", plan, s.Text(), column)
				}
				break
			}
		}
		if found < 2 {
			t.Errorf("got %d statements by %s, want that of the page and that of its end", found, column)
		}
	}
}
