package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/instagram/instagramtest"
	"github.com/scrollery/scrollery/plugins/plugintest/modeltest"
	"github.com/scrollery/scrollery/plugins/tiktok/tiktoktest"
	"github.com/scrollery/scrollery/plugins/youtube/youtubetest"
)

// platforms are doubles of the sites, which real, confined plugins ask.
type platforms struct {
	tiktok    *tiktoktest.Server
	instagram *instagramtest.Server
	youtube   *youtubetest.Server
}

func newPlatforms(t *testing.T) *platforms {
	t.Helper()
	p := &platforms{instagram: instagramtest.New(t), youtube: youtubetest.New(t)}
	var videos []tiktoktest.Video
	for i := range 5 {
		at := time.Now().Add(-time.Duration(i+1) * time.Hour)
		videos = append(videos, tiktoktest.Video{ID: tiktoktest.At(at, i), Username: "kettle.co", Created: at, Caption: "A kettle that sings"})
	}
	p.tiktok = tiktoktest.New(t, videos...)
	channel := youtubetest.Channel{ID: "UCkettlekettlekettlekett", Handle: "kettle.co"}
	for i := range 3 {
		v := youtubetest.Video{
			ID: fmt.Sprintf("short%06d", i), Title: "A kettle that sings", Channel: channel.ID, ChannelTitle: "Kettle",
			Published: time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), Duration: "PT20S",
			Counts: map[string]any{"viewCount": fmt.Sprint(100 * (i + 1))},
		}
		p.youtube.Videos[v.ID] = v
		channel.Shorts = append(channel.Shorts, v.ID)
	}
	p.youtube.Channels = []youtubetest.Channel{channel}
	reels := []instagramtest.Post{}
	for i := range 4 {
		reels = append(reels, instagramtest.Reel(i, time.Now().Add(-time.Hour)))
	}
	p.instagram.Accounts["kettle.co"] = instagramtest.Account{ID: "17841407673135339", Followers: 5, Posts: reels}
	p.instagram.Tags["kettle"] = []instagramtest.Post{instagramtest.Reel(40, time.Now().Add(-time.Hour))}
	return p
}

// configure leads the plugins to the doubles; they never wait.
func (p *platforms) configure(cfg *app.Config) {
	for name, value := range map[string]string{
		"YOUTUBE_DERIVED_METRICS_ACCEPTED": "yes", "YOUTUBE_API_KEY": youtubetest.Key,
		"TIKTOK_ELIGIBLE": "yes", "TIKTOK_CLIENT_KEY": tiktoktest.Key, "TIKTOK_CLIENT_SECRET": tiktoktest.Secret,
		"INSTAGRAM_USER_ID": instagramtest.User, "INSTAGRAM_TOKEN": instagramtest.Token,
	} {
		cfg.SetStage(name, value)
	}
	cfg.Plugins.Settings = map[string]map[string]string{
		"tiktok":    {"api_url": p.tiktok.URL, "patience": "0s"},
		"instagram": {"api_url": p.instagram.URL, "patience": "0s"},
		"youtube":   {"api_url": p.youtube.URL, "patience": "0s"},
	}
}

// told is an entry of a scroll's coverage.
type told struct {
	Seed, Platform, Outcome string
	Returned                int
	RetryAt                 *int64
}

// scroll makes one, for a brief with a competitor on each platform.
func (p *platforms) scroll(t *testing.T, account *apptest.Caller, body string) (coverage []told, seen map[string]int) {
	t.Helper()
	account.Get(t, `POST /v1/workspace {"description":"kettle","competitors":["tiktok:kettle.co","instagram:kettle.co","youtube:kettle.co"]}`, &struct{}{})
	scroll := account.Scroll(t, body)
	if scroll.Status != "completed" {
		t.Fatalf(`%+v, want "completed"`, scroll)
	}
	var got struct {
		Scroll struct{ Progress struct{ Coverage []told } }
	}
	account.Get(t, "GET /v1/scrolls?id="+scroll.ID, &got)
	var library struct{ Videos []struct{ Platform string } }
	account.Get(t, "GET /v1/library?limit=25", &library)
	seen = map[string]int{}
	for _, item := range library.Videos {
		seen[item.Platform]++
	}
	return got.Scroll.Progress.Coverage, seen
}

// on is the coverage of a platform; it must tell of each seed there.
func on(t *testing.T, coverage []told, platform string) map[string]told {
	t.Helper()
	entries := map[string]told{}
	for _, c := range coverage {
		if c.Platform == platform {
			entries[c.Seed] = c
		}
	}
	if _, ok := entries["kettle.co"]; !ok {
		t.Fatalf("nothing is told of kettle.co on %s, want one: %+v", platform, coverage)
	}
	return entries
}

func TestOneIsDownOneIsSpentOneAnswers(t *testing.T) {
	t.Parallel()
	p := newPlatforms(t)
	p.tiktok.Close() // no one listens there any more
	p.instagram.Header.Set("X-Business-Use-Case-Usage", `{"1":[{"type":"instagram","call_count":100,"estimated_time_to_regain_access":19}]}`)
	p.instagram.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		instagramtest.Fail(w, 400, 4, "(#4) Application request limit reached")
		return true
	}
	running := apptest.Start(t, p.configure)
	coverage, seen := p.scroll(t, running.Account(t, "pro"), "{}")
	for seed, c := range on(t, coverage, "tiktok") {
		if c.Outcome != "blocked" || c.Returned != 0 || c.RetryAt == nil {
			t.Errorf(`%s on tiktok: %+v, want Outcome "blocked", Returned 0 and RetryAt not nil`, seed, c)
		}
	}
	for seed, c := range on(t, coverage, "instagram") {
		if c.Outcome != "quota" || c.Returned != 0 || c.RetryAt == nil || (time.Until(time.UnixMilli(*c.RetryAt))-19*time.Minute).Abs() > 2*time.Minute {
			t.Errorf(`%s on instagram: %+v, want Outcome "quota", Returned 0, RetryAt not nil and difference at most %v`, seed, c, 2*time.Minute)
		}
	}
	if c := on(t, coverage, "youtube")["kettle.co"]; c.Outcome != "ok" || c.Returned != 3 || c.RetryAt != nil {
		t.Errorf(`on youtube: %+v, want Outcome "ok", Returned 3 and no RetryAt`, c)
	}
	if seen["youtube"] != 3 || len(seen) != 1 {
		t.Errorf("the library has %v, want youtube 3 and 1 seen", seen)
	}
	if n := len(p.instagram.Asked()); n != 1 {
		t.Errorf("a site that had enough was asked %d times, want 1", n)
	}
}

// TestAModelFindsTheTerms: the plan stage asks the configured endpoint through the
// house's way out, what it finds is searched for, and the scroll tells so.
func TestAModelFindsTheTerms(t *testing.T) {
	t.Parallel()
	p := newPlatforms(t)
	p.youtube.Videos["goose00001"] = youtubetest.Video{ID: "goose00001", Title: "Gooseneck", Channel: "UCgooseneckgooseneckgoose", Duration: "PT9S"}
	p.youtube.Found["gooseneck"] = []string{"goose00001"}
	endpoint := modeltest.New(t, func(_ *http.Request, q modeltest.Question) modeltest.Answer {
		if q.Form != "terms" {
			return modeltest.Answer{Status: 400}
		}
		return modeltest.Answer{Text: `{"terms":["#gooseneck"]}`}
	})
	running := apptest.Start(t, p.configure, func(cfg *app.Config) {
		cfg.SetStage("MODEL_URL", endpoint.URL+"/v1")
		cfg.SetStage("MODEL", "tester")
		cfg.SetStage("MODEL_KEY", modeltest.Key)
	})
	account := running.Account(t, "pro")
	account.Get(t, `POST /v1/workspace {"description":"Kettles that sing","competitors":["youtube:kettle.co"]}`, &struct{}{})
	scroll := account.Scroll(t, "{}")
	var got struct {
		Scroll struct {
			Progress struct {
				Coverage []told
				Plan     struct {
					Method string
					Seeds  []struct{ Kind, Platform, Handle, Term string }
					Notes  []string
				}
			}
		}
	}
	account.Get(t, "GET /v1/scrolls?id="+scroll.ID, &got)
	plan := got.Scroll.Progress.Plan
	if plan.Method != "plan" || len(plan.Seeds) != 2 || plan.Seeds[0].Handle != "kettle.co" || plan.Seeds[1].Term != "gooseneck" || len(plan.Notes) > 0 {
		t.Errorf(`plan %+v, want Method "plan", 2 Seeds, Handle "kettle.co", Term "gooseneck" and no Notes`, plan)
	}
	if c := on(t, got.Scroll.Progress.Coverage, "youtube")["gooseneck"]; c.Outcome != "ok" || c.Returned != 1 {
		t.Errorf(`got %+v of the term, want Outcome "ok" and 1 Returned`, c)
	}
	if n := p.youtube.Count("search"); n != 1 {
		t.Errorf("%d searches, want 1", n)
	}
	endpoint.Close()
	scroll = account.Scroll(t, "{}")
	account.Get(t, "GET /v1/scrolls?id="+scroll.ID, &got)
	if plan := got.Scroll.Progress.Plan; scroll.Status != "completed" || plan.Method != "keywords" || len(plan.Notes) != 1 {
		t.Errorf(`with the endpoint gone: %s, %+v, want Status "completed", Method "keywords" and 1 Note`, scroll.Status, plan)
	}
}

func TestOneTurnsTheKeyDownOneAnswersOneIsNotThere(t *testing.T) {
	t.Parallel()
	p := newPlatforms(t)
	running := apptest.Start(t, p.configure, func(cfg *app.Config) {
		cfg.SetStage("TIKTOK_CLIENT_SECRET", "of yesterday")
		cfg.SetStage("FEED_DIR", filepath.Join(t.TempDir(), "nowhere"))
	})
	p.youtube.Close()
	account := running.Account(t, "pro")
	coverage, seen := p.scroll(t, account, `{"template":"competitors"}`)
	for platform, want := range map[string]told{
		"tiktok": {Outcome: "misconfigured"}, "instagram": {Outcome: "ok", Returned: 4}, "youtube": {Outcome: "blocked"},
	} {
		t.Run(platform+" is "+want.Outcome, func(t *testing.T) {
			if c := on(t, coverage, platform)["kettle.co"]; c.Outcome != want.Outcome || c.Returned != want.Returned {
				t.Errorf("on %s: want outcome %v with %v records, got %+v", platform, want.Outcome, want.Returned, c)
			}
		})
	}
	if seen["instagram"] != 4 || len(seen) != 1 {
		t.Errorf("the library has %v, want instagram 4 and 1 seen", seen)
	}
	library := string(account.Do(t, "GET /v1/library?limit=25", "").Body)
	if !strings.Contains(library, `"views":1003`) || !strings.Contains(library, `"shares":null`) || strings.Contains(library, instagramtest.Token) {
		t.Errorf("the library: %s, want library with %q, library with %q and library without %v", library, `"views":1003`, `"shares":null`, instagramtest.Token)
	}
}

func TestOneBreaksOffOneAnswersOneIsDown(t *testing.T) {
	t.Parallel()
	p := newPlatforms(t)
	p.tiktok.PerPage = 2
	p.tiktok.Intercept = func(w http.ResponseWriter, _ *http.Request, q tiktoktest.Query) bool {
		if q.Cursor > 0 || len(q.Query.Or) > 0 {
			tiktoktest.Fail(w, 429, "daily_quota_limit_exceeded", "The daily quota is exceeded")
			return true
		}
		return false
	}
	p.youtube.Close()
	running := apptest.Start(t, p.configure)
	account := running.Account(t, "pro")
	coverage, seen := p.scroll(t, account, "{}")
	tiktok, instagram := on(t, coverage, "tiktok"), on(t, coverage, "instagram")
	midnight := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).UnixMilli()
	if c := tiktok["kettle.co"]; c.Outcome != "partial" || c.Returned != 2 || c.RetryAt == nil || *c.RetryAt != midnight {
		t.Errorf(`on tiktok: %+v, want Outcome "partial", Returned 2, RetryAt not nil and RetryAt %v`, c, midnight)
	}
	if c := tiktok["kettle"]; c.Outcome != "quota" || c.RetryAt == nil || *c.RetryAt != midnight {
		t.Errorf(`the term on tiktok: %+v, want Outcome "quota", RetryAt not nil and RetryAt %v`, c, midnight)
	}
	if c := instagram["kettle.co"]; c.Outcome != "ok" || c.Returned != 4 {
		t.Errorf(`on instagram: %+v, want Outcome "ok" and Returned 4`, c)
	}
	if c := instagram["kettle"]; c.Outcome != "ok" || c.Returned != 1 {
		t.Errorf(`the term on instagram: %+v, want Outcome "ok" and Returned 1`, c)
	}
	if seen["tiktok"] != 2 || seen["instagram"] != 5 {
		t.Errorf("the library has %v, want tiktok 2 and instagram 5", seen)
	}
	var library struct {
		Videos []struct {
			Platform string
			Metrics  map[string]json.RawMessage
		}
	}
	account.Get(t, "GET /v1/library?limit=25", &library)
	unseen, unshared := 0, 0
	for _, item := range library.Videos {
		if string(item.Metrics["views"]) == "null" {
			unseen++
		}
		if item.Platform == "instagram" && string(item.Metrics["shares"]) == "null" {
			unshared++
		}
	}
	if unshared != seen["instagram"] {
		t.Errorf("%d of Instagram's videos have null as their shares, want all %d: %+v", unshared, seen["instagram"], library.Videos)
	}
	if unseen != 1 {
		t.Errorf("%d videos have no views, want the hashtag's: %+v", unseen, library.Videos)
	}
	outliers := string(account.Do(t, "GET /v1/outliers?limit=25", "").Body)
	if strings.Contains(outliers, "Cdouble40") {
		t.Errorf(`a video without views is scored: %s, want without "Cdouble40"`, outliers)
	}
}
