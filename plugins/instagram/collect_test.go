package instagram

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/instagram/instagramtest"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// bundle is the stage before a double, with a clock that does not wait.
type bundle struct {
	*instagramtest.Server
	clock *sitetest.Clock
	spec  stage.Spec
	call  stage.Call
	tags  map[string]bool // what was spent
	most  int             // how many tags the host grants
	log   strings.Builder
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{Server: instagramtest.New(t), clock: sitetest.NewClock(time.Now()), tags: map[string]bool{}, most: 30}
	b.timeout(10 * time.Second)
	b.call = stage.Call{
		Settings: map[string]string{"user_id": instagramtest.User, "api_url": b.URL},
		Secrets:  map[string]string{"access_token": instagramtest.Token},
		Log:      slog.New(slog.NewTextHandler(io.MultiWriter(&b.log, t.Output()), &slog.HandlerOptions{Level: slog.LevelDebug})),
		Grant:    b.grant,
	}
	return b
}

func (b *bundle) grant(_ context.Context, quota string, units int64, item string) error {
	if quota != "hashtags" || units != 1 || item == "" {
		panic("spent " + quota + " on " + item)
	}
	if !b.tags[item] && len(b.tags) >= b.most {
		return stage.Quotaf(b.clock.Now().Add(48*time.Hour), "quota hashtags is used up")
	}
	b.tags[item] = true
	return nil
}

// timeout is how long an answer may take, of real time.
func (b *bundle) timeout(d time.Duration) {
	b.spec = source{site.Options{Clock: b.clock, Timeout: d}}.spec()
}

func handle(name string, limit int) stage.Seed {
	return stage.Seed{Kind: "competitor", Platform: "instagram", Handle: name, Limit: limit}
}

func term(text string) stage.Seed { return stage.Seed{Kind: "niche", Term: text} }

// feed are n posts of an account, the newest first; every third is a picture.
func feed(n int) []instagramtest.Post {
	var all []instagramtest.Post
	for i := range n {
		post := instagramtest.Reel(i, time.Now().Add(-time.Duration(i+1)*time.Hour))
		if i%3 == 2 {
			post["media_type"], post["media_product_type"] = "IMAGE", "FEED"
			delete(post, "view_count")
		}
		all = append(all, post)
	}
	return all
}

func (b *bundle) collect(t *testing.T, seeds ...stage.Seed) ([]stage.Record, []stage.Outcome) {
	t.Helper()
	records, outcomes, err := stagetest.Collect(t, b.spec, b.call, seeds)
	if err != nil {
		t.Fatal(err)
	}
	if len(outcomes) != len(seeds) {
		t.Fatalf("%d outcomes for %d seeds: %+v", len(outcomes), len(seeds), outcomes)
	}
	b.discreet(t, outcomes)
	seen := map[string]bool{}
	for _, r := range records {
		if seen[r.ExternalID] {
			t.Errorf("%s comes twice", r.ExternalID)
		}
		seen[r.ExternalID] = true
	}
	return records, outcomes
}

// discreet checks that the token is in no address, log or detail.
func (b *bundle) discreet(t *testing.T, outcomes []stage.Outcome) {
	t.Helper()
	said := b.log.String() + strings.Join(b.Asked(), " ")
	for _, o := range outcomes {
		said += o.Detail
	}
	for _, secret := range []string{instagramtest.Token, url.QueryEscape(instagramtest.Token), "access_token="} {
		if strings.Contains(said, secret) {
			t.Errorf("got %s in the log or an outcome, want it nowhere", secret)
		}
	}
}

func want(t *testing.T, o stage.Outcome, status stage.Status, returned int) {
	t.Helper()
	if o.Status != status || o.Returned != returned || o.Platform != platform || (status != stage.OK && status != stage.Empty && o.Detail == "") {
		t.Errorf("%+v, want %s with %d", o, status, returned)
	}
}

func TestHandle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Accounts["kettle.co"] = instagramtest.Account{ID: "17841407673135339", Followers: 64976, Posts: feed(120)}
	hidden := b.Accounts["kettle.co"].Posts[1]
	delete(hidden, "like_count")
	records, outcomes := b.collect(t, handle("@Kettle.co", 70))
	want(t, outcomes[0], stage.OK, 70)
	if len(records) != 70 || outcomes[0].Asked != 70 || len(b.Asked()) != 3 {
		t.Fatalf("%d records, %+v, asked %d times, want 70 records, Asked 70 and 3 Asked", len(records), outcomes[0], len(b.Asked()))
	}
	r := records[0]
	if r.ExternalID != "Cdouble0" || r.SourceURL != "https://www.instagram.com/reel/Cdouble0/" || r.CreatorID != "17841407673135339" ||
		r.Source.Handle != "kettle.co" || r.Seed != "@Kettle.co" || *r.Metrics.Views != 1000 || *r.Metrics.Likes != 50 || *r.Metrics.Comments != 0 ||
		r.Metrics.Shares != nil || r.Metrics.Saves != nil || r.Metrics.Semantics != "paid_and_organic" || time.Since(time.UnixMilli(*r.PostedAt)) > 2*time.Hour {
		t.Errorf(`%+v, want ExternalID "Cdouble0", SourceURL "https://www.instagram.com/reel/Cdouble0/", CreatorID "17841407673135339", Handle "kettle.co", Seed "@Kettle.co", Views 1000, Likes 50, Comments 0, no Shares, no Saves, Semantics "paid_and_organic" and time at most %v`, r, 2*time.Hour)
	}
	if want := `{"caption":"Kettle no. 0 #kettle #Tea","hashtags":["kettle","Tea"],"mediaId":"17885103395504675","creatorFollowers":64976,"interface":"graph"}`; string(r.Metadata) != want {
		t.Errorf("metadata %s, want %s", r.Metadata, want)
	}
	if m := records[1].Metrics; m.Likes != nil || *m.Views != 1001 {
		t.Errorf("hidden likes are %+v, want no Likes and Views 1001", m)
	}
	if len(b.tags) != 0 {
		t.Errorf("a handle spent %v, want none", b.tags)
	}
}

func TestHandlesThatBringNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Accounts["quiet"] = instagramtest.Account{ID: "1"}
	pictures := feed(700)
	for _, post := range pictures {
		post["media_product_type"], post["media_type"] = "FEED", "IMAGE"
	}
	b.Accounts["painter"] = instagramtest.Account{ID: "2", Posts: pictures}
	_, outcomes := b.collect(t, handle("nobody", 5), handle("@nobody", 5), handle("quiet", 5), handle("no body){id}", 5), handle("painter", 5))
	want(t, outcomes[0], stage.NotFound, 0)
	want(t, outcomes[1], stage.NotFound, 0)
	want(t, outcomes[2], stage.Empty, 0)
	want(t, outcomes[3], stage.Unsupported, 0)
	want(t, outcomes[4], stage.Partial, 0)
	if n := len(b.Asked()); n != 1+1+10 {
		t.Errorf("asked %d times, want %v", n, 1+1+10)
	}
}

func TestHashtag(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Tags["singingkettle"] = append(feed(60), instagramtest.Post{"id": "5", "media_type": "VIDEO", "permalink": "https://www.instagram.com/ada/reel/Cother12345/?x=1"})
	records, outcomes := b.collect(t, term("Singing kettle"), term("#singingkettle"), term("unknown"), term("!"), term("12"))
	want(t, outcomes[0], stage.OK, 41)
	want(t, outcomes[1], stage.OK, 41)
	want(t, outcomes[2], stage.NotFound, 0)
	want(t, outcomes[3], stage.Unsupported, 0)
	want(t, outcomes[4], stage.Unsupported, 0)
	if len(records) != 41 || len(b.tags) != 2 {
		t.Fatalf("%d records, spent %v, want 41 records and 2 tags", len(records), b.tags)
	}
	for _, r := range records {
		if r.Metrics.Views != nil || r.Metrics.Semantics != "" || r.Source != nil || r.CreatorID != "" || r.ExternalID[0] != 'C' {
			t.Fatalf("%+v, want no Views, Semantics empty, no Source, CreatorID empty and ExternalID[0] 'C'", r)
		}
	}
	if *records[0].Metrics.Likes != 50 || records[40].ExternalID != "Cother12345" || records[40].Metrics.Likes != nil {
		t.Errorf(`%+v, want Likes 50, ExternalID "Cother12345" and no Likes`, records[40])
	}
}

// TestHashtagQuota: one that may not be asked for does not end the others.
func TestHashtagQuota(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.tags["old"], b.most = true, 2
	b.Tags["old"], b.Tags["one"], b.Tags["two"] = feed(3), feed(2), feed(1)
	records, outcomes := b.collect(t, term("one"), term("two"), term("old"))
	want(t, outcomes[0], stage.OK, 2)
	want(t, outcomes[1], stage.Quota, 0)
	want(t, outcomes[2], stage.OK, 2)
	if len(records) != 2 || outcomes[1].RetryAt == nil {
		t.Errorf("%d records, %+v, want 2 records and RetryAt not nil", len(records), outcomes[1])
	}
}

// TestStrangePosts: whatever one post is like, the others stay, and so does what
// can be read of it.
func TestStrangePosts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var posts []instagramtest.Post
	for _, raw := range []string{
		`{"id":17885103395504675,"shortcode":"Cgood1","media_product_type":"REELS","view_count":"7","like_count":9,"comments_count":-1,"timestamp":"yesterday"}`,
		`{"id":"2","permalink":"https://www.instagram.com/reel/Cgood2/","media_product_type":"REELS","caption":"a\u0000b \ud83d","like_count":1e3,"view_count":9007199254740993,"timestamp":"2019-09-26T22:36:43+0000"}`,
		`{"id":"3","media_product_type":"REELS","view_count":5}`,
		`{"id":"4","shortcode":"../../x","media_product_type":"REELS"}`,
		`null`, `[]`, `"x"`, `{"id":"5","shortcode":"Cunknown","media_type":"VIDEO"}`,
		`{"id":"6","shortcode":"Cgood1","media_product_type":"REELS"}`,
	} {
		posts = append(posts, instagramtest.Post{"raw": json.RawMessage(raw)})
	}
	b.Accounts["odd"] = instagramtest.Account{ID: "9", Posts: posts}
	records, outcomes := b.collect(t, handle("odd", 0))
	want(t, outcomes[0], stage.Partial, 2)
	if !strings.HasPrefix(outcomes[0].Detail, "5 posts") { // null is no video, so it is not missed
		t.Errorf(`%q, want starting with "5 posts"`, outcomes[0].Detail)
	}
	one, two := records[0], records[1]
	if *one.Metrics.Views != 7 || *one.Metrics.Likes != 9 || one.Metrics.Comments != nil || one.PostedAt != nil || !strings.Contains(string(one.Metadata), `"mediaId":"17885103395504675"`) {
		t.Errorf("%+v %s, want Views 7, Likes 9, no Comments, no PostedAt and Metadata with %q", one, one.Metadata, `"mediaId":"17885103395504675"`)
	}
	if two.Metrics.Views != nil || *two.Metrics.Likes != 1000 || *two.PostedAt != 1569537403000 || !strings.Contains(string(two.Metadata), "\"caption\":\"a\uFFFDb \uFFFD") {
		t.Errorf("%+v %s, want no Views, Likes 1000, PostedAt 1569537403000 and Metadata with %q", two, two.Metadata, "\"caption\":\"a\uFFFDb \uFFFD")
	}
}

// TestKindsThatAreMissing: an account whose videos have no kind, in their address neither,
// is not an empty one.
func TestKindsThatAreMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	posts := feed(4)
	for _, post := range posts {
		delete(post, "media_product_type")
		post["permalink"] = "https://www.instagram.com/p/" + post["shortcode"].(string) + "/"
	}
	b.Accounts["old"] = instagramtest.Account{ID: "9", Posts: posts}
	_, outcomes := b.collect(t, handle("old", 0))
	want(t, outcomes[0], stage.Changed, 0)
}

// TestRecordedPages reads what the real interface once sent, before it sent kinds.
func TestRecordedPages(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	folder := os.Getenv("SCROLLERY_TEST_DATA")
	if folder == "" {
		folder = "../../../shared/data"
	}
	for _, name := range []string{"business_discovery_media_p1", "business_discovery_media_p2", "business_discovery_user", "hashtag_search", "hashtag_recent_media_p1"} {
		raw, err := os.ReadFile(filepath.Join(folder, "api-shapes", "instagram_"+name+".json"))
		if err != nil {
			t.Skipf("no recorded answers (SCROLLERY_TEST_DATA): %v", err)
		}
		pages[name] = string(raw)
	}
	b := setup(t)
	kinds := strings.NewReplacer(`"media_type":"VIDEO"`, `"media_type":"VIDEO","media_product_type":"REELS"`, `"media_type":"IMAGE"`, `"media_type":"IMAGE","media_product_type":"FEED"`)
	b.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		fields, body := r.URL.Query().Get("fields"), ""
		switch {
		case strings.Contains(fields, "username(user)"):
			body = pages["business_discovery_user"]
		case strings.Contains(fields, ".after(after)"):
			body = kinds.Replace(pages["business_discovery_media_p2"])
		case strings.Contains(fields, "business_discovery"):
			body = kinds.Replace(pages["business_discovery_media_p1"])
		case strings.HasSuffix(r.URL.Path, "ig_hashtag_search"):
			body = pages["hashtag_search"]
		default:
			body = pages["hashtag_recent_media_p1"]
		}
		_, _ = io.WriteString(w, body)
		return true
	}
	records, outcomes := b.collect(t, handle("facebookfordevelopers", 0), handle("user", 0), term("developers"))
	want(t, outcomes[0], stage.Partial, 1) // the recorded pages lead on to themselves
	want(t, outcomes[1], stage.Changed, 0)
	want(t, outcomes[2], stage.Empty, 0) // five pictures
	if n := len(b.Asked()); n != 2+1+1+2+2 {
		t.Errorf("asked %d times, want %v", n, 2+1+1+2+2)
	}
	if r := records[0]; r.ExternalID != "CSZsJf-iJLj" || *r.Metrics.Likes != 86 || r.Metrics.Views != nil || r.Metrics.Semantics != "" || *r.PostedAt != 1628614662000 {
		t.Errorf(`%+v, want ExternalID "CSZsJf-iJLj", Likes 86, no Views, Semantics empty and PostedAt 1628614662000`, r)
	}
}
