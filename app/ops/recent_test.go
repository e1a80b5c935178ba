package ops

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTheLastHours: each has its own counts, those of a day ago are gone, and an hour without
// requests is not listed.
func TestTheLastHours(t *testing.T) {
	t.Parallel()
	m := NewMetrics()
	start := time.Date(2026, 11, 28, 10, 59, 59, 0, time.UTC)
	now := start
	m.recent.now = func() time.Time { return now }
	for i := range 100 {
		took := 4 * time.Millisecond
		if i >= 98 {
			took = 3 * time.Second
		}
		m.Request("getVideo", "rest", "ok", i == 0, took)
	}
	m.PluginEnded("feed", "ok")
	now = start.Add(2 * time.Hour)
	m.Request("getVideo", "rest", "ok", false, 0)
	m.Request("getVideo", "rest", "ok", false, time.Hour)
	m.PluginEnded("feed", "ok")
	m.PluginEnded("feed", "killed")
	hours, ends := m.Recent()
	if len(hours) != 2 || !hours[1].At.Equal(start.Truncate(time.Hour)) || hours[1].Requests != 100 || hours[1].Failed != 1 || hours[0].Requests != 2 || hours[0].Failed != 0 {
		t.Fatalf("got %+v, want two hours, the latest first", hours)
	}
	if at := hours[1]; at.Median < 4*time.Millisecond || at.Median > 6*time.Millisecond || at.Slow < 3*time.Second || at.Slow > 4500*time.Millisecond {
		t.Errorf("got %v and %v, want 4 ms and 3 s, rounded up by at most a half", at.Median, at.Slow)
	}
	if at := hours[0]; at.Median != time.Millisecond || at.Slow != recentBounds[len(recentBounds)-1] {
		t.Errorf("got %v and %v, want the shortest and the longest", at.Median, at.Slow)
	}
	if diff := cmp.Diff([]End{{"feed", "killed", 1}, {"feed", "ok", 2}}, ends); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	now = start.Add(24 * time.Hour)
	m.Request("getVideo", "rest", "ok", false, 0)
	hours, _ = m.Recent()
	if len(hours) != 2 || hours[0].Requests != 1 || hours[1].Requests != 2 {
		t.Errorf("a day later: got %+v, want the first hour gone", hours)
	}
}
