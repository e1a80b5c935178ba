package youtube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
	"github.com/scrollery/scrollery/plugins/youtube/youtubetest"
)

const beansID = "UCbeansbeansbeansbeansbe"

// bench is the source against the double, with a clock that does not wait and a
// quota that counts.
type bench struct {
	*youtubetest.Server
	clock  *sitetest.Clock
	spec   stage.Spec
	spent  map[string]int64
	refuse map[string]error
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{
		Server: youtubetest.New(t), clock: sitetest.NewClock(time.Date(2026, 9, 1, 16, 0, 0, 0, time.UTC)),
		spent: map[string]int64{}, refuse: map[string]error{},
	}
	b.spec = source{site.Options{Clock: b.clock, Timeout: time.Second}}.spec()
	return b
}

func (b *bench) call() stage.Call {
	return stage.Call{
		Settings: map[string]string{"derived_metrics_accepted": "yes", "api_url": b.URL},
		Secrets:  map[string]string{"api_key": youtubetest.Key},
		Grant: func(_ context.Context, quota string, units int64, _ string) error {
			if err := b.refuse[quota]; err != nil {
				return err
			}
			b.spent[quota] += units
			return nil
		},
	}
}

// to is where a number is.
func to(n int64) *int64 { return &n }

// add gives the double n videos, and returns their ids.
func (b *bench) add(prefix string, n int, change func(i int, v *youtubetest.Video)) (ids []string) {
	for i := range n {
		v := youtubetest.Video{
			ID: fmt.Sprintf("%s%05d", prefix, i), Title: fmt.Sprintf("Shot %d #espresso", i), Channel: beansID, ChannelTitle: "Beans",
			Published: "2026-08-05T10:00:00Z", Duration: "PT58S",
			Counts: map[string]any{"viewCount": "9007199254740991", "likeCount": "7", "favoriteCount": "0"},
		}
		if change != nil {
			change(i, &v)
		}
		b.Videos[v.ID] = v
		ids = append(ids, v.ID)
	}
	return ids
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

func term(text string, limit int) stage.Seed {
	return stage.Seed{Kind: "niche", Term: text, Limit: limit}
}

// TestShortsOfAHandle costs 3 units for 50.
func TestShortsOfAHandle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Channels = []youtubetest.Channel{{ID: beansID, Handle: "Beans", Shorts: b.add("short", 60, nil)}}
	records, outcomes := b.collect(t, handle("@beans", 50))
	if len(records) != 50 || outcomes[0] != (stage.Outcome{Seed: "@beans", Platform: "youtube", Status: stage.OK, Asked: 50, Returned: 50}) {
		t.Fatalf("%d records, %+v", len(records), outcomes)
	}
	if !maps.Equal(b.spent, map[string]int64{"units": 3}) || len(b.Asked()) != 3 {
		t.Errorf("spent %v on %v", b.spent, b.Asked())
	}
	got := records[0]
	m := got.Metrics
	if got.ExternalID != "short00000" || got.SourceURL != "https://www.youtube.com/shorts/short00000" || got.CreatorID != beansID ||
		got.Source.Handle != "beans" || got.Seed != "@beans" || *got.PostedAt != 1785924000000 ||
		*m.Views != 1<<53-1 || *m.Likes != 7 || m.Comments != nil || m.Shares != nil || m.Saves != nil || m.Semantics != "exact" {
		t.Errorf("%+v %+v", got, m)
	}
	var about struct {
		Caption         string
		Hashtags        []string
		DurationSeconds float64
		FormatBasis     string
	}
	if err := json.Unmarshal(got.Metadata, &about); err != nil || about.Caption != "Shot 0 #espresso" || !slices.Equal(about.Hashtags, []string{"espresso"}) ||
		about.DurationSeconds != 58 || about.FormatBasis != "uush" {
		t.Errorf("%s: %v", got.Metadata, err)
	}
	for _, asked := range b.Asked() {
		if strings.Contains(asked, youtubetest.Key) {
			t.Errorf("got the key in %s, want it nowhere", asked)
		}
	}
}

// TestWithoutTheListOfShorts their length decides, and says so.
func TestWithoutTheListOfShorts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lengths := []string{"PT58S", "PT3M", "PT3M1S", "P0D", "", "PT1H"}
	uploads := b.add("mixed", 6, func(i int, v *youtubetest.Video) { v.Duration = lengths[i] })
	b.Channels = []youtubetest.Channel{{ID: beansID, Handle: "beans", Uploads: uploads}}
	records, outcomes := b.collect(t, handle(beansID, 50))
	if len(records) != 2 || records[1].ExternalID != "mixed00001" || outcomes[0].Status != stage.OK {
		t.Errorf(`%+v %+v, want 2 records, ExternalID "mixed00001" and Status %v`, records, outcomes, stage.OK)
	}
	if !strings.Contains(string(records[0].Metadata), `"formatBasis":"duration"`) {
		t.Errorf("%s, want with %q", records[0].Metadata, `"formatBasis":"duration"`)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.PerPage = 50
	short := b.add("found", 60, func(i int, v *youtubetest.Video) {
		if i%2 == 1 {
			v.Duration = "PT3M50S" // short enough for the search, too long for a Short
		}
	})
	// Pages repeat, and no third one is bought to make up for it.
	b.Found["espresso"] = append(slices.Clone(short[:55]), short[3:]...)
	records, outcomes := b.collect(t, term("espresso", 100), term("nothing", 50))
	if len(records) != 28 || outcomes[0].Returned != 28 || outcomes[0].Status != stage.OK || outcomes[1].Status != stage.Empty {
		t.Errorf("%d records, %+v, want 28 records, Returned 28, Status %v and Status %v", len(records), outcomes, stage.OK, stage.Empty)
	}
	if b.spent["search"] != 3 || b.Count("search") != 3 {
		t.Errorf("spent %v, want search 3 and count 3", b.spent)
	}
	if records[0].Source == nil || records[0].Source.Handle == "" || records[0].CreatorID != beansID {
		t.Errorf("got %+v, want a source with a handle, and the creator id %v", records[0], beansID)
	}
}

// TestOddVideosCostThemselvesAlone: nothing is lost beside them, and nothing is zero.
func TestOddVideosCostThemselvesAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	odd := []map[string]any{
		{"viewCount": "12"},
		nil,
		{"viewCount": 12},
		{"viewCount": "many"},
		{"viewCount": "-1"},
		{"viewCount": nil},
		{"viewCount": "99999999999999999999"},
		{"viewCount": map[string]any{}},
		{"viewCount": "5", "likeCount": "9"},
	}
	ids := b.add("odd", len(odd), func(i int, v *youtubetest.Video) {
		v.Counts = odd[i]
		if i == 2 {
			v.Title = "NUL \x00 and \"quotes\""
		}
	})
	b.Channels = []youtubetest.Channel{{ID: beansID, Handle: "beans", Shorts: append([]string{"gone00000", "not an id"}, ids...)}}
	records, outcomes := b.collect(t, handle("beans", 50))
	if len(records) != len(odd) || outcomes[0].Returned != len(odd) {
		t.Fatalf("%d records, %+v, want %v records and Returned %v", len(records), outcomes, len(odd), len(odd))
	}
	want := []int64{12, -1, 12, -1, -1, -1, -1, -1, 5}
	for i, r := range records {
		got := int64(-1)
		if r.Metrics.Views != nil {
			got = *r.Metrics.Views
		}
		if got != want[i] {
			t.Errorf("video %d has %d views, want %d", i, got, want[i])
		}
	}
	if *records[8].Metrics.Likes != 9 {
		t.Errorf("likes above views are lost: got %v, want 9", *records[8].Metrics.Likes)
	}
}

func TestHowSeedsEnd(t *testing.T) {
	t.Parallel()
	midnightPacific := time.Date(2026, 9, 2, 7, 0, 0, 0, time.UTC).UnixMilli()
	soon := time.Date(2026, 9, 1, 16, 15, 0, 0, time.UTC)
	fail := func(status int, reason, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { youtubetest.Fail(w, status, reason, message) }
	}
	raw := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
		}
	}
	cases := map[string]struct {
		fault  http.HandlerFunc
		times  int
		status stage.Status
		retry  func(at int64) bool
		tries  int
	}{
		"quota":            {fail(403, "quotaExceeded", "used up"), 99, stage.Quota, func(at int64) bool { return at == midnightPacific }, 1},
		"429":              {raw(429, `{"error":{"code":429}}`), 99, stage.Quota, func(at int64) bool { return at == midnightPacific }, 1},
		"short 429":        {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "3"); w.WriteHeader(429) }, 1, stage.OK, nil, 4},
		"rate":             {fail(403, "rateLimitExceeded", "slower"), 2, stage.OK, nil, 5},
		"key":              {fail(400, "badRequest", "API key not valid. Please pass a valid API key."), 99, stage.Misconfigured, nil, 1},
		"old key error":    {fail(400, "keyInvalid", "Bad Request"), 99, stage.Misconfigured, nil, 1},
		"interface is off": {fail(403, "accessNotConfigured", "not enabled"), 99, stage.Misconfigured, nil, 1},
		"no such channel":  {fail(404, "channelNotFound", "no"), 99, stage.NotFound, nil, 1},
		"bad question":     {fail(400, "invalidFilters", "no"), 99, stage.Changed, nil, 1},
		"500 once":         {fail(500, "backendError", "sorry"), 1, stage.OK, nil, 4},
		"500 for ever":     {fail(503, "backendError", "sorry"), 99, stage.Blocked, func(at int64) bool { return at > soon.UnixMilli() }, 4},
		"cut JSON":         {raw(200, `{"items":[{"id":"UC`), 99, stage.Blocked, nil, 4},
		"another page":     {raw(200, `[1,2]`), 99, stage.Changed, nil, 1},
		"HTML":             {raw(502, `<html>`), 1, stage.OK, nil, 4},
		"hangs":            {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 1, stage.OK, nil, 4},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, 99, stage.Changed, nil, 1},
		"nobody":            {raw(200, `{"kind":"youtube#channelListResponse"}`), 99, stage.NotFound, nil, 1},
		"items of one type": {raw(200, `{"items":[7,null,{"id":7},{"id":"UCx"}]}`), 99, stage.NotFound, nil, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Channels = []youtubetest.Channel{{ID: beansID, Handle: "beans", Shorts: b.add("short", 3, nil)}}
			var asked atomic.Int64
			b.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if asked.Add(1) > int64(c.times) {
					return false
				}
				c.fault(w, r)
				return true
			}
			records, outcomes := b.collect(t, handle("beans", 10))
			o := outcomes[0]
			if o.Status != c.status || len(b.Asked()) != c.tries || (c.status == stage.OK) != (len(records) == 3) {
				t.Errorf("%d records, %+v after %d requests; want %s after %d", len(records), o, len(b.Asked()), c.status, c.tries)
			}
			if c.retry != nil && (o.RetryAt == nil || !c.retry(*o.RetryAt)) {
				t.Errorf("retry at %v", o.RetryAt)
			}
			if strings.Contains(o.Detail, youtubetest.Key) {
				t.Errorf("got the key in %s, want it nowhere", o.Detail)
			}
			if b.spent["units"] != int64(c.tries) {
				t.Errorf("%d units for %d requests, want %v", b.spent["units"], c.tries, int64(c.tries))
			}
		})
	}
}

// TestSpentSearchesLeaveHandles: the two allowances end apart, and what was brought stays.
func TestSpentSearchesLeaveHandles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Channels = []youtubetest.Channel{{ID: beansID, Handle: "beans", Shorts: b.add("short", 3, nil)}}
	renewed := time.Date(2026, 9, 2, 7, 0, 0, 0, time.UTC)
	b.refuse["search"] = stage.Quotaf(renewed, "quota search is used up")
	records, outcomes := b.collect(t, term("espresso", 10), term("latte", 10), handle("beans", 10))
	byOf := map[string]stage.Outcome{}
	for _, o := range outcomes {
		byOf[o.Seed] = o
	}
	if len(records) != 3 || byOf["beans"].Status != stage.OK || b.Count("search") != 0 {
		t.Errorf("%d records, %+v, want 3 records, Status %v and count 0", len(records), outcomes, stage.OK)
	}
	for _, text := range []string{"espresso", "latte"} {
		if o := byOf[text]; o.Status != stage.Quota || o.RetryAt == nil || *o.RetryAt != renewed.UnixMilli() {
			t.Errorf("%s: %+v", text, o)
		}
	}
}

func TestPartOfAHandleIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.PerPage = 10
	b.Channels = []youtubetest.Channel{{ID: beansID, Handle: "beans", Shorts: b.add("short", 30, nil)}}
	b.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.FormValue("pageToken") == "20" {
			youtubetest.Fail(w, 403, "quotaExceeded", "used up")
			return true
		}
		return false
	}
	records, outcomes := b.collect(t, handle("beans", 50), handle("other", 50))
	if len(records) != 20 || outcomes[0].Status != stage.Partial || outcomes[0].RetryAt == nil || outcomes[1].Status != stage.Quota {
		t.Errorf("%d records, %+v, want 20 records, Status %v, RetryAt not nil and Status %v", len(records), outcomes, stage.Partial, stage.Quota)
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := b.add("known", 60, nil)
	delete(b.Videos, ids[7])
	refs := []stage.Ref{{Platform: "youtube", ExternalID: "no id"}}
	for _, id := range ids {
		refs = append(refs, stage.Ref{Platform: "youtube", ExternalID: id})
	}
	records, outcomes, err := stagetest.Refresh(t, b.spec, b.call(), refs)
	if err != nil || len(records) != 59 || len(outcomes) != 61 || b.spent["stats"] != 2 || b.spent["units"] != 1 {
		t.Fatalf("got %d records, %d outcomes, error %v, spent %v; want 59, 61, 2 of the statistics and 1 unit for the missing one", len(records), len(outcomes), err, b.spent)
	}
	for _, r := range records {
		// What a record does not say stays in the library, formatBasis among it.
		if r.Metadata != nil || r.Metrics.Views == nil || r.PostedAt == nil {
			t.Fatalf("%+v %s, want no Metadata, Views not nil and PostedAt not nil", r, r.Metadata)
		}
	}
	for _, o := range outcomes {
		want := stage.OK
		switch o.Seed {
		case ids[7]:
			want = stage.NotFound
		case "no id":
			want = stage.Unsupported
		}
		if o.Status != want {
			t.Errorf("%+v, want %s", o, want)
		}
	}
}

func TestSettingsThatAreMissing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, change := range map[string]func(*stage.Call){
		"not accepted": func(c *stage.Call) { c.Settings["derived_metrics_accepted"] = "no" },
		"no key":       func(c *stage.Call) { c.Secrets = nil },
		"no order":     func(c *stage.Call) { c.Settings["order"] = "best" },
		"no patience":  func(c *stage.Call) { c.Settings["patience"] = "long" },
	} {
		t.Run(name, func(t *testing.T) {
			call := b.call()
			change(&call)
			records, outcomes, err := stagetest.Collect(t, b.spec, call, []stage.Seed{handle("beans", 1)})
			if err != nil || len(records) > 0 || outcomes[0].Status != stage.Misconfigured || len(b.Asked()) > 0 {
				t.Errorf("got %d records, %+v, %v, want the outcome %s and no request", len(records), outcomes, err, stage.Misconfigured)
			}
		})
	}
}

// TestRecordedAnswers has the real interface's own bytes go through.
func TestRecordedAnswers(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("SCROLLERY_TEST_DATA")
	if folder == "" {
		folder = "../../../shared/data"
	}
	read := func(name string) []byte {
		raw, err := os.ReadFile(filepath.Join(folder, "api-shapes", name))
		if errors.Is(err, os.ErrNotExist) {
			t.Skip("the recorded answers are not at hand")
		}
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	b := newBench(t)
	read("youtube_channels_list_single.json")
	b.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		file := map[string]string{
			"channels": "youtube_channels_list_single.json", "playlistItems": "youtube_playlist_items_list_p1.json",
			"videos": "youtube_videos_list_chart_p1.json", "search": "youtube_search_list_p1.json",
		}[strings.TrimPrefix(r.URL.Path, "/youtube/v3/")]
		if r.FormValue("pageToken") != "" {
			youtubetest.Fail(w, 403, "quotaExceeded", "used up")
			return true
		}
		body, err := os.ReadFile(filepath.Join(folder, "api-shapes", file))
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(body)
		return true
	}
	_, outcomes := b.collect(t, handle("googledevelopers", 5), term("music", 5))
	for i, want := range []stage.Status{stage.Quota, stage.Quota} {
		if got := outcomes[i].Status; got != want {
			t.Errorf("outcome %d: got %s, want %s: %+v", i, got, want, outcomes[i])
		}
	}
	for file, want := range map[string]stage.Status{
		"youtube_error_400_keyInvalid.json": stage.Misconfigured, "youtube_error_403_permission.json": stage.Misconfigured,
		"youtube_error_403_quotaExceeded.json": stage.Quota,
	} {
		t.Run(file, func(t *testing.T) {
			b := newBench(t)
			body := read(file)
			status := http.StatusForbidden
			if strings.Contains(file, "400") {
				status = http.StatusBadRequest
			}
			b.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(status)
				_, _ = w.Write(body)
				return true
			}
			if _, outcomes := b.collect(t, handle("beans", 5)); outcomes[0].Status != want {
				t.Errorf("%s: %+v, want %s", file, outcomes[0], want)
			}
		})
	}
}

// TestFollowersOfAHandle come with its channel: no unit more.
func TestFollowersOfAHandle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		subscribers any
		hides       bool
		want        *int64
	}{
		{"a text", "1230000", false, to(1_230_000)},
		{"a number", 45, false, to(45)},
		{"none yet", "0", false, to(0)},
		{"hidden", "0", true, nil},
		{"hidden with a number", "77", true, nil},
		{"absent", nil, false, nil},
		{"no number", "many", false, nil},
		{"less than none", "-1", false, nil},
		{"no text", []int{1}, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.Channels = []youtubetest.Channel{{ID: beansID, Handle: "beans", Shorts: b.add("short", 2, nil), Subscribers: c.subscribers, Hides: c.hides}}
			records, outcomes := b.collect(t, handle("beans", 50))
			if len(records) != 2 || outcomes[0].Status != stage.OK {
				t.Fatalf("got %d records, %+v, want 2 and ok", len(records), outcomes)
			}
			for _, r := range records {
				if diff := cmp.Diff(c.want, r.Metrics.Followers); diff != "" {
					t.Errorf("followers (-want +got):\n%s", diff)
				}
			}
			if want := map[string]int64{"units": 3}; !maps.Equal(b.spent, want) {
				t.Errorf("got %v spent, want %v", b.spent, want)
			}
		})
	}
}

// TestFollowersOfASearch cost a unit for the channels of a page that are not known yet.
func TestFollowersOfASearch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	channels := []string{beansID, "UCcremacremacremacremacr", "UChiddenhiddenhiddenhidd"}
	b.Found["espresso"] = b.add("short", 6, func(i int, v *youtubetest.Video) { v.Channel = channels[i%3] })
	b.Found["crema"] = b.add("other", 2, func(i int, v *youtubetest.Video) { v.Channel = channels[i] })
	b.PerPage = 3
	b.Channels = []youtubetest.Channel{
		{ID: channels[0], Subscribers: "1230000"}, {ID: channels[1], Subscribers: "99"}, {ID: channels[2], Subscribers: "5", Hides: true},
	}
	records, outcomes := b.collect(t, term("espresso", 100), term("crema", 50))
	if len(records) != 8 || outcomes[0].Status != stage.OK || outcomes[1].Status != stage.OK {
		t.Fatalf("got %d records, %+v, want 8 and ok", len(records), outcomes)
	}
	want := map[string]*int64{channels[0]: to(1_230_000), channels[1]: to(99), channels[2]: nil}
	for _, r := range records {
		if diff := cmp.Diff(want[r.CreatorID], r.Metrics.Followers); diff != "" {
			t.Errorf("followers of %s (-want +got):\n%s", r.CreatorID, diff)
		}
	}
	if want := map[string]int64{"search": 3, "units": 4}; !maps.Equal(b.spent, want) || b.Count("channels") != 1 {
		t.Errorf("got %v spent and %d questions for channels, want %v and 1", b.spent, b.Count("channels"), want)
	}
}

// TestFollowersBeyondTheQuota cost no video.
func TestFollowersBeyondTheQuota(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Found["espresso"] = b.add("short", 3, nil)
	b.Channels = []youtubetest.Channel{{ID: beansID, Subscribers: "1230000"}}
	b.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/channels") {
			return false
		}
		youtubetest.Fail(w, 403, "quotaExceeded", "The quota is used up.")
		return true
	}
	records, outcomes := b.collect(t, term("espresso", 50))
	if len(records) != 3 || records[0].Metrics.Followers != nil {
		t.Fatalf("got %+v, want 3 records without followers", records)
	}
	want := stage.Outcome{
		Seed: "espresso", Platform: "youtube", Status: stage.Partial, Asked: 50, Returned: 3, Detail: "the followers could not be read; channels: 1",
	}
	if diff := cmp.Diff(want, outcomes[0]); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}
