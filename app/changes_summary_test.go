package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app/apptest"
)

// summary is the answer of summarizeChanges.
type summary struct {
	Counts []struct {
		Type  string
		Count int
	}
	OutliersEntered []struct {
		VideoID, Platform, Handle, Caption string
		New                                float64
	}
	TrendsEntered []struct{ Key string }
	FeedCursor    string
}

// readFeed is what a reader of the whole feed counts of the library.
func readFeed(t *testing.T, owner *apptest.Caller) (counts map[string]int, outliers map[string]float64, last string) {
	t.Helper()
	counts, outliers = map[string]int{}, map[string]float64{}
	for where := "since=1"; ; where = "cursor=" + last {
		var page struct {
			Changes []struct {
				Type, VideoID string
				New           float64
			}
			NextCursor string
			More       bool
		}
		owner.Get(t, "GET /v1/changes?limit=500&"+where, &page)
		for _, c := range page.Changes {
			switch kind, _, _ := strings.Cut(c.Type, "."); kind {
			case "video", "hook", "outlier", "trend":
				counts[c.Type]++
			}
			switch c.Type {
			case "outlier.entered":
				outliers[c.VideoID] = c.New
			case "outlier.left":
				delete(outliers, c.VideoID)
			}
		}
		if last = page.NextCursor; !page.More {
			return counts, outliers, last
		}
	}
}

// TestWhatIsNewIsOneCall compares the summary with the feed and the lists.
func TestWhatIsNewIsOneCall(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		owner := travel(t, running)
		if answer := owner.Do(t, "GET /v1/changes/summary?since=1", ""); len(answer.Body) > 6<<10 {
			t.Errorf("got %d bytes, want at most 6 KiB", len(answer.Body))
		}
		var got, none, other summary
		owner.Get(t, "GET /v1/changes/summary?since=1", &got)
		counts, outliers, last := readFeed(t, owner)
		summed := map[string]int{}
		for _, c := range got.Counts {
			summed[c.Type] = c.Count
		}
		if fmt.Sprint(summed) != fmt.Sprint(counts) || got.FeedCursor != last || summed["video.added"] == 0 {
			t.Errorf("got counts %v and cursor %s, want %v and %s", summed, got.FeedCursor, counts, last)
		}
		if want := min(len(outliers), 10); len(got.OutliersEntered) != want || want == 0 {
			t.Errorf("got %d outliers that entered, want %d", len(got.OutliersEntered), want)
		}
		for i, v := range got.OutliersEntered {
			if v.New != outliers[v.VideoID] || i > 0 && v.New > got.OutliersEntered[i-1].New || v.Platform == "" || v.Caption == "" || v.Handle == "" {
				t.Errorf("got %+v, want the score %v, in order, with handle and caption", v, outliers[v.VideoID])
			}
		}
		var trends struct{ Trends []struct{ Key string } }
		owner.Get(t, "GET /v1/trends/list?limit=25", &trends)
		for _, trend := range got.TrendsEntered {
			if !slices.Contains(trends.Trends, trend) {
				t.Errorf("got the trend %q, want it in the list %v", trend.Key, trends.Trends)
			}
		}
		if want := min(len(trends.Trends), 10); len(got.TrendsEntered) != want || want == 0 {
			t.Errorf("got %d trends that entered, want %d", len(got.TrendsEntered), want)
		}
		owner.Get(t, "GET /v1/changes/summary?since=2099-01-01T00:00:00Z", &none)
		if len(none.Counts) != 0 || len(none.OutliersEntered) != 0 || none.FeedCursor != last {
			t.Errorf("got %+v, want nothing since a later time", none)
		}
		running.Account(t, "pro").Get(t, "GET /v1/changes/summary?since=1", &other)
		if len(other.Counts) != 0 || len(other.OutliersEntered) != 0 {
			t.Errorf("got %+v, want nothing of another account", other)
		}
	}, sampleFeed)
}
