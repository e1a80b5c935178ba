package scrolls

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestCutRecordsAndReadingsFromTheFutureAreCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := setup(t, db, quick())
		records := videos("tiktok", 1, 4)
		ahead := time.Now().Add(2 * time.Hour).UnixMilli()
		records[0].Trimmed = true
		records[1].Metrics.ObservedAt = &ahead
		records[2].Source, records[2].Seed = nil, "" // its owner is unknown
		for i := range records {
			if i < 2 {
				records[i].Seed = "maker"
			}
		}
		w.sources["feed"].records = records
		done := w.complete(w.create(Start{}).ID)
		if done.NewVideos != 4 {
			t.Errorf("got %d new videos, want 4", done.NewVideos)
		}
		// No one planned the creator: they are counted for the seed that led to them.
		trimmed := map[string]int{}
		for _, entry := range done.Progress.Coverage {
			if entry.Trimmed > 0 {
				trimmed[entry.Seed] += entry.Trimmed
			}
		}
		if diff := cmp.Diff(map[string]int{"espresso": 2}, trimmed); diff != "" {
			t.Errorf("trimmed (-want +got):\n%s", diff)
		}
		if n := w.number("SELECT count(*) FROM fake_observations WHERE observed_at > $1", ahead-1); n != 0 {
			t.Errorf("got %d observations from the future, want none", n)
		}
	})
}

func TestReceivedRecords(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	now := w.service.now()
	at := func(ahead time.Duration) *int64 { return ptr(now.Add(ahead).UnixMilli()) }
	ref := stage.Ref{Platform: "tiktok", ExternalID: "7320768196569599275"}
	for name, c := range map[string]struct{ in, want stage.Record }{
		"a reading of the next half hour stays": {
			stage.Record{Metrics: stage.Metrics{Views: ptr(int64(1)), ObservedAt: at(30 * time.Minute)}},
			stage.Record{Metrics: stage.Metrics{Views: ptr(int64(1)), ObservedAt: at(30 * time.Minute)}},
		},
		"a later one is refused": {
			stage.Record{Metrics: stage.Metrics{Views: ptr(int64(1)), ObservedAt: at(3 * time.Hour)}}, stage.Record{Unread: true},
		},
		"a TikTok id gives the time": {stage.Record{Ref: ref}, stage.Record{Ref: ref, PostedAt: ptr(int64(1_704_499_171_000))}},
		"a time that is there stays": {stage.Record{Ref: ref, PostedAt: ptr(int64(1))}, stage.Record{Ref: ref, PostedAt: ptr(int64(1))}},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.in
			w.service.receive(&got, nil)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}
