package library

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// TestScoresFollowTheRules has random scrolls and archiving done by the library
// and by naive code, and compares what both make of it.
func TestScoresFollowTheRules(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		worlds := 9
		if testing.Short() || db.Dialect() == store.Postgres {
			worlds = 3
		}
		for seed := range worlds {
			b := setup(t, db).as(int64(100 + seed))
			b.runs.subject = "website:a.com"
			w := world{rand: rand.New(rand.NewPCG(uint64(seed), 7)), size: []int{15, 60, 300}[seed%3], creators: []int{3, 150, 12}[(seed+seed/3)%3]}
			for run := range 7 {
				scroll := int64(1000*(seed+1) + run)
				at := now + int64(run)*36*hour
				records := w.records(run, at)
				b.archive(scroll, at, records...)
				w.take(scroll, at, records)
				b.complete(scroll)
				w.scrolls = append(w.scrolls, scroll)
				w.compare(b, fmt.Sprintf("seed %d, run %d", seed, run))
				w.shelve(b)
				w.compare(b, fmt.Sprintf("seed %d, run %d, shelved", seed, run))
				if t.Failed() {
					return
				}
			}
		}
	})
}

type world struct {
	naive
	rand           *rand.Rand
	size, creators int
	scrolls        []int64
}

func (w *world) records(run int, at int64) (records []stage.Record) {
	r := w.rand
	for i := range w.size {
		if r.IntN(3) == 0 || run < 2 && i > w.size/2 {
			continue // not every video is seen in every run
		}
		// What belongs to the video is the same in every run.
		own := rand.New(rand.NewPCG(uint64(i), uint64(w.size)))
		one := stage.Record{Ref: stage.Ref{Platform: []string{"youtube", "tiktok"}[own.IntN(2)], ExternalID: fmt.Sprint("v", i)}}
		switch own.IntN(6) {
		case 0:
		case 1: // around the change of YouTube's views, days apart
			one.PostedAt = ptr(shortsViews + int64(own.IntN(10)-5)*day)
		case 2: // about a year ago, to the day
			one.PostedAt = ptr(now - int64(360+own.IntN(10))*day)
		default: // fresh, some at the same time
			one.PostedAt = ptr(now + int64(own.IntN(20)-4)*12*hour)
		}
		switch who := own.IntN(w.creators + 1); {
		case who == 0:
		case who%2 == 0:
			one.CreatorID = fmt.Sprint("id", who)
		default:
			one.Source = &stage.Source{Kind: Niche, Handle: fmt.Sprint("@Handle", who)}
		}
		for range own.IntN(4) {
			key := stage.Key{Key: "hashtag:" + []string{"fyp", "a", "b", "c", "d", "e"}[min(own.IntN(6), own.IntN(6))], Label: "#"}
			if !slices.Contains(one.Keys, key) {
				one.Keys = append(one.Keys, key)
			}
		}
		if r.IntN(10) > 0 {
			one.Metrics.Views = ptr(int64(r.IntN(5) * r.IntN(300)))
		}
		if r.IntN(4) > 0 {
			one.Metrics.Likes = ptr(int64(r.IntN(40)))
		}
		if r.IntN(3) == 0 {
			one.Metrics.ObservedAt = ptr(at - int64(r.IntN(60))*hour)
		}
		records = append(records, one)
	}
	r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	return records
}

// shelve archives and restores some videos.
func (w *world) shelve(b *bundle) {
	b.t.Helper()
	for _, v := range b.all(page{list: videos, withArchived: true}).Videos {
		i := slices.IndexFunc(w.videos, func(n *naiveVideo) bool { return n.ref.ExternalID == v.ExternalID })
		if w.rand.IntN(6) > 0 {
			continue
		}
		w.videos[i].archived = w.rand.IntN(2) == 0
		if _, err := b.ArchiveVideo(b.ctx, v.ID, false, w.videos[i].archived); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (w *world) compare(b *bundle, when string) {
	b.t.Helper()
	var got []naiveOutlier
	limit := 1 + w.rand.IntN(25)
	for _, o := range b.all(page{list: outliers, limit: limit}).Outliers {
		got = append(got, naiveOutlier{ID: o.Video.ExternalID, Score: o.Score, Baseline: o.BaselineViews, Peers: o.SampleCount})
	}
	check(b.t, when+": outliers", got, w.outliers())
	window := w.scrolls[max(0, len(w.scrolls)-5):]
	for _, with := range []bool{false, true} {
		var got []naiveTrend
		a := b.all(page{list: trends, withArchived: with, limit: limit})
		for _, t := range a.Trends {
			made := naiveTrend{Key: t.Key, Median: t.Metrics.MedianGrowthMultiple, Videos: t.Metrics.VideoCount}
			for _, v := range t.Examples {
				made.Examples = append(made.Examples, v.ExternalID)
			}
			got = append(got, made)
		}
		check(b.t, fmt.Sprint(when, ": completed"), a.CompletedScrolls, len(w.scrolls))
		check(b.t, fmt.Sprint(when, ": trends, archived ", with), got, w.trends(window, with))
	}
}
