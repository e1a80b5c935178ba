package recipe

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// TestFaultsNameTheirLine: each fault has the line, what is wrong, and the nearest name.
func TestFaultsNameTheirLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, want string }{
		"a name that does not exist": {"summary:", "sumary:", `line 3: a recipe has no "sumary"; did you mean summary?`},
		"a name of an error":         {"means: changed", "mean: changed", `line 14: an error has no "mean"; did you mean means?`},
		"free and paid":              {"means: changed", "means: changed, paid: true", `line 14: an error is free or paid`},
		"a meaning":                  {"means: changed", "means: canged", `"canged" is none of`},
		"a field":                    {"views: tally.seen", "vews: tally.seen", `line 23: there is no field "vews"; did you mean views?`},
		"a platform":                 {"  tiktok:\n", "  tiktak:\n", `line 16: there is no platform "tiktak"; did you mean tiktok?`},
		"a placeholder":              {"{cursor}\n    term", "{curser}\n    term", `line 17: there is no placeholder "{curser}"; did you mean cursor?`},
		"another seed's placeholder": {"creators/{handle}", "creators/{term}", `the request for a handle has no {handle} in it`},
		"no placeholder for pages":   {"&from={cursor}\n    pages", "\n    pages", `the request has no {cursor}, {page} or {offset}`},
		"plain http":                 {"https://api.reelbase.example/2/creators", "http://api.reelbase.example/2/creators", `is not an https address`},
		"a host with a placeholder":  {"https://api.reelbase.example/2/creators/{handle}", "https://{handle}.example/2/creators", `has a placeholder`},
		"a user in the address":      {"https://api.reelbase.example/2/creators", "https://a:b@api.reelbase.example/2/creators", `is not an https address`},
		"a price":                    {"call: 0.0035", "call: cheap", `line 7: call: "cheap" is not an amount of US dollars`},
		"a price of a record":        {"call: 0.0035", "record: 0.0035", ``},
		"a rate":                     {"rate: 5/s", "rate: fast", `"fast" is no rate`},
		"an id":                      {"id: reelbase", "id: Reel base", `id: want`},
		"two places of a secret":     {"header: X-Reelbase-Key", "header: X-Reelbase-Key, query: key", `want one of both`},
		"a header that breaks":       {"rate:", "headers: {Host: elsewhere.example}\nrate:", `the header "Host" cannot be set`},
		"two ways of pages":          {"size: 20", "size: 20, number: 1", `want one of cursor, link, number and offset`},
		"a name twice":               {"rate: 5/s", "rate: 5/s\nrate: 6/s", `line 7:`},
		"no YAML":                    {"rate: 5/s", "rate: [", `line `},
		"a column of a format":       {"    records:", "    format: tiktok-app\n    records:", `it goes without columns`},
		"a format":                   {"    records:", "    format: tiktok-ap\n    records:", `there is no format "tiktok-ap"; did you mean tiktok-app?`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(reelbase, c.old, c.new, 1)
			if text == reelbase {
				t.Fatal("nothing was replaced")
			}
			_, err := Parse([]byte(text))
			if c.want == "" {
				if err != nil {
					t.Errorf("%v, want none", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to contain %s", err, c.want)
			}
		})
	}
}

// shapes is a recipe for a provider that the test writes.
const shapes = `
id: shapes
secret: {query: token, format: "k-{secret}"}
headers: {X-Trace: "{cursor}"}
rate: 1000/s
price: {call: 0.001, record: 0.01}
platforms:
  youtube:
    handle: {url: "https://a.example/v1/list", headers: {X-For: "{handle}"}, body: {who: ["{handle}"], most: "{limit}", cap: "{charge}", from: "{cursor}", deep: {n: 3, yes: true}}}
    term: GET https://a.example/v1/find?q={term}&page={page}
    sound: https://b.example/v1/sound/{sound}?at={offset}
    id: https://a.example/v1/one/{id}
    pages: {size: 2}
    columns: {externalId: video.id, views: n}
`

// provider answers by a function, and keeps what it was asked.
type provider struct {
	asked  []string
	bodies []string
	header []http.Header
}

func serve(t *testing.T, answer func(n int, r *http.Request) (int, string)) (*provider, string) {
	t.Helper()
	p := &provider{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		_, _ = readAll(body, r)
		p.asked, p.bodies, p.header = append(p.asked, r.Method+" "+r.URL.RequestURI()), append(p.bodies, body.String()), append(p.header, r.Header.Clone())
		status, text := answer(len(p.asked), r)
		w.Header().Set("Link", `<`+r.Header.Get("X-Next")+`>; rel="next"`)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	return p, server.URL
}

func readAll(to *strings.Builder, r *http.Request) (int64, error) {
	var raw json.RawMessage
	err := json.NewDecoder(r.Body).Decode(&raw)
	n, _ := to.Write(raw)
	return int64(n), err
}

func ask(t *testing.T, text, base string, seed stage.Seed) (records []stage.Record, o stage.Outcome, spent int64) {
	t.Helper()
	recipe, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{recipe: recipe, clock: sitetest.NewClock(time.Date(2026, 9, 1, 16, 10, 0, 0, time.UTC)), limit: 1 << 50}
	call := newBenchCall(b, base)
	records, outcomes, err := stagetest.Collect(t, recipe.spec(site.Options{Clock: b.clock, Timeout: time.Second}, nil), call, []stage.Seed{seed})
	if err != nil || len(outcomes) != 1 {
		t.Fatalf("%+v, error %v; want one outcome", outcomes, err)
	}
	return records, outcomes[0], b.spent
}

const two, one = `[{"video":{"id":"aaaaaaaaaa1"},"n":5},{"video":{"id":"aaaaaaaaaa2"},"n":6}]`, `[{"video":{"id":"aaaaaaaaaa3"},"n":7}]`

// TestRecordsAtAPath: through lists, in objects that stand for lists, and where nothing is.
func TestRecordsAtAPath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer, path string
		want         string // the records, or "changed" or "none"
	}{
		"the answer itself":               {`[1,2]`, "", "1 2"},
		"a member":                        {`{"data":{"all":[1,2]}}`, "data.all", "1 2"},
		"through a list":                  {`{"all":[{"one":[1]},{"one":[2]},{"ad":3}]}`, "all.one", "1 2"},
		"an object for a list":            {`{"all":{"10":11,"2":3,"0":1}}`, "all.*", "1 3 11"},
		"an object for a list on the way": {`{"all":{"0":{"one":[1]},"1":{"one":[2]}}}`, "all.*.one", "1 2"},
		"a list all the same":             {`{"all":[{"one":[1]}]}`, "all.*.one", "1"},
		"an object without members":       {`{"all":{}}`, "all.*", "none"},
		"null for an object":              {`{"all":null}`, "all.*", "none"},
		"an object that is no list":       {`{"all":{"0":1,"next":2}}`, "all.*", "changed"},
		"the object has another name":     {`{"videos":{"0":{"one":[1]}}}`, "all.*.one", "changed"},
		"the list has another name":       {`{"videos":[1]}`, "all", "changed"},
		"nothing":                         {`{"message":"nothing"}`, "all", "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, there := items(json.RawMessage(c.answer), c.path)
			var texts []string
			for _, one := range found {
				texts = append(texts, string(one))
			}
			got := strings.Join(texts, " ")
			switch {
			case !there && lists(json.RawMessage(c.answer)):
				got = "changed"
			case len(found) == 0:
				got = "none"
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestRequestsAreFilled(t *testing.T) {
	t.Parallel()
	p, base := serve(t, func(int, *http.Request) (int, string) { return 200, one })
	_, o, spent := ask(t, shapes, base, stage.Seed{Platform: "youtube", Handle: "Ada.B", Limit: 9})
	if o.Status != stage.OK || spent != 11_000 {
		t.Errorf("%+v for %d, want ok for one call and one record", o, spent)
	}
	if want := `{"cap":0.021,"deep":{"n":3,"yes":true},"most":2,"who":["Ada.B"]}`; p.bodies[0] != want || p.asked[0] != "POST /v1/list?token=k-s3cret" {
		t.Errorf("asked %s with %s, want %s", p.asked[0], p.bodies[0], want)
	}
	if h := p.header[0]; h.Get("X-For") != "Ada.B" || h.Values("X-Trace") != nil || h.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", h)
	}
}

func TestPagesByNumberOffsetAndLink(t *testing.T) {
	t.Parallel()
	twoThenOne := func(n int, _ *http.Request) (int, string) {
		if n == 1 {
			return 200, two
		}
		return 200, one
	}
	numbered := strings.Replace(shapes, "pages: {size: 2}", "pages: {size: 2, number: 1}", 1)
	numbered = strings.Replace(numbered, "cap: ", `at: "{page}", cap: `, 1)
	numbered = strings.Replace(numbered, "at={offset}", "at={page}", 1)
	for name, c := range map[string]struct {
		text  string
		seed  stage.Seed
		asked []string
	}{
		"by number": {numbered, stage.Seed{Term: "a b&c/../d"}, []string{"GET /v1/find?page=1&q=a+b%26c%2F..%2Fd&token=k-s3cret", "GET /v1/find?page=2&q=a+b%26c%2F..%2Fd&token=k-s3cret"}},
		"by offset": {
			strings.Replace(strings.Replace(strings.Replace(shapes, "size: 2}", "size: 2, offset: true}", 1), "cap: ", `at: "{offset}", cap: `, 1), "page={page}", "at={offset}", 1),
			stage.Seed{Term: "sound:715"},
			[]string{"GET /v1/sound/715?at=0&token=k-s3cret", "GET /v1/sound/715?at=2&token=k-s3cret"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, base := serve(t, twoThenOne)
			records, o, _ := ask(t, c.text, base, c.seed)
			if o.Status != stage.OK || len(records) != 3 || !slices.Equal(p.asked, c.asked) {
				t.Errorf("%+v, %d records by %v; want 3 by %v", o, len(records), p.asked, c.asked)
			}
		})
	}
	for name, c := range map[string]struct {
		link   func(base string) string
		status stage.Status
		asked  int
	}{
		"a link to another host":      {func(string) string { return "https://elsewhere.example/v1/list" }, stage.Partial, 1},
		"a link to the host by http":  {func(string) string { return "http://a.example/v1/list" }, stage.Partial, 1},
		"a link with a user":          {func(string) string { return "https://x@a.example/v1/list" }, stage.Partial, 1},
		"a link to one of the hosts":  {func(string) string { return "https://b.example/v1/more" }, stage.OK, 2},
		"a link to the server itself": {func(base string) string { return base + "/v1/more" }, stage.OK, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			linked := strings.Replace(shapes, "pages: {size: 2}", "pages: {size: 2, link: next}\n    records: items", 1)
			if strings.HasPrefix(c.link("X"), "X") {
				linked = strings.Replace(linked, "link: next", "link: header", 1)
			}
			p, base := serve(t, func(n int, r *http.Request) (int, string) {
				next := c.link("http://" + r.Host)
				r.Header.Set("X-Next", "")
				if n == 1 {
					r.Header.Set("X-Next", next)
					return 200, `{"items":` + two + `,"next":"` + next + `"}`
				}
				return 200, `{"items":` + one + `}`
			})
			_, o, _ := ask(t, linked, base, stage.Seed{Platform: "youtube", Term: "tea"})
			if o.Status != c.status || len(p.asked) != c.asked {
				t.Errorf("%+v after %v, want %s after %d", o, p.asked, c.status, c.asked)
			}
		})
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	text := shapes + "errors: [{status: 410, means: gone}]\n"
	recipe, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, base := serve(t, func(_ int, r *http.Request) (int, string) {
		switch {
		case strings.Contains(r.URL.Path, "gone"):
			return 410, `{}`
		case strings.Contains(r.URL.Path, "lost"):
			return 404, `{}`
		}
		return 200, `{"video":{"id":"` + strings.TrimPrefix(r.URL.Path, "/v1/one/") + `"},"n":8}`
	})
	b := &bench{recipe: recipe, clock: sitetest.NewClock(time.Date(2026, 9, 1, 16, 10, 0, 0, time.UTC)), limit: 1 << 50}
	call := newBenchCall(b, base)
	call.Settings["refreshes"] = "3"
	var refs []stage.Ref
	for _, id := range []string{"aaaaaaaaaa1", "gone1", "lost1", "../x", "late1"} {
		refs = append(refs, stage.Ref{Platform: "youtube", ExternalID: id})
	}
	records, outcomes, err := stagetest.Refresh(t, recipe.spec(site.Options{Clock: b.clock}, nil), call, refs)
	if err != nil || len(records) != 1 || *records[0].Metrics.Views != 8 || records[0].Metadata != nil {
		t.Fatalf("%+v, error %v; want one record without metadata", records, err)
	}
	got := map[string]stage.Status{}
	for _, o := range outcomes {
		got[o.Seed] = o.Status
	}
	want := map[string]stage.Status{"aaaaaaaaaa1": stage.OK, "gone1": stage.NotFound, "lost1": stage.Unsupported, "../x": stage.Unsupported, "late1": stage.Unsupported}
	if diff := cmp.Diff(want, got); diff != "" || len(p.asked) != 3 || b.spent != 13_000 {
		t.Errorf("%d requests for %d, outcomes (-want +got):\n%s", len(p.asked), b.spent, diff)
	}
}

// FuzzParse: no text breaks the server, and a recipe that is accepted makes a sound spec.
func FuzzParse(f *testing.F) {
	f.Add([]byte(reelbase))
	f.Add([]byte(shapes))
	f.Fuzz(func(t *testing.T, text []byte) {
		recipe, err := Parse(text)
		if err != nil {
			return
		}
		if err := recipe.Spec().Validate(); err != nil {
			t.Errorf("an accepted recipe makes no sound spec: %v", err)
		}
	})
}
