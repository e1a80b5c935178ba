package tiktok

import (
	"net/http"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
	"github.com/scrollery/scrollery/plugins/tiktok/tiktoktest"
)

func TestFaultsOfEveryInterface(t *testing.T) {
	t.Parallel()
	const videos = 7
	sitetest.Suite(t, sitetest.Subject{
		Videos: videos,
		Collect: func(t *testing.T, fault func(http.ResponseWriter, *http.Request) bool) ([]stage.Record, stage.Outcome) {
			t.Helper()
			b := setup(t, clips("kettle.co", videos)...)
			b.timeout(time.Second)
			if fault != nil {
				b.Intercept = func(w http.ResponseWriter, r *http.Request, _ tiktoktest.Query) bool { return fault(w, r) }
			} else {
				b.timeout(10 * time.Second)
			}
			records, outcomes := b.collect(t, handle("kettle.co", 0))
			return records, outcomes[0]
		},
		Refuse: func(t *testing.T, silent bool) (string, []stage.Record, stage.Outcome) {
			t.Helper()
			b := setup(t, clips("kettle.co", videos)...)
			b.Lacks, b.Silent = []string{"favorites_count"}, silent
			records, outcomes := b.collect(t, handle("kettle.co", 0))
			for _, r := range records {
				if m := r.Metrics; m.Saves != nil || m.Views == nil || *m.Views != 100 || m.Likes == nil || len(r.Metadata) == 0 {
					t.Errorf("metrics %+v, want all but the saves", m)
				}
			}
			return "favorites_count", records, outcomes[0]
		},
		Bucket:     failing(429, "daily_quota_limit_exceeded", "Daily quota limit exceeded"),
		TokenEnded: failing(401, "access_token_invalid", "The access token is invalid or not found in the request."),
		Renamed:    sitetest.Text(200, `{"data":{"items":[{"id":7320768196569599275}],"cursor":100,"has_more":false,"search_id":"1"},"error":{"code":"ok"}}`),
		Empty:      sitetest.Text(200, `{"data":{"videos":[],"cursor":100,"has_more":false,"search_id":"1"},"error":{"code":"ok"}}`),
	})
}

// TestRefusedNameIsAskedForOnce: the next seed and the next page go without it.
func TestRefusedNameIsAskedForOnce(t *testing.T) {
	t.Parallel()
	others := clips("other", 30)
	for i := range others {
		others[i].ID++ // no video of kettle.co
	}
	b := setup(t, append(clips("kettle.co", 250), others...)...)
	b.Lacks = []string{"voice_to_text", "video_label"}
	records, outcomes := b.collect(t, handle("kettle.co", 250), handle("other", 30))
	want(t, outcomes[0], stage.Partial, 250)
	want(t, outcomes[1], stage.Partial, 30)
	if got := len(b.Asked()); len(records) != 280 || got != 2+3+1 {
		t.Errorf("%d records for %d requests, want 280 for 6: two refused, three pages and one", len(records), got)
	}
}

func TestRefreshWithoutARefusedName(t *testing.T) {
	t.Parallel()
	all := clips("kettle.co", 3)
	b := setup(t, all[:2]...)
	b.Lacks = []string{"like_count"}
	refs := refs(all)
	records, outcomes, err := stagetest.Refresh(t, b.spec, b.call, refs)
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]stage.Status{}
	for _, o := range outcomes {
		status[o.Seed] = o.Status
	}
	if len(records) != 2 || status[refs[0].ExternalID] != stage.Partial || status[refs[2].ExternalID] != stage.Unsupported {
		t.Errorf("%d records, outcomes %+v; want 2, partial, and unsupported for the one that is not there", len(records), outcomes)
	}
}

func TestStickersAreTextOnTheScreen(t *testing.T) {
	t.Parallel()
	one := clips("kettle.co", 1)
	one[0].Stickers = []string{"3 mistakes", "", "with espresso"}
	b := setup(t, one...)
	records, _ := b.collect(t, handle("kettle.co", 0))
	if len(records) != 1 || len(records[0].Stickers) != 2 || records[0].Stickers[0].Text != "3 mistakes" || records[0].Stickers[1].Text != "with espresso" {
		t.Errorf("got %+v, want the stickers `3 mistakes` and `with espresso`", records)
	}
}
