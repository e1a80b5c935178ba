package instagram

import (
	"reflect"
	"testing"

	"github.com/scrollery/scrollery/plugins/instagram/instagramtest"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

func TestHandlesOf(t *testing.T) {
	t.Parallel()
	got := handlesOf(stage.Brief{Website: "https://www.instagram.com/own.name/?hl=en", Competitors: []string{
		"@ada", "instagram:@bob", "instagram.com/cid", "https://tiktok.com/@dee", "tiktok:eve", "example.com", "https://instagram.com/p/Cx", "A name", "@ada", "bare",
	}})
	if want := []string{"own.name", "ada", "bob", "cid"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Accounts["kettle"] = instagramtest.Account{ID: "1", Posts: feed(120)}
	b.call.Brief.Competitors = []string{"@gone", "instagram:kettle", "@unused"}
	ref := func(code string) stage.Ref { return stage.Ref{Platform: platform, ExternalID: code} }
	records, outcomes, err := stagetest.Refresh(t, b.spec, b.call, []stage.Ref{ref("Cdouble100"), ref("Cdouble3"), ref("Cdouble3"), ref("Celsewhere")})
	if err != nil || len(records) != 2 || len(outcomes) != 3 {
		t.Fatalf("got %d records, outcomes %+v, error %v; want 2 and 3", len(records), outcomes, err)
	}
	b.discreet(t, outcomes)
	want(t, outcomes[0], stage.OK, 1)
	want(t, outcomes[1], stage.OK, 1)
	want(t, outcomes[2], stage.Unsupported, 0) // not `not_found`: not every list was read
	if *records[0].Metrics.Views != 1003 || records[0].Metadata != nil {
		t.Errorf("%+v, want Views 1003 and no Metadata", records[0])
	}

	asked := len(b.Asked())
	if _, outcomes, err = stagetest.Refresh(t, b.spec, b.call, []stage.Ref{ref("Cdouble0")}); err != nil || len(b.Asked())-asked != 2 {
		t.Errorf("asked %d times for one that is on the first page; %v", len(b.Asked())-asked, err)
	}
	want(t, outcomes[0], stage.OK, 1)
	b.Intercept = sitetest.Times(sitetest.Always, failing(400, 190, "expired"))
	_, outcomes, err = stagetest.Refresh(t, b.spec, b.call, []stage.Ref{ref("Cdouble0")})
	if err != nil {
		t.Fatal(err)
	}
	want(t, outcomes[0], stage.Misconfigured, 0)
	b.call.Settings["user_id"] = "x"
	_, outcomes, err = stagetest.Refresh(t, b.spec, b.call, []stage.Ref{ref("Cdouble0")})
	if err != nil {
		t.Fatal(err)
	}
	want(t, outcomes[0], stage.Misconfigured, 0)
}
