package recipe

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/recipe/recipetest"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// reelbase is the recipe for the double, as slow as the docs' example.
var reelbase = strings.Replace(recipetest.Recipe, "rate: 100/s", "rate: 5/s", 1)

// bench is a recipe in front of a double, with a clock that does not wait and a quota that counts.
type bench struct {
	*recipetest.Server
	recipe *Recipe
	clock  *sitetest.Clock
	call   stage.Call
	spent  int64
	limit  int64
}

func newBench(t *testing.T, text string) *bench {
	t.Helper()
	recipe, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Server: recipetest.New(t), recipe: recipe, clock: sitetest.NewClock(time.Date(2026, 9, 1, 16, 10, 0, 0, time.UTC)), limit: 1 << 50}
	b.Clips["ada"] = 50
	b.call = newBenchCall(b, b.URL)
	b.call.Secrets = map[string]string{"api_key": recipetest.Key}
	return b
}

// newBenchCall is a call whose money the bench counts.
func newBenchCall(b *bench, base string) stage.Call {
	return stage.Call{
		Settings: map[string]string{"url": base}, Secrets: map[string]string{"api_key": "s3cret"},
		Grant: func(_ context.Context, _ string, units int64, _ string) error {
			if b.spent+units > b.limit {
				return stage.Quotaf(b.clock.Now().Add(time.Hour), "used up")
			}
			b.spent += units
			return nil
		},
		Return: func(_ context.Context, _ string, units int64) error {
			b.spent -= units
			return nil
		},
	}
}

func (b *bench) spec() stage.Spec {
	return b.recipe.spec(site.Options{Clock: b.clock, Timeout: time.Second}, nil)
}

func (b *bench) collect(t *testing.T, seeds ...stage.Seed) ([]stage.Record, []stage.Outcome) {
	t.Helper()
	records, outcomes, err := stagetest.Collect(t, b.spec(), b.call, seeds)
	if err != nil {
		t.Fatal(err)
	}
	return records, outcomes
}

func handle(name string, limit int) stage.Seed {
	return stage.Seed{Kind: "competitor", Platform: "tiktok", Handle: name, Limit: limit}
}

func TestPagesOfAHandle(t *testing.T) {
	t.Parallel()
	b := newBench(t, reelbase)
	records, outcomes := b.collect(t, handle("@ada", 45))
	cost := int64(10_500)
	want := []stage.Outcome{{Seed: "@ada", Platform: "tiktok", Status: stage.OK, Asked: 45, Returned: 45, Cost: &cost}}
	if diff := cmp.Diff(want, outcomes); diff != "" || len(records) != 45 {
		t.Fatalf("%d records, outcomes (-want +got):\n%s", len(records), diff)
	}
	count := func(n int64) *int64 { return &n }
	first := stage.Record{
		Ref: stage.Ref{Platform: "tiktok", ExternalID: "7400000000000000000"}, SourceURL: "https://www.tiktok.com/@ada/video/7400000000000000000",
		PostedAt: count(1780000000000), CreatorID: "u-ada", Source: &stage.Source{Handle: "ada"}, Seed: "@ada",
		Metadata: []byte(`{"caption":"Clip 0 of ada #coffee","hashtags":["coffee"],"durationSeconds":20}`),
		Metrics:  stage.Metrics{Views: count(1000), Likes: count(50), Comments: count(3), Shares: count(2), Saves: count(1), ObservedAt: records[0].Metrics.ObservedAt},
	}
	if diff := cmp.Diff(first, records[0]); diff != "" || records[0].Metrics.ObservedAt == nil {
		t.Errorf("the first record (-want +got):\n%s", diff)
	}
	asked := []string{"/2/creators/ada/clips?take=20", "/2/creators/ada/clips?take=20&from=c%3A20", "/2/creators/ada/clips?take=20&from=c%3A40"}
	if got := b.Asked(); !slices.Equal(got, asked) {
		t.Errorf("asked for %v, want %v", got, asked)
	}
	if b.spent != 10_500 || b.Charged() != b.spent {
		t.Errorf("counted %d, charged %d millionths of a dollar; want 10500", b.spent, b.Charged())
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
		spent  int64
	}{
		"a term":                       {stage.Seed{Term: "a da"}, nil, stage.OK, 50, 3, 10_500},
		"a handle that no one has":     {handle("nobody", 0), nil, stage.NotFound, 0, 1, 0},
		"a handle of no form":          {handle("../../x", 0), nil, stage.NotFound, 0, 0, 0},
		"an invented handle":           {handle("brewfox.example", 0), nil, stage.Unsupported, 0, 0, 0},
		"a sound, without a request":   {stage.Seed{Term: "sound:tiktok:715"}, nil, stage.Unsupported, 0, 0, 0},
		"a creator without videos":     {handle("ada", 0), func(b *bench) { b.Clips["ada"] = 0 }, stage.Empty, 0, 1, 3_500},
		"another key":                  {handle("ada", 0), func(b *bench) { b.call.Secrets = map[string]string{"api_key": "rb_live_other_secret"} }, stage.Misconfigured, 0, 1, 0},
		"no key":                       {handle("ada", 0), func(b *bench) { b.call.Secrets = nil }, stage.Misconfigured, 0, 0, 0},
		"the budget ends before":       {handle("ada", 0), func(b *bench) { b.limit = 3_499 }, stage.Quota, 0, 0, 0},
		"the budget ends on the way":   {handle("ada", 0), func(b *bench) { b.limit = 7_000 }, stage.Partial, 40, 2, 7_000},
		"a redirect":                   {handle("ada", 0), func(b *bench) { b.Intercept = redirect }, stage.Changed, 0, 1, 3_500},
		"the same cursor again":        {handle("ada", 0), func(b *bench) { b.Intercept = again }, stage.Partial, 1, 2, 7_000},
		"a member of views is renamed": {handle("ada", 3), func(b *bench) { b.Intercept = noViews }, stage.Partial, 3, 1, 3_500},
		"429, and then not":            {handle("ada", 5), func(b *bench) { b.Intercept = sitetest.Times(1, limited) }, stage.OK, 5, 2, 7_000},
		"it fails and then does not":   {handle("ada", 5), func(b *bench) { b.Intercept = sitetest.Times(2, sitetest.Text(502, "")) }, stage.OK, 5, 3, 10_500},
		"it is down":                   {handle("ada", 5), func(b *bench) { b.Intercept = sitetest.Times(sitetest.Always, sitetest.Text(502, "")) }, stage.Blocked, 0, 4, 14_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, reelbase)
			if c.change != nil {
				c.change(b)
			}
			records, outcomes := b.collect(t, c.seed)
			if o := outcomes[0]; o.Status != c.want || len(records) != c.videos || len(b.Asked()) != c.asked || b.spent != c.spent {
				t.Errorf("%s (%s), %d videos by %v for %d; want %s, %d by %d requests for %d", o.Status, o.Detail, len(records), b.Asked(), b.spent, c.want, c.videos, c.asked, c.spent)
			}
			for _, secret := range []string{recipetest.Key, "rb_live_other_secret"} {
				if strings.Contains(outcomes[0].Detail, secret) {
					t.Errorf("the key is in %q", outcomes[0].Detail)
				}
			}
		})
	}
}

func redirect(w http.ResponseWriter, r *http.Request) bool {
	http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
	return true
}

func again(w http.ResponseWriter, _ *http.Request) bool {
	sitetest.Text(200, `{"result":{"clips":[{"ref":"7400000000000000001","tally":{"seen":1}}],"paging":{"after":"c:1"}}}`)(w, nil)
	return true
}

func noViews(w http.ResponseWriter, _ *http.Request) bool {
	sitetest.Text(200, `{"result":{"clips":[{"ref":"7400000000000000001"},{"ref":"7400000000000000002"},{"ref":"7400000000000000003"}]}}`)(w, nil)
	return true
}

func limited(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "3")
	w.WriteHeader(http.StatusTooManyRequests)
}

func TestFaultsOfEveryInterface(t *testing.T) {
	t.Parallel()
	sitetest.Suite(t, sitetest.Subject{
		Videos: 15,
		Collect: func(t *testing.T, fault func(http.ResponseWriter, *http.Request) bool) ([]stage.Record, stage.Outcome) {
			t.Helper()
			b := newBench(t, reelbase)
			b.Clips["ada"] = 15
			b.Intercept = fault
			records, outcomes := b.collect(t, handle("ada", 0))
			return records, outcomes[0]
		},
		Bucket:     sitetest.Text(200, `{"fault":{"kind":"broke","words":"no credit is left"}}`),
		TokenEnded: sitetest.Text(200, `{"fault":{"kind":"bad_key","words":"ended"}}`),
		Renamed:    sitetest.Text(200, `{"result":{"films":[{"ref":"7400000000000000001"}]}}`),
		Empty:      sitetest.Text(200, `{"result":{"clips":[]}}`),
	})
}
