package instagram

import (
	"net/http"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/instagram/instagramtest"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func TestFaultsOfEveryInterface(t *testing.T) {
	t.Parallel()
	const videos = 6 // of nine posts
	sitetest.Suite(t, sitetest.Subject{
		Videos: videos,
		Collect: func(t *testing.T, fault func(http.ResponseWriter, *http.Request) bool) ([]stage.Record, stage.Outcome) {
			t.Helper()
			b := setup(t)
			b.Accounts["kettle"] = instagramtest.Account{ID: "1", Posts: feed(9)}
			if b.Intercept = fault; fault != nil {
				b.timeout(time.Second)
			}
			records, outcomes := b.collect(t, handle("kettle", 0))
			return records, outcomes[0]
		},
		Refuse: func(t *testing.T, silent bool) (string, []stage.Record, stage.Outcome) {
			t.Helper()
			b := setup(t)
			b.Accounts["kettle"] = instagramtest.Account{ID: "1", Followers: 9, Posts: feed(9)}
			b.Lacks, b.Silent = []string{"view_count"}, silent
			records, outcomes := b.collect(t, handle("kettle", 0))
			for _, r := range records {
				if m := r.Metrics; m.Views != nil || m.Likes == nil || m.Comments == nil || m.Followers == nil || r.PostedAt == nil {
					t.Errorf("metrics %+v, posted at %v; want all but the views", m, r.PostedAt)
				}
			}
			return "view_count", records, outcomes[0]
		},
		Bucket:     failing(400, 4, "(#4) Application request limit reached"),
		TokenEnded: failing(400, 190, "Error validating access token: Session has expired"),
		Renamed:    sitetest.Text(200, `{"business_discovery":{"id":"1","username":"kettle","media_count":9,"posts":{"data":[{"id":"1"}]}}}`),
		Empty:      sitetest.Text(200, `{"business_discovery":{"id":"1","username":"kettle","media_count":0}}`),
	})
}

// TestKindThatIsRefused: the address says which posts are reels.
func TestKindThatIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	posts := feed(9)
	for _, post := range posts {
		if post["media_type"] == "IMAGE" {
			post["permalink"] = "https://www.instagram.com/p/" + post["shortcode"].(string) + "/"
		}
	}
	b.Accounts["kettle"] = instagramtest.Account{ID: "1", Posts: posts}
	b.Lacks = []string{"media_product_type", "shortcode"}
	records, outcomes := b.collect(t, handle("kettle", 0))
	want(t, outcomes[0], stage.Partial, 6)
	if len(records) != 6 || records[0].ExternalID != "Cdouble0" {
		t.Errorf("got %+v, want the 6 reels by the codes in their addresses", records)
	}
}

func TestFieldOfHashtagsThatIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Tags["kettle"] = feed(9)
	b.Lacks = []string{"timestamp"}
	_, outcomes := b.collect(t, term("kettle"), term("kettle #2"))
	want(t, outcomes[0], stage.Partial, 6)
}

func TestRefreshWithoutARefusedName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Accounts["kettle"] = instagramtest.Account{ID: "1", Posts: feed(3)}
	b.Lacks = []string{"view_count"}
	b.call.Brief = stage.Brief{Competitors: []string{"instagram:kettle"}}
	records, outcomes, err := stagetest.Refresh(t, b.spec, b.call, []stage.Ref{{Platform: platform, ExternalID: "Cdouble0"}, {Platform: platform, ExternalID: "Cgone"}})
	if err != nil || len(records) != 1 || outcomes[0].Status != stage.Partial || outcomes[1].Status != stage.Unsupported {
		t.Errorf("%d records, outcomes %+v, error %v; want 1, partial and unsupported", len(records), outcomes, err)
	}
}

// TestPageThatIsTooLarge: it is asked for by halves, and the size is kept.
func TestPageThatIsTooLarge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most, asked, returned int
		status                stage.Status
	}{
		"a quarter": {12, 2 + 7 + 1, 50, stage.OK}, // refused twice; then 84 posts, and 9
		"nothing":   {1, 5 + 1, 0, stage.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Accounts["kettle"] = instagramtest.Account{ID: "1", Posts: feed(90)}
			b.Accounts["pot"] = instagramtest.Account{ID: "2", Posts: feed(9)}
			b.Most = c.most
			records, outcomes := b.collect(t, handle("kettle", 0), handle("pot", 0))
			want(t, outcomes[0], c.status, c.returned)
			if len(records) != c.returned || len(b.Asked()) != c.asked {
				t.Errorf("%d records for %d requests, want %d for %d", len(records), len(b.Asked()), c.returned, c.asked)
			}
		})
	}
}
