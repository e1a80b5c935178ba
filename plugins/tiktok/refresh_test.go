package tiktok

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
	"github.com/scrollery/scrollery/plugins/tiktok/tiktoktest"
)

func refs(videos []tiktoktest.Video) []stage.Ref {
	var all []stage.Ref
	for _, v := range videos {
		all = append(all, stage.Ref{Platform: platform, ExternalID: strconv.FormatInt(v.ID, 10)})
	}
	return all
}

// spread are n videos over the last 200 days.
func spread(n int) []tiktoktest.Video {
	videos := clips("kettle.co", n)
	for i := range videos {
		videos[i].Created = time.Now().Add(-time.Duration(i) * 200 * 24 * time.Hour / time.Duration(n))
		videos[i].ID = tiktoktest.At(videos[i].Created, i)
	}
	return videos
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	videos := spread(240)
	b := setup(t, videos...)
	b.Drop(videos[3].ID)
	b.Drop(videos[200].ID)
	asked := append(refs(videos), refs(videos[:2])...)
	asked = append(asked, stage.Ref{Platform: platform, ExternalID: "not-a-number"}, stage.Ref{Platform: platform, ExternalID: "12"})
	records, outcomes, err := stagetest.Refresh(t, b.spec, b.call, asked)
	if err != nil || len(records) != 238 || len(outcomes) != 242 {
		t.Fatalf("got %d records, %d outcomes, error %v; want 238 and 242", len(records), len(outcomes), err)
	}
	for _, r := range records {
		if r.Metadata != nil || r.Metrics.Views == nil {
			t.Fatalf("it takes the place of what the library has: %s, want no Metadata and Views not nil", r.Metadata)
		}
	}
	left := map[string]bool{strconv.FormatInt(videos[3].ID, 10): true, strconv.FormatInt(videos[200].ID, 10): true}
	count := map[stage.Status]int{}
	for _, o := range outcomes {
		count[o.Status]++
		if absent := strings.Contains(o.Detail, "never there"); absent != left[o.Seed] {
			t.Errorf("%+v, want %v", o, left[o.Seed])
		}
	}
	// None is `not_found`: what the interface leaves out may be there on TikTok.
	if count[stage.OK] != 238 || count[stage.Unsupported] != 4 || len(count) != 2 {
		t.Errorf("%v, want count[stage.OK] 238, count[stage.Unsupported] 4 and 2 count", count)
	}
	if n := len(b.Asked()); n > 12 {
		t.Errorf("asked %d times, want at most 12", n)
	}
}

// TestRefreshKnowsWhatItDoesNotKnow: a video that could not be looked up is not gone.
func TestRefreshKnowsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	videos := spread(60)
	b := setup(t, videos...)
	var asked atomic.Int64
	b.Intercept = func(w http.ResponseWriter, _ *http.Request, _ tiktoktest.Query) bool {
		if asked.Add(1) <= 2 {
			return false
		}
		tiktoktest.Fail(w, 429, "daily_quota_limit_exceeded", "x")
		return true
	}
	records, outcomes, err := stagetest.Refresh(t, b.spec, b.call, refs(videos))
	if err != nil || len(outcomes) != 60 || len(records) == 0 || len(records) == 60 || len(b.Asked()) != 3 {
		t.Fatalf("got %d records, %d outcomes, error %v, %d requests; want some but not all of 60 records, 60 outcomes and 3 requests", len(records), len(outcomes), err, len(b.Asked()))
	}
	for _, o := range outcomes {
		if o.Status != stage.OK && (o.Status != stage.Quota || o.RetryAt == nil) {
			t.Fatalf("%+v", o)
		}
	}
}
