package library

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

// loners are videos of creators that have no other, so that their peers are the niche.
func loners(from, n int, views int64) []stage.Record {
	records := make([]stage.Record, n)
	for i := range records {
		records[i] = stage.Record{
			Ref: stage.Ref{Platform: "tiktok", ExternalID: fmt.Sprint("v", from+i)}, CreatorID: fmt.Sprint("c", from+i),
			PostedAt: ptr(now - day), Metrics: stage.Metrics{Views: ptr(views + int64(i)), ObservedAt: ptr(now)},
		}
	}
	return records
}

func (b *bundle) niche() []change {
	b.t.Helper()
	changes, err := b.nicheChanges(b.ctx, "tiktok", b.outside())
	if err != nil {
		b.t.Fatal(err)
	}
	return changes
}

func TestNicheScoresOfAnOlderLibraryAreNotWritten(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		b.archive(1, now, loners(0, 20, 100)...)
		if _, err := b.scoreCreators(b.ctx); err != nil {
			t.Fatal(err)
		}
		revision, err := b.revision(b.ctx)
		if err != nil {
			t.Fatal(err)
		}
		old := b.niche()
		if len(old) == 0 {
			t.Fatal("nothing to score by the niche")
		}
		b.scroll(2, now+day, loners(20, 20, 100_000)...) // another scroll gathers and scores meanwhile
		if err := b.writeUnchanged(b.ctx, revision, b.scoreWrites(old)); !errors.Is(err, errChanged) {
			t.Errorf("scores of an older library: %v", err)
		}
		if stale := b.niche(); len(stale) != 0 {
			t.Errorf("%d scores are stale", len(stale))
		}
		if err := b.Score(b.ctx, 1); err != nil {
			t.Fatal(err)
		}
		if stale := b.niche(); len(stale) != 0 {
			t.Errorf("%d scores are stale after the first scroll's own", len(stale))
		}
	})
}

func TestScrollsThatScoreAtOnceLeaveNothingStale(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		const scrolls = 4
		for scroll := range scrolls { // whose subjects are known before they meet
			b.archive(int64(scroll+1), now, loners(100*scroll, 1, 50)...)
		}
		var group sync.WaitGroup
		for scroll := range scrolls {
			group.Go(func() {
				for part := range 5 {
					b.archive(int64(scroll+1), now, loners(100*scroll+10*part, 10, int64(100+1000*part))...)
					if err := b.Score(b.ctx, int64(scroll+1)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		if stale := b.niche(); len(stale) != 0 {
			t.Errorf("%d scores are stale", len(stale))
		}
	})
}
