package library

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
)

// plotFilter draws filters, some of them at once.
func plotFilter(random *rand.Rand) (p lists.Page, terms []string) {
	p = lists.Page{List: lists.Videos, Limit: lists.MostPoints, WithArchived: random.IntN(2) == 0}
	some := func() bool { return random.IntN(4) == 0 }
	if some() {
		p.Platform = []string{"youtube", "tiktok", "instagram"}[random.IntN(3)]
	}
	if some() {
		p.Kind = videos.Kinds()[random.IntN(3)]
	}
	if some() {
		p.Filter.MinScore = 0.5 + 2*random.Float64()
	}
	if some() {
		p.Filter.MinViews = random.Int64N(100_000)
	}
	if some() {
		p.Filter.PostedAfter = now - random.Int64N(120)*day
	}
	if some() {
		p.Filter.PostedBefore = now - random.Int64N(60)*day
	}
	if some() {
		p.Filter.MinFollowers = 1 + random.Int64N(4000)
	}
	if some() {
		terms = videos.Words([]string{"lungo", "ristretto", "shot", "lungo shot", "unknown"}[random.IntN(5)])
		p.Filter = p.Filter.With(terms...)
	}
	return p, terms
}

// TestAPlotSaysWhatTheListHas: for filters drawn at random, what a plot counts is in the
// lists of the same filter, and its listed points are the outliers.
func TestAPlotSaysWhatTheListHas(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		for from := 0; from < 1000; from += 200 {
			b.archive(1, now+int64(from), told(sampleRecords(from, 200), from)...)
		}
		b.complete(1)
		first, _ := b.read(lists.Page{List: lists.Videos, Limit: 5})
		for i, v := range first.Videos {
			if _, err := b.edits.ArchiveVideo(b.ctx, v.ID, i%2 == 1, true); err != nil {
				t.Fatal(err)
			}
		}
		random := rand.New(rand.NewPCG(40, 1)) //nolint:gosec // the same filters each time
		some, none := 0, 0
		for range 60 {
			p, terms := plotFilter(random)
			name := fmt.Sprintf("%+v %v", p, terms)
			plot, err := b.reader.Plot(b.ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			var listed []string
			best := 0.0
			for _, o := range plot.Points {
				if o.Listed {
					listed = append(listed, publicid.Format(publicid.Video, o.ID))
					best = max(best, o.Score.Float64())
				}
			}
			l := p
			l.Limit, l.Paged = 100, true
			all := itemsOf(b.all(l))
			l.List = lists.Outliers
			if l.Platform != "" { // it is not of this list's index
				l.Filter.Platform, l.Platform = l.Platform, ""
			}
			var want []string
			wantBest := 0.0
			for _, v := range itemsOf(b.all(l)) {
				want = append(want, v.ID)
				wantBest = max(wantBest, v.score)
			}
			slices.Sort(listed)
			slices.Sort(want)
			if diff := cmp.Diff(want, listed); diff != "" {
				t.Errorf("%s: the listed points (-want +got):\n%s", name, diff)
			}
			if plot.Outliers != len(want) || best != wantBest || plot.Partial {
				t.Errorf("%s: got %d outliers, the best %v, partial %t; want %d, %v, false", name, plot.Outliers, best, plot.Partial, len(want), wantBest)
			}
			if plot.Videos != len(all) && p.Filter.MinScore == 0 {
				t.Errorf("%s: got %d videos, want %d", name, plot.Videos, len(all))
			}
			if plot.Scored != len(plot.Points) || plot.Scored > plot.Videos {
				t.Errorf("%s: got %d scored of %d videos and %d points, want as many points as are scored", name, plot.Scored, plot.Videos, len(plot.Points))
			}
			if len(want) > 0 {
				some++
			} else {
				none++
			}
			p.Limit = max(1, plot.Scored/2)
			less, err := b.reader.Plot(b.ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			if less.Videos != plot.Videos || less.Scored != plot.Scored || less.Outliers != plot.Outliers {
				t.Errorf("%s: a sample counts %d, %d and %d, want %d, %d and %d", name, less.Videos, less.Scored, less.Outliers, plot.Videos, plot.Scored, plot.Outliers)
			}
			kept := 0
			for _, o := range less.Points {
				if o.Listed {
					kept++
				}
			}
			if want := min(p.Limit, plot.Scored); len(less.Points) != want || kept != min(plot.Outliers, want) {
				t.Errorf("%s: a sample has %d points, %d listed; want %d and %d", name, len(less.Points), kept, want, min(plot.Outliers, want))
			}
		}
		if some < 10 || none < 3 {
			t.Errorf("the test tests little: got %d filters with outliers and %d without", some, none)
		}
		t.Run("a sample keeps the shares of formats", func(t *testing.T) {
			p := lists.Page{List: lists.Videos, Limit: lists.MostPoints}
			whole, err := b.reader.Plot(b.ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			p.Limit = whole.Outliers + (whole.Scored-whole.Outliers)/4
			part, err := b.reader.Plot(b.ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			all, kept := map[string]int{}, map[string]int{}
			seen := map[int64]bool{}
			for _, o := range whole.Points {
				if !o.Listed {
					all[string(o.Kind)]++
				}
			}
			for _, o := range part.Points {
				if seen[o.ID] {
					t.Errorf("got video %d twice", o.ID)
				}
				if seen[o.ID] = true; !o.Listed {
					kept[string(o.Kind)]++
				}
			}
			for kind, n := range all {
				if got := kept[kind]; got < n/4-1 || got > n/4+1 {
					t.Errorf("got %d of %d videos of %s, want a quarter", got, n, kind)
				}
			}
		})
		t.Run("another tenant has no points", func(t *testing.T) {
			other := b.as(8)
			plot, err := other.reader.Plot(other.ctx, lists.Page{List: lists.Videos, Limit: lists.MostPoints, WithArchived: true})
			if err != nil || plot.Videos > 0 || len(plot.Points) > 0 {
				t.Errorf("got %+v, error %v; want none", plot, err)
			}
		})
	})
}
