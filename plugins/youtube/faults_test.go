package youtube

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
	"github.com/scrollery/scrollery/plugins/youtube/youtubetest"
)

func failing(status int, reason, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { youtubetest.Fail(w, status, reason, message) }
}

func TestFaultsOfEveryInterface(t *testing.T) {
	t.Parallel()
	const videos = 7
	beans := func(t *testing.T) *bench {
		t.Helper()
		b := newBench(t)
		b.Channels = []youtubetest.Channel{{ID: beansID, Handle: "Beans", Shorts: b.add("short", videos, nil), Subscribers: "5"}}
		return b
	}
	sitetest.Suite(t, sitetest.Subject{
		Videos: videos,
		Collect: func(t *testing.T, fault func(http.ResponseWriter, *http.Request) bool) ([]stage.Record, stage.Outcome) {
			t.Helper()
			b := beans(t)
			b.Intercept = fault
			records, outcomes := b.collect(t, handle("beans", 0))
			return records, outcomes[0]
		},
		Refuse: func(t *testing.T, silent bool) (string, []stage.Record, stage.Outcome) {
			t.Helper()
			b := beans(t)
			b.Lacks, b.Silent = []string{"statistics"}, silent
			records, outcomes := b.collect(t, handle("beans", 0))
			for _, r := range records {
				if r.Metrics.Views != nil || r.PostedAt == nil || !strings.Contains(string(r.Metadata), `"durationSeconds":58`) {
					t.Errorf("got %+v %s, want all but the counts", r, r.Metadata)
				}
			}
			return "statistics", records, outcomes[0]
		},
		Bucket:     failing(403, "quotaExceeded", "The request cannot be completed because you have exceeded your quota."),
		TokenEnded: failing(400, "badRequest", "API key expired. Please renew the API key."),
		Renamed:    sitetest.Text(200, `{"kind":"youtube#channelListResponse","channels":[{"id":"`+beansID+`"}]}`),
		Empty: func(w http.ResponseWriter, r *http.Request) {
			body := `{"kind":"youtube#playlistItemListResponse","items":[]}`
			if strings.HasSuffix(r.URL.Path, "/channels") {
				body = `{"kind":"youtube#channelListResponse","items":[{"id":"` + beansID + `"}]}`
			}
			sitetest.Text(200, body)(w, r)
		},
	})
}

// TestSearchBucket: searches have an allowance of their own, and handles go on without it.
func TestSearchBucket(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Channels = []youtubetest.Channel{{ID: beansID, Handle: "Beans", Shorts: b.add("short", 3, nil)}}
	b.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		over := strings.HasSuffix(r.URL.Path, "/search")
		if over {
			failing(429, "rateLimitExceeded", "Quota exceeded for quota metric 'Search Queries'")(w, r)
		}
		return over
	}
	_, outcomes := b.collect(t, handle("beans", 0), term("espresso", 0), term("crema", 0))
	if outcomes[0].Status != stage.OK || outcomes[1].Status != stage.Quota || outcomes[2].Status != stage.Quota || b.Count("search") != 1 {
		t.Errorf("got %+v after %d searches, want ok, quota, quota after 1", outcomes, b.Count("search"))
	}
}

// TestDurationThatIsRefused: no video of a search is a Short then, which is not nothing.
func TestDurationThatIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Found["espresso"] = b.add("short", 3, nil)
	b.Lacks = []string{"contentDetails"}
	_, outcomes := b.collect(t, term("espresso", 0))
	if o := outcomes[0]; o.Status != stage.Partial || !strings.Contains(o.Detail, "contentDetails") {
		t.Errorf("got %+v, want partial and contentDetails in the detail", o)
	}
}

func TestSearchesLookBack(t *testing.T) {
	t.Parallel()
	for days, want := range map[string][]string{"": {"new"}, "400": {"new", "old"}, "0": {"new", "old", "older"}} {
		t.Run("days "+days, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for id, published := range map[string]string{"new": "2026-08-20T00:00:00Z", "old": "2026-01-01T00:00:00Z", "older": "2019-01-01T00:00:00Z"} {
				b.Found["espresso"] = append(b.Found["espresso"], b.add(id, 1, func(_ int, v *youtubetest.Video) { v.ID, v.Published = id+"s", published })...)
			}
			call := b.call()
			if days != "" {
				call.Settings["days"] = days
			}
			records, _, err := stagetest.Collect(t, b.spec, call, []stage.Seed{term("espresso", 0)})
			var got []string
			for _, r := range records {
				got = append(got, strings.TrimSuffix(r.ExternalID, "s"))
			}
			if slices.Sort(got); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, error %v; want %v", got, err, want)
			}
		})
	}
}

// TestRefreshWithoutStats: what videos.batchGetStats leaves out, or does not answer, is
// looked up as before.
func TestRefreshWithoutStats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*bench)
		spent  string
	}{
		"all answered":   {func(*bench) {}, "map[stats:2 units:1]"},
		"some left out":  {func(b *bench) { b.Unstated = []string{"known00001", "known00055"} }, "map[stats:2 units:2]"},
		"no such method": {func(b *bench) { b.NoStats = true }, "map[stats:1 units:2]"},
		"used up":        {func(b *bench) { b.refuse["stats"] = stage.Quotaf(time.Now().Add(time.Hour), "used up") }, "map[units:2]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ids := b.add("known", 60, nil)
			delete(b.Videos, ids[7])
			c.change(b)
			var refs []stage.Ref
			for _, id := range ids {
				refs = append(refs, stage.Ref{Platform: "youtube", ExternalID: id})
			}
			records, outcomes, err := stagetest.Refresh(t, b.spec, b.call(), refs)
			if err != nil || len(records) != 59 {
				t.Fatalf("%d records, error %v; want 59", len(records), err)
			}
			for _, r := range records {
				if m := r.Metrics; m.Views == nil || *m.Views != 1<<53-1 || *m.Likes != 7 || m.Comments != nil || m.Semantics != "exact" || *r.PostedAt != 1785924000000 {
					t.Fatalf("got %+v posted at %d, want the exact counts and time", m, *r.PostedAt)
				}
			}
			for _, o := range outcomes {
				if gone := o.Status == stage.NotFound; gone != (o.Seed == ids[7]) {
					t.Errorf("got %+v, want %s alone gone", o, ids[7])
				}
			}
			if got := fmt.Sprint(b.spent); got != c.spent {
				t.Errorf("spent %s, want %s", got, c.spent)
			}
		})
	}
}
