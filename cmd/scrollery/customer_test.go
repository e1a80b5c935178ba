package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/app/host"
	customers "github.com/scrollery/scrollery/cmd/scrollery/customer"
	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
	"github.com/scrollery/scrollery/plugins/feed"
)

// terminal runs customers' commands inside the test, with an environment and a folder of
// settings of its own.
type terminal struct {
	env map[string]string
	dir string
	// opened are the addresses that a browser was to show.
	opened []string
}

func newTerminal(t *testing.T, env map[string]string) *terminal {
	t.Helper()
	return &terminal{env: env, dir: t.TempDir()}
}

func (c *terminal) run(ctx context.Context, stdin string, args ...string) result {
	lookup := func(name string) (string, bool) { text, ok := c.env[name]; return text, ok }
	root := newRoot(customers.Environment{
		Lookup: lookup, Escape: host.Printable,
		Store:  func() (*login.Store, error) { return &login.Store{Lookup: lookup, Dir: c.dir}, nil },
		Browse: func(_ context.Context, address string) error { c.opened = append(c.opened, address); return nil },
	})
	var stdout, stderr bytes.Buffer
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	code := execute(ctx, root, args, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// must runs a command that is to end with a code.
func (c *terminal) must(t *testing.T, code int, args ...string) result {
	t.Helper()
	got := c.run(t.Context(), "", args...)
	if got.code != code {
		t.Fatalf("scrollery %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got.code, code, got.stdout, got.stderr)
	}
	return got
}

// asSampled is a server with the sample library, filled by the commands themselves.
func asSampled(t *testing.T) (*apptest.Caller, *terminal) {
	t.Helper()
	running := apptest.Start(t, func(cfg *app.Config) { cfg.SetStage("FEED_DIR", feed.Sample) })
	caller := running.Account(t, "pro")
	c := newTerminal(t, map[string]string{"SCROLLERY_KEY": caller.Key, "SCROLLERY_SERVER": running.BaseURL})
	tour := feed.SampleBrief()
	brief := []string{"brief", "set", "--name", tour.Name, "--description", tour.Description}
	for _, competitor := range tour.Competitors {
		brief = append(brief, "--competitor", competitor)
	}
	c.must(t, exitDone, brief...)
	if _, err := running.Operator().GrantCredits(t.Context(), caller.Email, 150, ""); err != nil { // for three drafts
		t.Fatal(err)
	}
	rules := filepath.Join(t.TempDir(), "rules.txt")
	if err := os.WriteFile(rules, []byte(tour.Rules), 0o600); err != nil {
		t.Fatal(err)
	}
	c.must(t, exitDone, "rules", "put", rules)
	for range 3 {
		if got := c.must(t, exitDone, "scroll", "start", "--follow"); !strings.Contains(got.stderr, "completed") || strings.ContainsRune(got.stderr, '\r') {
			t.Fatalf("the progress in a pipe: got %q, want it to end completed, without carriage returns", got.stderr)
		}
	}
	return caller, c
}

// TestCustomer makes the journey of a customer on one server.
func TestCustomer(t *testing.T) {
	t.Parallel()
	caller, c := asSampled(t)
	t.Run("tables", func(t *testing.T) { tables(t, c) })
	t.Run("a brief", func(t *testing.T) { draftsBrief(t, c) })
	t.Run("collections", func(t *testing.T) { collections(t, c) })
	t.Run("own keys of sources", func(t *testing.T) { ownSources(t, c) })
	t.Run("JSON is what REST returns", func(t *testing.T) { sameAsREST(t, caller, c) })
	t.Run("CSV", func(t *testing.T) { csvOfOutliers(t, caller, c) })
	t.Run("all pages", func(t *testing.T) { allPages(t, c) })
	t.Run("exit codes", func(t *testing.T) { exitCodes(t, caller, c) })
	t.Run("errors as JSON", func(t *testing.T) { errorsAsJSON(t, c) })
	t.Run("explain", func(t *testing.T) { explains(t, caller, c) })
	t.Run("rules", func(t *testing.T) { rulesOf(t, c) })
	t.Run("any operation", func(t *testing.T) { anyOperation(t, c) })
	t.Run("rates", func(t *testing.T) { limited(t, caller) })
	t.Run("follow without streams", func(t *testing.T) { follows(t, caller) })
	t.Run("listen", func(t *testing.T) { listens(t, caller) })
	t.Run("tail over cut streams", func(t *testing.T) { tails(t, caller) })
	t.Run("export", func(t *testing.T) { exports(t, caller) })
	t.Run("login and logout", func(t *testing.T) { loginAndLogout(t, caller) })
	t.Run("no secret is shown", func(t *testing.T) { noSecrets(t, caller) })
}

// steady replaces what differs from run to run.
func steady(text string) string {
	text = regexp.MustCompile(`\b(vid|scr|key|ws|chg|col)_[0-9a-z]{13}\b`).ReplaceAllString(text, "${1}_*")
	return regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`).ReplaceAllString(text, "TIME")
}

// tables compares what a pipe gets with files; UPDATE_GOLDEN=1 writes them.
func tables(t *testing.T, c *terminal) {
	for name, args := range map[string][]string{
		"hooks":       {"hooks", "--limit", "4"},
		"hooks.json":  {"hooks", "--limit", "2", "--json", "spoken,video.platform,video.metadata.hashtags"},
		"hooks.csv":   {"hooks", "--limit", "4", "--csv"},
		"library":     {"library", "--limit", "5", "--creator", "@brewfox.example"},
		"library.csv": {"library", "--limit", "3", "--platform", "youtube", "--csv"},
		// The order of trends depends on the time of the day, from whose start the sample's ages count.
		"trends.json":      {"trends", "--limit", "25", "--json", "key,label,metrics.videoCount", "--jq", `map(select(.key == "hook:question") | .metrics.videoCount |= (. > 9))`},
		"trends.jq":        {"trends", "--limit", "25", "--jq", `.[] | select(.key == "hook:question") | [.key, .metrics.videoCount > 9] | @tsv`},
		"scroll-list":      {"scroll", "list"},
		"rules-history":    {"rules", "history"},
		"rules-get":        {"rules", "get"},
		"brief-get":        {"brief", "get"},
		"brief-draft.json": {"brief", "draft", "--json", "status,composer,credits,outliers,hooks,trends"},
		"changes":          {"change", "list", "--types", "scroll.started,scroll.completed,rules.changed,workspace.changed"},
		"keys":             {"key", "list", "--json", "scopes,active,current,parentId,expiresAt"},
	} {
		t.Run(name, func(t *testing.T) {
			got := steady(c.must(t, exitDone, args...).stdout)
			path := filepath.Join("testdata", "customer", name+".golden")
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// draftsBrief compares the form of a brief alone: which videos it is about depends on their
// ages, which differ from run to run.
func draftsBrief(t *testing.T, c *terminal) {
	lines := strings.Split(strings.TrimSpace(steady(c.must(t, exitDone, "brief", "draft").stdout)), "\n")
	if want := "PART\tSENTENCE\tRESTS ON"; lines[0] != want {
		t.Errorf("got the heading %q, want %q", lines[0], want)
	}
	sentence := regexp.MustCompile(`^(works|opening|trend|make)\t[^\t]+\.\t(vid_\*|[a-z]+:\S+)( (vid_\*|[a-z]+:.+))*$`)
	parts := map[string]bool{}
	for _, line := range lines[1:] {
		if !sentence.MatchString(line) {
			t.Errorf("got the line %q, want a part, a sentence and what it rests on", line)
		}
		part, _, _ := strings.Cut(line, "\t")
		parts[part] = true
	}
	if len(parts) != 4 {
		t.Errorf("got the parts %v, want works, opening, trend and make", parts)
	}
}

// collections makes a collection, puts it in order and drafts a brief from it.
func collections(t *testing.T, c *terminal) {
	made := decoded(t, c.must(t, exitDone, "collection", "create", "Openings", "--note", "to try", "--json", "id").stdout).(map[string]any)
	id := made["id"].(string)
	videos := strings.Fields(c.must(t, exitDone, "outliers", "--limit", "4", "--jq", ".[].video.id").stdout)
	c.must(t, exitDone, append([]string{"collection", "add", id}, videos[:3]...)...)
	c.must(t, exitDone, "collection", "add", id, videos[3], "--note", "the cut")
	c.must(t, exitDone, "collection", "move", id, videos[3], "--before", videos[0])
	c.must(t, exitDone, "collection", "remove", id, videos[1])
	c.must(t, exitDone, "collection", "set", id, "--name", "Beginnings")
	shown := c.must(t, exitDone, "collection", "show", id, "--jq", `.[] | "\(.item.video.id) \(.note)"`).stdout
	if want := videos[3] + " the cut\n" + videos[0] + " \n" + videos[2] + " \n"; shown != want {
		t.Errorf("got the videos %q, want %q", shown, want)
	}
	if got := steady(c.must(t, exitDone, "collection", "list", "--jq", `.[] | "\(.name) \(.note) \(.videos)"`).stdout); got != "Beginnings to try 3\n" {
		t.Errorf("got the collections %q, want one with 3 videos", got)
	}
	draft := decoded(t, c.must(t, exitDone, "brief", "draft", "--collection", id, "--json", "outliers,trends").stdout)
	if diff := cmp.Diff(map[string]any{"outliers": 3.0, "trends": 0.0}, draft); diff != "" {
		t.Errorf("what the brief rests on, want - got +:\n%s", diff)
	}
	for _, args := range [][]string{
		{"collection", "add", "col_x", videos[0]},
		{"collection", "move", id, videos[0], "--after", videos[1]},
		{"collection", "remove", "col_x", videos[0]},
		{"collection", "set", "col_x", "--note", ""},
		{"collection", "delete", "col_x"},
	} {
		c.must(t, exitFailed, args...)
	}
	c.must(t, exitWrongUse, "collection", "move", id, videos[0])
	shared := decoded(t, c.must(t, exitDone, "share", "create", id, "--title", "To try", "--days", "7", "--json", "url,share").stdout).(map[string]any)
	if address, _ := shared["url"].(string); !strings.Contains(address, "/share/") {
		t.Errorf("got the page %v, want an address", shared)
	}
	page := shared["share"].(map[string]any)["id"].(string)
	if got := c.must(t, exitDone, "share", "list", "--jq", `.[] | "\(.kind) \(.title) \(.views)"`).stdout; got != "collection To try 0\n" {
		t.Errorf("got the pages %q, want one", got)
	}
	c.must(t, exitDone, "share", "revoke", page)
	c.must(t, exitFailed, "share", "revoke", page)
	c.must(t, exitFailed, "share", "create", "vid_x", "--title", "x")
	c.must(t, exitWrongUse, "share", "create", id)
	c.must(t, exitDone, "collection", "delete", id)
}

func decoded(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

func sameAsREST(t *testing.T, caller *apptest.Caller, c *terminal) {
	member := func(path, name string) any {
		return decoded(t, string(caller.Do(t, "GET "+path, "").Body)).(map[string]any)[name]
	}
	scroll := strings.TrimSpace(c.must(t, exitDone, "scroll", "list", "--jq", ".[0].id").stdout)
	video := strings.TrimSpace(c.must(t, exitDone, "outliers", "--jq", ".[0].video.id").stdout)
	for name, one := range map[string]struct {
		args string
		want any
	}{
		"outliers": {"outliers --limit 25", member("/v1/outliers/list?limit=25", "outliers")},
		"hooks":    {"hooks --limit 25", member("/v1/hooks/list?limit=25", "hooks")},
		"trends":   {"trends --limit 25", member("/v1/trends/list?limit=25", "trends")},
		"library":  {"library --limit 25", member("/v1/library?limit=25", "videos")},
		"filters":  {"library --limit 25 --min-views 5000 --kind competitor --search moka", member("/v1/library?limit=25&minViews=5000&kind=competitor&q=moka", "videos")},
		"kinds":    {"trends --kind hashtag --min-videos 10 --min-growth 1.5", member("/v1/trends/list?kind=hashtag&minVideos=10&minGrowth=1.5", "trends")},
		"scroll":   {"scroll show " + scroll, member("/v1/scrolls?id="+scroll, "scroll")},
		"scrolls":  {"scroll list", member("/v1/scrolls/list", "scrolls")},
		"explain":  {"explain " + video, member("/v1/outliers/explain?videoId="+video, "explanation")},
		"trend":    {"explain hashtag:coldbrew", member("/v1/trends/explain?key=hashtag:coldbrew", "explanation")},
		"rules":    {"rules get", decoded(t, string(caller.Do(t, "GET /v1/rules", "").Body))},
		"changes":  {"change list --limit 20", member("/v1/changes?limit=20", "changes")},
		"keys":     {"key list", member("/v1/api_keys", "keys")},
		"usage":    {"usage", decoded(t, string(caller.Do(t, "GET /v1/usage", "").Body))},
		"api":      {"api GET /v1/hooks -F limit=2", decoded(t, string(caller.Do(t, "GET /v1/hooks?limit=2", "").Body))},
	} {
		t.Run(name, func(t *testing.T) {
			got := decoded(t, c.must(t, exitDone, append(strings.Fields(one.args), "--json", "all")...).stdout)
			if diff := cmp.Diff(one.want, got); diff != "" || got == nil {
				t.Errorf("got %v, which differs from REST (-want +got):\n%s", got, diff)
			}
		})
	}
}

// csvOfOutliers compares each cell with the answer of REST.
func csvOfOutliers(t *testing.T, caller *apptest.Caller, c *terminal) {
	var answer struct {
		Outliers []struct {
			Video struct {
				ID, Platform string
				Source       struct{ Handle string }
				Metadata     struct{ Caption string }
				Metrics      struct{ Views json.Number }
			}
			Score, BaselineViews json.Number
			SampleCount          json.Number
		}
	}
	caller.Get(t, "GET /v1/outliers/list?limit=10", &answer)
	want := [][]string{{"video", "score", "views", "baseline", "peers", "platform", "creator", "caption"}}
	for _, o := range answer.Outliers {
		want = append(want, []string{
			o.Video.ID, o.Score.String(), o.Video.Metrics.Views.String(), o.BaselineViews.String(), o.SampleCount.String(),
			o.Video.Platform, o.Video.Source.Handle, o.Video.Metadata.Caption,
		})
	}
	got, err := csv.NewReader(strings.NewReader(c.must(t, exitDone, "outliers", "--limit", "10", "--csv").stdout)).ReadAll()
	if err != nil || len(want) != 11 {
		t.Fatalf("got %d outliers and %v, want 10 and no error", len(want)-1, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the command differs from REST (-want +got):\n%s", diff)
	}
}

func allPages(t *testing.T, c *terminal) {
	ids := strings.Fields(c.must(t, exitDone, "library", "--all", "--jq", ".[].id").stdout)
	once := map[string]bool{}
	for _, id := range ids {
		once[id] = true
	}
	if len(ids) != 125 || len(once) != len(ids) {
		t.Errorf("got %d videos, %d of them different, want 125", len(ids), len(once))
	}
	if got := strings.Fields(c.must(t, exitDone, "library", "--limit", "60", "--jq", ".[].id").stdout); len(got) != 60 {
		t.Errorf("--limit 60: got %d videos, want 60", len(got))
	} else if diff := cmp.Diff(ids[:60], got); diff != "" {
		t.Errorf("--limit 60 differs from the first 60 of --all (-want +got):\n%s", diff)
	}
}

func exitCodes(t *testing.T, caller *apptest.Caller, c *terminal) {
	other := func(env map[string]string) *terminal { return newTerminal(t, env) }
	address := c.env["SCROLLERY_SERVER"]
	few := strings.TrimSpace(c.must(t, exitDone, "key", "new", "--scopes", "usage:read").stdout)
	for name, one := range map[string]struct {
		in   *terminal
		args string
		code int
		want string // part of stderr
	}{
		"done":                         {c, "usage", customers.ExitDone, ""},
		"no such video":                {c, "explain vid_0000000000000", customers.ExitFailed, "the library has no video"},
		"no such scroll":               {c, "scroll show scr_0000000000000", customers.ExitFailed, "there is no scroll"},
		"no such path":                 {c, "api GET /v1/nonsense", customers.ExitFailed, "nothing at this path"},
		"an unknown flag":              {c, "outliers --colour red", customers.ExitWrongUse, "unknown flag: --colour"},
		"a flag of the server":         {c, "outliers --addr :1", customers.ExitWrongUse, "unknown flag: --addr"},
		"an unknown command":           {c, "scroll dance", customers.ExitWrongUse, `does not take "dance"`},
		"an unknown field":             {c, "outliers --json views", customers.ExitWrongUse, `there is no field`},
		"a bad jq program":             {c, "outliers --jq .[", customers.ExitWrongUse, "--jq"},
		"a value the server refuses":   {c, "outliers --kind nonsense", customers.ExitWrongUse, "kind: must be one of "},
		"no items":                     {c, "outliers --limit 0", customers.ExitWrongUse, "below 1"},
		"an address of another server": {c, "api GET //evil.example.com/", customers.ExitWrongUse, "a path begins with one /"},
		"no key":                       {other(map[string]string{"SCROLLERY_SERVER": address}), "usage", customers.ExitSignIn, "scrollery login"},
		"an unknown key":               {other(map[string]string{"SCROLLERY_SERVER": address, "SCROLLERY_KEY": "scr_live_x"}), "usage", customers.ExitSignIn, ""},
		"a key without the scope":      {other(map[string]string{"SCROLLERY_SERVER": address, "SCROLLERY_KEY": few}), "hooks", customers.ExitFailed, ""},
		"no server":                    {other(map[string]string{"SCROLLERY_SERVER": "http://127.0.0.1:1", "SCROLLERY_KEY": "x"}), "usage", customers.ExitFailed, "did not answer"},
		"a prompt that is no text":     {c, "scroll start --prompt caf\xe9", customers.ExitWrongUse, "--prompt is not UTF-8 text; nothing was sent"},
		"a field that is no text":      {c, "api PUT /v1/rules -f text=caf\xe9", customers.ExitWrongUse, "--raw-field is not UTF-8 text"},
		"an id that is no text":        {c, "key revoke key_\xff", customers.ExitWrongUse, "is not UTF-8 text"},
		"http to another machine":      {other(map[string]string{"SCROLLERY_SERVER": "http://192.0.2.1", "SCROLLERY_KEY": "x"}), "usage", customers.ExitFailed, "use https"},
	} {
		t.Run(name, func(t *testing.T) {
			got := one.in.run(t.Context(), "", strings.Fields(one.args)...)
			if got.code != one.code || !strings.Contains(got.stderr, one.want) || one.code != 0 && (got.stderr == "" || got.stdout != "") {
				t.Errorf("got exit %d, want %d and %q on stderr alone\n%s\n%s", got.code, one.code, one.want, got.stdout, got.stderr)
			}
		})
	}
	t.Run("stdin that is no text", func(t *testing.T) {
		before := c.must(t, exitDone, "scroll", "list").stdout
		for _, args := range []string{"scroll start --prompt -", "rules put -"} {
			if got := c.run(t.Context(), "Focus on caf\xe9", strings.Fields(args)...); got.code != customers.ExitWrongUse || !strings.Contains(got.stderr, "is not UTF-8 text: save it as UTF-8") {
				t.Errorf("%s: got exit %d and %q, want %d and what to do", args, got.code, got.stderr, customers.ExitWrongUse)
			}
		}
		if after := c.must(t, exitDone, "scroll", "list").stdout; after != before {
			t.Errorf("got the scrolls %s\nwant those from before, %s", after, before)
		}
	})
	t.Run("a scroll that was cancelled", func(t *testing.T) {
		var id, status string
		for range 5 { // a scroll may end before it is cancelled
			id = strings.TrimSpace(c.must(t, exitDone, "scroll", "start", "--jq", ".id").stdout)
			c.must(t, exitDone, "scroll", "cancel", id)
			if status = caller.Await(t, id).Status; status == "cancelled" {
				break
			}
		}
		got := c.must(t, customers.ExitScroll, "scroll", "show", id, "--follow")
		if !strings.Contains(got.stderr, id+" is cancelled") || !strings.Contains(got.stdout, "cancelled") {
			t.Errorf("the scroll is %s\n%s%s, want stderr with %v and stdout with \"cancelled\"", status, got.stdout, got.stderr, id+" is cancelled")
		}
	})
}

func errorsAsJSON(t *testing.T, c *terminal) {
	for want, args := range map[string]string{
		"invalid_request": "outliers --kind nonsense --json all",
		"wrong_use":       "outliers --limit 0 --json all",
		"failed":          "explain vid_0000000000000 --jq .score",
	} {
		got := c.run(t.Context(), "", strings.Fields(args)...)
		var body struct{ Error, Message string }
		if err := json.Unmarshal([]byte(got.stderr), &body); err != nil || body.Error != want || body.Message == "" || got.code == 0 {
			t.Errorf("%s: exit %d, got %v %q, want the error %s", args, got.code, err, got.stderr, want)
		}
	}
}

func explains(t *testing.T, caller *apptest.Caller, c *terminal) {
	var answer struct {
		Outliers []struct {
			Video       struct{ ID string }
			Score       json.Number
			SampleCount int
		}
	}
	caller.Get(t, "GET /v1/outliers/list?limit=1", &answer)
	top := answer.Outliers[0]
	got := c.must(t, exitDone, "explain", top.Video.ID).stdout
	for _, want := range []string{"score       " + top.Score.String() + "\n", fmt.Sprintf("peers used  %d\n", top.SampleCount), fmt.Sprintf("\n%d\tused\n", top.SampleCount)} {
		if !strings.Contains(got, want) {
			t.Errorf("the explanation lacks %q:\n%s", want, got)
		}
	}
}

func rulesOf(t *testing.T, c *terminal) {
	put := func(text string) string {
		path := filepath.Join(t.TempDir(), "new.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := put("- At least 100000 views\n- English only\n")
	got := c.must(t, exitDone, "rules", "diff", file).stdout
	for _, line := range []string{"+- At least 100000 views", "-- At least 500 views", " - English only"} {
		if !strings.Contains(got, "\n"+line+"\n") {
			t.Errorf("got the difference %q, want the line %q in it", got, line)
		}
	}
	if same := c.must(t, exitDone, "rules", "diff", put(feed.SampleBrief().Rules)).stdout; same != "" {
		t.Errorf("got a difference of the same rules, want none:\n%s", same)
	}
	var preview struct{ Judged, NewlyDropped int }
	if err := json.Unmarshal([]byte(c.must(t, exitDone, "rules", "preview", file, "--json", "judged,newlyDropped").stdout), &preview); err != nil || preview.Judged != 125 || preview.NewlyDropped < 50 {
		t.Errorf("got %+v, error %v; want 125 judged and at least 50 newly dropped", preview, err)
	}
	if words := c.must(t, exitDone, "rules", "preview", file).stdout; !strings.Contains(words, fmt.Sprintf("newly dropped          %d\n", preview.NewlyDropped)) {
		t.Errorf("the preview in words: got %q, want %d newly dropped", words, preview.NewlyDropped)
	}
}

func anyOperation(t *testing.T, c *terminal) {
	video := strings.TrimSpace(c.must(t, exitDone, "library", "--limit", "1", "--jq", ".[0].id").stdout)
	if got := c.must(t, exitDone, "api", "POST", "/v1/library/archive", "-F", "videoId="+video, "-F", "archived=true", "--jq", ".outcome"); got.stdout != "updated\n" {
		t.Errorf("archive: %q, want %q", got.stdout, "updated\n")
	}
	c.must(t, exitDone, "api", "POST", "/v1/library/archive", "-F", "videoId="+video, "-F", "archived=false")
	note := `{"videoId":"` + video + `","agentMetadata":{"angle":"price"}}`
	if got := c.run(t.Context(), note, "api", "POST", "/v1/library/annotate", "--input", "-", "--jq", ".video.agentMetadata.angle"); got.stdout != "price\n" {
		t.Errorf("annotate: %q %q, want %q", got.stdout, got.stderr, "price\n")
	}
	if got := c.must(t, exitDone, "library", "--annotated", "--jq", ".[].id"); got.stdout != video+"\n" {
		t.Errorf("annotated videos: %q, want %s", got.stdout, video)
	}
	if got := c.must(t, exitDone, "open"); got.stdout != c.env["SCROLLERY_SERVER"]+"/console/\n" || len(c.opened) != 0 {
		t.Errorf("open in a pipe: %q, opened %q, want stdout %v and no opened", got.stdout, c.opened, c.env["SCROLLERY_SERVER"]+"/console/\n")
	}
}
