package scrolls

import (
	"fmt"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
)

func TestCollectStopsAtItsBound(t *testing.T) {
	t.Parallel()
	cfg := quick()
	cfg.MaxRecords = 9
	w := setup(t, storetest.SQLite(t), cfg)
	done := w.complete(w.create(Start{}).ID)
	if done.Status != Completed || done.Progress.Collected != 9 || done.NewVideos != 9 {
		t.Errorf("got %+v, want it %s with 9 records collected and 9 new videos", done, Completed)
	}
}

func TestCollectKeepsTheKindsOfItsTemplate(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	records := videos("tiktok", 1, 4)
	records[0].Source.Kind, records[1].Source.Handle, records[1].Seed = plan.Competitor, "@RIVAL", ""
	records = append(records, records[0], stage.Record{Ref: stage.Ref{Platform: "tiktok"}}) // twice, and without an id
	w.sources["feed"].records = records
	done := w.complete(w.create(Start{Template: ptr("competitors")}).ID)
	if done.Progress.Collected != 4 || done.NewVideos != 2 {
		t.Errorf("%+v, want Collected 4 and NewVideos 2", done)
	}
	if len(w.sources["feed"].seeds) == 0 {
		t.Error("the source was asked for no seed, want at least one")
	}
	for _, seed := range w.sources["feed"].seeds {
		if seed.Kind != plan.Competitor {
			t.Errorf("asked for %+v, want %v", seed, plan.Competitor)
		}
	}
	if n := w.number("SELECT count(*) FROM fake_videos WHERE external_id IN ('v0001', 'v0002')"); n != 2 {
		t.Errorf("%d of the two competitors' videos, want 2", n)
	}
	// Without a kind in the template all are kept, the two known ones observed.
	done = w.complete(w.create(Start{}).ID)
	if done.NewVideos != 2 || done.Progress.Reobserved != 2 {
		t.Errorf("%+v, want NewVideos 2 and Reobserved 2", done)
	}
}

func TestParsedProgressIsNeverStale(t *testing.T) {
	t.Parallel()
	p := parsed{entries: map[int64]parsedEntry{}}
	for id := range int64(2 * maxParsed) {
		for _, percent := range []float64{1, 2, 2} {
			got, err := p.parse(id, fmt.Sprintf(`{"percent":%v,"collected":%d}`, percent, id))
			if err != nil || got.Percent != percent || got.Collected != int(id) {
				t.Fatalf("scroll %d: got %+v, error %v; want %v percent and %d records collected", id, got, err, percent, int(id))
			}
		}
	}
	if len(p.entries) > maxParsed {
		t.Errorf("%d entries, want at most %v", len(p.entries), maxParsed)
	}
	if _, err := p.parse(1, "{"); err == nil {
		t.Error("broken progress is read, want an error")
	}
}
