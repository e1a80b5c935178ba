package recipe

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

// clipyard is a recipe written by docs/recipes.md and docs/import.md alone, for a provider that does
// not exist. What its page would say: `POST /v3/timeline?token=KEY` with the JSON `user`, `count` (1 to
// 25) and `page_token` (a whole number, absent for the first page) gives the Reels of a user. The next
// page's token is `meta.next_token`, 0 at the end. Counts are a list of names and values. Refusals have
// the status 200 and a list `errors` of `code` and `title`: 34 no such user, 88 too many requests, 402
// no credits, 32 a bad token, 3 a bad request. A Reel costs 0.0004 USD, a refusal nothing.
const clipyard = `
id: clipyard
docs: https://clipyard.example/docs (2026-11-29)
secret: {query: token}
rate: 20/s
price: {record: 0.0004}
budget: 0.10
message: errors.title
errors:
  - {member: errors.code, is: 34, means: not_found, free: true}
  - {member: errors.code, is: 88, means: busy, free: true}
  - {member: errors.code, is: 402, means: quota, free: true}
  - {member: errors.code, is: 32, means: misconfigured, free: true}
  - {member: errors.code, means: changed, free: true}
platforms:
  instagram:
    handle:
      url: https://api.clipyard.example/v3/timeline
      body: {user: "{handle}", count: "{limit}", page_token: "{cursor}"}
    pages: {cursor: meta.next_token, size: 25}
    records: payload.items.post
    columns: {externalId: shortcode, handle: owner.username, creatorId: owner.id, postedAt: taken, caption: text,
              durationSeconds: len_ms, views: stats.0.value, likes: stats.1.value}
    durationUnit: milliseconds
    sourceUrl: "https://www.instagram.com/reel/{externalId}/"
`

// yard is the provider; it is as strict as its page.
type yard struct {
	reels   map[string]int
	refuse  []int // codes of the next answers
	asked   int
	charged int64
}

func (y *yard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	y.asked++
	refuse := func(code int, title string) {
		_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{"code": code, "title": title}}})
	}
	if len(y.refuse) > 0 {
		code := y.refuse[0]
		y.refuse = y.refuse[1:]
		refuse(code, "refused")
		return
	}
	var order struct {
		User  string `json:"user"`
		Count int    `json:"count"`
		Page  int    `json:"page_token"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&order); r.Method != http.MethodPost || r.URL.Path != "/v3/timeline" || err != nil || order.Count == 0 || order.Count > 25 || len(r.URL.Query()) != 1 {
		refuse(3, fmt.Sprintf("bad request: %v", err))
		return
	}
	if order.Count < 0 { // a test has it send more
		order.Count = -order.Count
	}
	reels, known := y.reels[order.User]
	switch {
	case r.URL.Query().Get("token") != "cy_0123456789":
		refuse(32, "bad token "+r.URL.Query().Get("token"))
		return
	case !known:
		refuse(34, "no such user")
		return
	}
	items, next := []any{}, 0
	for n := order.Page; n < min(order.Page+order.Count, reels); n++ {
		items = append(items, map[string]any{"post": map[string]any{
			"shortcode": "C" + strconv.Itoa(10_000+n), "owner": map[string]any{"username": order.User, "id": 77}, "taken": "2026-08-30T12:00:00Z",
			"text": "Reel #coffee", "len_ms": 21_500, "stats": []any{map[string]any{"name": "plays", "value": 1000 + n}, map[string]any{"name": "likes", "value": 50}},
		}})
	}
	if order.Page+order.Count < reels {
		next = order.Page + order.Count
	}
	y.charged += 400 * int64(len(items))
	_ = json.NewEncoder(w).Encode(map[string]any{"payload": map[string]any{"items": items}, "meta": map[string]any{"next_token": next}})
}

func TestARecipeByTheDocsAlone(t *testing.T) {
	t.Parallel()
	if n := strings.Count(strings.TrimSpace(clipyard), "\n") + 1; n > 30 {
		t.Errorf("the recipe has %d lines, want at most 30", n)
	}
	for name, c := range map[string]struct {
		handle string
		limit  int
		refuse []int
		key    string
		want   stage.Status
		videos int
		asked  int
	}{
		"pages":                  {"ada", 60, nil, "", stage.OK, 60, 3},
		"all that there is":      {"ada", 200, nil, "", stage.OK, 70, 3},
		"no such user":           {"bob", 10, nil, "", stage.NotFound, 0, 1},
		"nothing":                {"cyd", 10, nil, "", stage.Empty, 0, 1},
		"busy for a moment":      {"ada", 10, []int{88, 88}, "", stage.OK, 10, 3},
		"no credits":             {"ada", 10, []int{402}, "", stage.Quota, 0, 1},
		"a bad key":              {"ada", 10, nil, "cy_another_key", stage.Misconfigured, 0, 1},
		"an error of no meaning": {"ada", 10, []int{131}, "", stage.Changed, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, clipyard)
			y := &yard{reels: map[string]int{"ada": 70, "cyd": 0}, refuse: c.refuse}
			server := httptest.NewServer(y)
			t.Cleanup(server.Close)
			b.call = newBenchCall(b, server.URL)
			b.call.Secrets = map[string]string{"api_key": "cy_0123456789"}
			if c.key != "" {
				b.call.Secrets["api_key"] = c.key
			}
			records, outcomes := b.collect(t, stage.Seed{Kind: "competitor", Platform: "instagram", Handle: c.handle, Limit: c.limit})
			if outcomes[0].Status != c.want || len(records) != c.videos || y.asked != c.asked {
				t.Fatalf("%d records by %d requests, %+v; want %d by %d, %s", len(records), y.asked, outcomes[0], c.videos, c.asked, c.want)
			}
			if b.spent != y.charged || strings.Contains(outcomes[0].Detail, c.key) && c.key != "" {
				t.Errorf("counted %d, charged %d millionths of a dollar; detail %q", b.spent, y.charged, outcomes[0].Detail)
			}
			if c.videos > 0 {
				r := records[0]
				if r.ExternalID != "C10000" || r.SourceURL != "https://www.instagram.com/reel/C10000/" || *r.PostedAt != 1788091200000 || *r.Metrics.Views != 1000 || *r.Metrics.Likes != 50 ||
					r.CreatorID != "77" || !strings.Contains(string(r.Metadata), `"durationSeconds":21.5`) {
					t.Errorf("the first record: %+v %s", r, r.Metadata)
				}
			}
		})
	}
}

// TestAProviderThatSendsMore than it was asked for: the page is kept, and what it costs ends the
// budget, so that no other request is made that day.
func TestAProviderThatSendsMore(t *testing.T) {
	t.Parallel()
	b := newBench(t, clipyard)
	y := &yard{reels: map[string]int{"ada": 500}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(strings.Replace(string(body), `"count":25`, `"count":-200`, 1)))
		y.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.call = newBenchCall(b, server.URL)
	b.call.Secrets = map[string]string{"api_key": "cy_0123456789"}
	b.limit = 30_000 // 75 Reels
	ada := stage.Seed{Kind: "competitor", Platform: "instagram", Handle: "ada", Limit: 60}
	records, outcomes := b.collect(t, ada, stage.Seed{Kind: "competitor", Platform: "instagram", Handle: "bob"})
	if len(records) != 60 || outcomes[0].Status != stage.OK || outcomes[1].Status != stage.Quota {
		t.Errorf("%d records, %+v; want the 60 that were wanted, then quota", len(records), outcomes)
	}
	for range 3 { // other calls of that day
		if _, outcomes := b.collect(t, ada); outcomes[0].Status != stage.Quota {
			t.Errorf("%+v, want quota", outcomes[0])
		}
	}
	if y.asked != 1 || b.spent != b.limit {
		t.Errorf("asked %d times, counted %d; want once, and the budget of %d", y.asked, b.spent, b.limit)
	}
}
