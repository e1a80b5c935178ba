package library

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/plugins/stage"
)

// wide are records of many creators, each posts some videos; observed long ago, so that
// trends are measured over the last scrolls alone.
func wide(from, n, creators int, at int64) []stage.Record {
	r := rand.New(rand.NewPCG(uint64(from), 3))
	records := sampleRecords(from, n)
	for i := range records {
		one := &records[i]
		who := r.IntN(creators)
		one.Source.Handle = fmt.Sprint("creator", who)
		one.Metrics.Followers = ptr(int64(100 << (who % 14)))
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
				got, _ := b.read(lists.Page{List: lists.Videos, Limit: 25})
				list := got.Videos[:20]
				began = used()
				for _, v := range list {
					if _, err := b.edits.ArchiveVideo(b.ctx, v.ID, false, true); err != nil {
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

// TestReadsBesideRescoring measures the lists of a library while all of its scores change,
// 100 reads a second, as a server does both.
func TestReadsBesideRescoring(t *testing.T) {
	measured(t)
	size := slices.Max(sizes())
	b := setup(t, storetest.SQLite(t))
	for from := 0; from < size; from += 2000 {
		b.archive(1, now-60*day, wide(from, 2000, size/60, now-60*day)...)
	}
	b.complete(1)
	quiet := b.readUntil(time.After(5 * time.Second))
	var beside []time.Duration
	var spent time.Duration
	rescored := 0
	for ; spent < 5*time.Second; rescored += size {
		b.run(`UPDATE videos SET score = score + 1, twice_baseline = twice_baseline + 1`)
		b.run(`UPDATE libraries SET method = 'another'`)
		ended, began := make(chan time.Time), time.Now()
		var err error
		go func() { err = b.RescoreAll(t.Context()); close(ended) }() // as the queue does
		beside = append(beside, b.readUntil(ended)...)
		if err != nil {
			t.Fatal(err)
		}
		spent += time.Since(began)
	}
	at := func(times []time.Duration, percent int) time.Duration {
		slices.Sort(times)
		return times[len(times)*percent/100]
	}
	slower := float64(at(beside, 99)) / float64(at(quiet, 99))
	t.Logf("%d videos: quiet p50 %v, p99 %v; beside rescoring, %.0f videos a second, p50 %v, p99 %v, %.2f times, bar 1.5",
		size, at(quiet, 50), at(quiet, 99), float64(rescored)/spent.Seconds(), at(beside, 50), at(beside, 99), slower)
}

// readUntil reads the first page of lists in turns, and returns how long each took.
func (b *bundle) readUntil(end <-chan time.Time) (took []time.Duration) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-end:
			return took
		case <-tick.C:
		}
		began := time.Now()
		b.read(lists.Page{List: []lists.List{lists.Outliers, lists.Hooks, lists.Videos}[i%3], Limit: 25})
		took = append(took, time.Since(began))
	}
}
