package youtubefeed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
	"github.com/scrollery/scrollery/plugins/youtubefeed/feedtest"
)

const beansID, crumbsID = "UCbeansbeansbeansbeansbe", "UCcrumbscrumbscrumbscrum"

// pageCache is a memory that the calls of a test share.
type pageCache struct {
	clock *sitetest.Clock
	pages map[string][]byte
	read  map[string]time.Time
}

func (s *pageCache) Recall(ctx context.Context, name string, since time.Time) ([]byte, bool, error) {
	return s.pages[name], !since.IsZero() && (s.pages[name] == nil || s.read[name].Before(since)), ctx.Err()
}

func (s *pageCache) Remember(ctx context.Context, name string, page []byte) error {
	if len(page) > stage.MaxPage {
		return errors.New("too large")
	}
	s.pages[name], s.read[name] = page, s.clock.Now()
	return ctx.Err()
}

// bench is the source against the double, with a clock that does not wait.
type bench struct {
	*feedtest.Server
	clock    *sitetest.Clock
	spec     stage.Spec
	memory   *pageCache
	settings map[string]string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	clock := sitetest.NewClock(time.Date(2026, 9, 1, 16, 10, 0, 0, time.UTC))
	b := &bench{Server: feedtest.New(t), clock: clock, memory: &pageCache{clock, map[string][]byte{}, map[string]time.Time{}}, settings: map[string]string{}}
	b.spec = source{site.Options{Clock: clock, Timeout: time.Second}}.spec()
	return b
}

// add makes n videos, an hour apart, the newest two days old.
func add(prefix string, n int) (all []feedtest.Video) {
	for i := range n {
		all = append(all, feedtest.Video{
			ID: fmt.Sprintf("%s%05d", prefix, i), Title: fmt.Sprintf("Shot %d <& #espresso", i), Description: "Beans & more #crema",
			Published: time.Date(2026, 8, 30, 12, 0, 0, 0, time.UTC).Add(-time.Duration(i) * time.Hour), Views: int64(1000 + i), Likes: 7,
		})
	}
	return all
}

func (b *bench) call() stage.Call {
	settings := map[string]string{"url": b.URL}
	for name, value := range b.settings {
		settings[name] = value
	}
	return stage.Call{Settings: settings, Memory: b.memory}
}

func (b *bench) collect(t *testing.T, seeds ...stage.Seed) ([]stage.Record, []stage.Outcome) {
	t.Helper()
	records, outcomes, err := stagetest.Collect(t, b.spec, b.call(), seeds)
	if err != nil {
		t.Fatal(err)
	}
	return records, outcomes
}

func handle(name string, limit int) stage.Seed {
	return stage.Seed{Kind: "competitor", Platform: "youtube", Handle: name, Limit: limit}
}

func TestShortsOfAHandle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Channels = []feedtest.Channel{{ID: beansID, Handle: "Beans", Shorts: add("short", 20)}}
	records, outcomes := b.collect(t, handle("@beans", 0))
	want := []stage.Outcome{{Seed: "@beans", Platform: "youtube", Status: stage.OK, Asked: 15, Returned: 15}}
	if diff := cmp.Diff(want, outcomes); diff != "" || len(records) != 15 {
		t.Fatalf("%d records, outcomes (-want +got):\n%s", len(records), diff)
	}
	views, likes, posted, observed := int64(1000), int64(7), int64(1788091200000), records[0].Metrics.ObservedAt
	first := stage.Record{
		Ref: stage.Ref{Platform: "youtube", ExternalID: "short00000"}, SourceURL: "https://www.youtube.com/shorts/short00000",
		PostedAt: &posted, CreatorID: beansID, Source: &stage.Source{Handle: "beans"}, Seed: "@beans",
		Metadata: []byte(`{"caption":"Shot 0 \u003c\u0026 #espresso","channel":"Beans","description":"Beans \u0026 more #crema","formatBasis":"uush","hashtags":["espresso","crema"]}`),
		Metrics:  stage.Metrics{Views: &views, Likes: &likes, ObservedAt: observed, Semantics: "exact"},
	}
	if diff := cmp.Diff(first, records[0]); diff != "" {
		t.Errorf("the first record (-want +got):\n%s", diff)
	}
	if got, want := b.Asked(), []string{"/@beans", "/feeds/videos.xml?playlist_id=UUSHbeansbeansbeansbeansbe"}; !slices.Equal(got, want) {
		t.Errorf("asked for %v, want %v", got, want)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seed   stage.Seed
		change func(*bench)
		want   stage.Status
		videos int
		asked  int
	}{
		"a channel by its id needs no page":          {handle(beansID, 0), nil, stage.OK, 15, 1},
		"a limit above a feed":                       {handle("beans", 50), nil, stage.Partial, 15, 2},
		"a limit below a feed":                       {handle("beans", 4), nil, stage.OK, 4, 2},
		"a handle that no one has":                   {handle("nobody", 0), nil, stage.NotFound, 0, 1},
		"a handle of no form":                        {handle("a/../b", 0), nil, stage.NotFound, 0, 0},
		"an invented handle is not asked for":        {handle("brewfox.example", 0), nil, stage.Unsupported, 0, 0},
		"a term":                                     {stage.Seed{Term: "espresso"}, nil, stage.Unsupported, 0, 0},
		"consent is asked for":                       {handle("beans", 0), func(b *bench) { b.Consent = true }, stage.Blocked, 0, 1},
		"consent was given":                          {handle("beans", 0), func(b *bench) { b.Consent = true; b.settings["consent"] = "yes" }, stage.OK, 15, 2},
		"a channel without Shorts":                   {handle("beans", 0), func(b *bench) { b.Channels[0].Shorts = []feedtest.Video{} }, stage.Empty, 0, 2},
		"no list of Shorts, addresses say which are": {handle("beans", 0), withoutList, stage.OK, 2, 3},
		"neither feed, as in a spell":                {handle("beans", 0), func(b *bench) { b.Channels[0].Shorts = nil }, stage.Blocked, 0, 3},
		"counts that are hidden":                     {handle("beans", 0), func(b *bench) { b.Channels[0].Shorts[0].Likes = -1 }, stage.OK, 15, 2},
		"a member that no one knows":                 {handle("beans", 0), func(b *bench) { b.Extra = `<yt:mood kind="new">x</yt:mood>` }, stage.OK, 15, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Channels = []feedtest.Channel{{ID: beansID, Handle: "Beans", Shorts: add("short", 20)}}
			if c.change != nil {
				c.change(b)
			}
			records, outcomes := b.collect(t, c.seed)
			if outcomes[0].Status != c.want || len(records) != c.videos || len(b.Asked()) != c.asked {
				t.Errorf("%s (%s), %d videos by %v; want %s, %d by %d requests", outcomes[0].Status, outcomes[0].Detail, len(records), b.Asked(), c.want, c.videos, c.asked)
			}
			if (c.want == stage.Blocked) != (outcomes[0].RetryAt != nil) {
				t.Errorf("retryAt %v, want one only if blocked", outcomes[0].RetryAt)
			}
		})
	}
}

// withoutList gives the channel its own feed alone, where 2 of 5 videos are Shorts by address.
func withoutList(b *bench) {
	own := add("mixed", 5)
	for i := range own {
		own[i].Watch = i > 1
	}
	b.Channels[0].Shorts, b.Channels[0].Videos = nil, own
}

func TestFaultsOfEveryInterface(t *testing.T) {
	t.Parallel()
	sitetest.Suite(t, sitetest.Subject{
		Videos: 15,
		Collect: func(t *testing.T, fault func(http.ResponseWriter, *http.Request) bool) ([]stage.Record, stage.Outcome) {
			t.Helper()
			b := newBench(t)
			b.Channels = []feedtest.Channel{{ID: beansID, Handle: "Beans", Shorts: add("short", 15)}}
			b.Intercept = fault
			records, outcomes := b.collect(t, handle(beansID, 0))
			return records, outcomes[0]
		},
		Bucket:  sitetest.Text(429, "Too Many Requests"),
		Renamed: sitetest.Text(200, `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>yt:video:x</id></entry></feed>`),
		Empty:   sitetest.Text(200, `<feed xmlns="http://www.w3.org/2005/Atom"></feed>`),
	})
}

// TestFeedsThatAreNoFeeds: what is cut off may be whole an hour later, anything else is another form.
func TestFeedsThatAreNoFeeds(t *testing.T) {
	t.Parallel()
	whole := (&feedtest.Server{}).Feed(feedtest.Channel{ID: beansID}, "x?playlist_id=UUSHx", add("short", 3))
	bomb := `<?xml version="1.0"?><!DOCTYPE z [<!ENTITY a "` + strings.Repeat("x", 1000) + `"><!ENTITY b "` + strings.Repeat("&a;", 1000) + `">]>`
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   stage.Status
	}{
		"cut off":                 {sitetest.Text(200, whole[:len(whole)/2]), stage.Blocked},
		"cut off by the line":     {sitetest.CutShort(whole[:len(whole)/2]), stage.Blocked},
		"a document type":         {sitetest.Text(200, bomb+strings.Replace(whole[strings.Index(whole, "<feed"):], "Shot 0", "&b;", 1)), stage.Changed},
		"an entity":               {sitetest.Text(200, strings.Replace(whole, "Shot 0", "&b;", 1)), stage.Changed},
		"another document":        {sitetest.Text(200, `<rss version="2.0"><channel></channel></rss>`), stage.Changed},
		"nothing":                 {sitetest.Text(200, ""), stage.Changed},
		"deeply nested":           {sitetest.Text(200, `<feed xmlns="http://www.w3.org/2005/Atom">`+strings.Repeat("<a>", 100_000)), stage.Blocked},
		"the site is down":        {sitetest.Text(500, "oops"), stage.Blocked},
		"another answer's status": {sitetest.Text(304, ""), stage.Blocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Intercept = sitetest.Times(sitetest.Always, c.answer)
			records, outcomes := b.collect(t, handle(beansID, 0))
			if outcomes[0].Status != c.want || len(records) > 0 || (c.want == stage.Blocked) != (outcomes[0].RetryAt != nil) {
				t.Errorf("%d records, %+v; want none, %s", len(records), outcomes[0], c.want)
			}
		})
	}
}

// TestOneRequestAnHour: all calls of an hour read one answer, a failure too, and afterwards the site
// is asked whether it has changed.
func TestOneRequestAnHour(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Tagged = true
	b.Channels = []feedtest.Channel{{ID: beansID, Handle: "Beans", Shorts: add("short", 15)}}
	down := false
	b.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		if down {
			w.WriteHeader(http.StatusInternalServerError)
		}
		return down
	}
	_, end := hour("feed "+beansID, b.clock.Now())
	for step, c := range []struct {
		before  func()
		asked   int
		status  stage.Status
		records int
	}{
		{func() {}, 1, stage.OK, 15},
		{func() { _ = b.clock.Sleep(t.Context(), end.Sub(b.clock.Now())-time.Minute) }, 1, stage.OK, 15},
		{func() { _ = b.clock.Sleep(t.Context(), 2*time.Minute) }, 2, stage.OK, 15}, // not modified
		{func() { _ = b.clock.Sleep(t.Context(), time.Hour); down = true }, 3, stage.Blocked, 0},
		{func() { down = false }, 3, stage.Blocked, 0},
		{func() { _ = b.clock.Sleep(t.Context(), time.Hour) }, 4, stage.OK, 15},
	} {
		c.before()
		records, outcomes := b.collect(t, handle(beansID, 0))
		if len(b.Asked()) != c.asked || outcomes[0].Status != c.status || len(records) != c.records {
			t.Fatalf("step %d: %d requests, %d records, %+v; want %d, %d, %s", step, len(b.Asked()), len(records), outcomes[0], c.asked, c.records, c.status)
		}
	}
}

// TestNothingTellsWhoElseFollows: a second account sees the same, and waits as long, whether or not
// another one has asked in the hour before.
func TestNothingTellsWhoElseFollows(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"videos":    nil,
		"a failure": sitetest.Times(sitetest.Always, sitetest.Text(500, "")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			type sight struct {
				Records  []stage.Record
				Outcomes []stage.Outcome
				Took     time.Duration
			}
			see := func(b *bench) (s sight) {
				began := b.clock.Now()
				s.Records, s.Outcomes = b.collect(t, handle("beans", 0))
				s.Took = b.clock.Now().Sub(began)
				return s
			}
			first, second := newBench(t), newBench(t)
			for _, b := range []*bench{first, second} {
				b.Channels = []feedtest.Channel{{ID: beansID, Handle: "Beans", Shorts: add("short", 15)}}
				slow := fault
				b.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
					_ = b.clock.Sleep(context.Background(), 1500*time.Millisecond) // the site takes its time
					return slow != nil && slow(w, r)
				}
			}
			_, end := hour("feed "+beansID, second.clock.Now())
			see(second)
			for _, b := range []*bench{first, second} { // the same moment of both clocks, in one hour
				_ = b.clock.Sleep(t.Context(), time.Date(2026, 9, 1, 16, 20, 0, 0, time.UTC).Sub(b.clock.Now()))
			}
			if second.clock.Now().After(end) {
				t.Fatal("the hour has ended, want both calls in one")
			}
			if diff := cmp.Diff(see(first), see(second)); diff != "" {
				t.Errorf("the account sees that another one asked before (-alone +second):\n%s", diff)
			}
		})
	}
}

// TestNothingTellsThatAChannelWasReadBefore: an account that asks for a channel for the first time
// waits as long as if it was the first of all, also if others asked for its page and its feed at
// different times.
func TestNothingTellsThatAChannelWasReadBefore(t *testing.T) {
	t.Parallel()
	took := func(followed bool) time.Duration {
		b := newBench(t)
		b.Channels = []feedtest.Channel{{ID: beansID, Handle: "Beans", Shorts: add("short", 15)}, {ID: crumbsID, Handle: "Crumbs", Shorts: add("crumb", 15)}}
		b.Intercept = func(http.ResponseWriter, *http.Request) bool {
			_ = b.clock.Sleep(context.Background(), 100*time.Millisecond)
			return false
		}
		if followed {
			b.collect(t, handle("beans", 0))
		}
		_, end := hour("feed "+beansID, b.clock.Now())
		_ = b.clock.Sleep(t.Context(), end.Sub(b.clock.Now())+time.Minute)
		if followed {
			b.collect(t, handle("beans", 0)) // the feed alone: the handle is known
		}
		began := b.clock.Now()
		b.collect(t, handle("beans", 0), handle("crumbs", 0))
		return b.clock.Now().Sub(began)
	}
	if alone, second := took(false), took(true); alone != second {
		t.Errorf("it took %v where another account follows the channel, want %v as without one", second, alone)
	}
}

// TestASpellOfTheList: a channel whose list of Shorts is missing for a while is not read by its own
// feed for ever, and not without Shorts because that one has none.
func TestASpellOfTheList(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := add("longs", 5)
	for i := range long {
		long[i].Watch = true
	}
	shorts := add("short", 15)
	b.Channels = []feedtest.Channel{{ID: beansID, Handle: "Beans", Shorts: shorts, Videos: long}}
	step := func(name string, after time.Duration, list []feedtest.Video, want stage.Status, videos int) {
		t.Helper()
		_ = b.clock.Sleep(t.Context(), after)
		b.Channels[0].Shorts = list
		records, outcomes := b.collect(t, handle(beansID, 0))
		if outcomes[0].Status != want || len(records) != videos || (want == stage.Blocked) != (outcomes[0].RetryAt != nil) {
			t.Errorf("%s: %d videos, %+v; want %d, %s", name, len(records), outcomes[0], videos, want)
		}
	}
	step("the list", 0, shorts, stage.OK, 15)
	step("it is missing", 2*time.Hour, nil, stage.Blocked, 0)
	step("it is still missing", 2*time.Hour, nil, stage.Blocked, 0)
	step("it is back", 2*time.Hour, shorts, stage.OK, 15)
	step("it is missing for more than a day", 48*time.Hour, nil, stage.Empty, 0)
	step("it comes back", 7*time.Hour, shorts, stage.OK, 15)
	long[0].Watch = false
	step("the own feed has a Short", 2*time.Hour, nil, stage.OK, 1)
	asked := len(b.Asked())
	step("the own feed goes first for a while", 2*time.Hour, shorts, stage.OK, 1)
	if got := len(b.Asked()) - asked; got != 1 {
		t.Errorf("%d requests, want 1: the list was missing a short time ago", got)
	}
	step("then the list", 7*time.Hour, shorts, stage.OK, 15)
}

// TestTheLargestFeed fits into what is remembered, whatever its texts are made of.
func TestTheLargestFeed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"&", `"`, "<", "\u2028", "\n", "é"} {
		b := newBench(t)
		videos := add("short", 15)
		for i := range videos {
			videos[i].Title, videos[i].Description = strings.Repeat(text, 100), strings.Repeat(text, 5000)
		}
		b.Channels = []feedtest.Channel{{ID: beansID, Handle: "Beans", Shorts: videos}}
		if records, outcomes := b.collect(t, handle(beansID, 0)); len(records) != 15 || outcomes[0].Status != stage.OK {
			t.Errorf("of %q: %d records, %+v; want 15", text, len(records), outcomes[0])
		}
	}
}

// TestPause: no account asks for anything while the site wants fewer requests.
func TestPause(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Channels = []feedtest.Channel{{ID: beansID, Shorts: add("short", 3)}, {ID: crumbsID, Shorts: add("crumb", 3)}}
	b.Intercept = sitetest.Times(1, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, outcomes := b.collect(t, handle(beansID, 0), handle(crumbsID, 0))
	if outcomes[0].Status != stage.Quota || outcomes[1].Status != stage.Quota || len(b.Asked()) != 1 {
		t.Fatalf("%+v after %v, want quota twice after one request", outcomes, b.Asked())
	}
	if _, outcomes = b.collect(t, handle(crumbsID, 0)); outcomes[0].Status != stage.Quota || len(b.Asked()) != 1 {
		t.Fatalf("another account: %+v after %v, want quota without a request", outcomes, b.Asked())
	}
	_ = b.clock.Sleep(t.Context(), 2*time.Hour)
	if _, outcomes = b.collect(t, handle(crumbsID, 0)); outcomes[0].Status != stage.OK {
		t.Errorf("after the pause: %+v, want ok", outcomes)
	}
}

func TestRefreshReadsTheNewestOfTheBrief(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Channels = []feedtest.Channel{{ID: beansID, Handle: "Beans", Shorts: add("short", 15)}, {ID: crumbsID, Handle: "Crumbs", Shorts: add("crumb", 15)}}
	call := b.call()
	call.Brief = stage.Brief{Website: "https://beans.test", Competitors: []string{"https://www.youtube.com/@Beans/shorts", "youtube:nobody", "youtube.com/channel/" + crumbsID, "tiktok:other"}}
	var refs []stage.Ref
	for _, id := range []string{"short00003", "crumb00004", "older00001", "short00003"} {
		refs = append(refs, stage.Ref{Platform: "youtube", ExternalID: id})
	}
	records, outcomes, err := stagetest.Refresh(t, b.spec, call, refs)
	if err != nil || len(records) != 2 || records[0].Metadata != nil || *records[0].Metrics.Views != 1003 {
		t.Fatalf("%+v, error %v; want the 2 that are in a feed, without metadata", records, err)
	}
	got := map[string]stage.Status{}
	for _, o := range outcomes {
		got[o.Seed] = o.Status
	}
	want := map[string]stage.Status{"short00003": stage.OK, "crumb00004": stage.OK, "older00001": stage.Unsupported}
	if diff := cmp.Diff(want, got); diff != "" || len(outcomes) != 3 {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

// FuzzParse: no feed breaks the process.
func FuzzParse(f *testing.F) {
	f.Add((&feedtest.Server{}).Feed(feedtest.Channel{ID: beansID}, "x?playlist_id=UUSHx", add("short", 2)))
	f.Add(`<feed xmlns="http://www.w3.org/2005/Atom"><entry/></feed>`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parse([]byte(text))
		for _, v := range all {
			if err != nil || !videoForm().MatchString(v.ID) || len(v.Title) > mostTitle {
				t.Errorf("%+v, error %v", v, err)
			}
		}
	})
}
