package app

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTroubles: each number that is too high is named, none that is well, and the page has words for each.
func TestTroubles(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	hour := func(ago int, requests, failed int64, slow float64) hourPart {
		return hourPart{at.Add(-time.Duration(ago) * time.Hour).UnixMilli(), requests, failed, 1, slow}
	}
	well := &overviewAnswer{
		At: at.UnixMilli(), Disks: []diskPart{{"data", 2 << 30}}, Queue: []queuePart{{"scroll.run", 3, 299_000}},
		Hours: []hourPart{hour(0, 19, 1, 1), hour(1, 81, 0, 2000), hour(3, 100, 100, 9000)},
		Kept:  []keptPart{{Source: "youtube", NextAt: 1}}, Plugins: []pluginPart{{ID: "feed", State: "ready"}, {ID: "tiktok", State: "unset"}},
		Quotas: []quotaPart{{Plugin: "youtube", Used: 99, Limit: 100}, {Plugin: "free", Used: 9}},
	}
	if got := troubles(well); len(got) != 0 {
		t.Errorf("got %+v, want none", got)
	}
	ill := &overviewAnswer{
		At: at.UnixMilli(), Disks: []diskPart{{"data", 31 << 20}, {"scratch", 500 << 20}}, Queue: []queuePart{{"scroll.run", 3, 420_000}},
		Hours: []hourPart{hour(0, 10, 1, 1), hour(1, 90, 1, 2100)},
		Kept:  []keptPart{{Source: "youtube", Overdue: 2}}, Plugins: []pluginPart{{ID: "feed", State: "resting"}, {ID: "own", State: "refused"}},
		Quotas: []quotaPart{{Plugin: "youtube", Name: "search", Used: 100, Limit: 100}},
	}
	want := []troublePart{
		{"disk_full", "data", 31},
		{"disk_low", "scratch", 500},
		{"queue_old", "scroll.run", 7},
		{"requests_fail", "", 2},
		{"requests_slow", "", 2100},
		{"deletion_overdue", "youtube", 2},
		{"plugin_resting", "feed", 0},
		{"plugin_refused", "own", 0},
		{"quota_spent", "youtube search", 0},
	}
	if diff := cmp.Diff(want, troubles(ill)); diff != "" {
		t.Errorf("troubles (-want +got):\n%s", diff)
	}
	words, err := os.ReadFile("../modules/console/src/operator/texts.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range append(want, troublePart{Kind: "kept_unread"}) {
		if !strings.Contains(string(words), "\n  "+one.Kind+": {") {
			t.Errorf("the page has no words for %s", one.Kind)
		}
	}
}
