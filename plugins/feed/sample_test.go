package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

// now is a Friday noon, as good as any.
const now = 1795262400000

func runOf(number int, settings map[string]string) *stage.Call {
	return &stage.Call{Run: stage.Run{ScrollID: "scr_1", Number: number, Now: now}, Settings: settings}
}

func collected(t *testing.T, call *stage.Call, seeds ...stage.Seed) ([]stage.Record, []stage.Outcome) {
	t.Helper()
	var recs []stage.Record
	outcomes, err := collect(context.Background(), call, seeds, func(rec stage.Record) error {
		recs = append(recs, rec)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return recs, outcomes
}

func TestSampleGrowsOverThreeRuns(t *testing.T) {
	t.Parallel()
	views := map[string]int64{}
	for run, want := range []int{95, 122, 130, 130} {
		t.Run(fmt.Sprintf("run %d has %d videos", run+1, want), func(t *testing.T) {
			call := runOf(run+1, map[string]string{"dir": Sample})
			call.Brief.Competitors = SampleBrief().Competitors
			recs, outcomes := collected(t, call)
			if len(recs) != want {
				t.Errorf("run %d: %d videos, want %d", run+1, len(recs), want)
			}
			if creators := min(17+run, 18); len(outcomes) != creators { // one begins in the second
				t.Errorf("run %d: %d outcomes, want one for each of %d creators", run+1, len(outcomes), creators)
			}
			kinds := map[string]int{}
			thisWeek, weekBefore := 0, 0
			for _, rec := range recs {
				kinds[rec.Source.Kind]++
				if rec.Metrics.Followers == nil {
					t.Errorf("%s: no followers of its creator", rec.ExternalID)
				}
				var metadata struct{ Sample bool }
				if err := json.Unmarshal(rec.Metadata, &metadata); err != nil || !metadata.Sample {
					t.Fatalf("%s: got %+v, %v, want it marked as sample", rec.ExternalID, metadata, err)
				}
				switch days := (now - *rec.PostedAt) / (24 * 3600 * 1000); {
				case now <= *rec.PostedAt:
					t.Errorf("%s: posted at %d, want a time before %d", rec.ExternalID, *rec.PostedAt, now)
				case days < 7:
					thisWeek++
				case days < 14:
					weekBefore++
				}
				if *rec.Metrics.Views < views[rec.ExternalID] || *rec.Metrics.Likes > *rec.Metrics.Views {
					t.Errorf("%s: got %d views after %d and %d likes, want no fewer views, and no more likes than views", rec.ExternalID, *rec.Metrics.Views, views[rec.ExternalID], *rec.Metrics.Likes)
				}
				views[rec.ExternalID] = *rec.Metrics.Views
			}
			if thisWeek < 10 || weekBefore < 5 { // or there is no trend to show
				t.Errorf("run %d: %d videos of this week and %d of the one before, want at least 10 and 5", run+1, thisWeek, weekBefore)
			}
			if kinds["own"] < 4 || kinds["competitor"] < 15 || kinds["niche"] < 50 {
				t.Errorf("run %d: kinds %v, want own at least 4, competitor at least 15 and niche at least 50", run+1, kinds)
			}
		})
	}
	if len(views) != 131 {
		t.Errorf("%d videos in all, want 131", len(views))
	}
}
