package library

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// wide are records of many creators, each posts some videos; observed long ago, so that
// trends are measured over the last scrolls alone.
func wide(from, n, creators int, at int64) []stage.Record {
	r := rand.New(rand.NewPCG(uint64(from), 3))
	records := sampleRecords(from, n)
	for i := range records {
		one := &records[i]
		one.Source.Handle = fmt.Sprint("creator", r.IntN(creators))
		one.PostedAt, one.Metrics.ObservedAt = ptr(at-int64(r.IntN(300*24))*hour), ptr(at+int64(from+i)%hour)
		one.Evidence = nil
	}
	return records
}

// TestScoringAScrollCosts measures the score step of a scroll of 250 new videos, in
// processor time.
func TestScoringAScrollCosts(t *testing.T) {
	measured(t)
	costs := map[int]map[int]time.Duration{20: {}, 1: {}} // by videos a creator, then size
	for _, size := range sizes() {
		for _, perCreator := range []int{20, 1} {
			t.Run(fmt.Sprint(size, " videos, ", perCreator, " a creator"), func(t *testing.T) {
				b := setup(t, storetest.SQLite(t))
				for from := 0; from < size; from += 2000 {
					b.archive(1, now-60*day, wide(from, 2000, size/perCreator/3, now-60*day)...)
				}
				began := used()
				b.complete(1)
				t.Logf("scored all: %v, %.0f a second", (used() - began).Round(time.Millisecond), float64(size)/(used()-began).Seconds())
				for run := range int64(4) {
					records := wide(size+int(run)*250, 250, size/perCreator/3, now+run*day)
					b.archive(run+2, now+run*day, records...)
					began = used()
					b.complete(run + 2)
					bar := 100 * time.Millisecond
					if size > 10_000 {
						bar = 300 * time.Millisecond
					}
					took := used() - began
					t.Logf("scroll %d: %v, bar %v", run, took.Round(time.Millisecond), bar)
					if least := costs[perCreator][size]; least == 0 || took < least {
						costs[perCreator][size] = took
					}
				}
				if least := costs[perCreator][sizes()[0]]; least > 0 {
					t.Logf("the least of them is %.2f times that of a library of %d videos", float64(costs[perCreator][size])/float64(least), sizes()[0])
				}
				got, _ := b.read(page{list: videos, limit: 25})
				list := got.Videos[:20]
				began = used()
				for _, v := range list {
					if _, err := b.ArchiveVideo(b.ctx, v.ID, false, true); err != nil {
						t.Fatal(err)
					}
				}
				t.Logf("archiving one video: %v", ((used() - began) / 20).Round(time.Microsecond))
				began = used()
				b.run(`UPDATE libraries SET method = 'another'`)
				if err := b.RescoreAll(t.Context()); err != nil {
					t.Fatal(err)
				}
				t.Logf("scored again: %.0f a second", float64(size)/(used()-began).Seconds())
			})
		}
	}
}
