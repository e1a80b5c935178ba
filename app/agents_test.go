package app_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/plugins/feed"
)

// bearing adds a key to the requests of a client.
type bearing struct{ key string }

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return http.DefaultTransport.RoundTrip(r)
}

// toolClient is a client of the protocol that counts what it reads.
type toolClient struct {
	*mcp.ClientSession
	calls, bytes int
}

// newAgent connects by a version of the protocol; empty for the newest.
func newAgent(t *testing.T, running *apptest.Running, key, query, version string) *toolClient {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: running.BaseURL + "/mcp" + query, HTTPClient: &http.Client{Transport: bearing{key}}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &toolClient{ClientSession: session}
}

// try calls a tool and returns its text.
func (a *toolClient) try(t *testing.T, tool, arguments string) (text string, refused bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	result, err := a.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arguments, err)
	}
	if len(result.Content) != 1 || result.StructuredContent != nil {
		t.Fatalf("%s: got %d contents and structured content %v, want one copy", tool, len(result.Content), result.StructuredContent)
	}
	text = result.Content[0].(*mcp.TextContent).Text
	a.calls, a.bytes = a.calls+1, a.bytes+len(text)
	return text, result.IsError
}

// get decodes the answer of a call that must succeed.
func (a *toolClient) get(t *testing.T, tool, arguments string, out any) {
	t.Helper()
	text, refused := a.try(t, tool, arguments)
	if refused {
		t.Fatalf("%s %s is refused: %s, want not refused", tool, arguments, text)
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatalf("%s: %v: %s", tool, err, text)
	}
}

// TestAgentsJourney: a first journey takes at most 12 calls and 25 KB, by the newest
// version of the protocol and by the oldest.
func TestAgentsJourney(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, sampleFeed, func(cfg *app.Config) { cfg.Briefs.Fee = 0 })
	for _, version := range []string{"", "2025-06-18", "2024-11-05"} {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t, running, running.Account(t, "pro").Key, "", version)
			if got := a.InitializeResult().ProtocolVersion; version != "" && got != version || got == "" {
				t.Errorf("got version %q, want %q", got, version)
			}
			tour := feed.SampleBrief()
			brief, _ := json.Marshal(map[string]any{"description": tour.Description, "website": tour.Website, "competitors": tour.Competitors})
			rules, _ := json.Marshal(map[string]any{"text": tour.Rules})
			a.get(t, "setWorkspace", string(brief), &struct{}{})
			a.get(t, "putRules", string(rules), &struct{}{})
			var started struct{ Scroll struct{ ID, Status string } }
			a.get(t, "createScroll", `{"prompt":"cold brew","idempotencyKey":"journey-1"}`, &started)
			for started.Scroll.Status != "completed" {
				a.get(t, "getScroll", fmt.Sprintf(`{"id":%q,"waitSeconds":25}`, started.Scroll.ID), &started)
				if s := started.Scroll.Status; a.calls > 12 || s == "failed" || s == "cancelled" {
					t.Fatalf("after %d calls the scroll is %s, want it completed within 12", a.calls, s)
				}
			}
			var outliers struct {
				Outliers []struct {
					ID, Kind, Platform          string
					Score, Views, BaselineViews float64
					SampleCount                 int
					Untrusted                   struct{ Handle, Caption string }
				}
			}
			a.get(t, "getOutliers", `{}`, &outliers)
			if n := len(outliers.Outliers); n < 2 || n > 10 {
				t.Fatalf("got %d outliers, want 2 to 10", n)
			}
			for _, o := range outliers.Outliers[:2] {
				if o.ID == "" || o.Score <= 1 || o.Views == 0 || o.BaselineViews == 0 || o.SampleCount == 0 || o.Untrusted.Handle == "" || o.Untrusted.Caption == "" {
					t.Errorf("got outlier %+v, want every member", o)
				}
				var why struct {
					Found       bool
					Explanation struct {
						Outcome string
						Peers   struct{ Videos []struct{ VideoID string } }
					}
				}
				a.get(t, "explainOutlier", fmt.Sprintf(`{"videoId":%q}`, o.ID), &why)
				if !why.Found || why.Explanation.Outcome != "listed" || len(why.Explanation.Peers.Videos) == 0 {
					t.Errorf("got %+v, want why it is listed", why)
				}
			}
			var hooks struct{ Hooks []struct{ ID string } }
			a.get(t, "getHooks", `{}`, &hooks)
			var drafted struct {
				Sentences []struct {
					Part      string
					VideoIDs  []string
					Untrusted struct {
						Text      string
						TrendKeys []string
					}
				}
			}
			a.get(t, "draftBrief", `{}`, &drafted)
			if len(drafted.Sentences) < 3 {
				t.Errorf("got %d sentences of a brief, want some", len(drafted.Sentences))
			}
			for _, s := range drafted.Sentences {
				if s.Part == "" || s.Untrusted.Text == "" || len(s.VideoIDs)+len(s.Untrusted.TrendKeys) == 0 {
					t.Errorf("sentence %+v: want a text and what it cites", s)
				}
			}
			if len(hooks.Hooks) == 0 || hooks.Hooks[0].ID == "" {
				t.Errorf("got %d hooks, want some with ids", len(hooks.Hooks))
			}
			t.Logf("%d calls, %d bytes", a.calls, a.bytes)
			if a.calls > 12 || a.bytes > 25_000 {
				t.Errorf("got %d calls and %d bytes, want at most 12 and 25,000", a.calls, a.bytes)
			}
		})
	}
}

// TestStructuredAnswers: a client that asks for structured content gets the JSON there, once.
func TestStructuredAnswers(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	key := running.Account(t, "pro").Key
	for _, c := range []struct {
		name, query, version, tool string
		structured                 bool
	}{
		{"asked for", "?structured=true", "", "getRules", true},
		{"asked for, a refusal", "?structured=true", "", "putRules", true},
		{"asked for by the first version that has it", "?structured=true", "2025-06-18", "getRules", true},
		{"asked for by an earlier version", "?structured=true", "2024-11-05", "getRules", false},
		{"not asked for", "", "", "getRules", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			arguments := map[string]string{"getRules": `{"detail":"full"}`, "putRules": `{}`}[c.tool]
			result, err := newAgent(t, running, key, c.query, c.version).CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(arguments)})
			if err != nil {
				t.Fatal(err)
			}
			object, is := result.StructuredContent.(map[string]any)
			if is != c.structured || is == (len(result.Content) > 0) || is && len(object) == 0 || result.IsError != (c.tool == "putRules") {
				t.Errorf("got %d contents, structured content %v and an error: %t; want structured content: %t, contents otherwise, and an error: %t", len(result.Content), result.StructuredContent, result.IsError, c.structured, c.tool == "putRules")
			}
		})
	}
}

// TestStructuredAnswersKeepTheirSchemas: compact and full, with rows and without.
func TestStructuredAnswersKeepTheirSchemas(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, sampleFeed)
	account := running.Account(t, "pro")
	account.Get(t, setBrief, &struct{}{})
	account.Scroll(t, "{}")
	ids := idsIn(t, account, everything(t, account))
	var kept struct{ Collection struct{ ID string } }
	account.Get(t, `POST /v1/collections/create {"name":"Kettles"}`, &kept)
	account.Get(t, fmt.Sprintf(`POST /v1/collections/add {"id":%q,"videoIds":[%q]}`, kept.Collection.ID, ids["vid_"][0]), &struct{}{})
	a := newAgent(t, running, account.Key, "?structured=true&toolsets=all", "")
	list, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	arguments := map[string]string{
		"getVideo": fmt.Sprintf(`{"id":%q`, ids["vid_"][0]), "getVideos": fmt.Sprintf(`{"ids":[%q,"vid_x"]`, ids["vid_"][0]), "getScroll": fmt.Sprintf(`{"id":%q`, ids["scr_"][0]),
		"explainOutlier": fmt.Sprintf(`{"videoId":%q`, ids["vid_"][0]), "listObservations": fmt.Sprintf(`{"videoId":%q`, ids["vid_"][0]),
		"explainTrend": `{"key":"hashtag:espresso"`, "getTrendSeries": `{"key":"hashtag:espresso"`, "getCreator": fmt.Sprintf(`{"videoId":%q`, ids["vid_"][0]),
		"previewRules": `{"text":"- no ads"`, "getImport": `{"id":"imp_x"`, "getCollection": fmt.Sprintf(`{"id":%q`, kept.Collection.ID),
	}
	checked := 0
	for _, tool := range list.Tools {
		if !tool.Annotations.ReadOnlyHint {
			continue
		}
		text, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatalf("%s: %v: %s", tool.Name, err, text)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		if err := resolved.Validate(map[string]any{"untrusted": 7}); err == nil {
			t.Errorf("%s: the schema takes a number for what is untrusted, want it refused", tool.Name)
		}
		for _, detail := range []string{"compact", "full"} {
			call := cmp.Or(arguments[tool.Name], "{")
			if call != "{" {
				call += ","
			}
			result, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(call + `"detail":"` + detail + `"}`)})
			if err != nil || result.IsError || result.StructuredContent == nil {
				t.Errorf("%s, %s: got %+v, error %v; want structured content", tool.Name, detail, result, err)
				continue
			}
			checked++
			if err := resolved.Validate(result.StructuredContent); err != nil {
				t.Errorf("%s, %s: %v", tool.Name, detail, err)
			}
		}
	}
	if checked < 30 {
		t.Errorf("checked %d answers, want at least 30", checked)
	}
	var page struct {
		Videos []struct{ Untrusted struct{ SourceURL string } }
	}
	newAgent(t, running, account.Key, "", "").get(t, "getLibrary", "{}", &page)
	if len(page.Videos) == 0 || !strings.HasPrefix(page.Videos[0].Untrusted.SourceURL, "https://") {
		t.Errorf("got rows %+v, want each with its sourceUrl", page.Videos)
	}
}

// TestAToolBeyondSaysWhatToAdd: to the key or to the address.
func TestAToolBeyondSaysWhatToAdd(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	account := running.Account(t, "pro")
	narrow := account.Do(t, `POST /v1/api_keys/sessions {"scopes":["library:read"],"ttlSeconds":600}`, "").JSON(t)["apiKey"].(string)
	for _, c := range []struct{ name, key, query, tool, code, message string }{
		{"a toolset", account.Key, "", "listVerdicts", "not_offered", "listVerdicts is in the toolset scrolls: add ?toolsets=default,scrolls to the address."},
		{"reads alone", account.Key, "?read_only=true", "putRules", "not_offered", "putRules writes, and the address asks for reads alone: leave read_only=true out of it."},
		{"a scope", narrow, "", "putRules", "forbidden", "This key lacks the scope rules:write, which putRules needs: use a key that has it."},
		{"a scope and a toolset", narrow, "", "archiveLibraryVideo", "forbidden", "This key lacks the scope library:write, which archiveLibraryVideo needs: use a key that has it. archiveLibraryVideo is in the toolset library: add ?toolsets=default,library to the address."},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, refused := newAgent(t, running, c.key, c.query, "").try(t, c.tool, "{}")
			var got struct{ Code, Message string }
			if err := json.Unmarshal([]byte(text), &got); err != nil || !refused || got.Code != c.code || got.Message != c.message {
				t.Errorf("got %s, refused %t; want %s: %s", text, refused, c.code, c.message)
			}
		})
	}
}

// TestAgentsTools: what a key may not do is not offered, and the list is short.
func TestAgentsTools(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	account := running.Account(t, "pro")
	names := func(t *testing.T, key, query string) (names []string, size int) {
		t.Helper()
		list, err := newAgent(t, running, key, query, "").ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if list.CacheScope != "private" || list.TTLMs != 300_000 {
			t.Errorf("got cache scope %q for %d ms, want private for 300000", list.CacheScope, list.TTLMs)
		}
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(names) {
			t.Errorf("got %v, want them sorted", names)
		}
		return names, len(text)
	}
	all, size := names(t, account.Key, "")
	t.Logf("%d tools, %d bytes", len(all), size)
	if len(all) < 14 || size > 12<<10 {
		t.Errorf("got %d tools in %d bytes, want at least 14 in at most 12288", len(all), size)
	}
	t.Run("read only", func(t *testing.T) {
		reads, _ := names(t, account.Key, "?read_only=true")
		if slices.Contains(reads, "putRules") || !slices.Contains(reads, "previewRules") || !slices.Contains(reads, "getOutliers") {
			t.Errorf("got %v, want reads alone", reads)
		}
	})
	t.Run("what the address may not have", func(t *testing.T) {
		for query, want := range map[string]string{
			"read_only=1": "read_only", "read_only=True": "read_only", "read_only": "read_only", "readonly=true": "readonly", "toolsets=nope": "toolsets",
			"toolsets=default,nope": "toolsets", "toolsets=Default": "toolsets", "structured=yes": "structured",
		} {
			answer := account.Do(t, "POST /mcp?"+query+` {"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "")
			if answer.Status != 400 || !strings.Contains(string(answer.Body), `"path":"`+want+`"`) {
				t.Errorf("%s: got %d %s, want 400 for %s", query, answer.Status, answer.Body, want)
			}
		}
	})
	t.Run("other toolsets", func(t *testing.T) {
		if none, _ := names(t, account.Key, "?toolsets=,"); !slices.Equal(none, all) {
			t.Errorf("no toolset is named: got %v, want those of the default", none)
		}
		every, _ := names(t, account.Key, "?toolsets=all")
		if more, _ := names(t, account.Key, "?toolsets=default,scrolls"); len(more) <= len(all) || len(every) <= len(more) || !slices.Contains(more, "listVerdicts") {
			t.Errorf(`got %v, want more than %v more, more than %v every and more with "listVerdicts" of %v`, more, len(all), len(more), every)
		}
		for _, name := range every {
			if strings.Contains(strings.ToLower(name), "key") || strings.Contains(name, "ebhook") || strings.Contains(name, "andbox") {
				t.Errorf(`%s is offered, want name without "key", name without "ebhook" and name without "andbox"`, name)
			}
		}
	})
	t.Run("the scopes of a session key", func(t *testing.T) {
		var session struct{ APIKey string }
		account.Get(t, `POST /v1/api_keys/sessions {"scopes":["library:read"],"ttlSeconds":600}`, &session)
		few, _ := names(t, session.APIKey, "?toolsets=all")
		if slices.Contains(few, "getWorkspace") || slices.Contains(few, "archiveLibraryVideo") || !slices.Contains(few, "getLibrary") {
			t.Errorf("got %v, want what library:read allows", few)
		}
	})
}
