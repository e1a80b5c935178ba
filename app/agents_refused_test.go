package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

const (
	accepting = "Accept: application/json, text/event-stream"
	listTools = `POST /mcp {"jsonrpc":"2.0","id":1,"method":"tools/list"}`
)

// toolError is the text of a refused call.
type toolError struct {
	Code, Message string
	Issues        []struct{ Path, Message string }
	RetryAfter    *float64
}

func (a *toolClient) refuse(t *testing.T, tool, arguments string) (e toolError) {
	t.Helper()
	text, refused := a.try(t, tool, arguments)
	if err := json.Unmarshal([]byte(text), &e); err != nil || !refused || e.Code == "" || e.Message == "" {
		t.Errorf("%s %s: got %s, %v; want a refusal with code and message", tool, arguments, text, err)
	}
	return e
}

// TestAgentsAreRefusedAsOthers: the same callers and arguments are refused as over REST.
func TestAgentsAreRefusedAsOthers(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	account := running.Account(t, "pro")
	a := newAgent(t, running, account.Key, "?toolsets=all", "")
	t.Run("without a key", func(t *testing.T) {
		answer := running.Anonymous().Do(t, listTools, accepting)
		answer.WantError(t, "unauthorized")
		if got := answer.Header.Get("WWW-Authenticate"); answer.Status != http.StatusUnauthorized || !strings.HasPrefix(got, "Bearer") || !strings.Contains(string(answer.Body), "subscribeUrl") {
			t.Errorf("got %d, WWW-Authenticate %q: %s; want 401, a challenge of Bearer and a subscribeUrl", answer.Status, got, answer.Body)
		}
	})
	t.Run("GET", func(t *testing.T) {
		if answer := account.Do(t, "GET /mcp", ""); answer.Status != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != "POST" {
			t.Errorf(`got %d, Allow %q; want %d, Allow POST`, answer.Status, answer.Header.Get("Allow"), http.StatusMethodNotAllowed)
		}
	})
	t.Run("a page of another origin", func(t *testing.T) {
		if answer := account.Do(t, listTools, "Sec-Fetch-Site: cross-site"); answer.Status != http.StatusForbidden {
			t.Errorf("got %d, want %v: %s", answer.Status, http.StatusForbidden, answer.Body)
		}
	})
	t.Run("a body beyond 1 MiB", func(t *testing.T) {
		answer := account.Do(t, `POST /mcp {"x":"`+strings.Repeat("a", 1<<20)+`"}`, accepting)
		answer.WantError(t, "invalid_request")
	})
	t.Run("too many messages", func(t *testing.T) {
		one := strings.TrimPrefix(listTools, "POST /mcp ")
		answer := account.Do(t, "POST /mcp ["+strings.Repeat(one+",", 10)+one+"]", accepting)
		answer.WantError(t, "invalid_request")
	})
	t.Run("every fault of the arguments", func(t *testing.T) {
		got := a.refuse(t, "getLibrary", `{"limit":"5","platfrom":"x","detail":"all","cursor":"~x~"}`)
		var paths []string
		for _, issue := range got.Issues {
			paths = append(paths, issue.Path)
		}
		slices.Sort(paths)
		if want := []string{"cursor", "detail", "limit", "platfrom"}; got.Code != "invalid_request" || !slices.Equal(paths, want) {
			t.Errorf("got %s at %v, want invalid_request at %v", got.Code, paths, want)
		}
	})
	t.Run("arguments that are no object", func(t *testing.T) {
		if got := a.refuse(t, "getLibrary", `[1]`); got.Code != "invalid_request" {
			t.Errorf(`got %+v, want "invalid_request"`, got)
		}
	})
	t.Run("without a workspace", func(t *testing.T) {
		if got := a.refuse(t, "createScroll", `{}`); got.Code != "workspace_required" {
			t.Errorf(`got %+v, want "workspace_required"`, got)
		}
	})
	t.Run("every call is one event", func(t *testing.T) {
		events := eventsOf(t, account)
		var ops []string
		for _, e := range events {
			ops = append(ops, e.Op+" "+e.Status)
		}
		if want := []string{"createScroll error", "getLibrary error", "getLibrary error"}; !slices.Equal(ops, want) {
			t.Errorf("got %v, want %v", ops, want)
		}
	})
	t.Run("a key that was revoked", func(t *testing.T) {
		var session struct{ APIKey, KeyID string }
		account.Get(t, `POST /v1/api_keys/sessions {"scopes":["library:read","workspace:read"],"ttlSeconds":600}`, &session)
		short := newAgent(t, running, session.APIKey, "", "")
		short.get(t, "getWorkspace", "{}", &struct{}{})
		account.Get(t, fmt.Sprintf(`POST /v1/api_keys/revoke {"id":%q}`, session.KeyID), &struct{}{})
		if _, err := short.CallTool(t.Context(), &mcp.CallToolParams{Name: "getWorkspace"}); err == nil {
			t.Error("a revoked key calls tools, want an error")
		}
	})
}

// TestAgentsHaveTheRateOfTheirAccount: whatever they ask for, beyond the rate they wait.
func TestAgentsHaveTheRateOfTheirAccount(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.RateLimit, cfg.Protocols.AccountBurst, cfg.Protocols.AccountRate = true, 6, 0.01
	})
	account := running.Account(t, "pro")
	a := newAgent(t, running, account.Key, "", "") // one: server/discover
	for range 5 {
		a.get(t, "getWorkspace", "{}", &struct{}{})
	}
	if got := a.refuse(t, "getWorkspace", "{}"); got.Code != "rate_limited" || got.RetryAfter == nil || *got.RetryAfter < 1 {
		t.Errorf("got %+v, want rate_limited with seconds", got)
	}
	unknown := account.Do(t, `POST /mcp {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"topup","arguments":{}}}`, accepting)
	unknown.WantError(t, "rate_limited")
	for name, body := range map[string]string{
		"a method that is there twice, in other letters": `{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call","params":{"name":"getWorkspace"}}`,
		"a call without an id":                           `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"getWorkspace","arguments":{}}}`,
		"a call of another version":                      `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"getWorkspace","arguments":{}}}`,
	} {
		t.Run(name, func(t *testing.T) { account.Do(t, "POST /mcp "+body, accepting).WantError(t, "rate_limited") })
	}
	answer := account.Do(t, listTools, accepting)
	answer.WantError(t, "rate_limited")
	if answer.Status != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
		t.Errorf("got %d, Retry-After %q; want %d with a Retry-After", answer.Status, answer.Header.Get("Retry-After"), http.StatusTooManyRequests)
	}
	if answer := account.Do(t, "GET /v1/workspace", ""); answer.Status != http.StatusTooManyRequests {
		t.Errorf("REST answers %d, want 429: the rate is the account's", answer.Status)
	}
}

// TestAgentsNeverMeet: the ids of one account mean nothing to another.
func TestAgentsNeverMeet(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, sampleFeed)
	owner := travel(t, running)
	ours := newAgent(t, running, owner.Key, "?toolsets=all", "")
	theirs := newAgent(t, running, running.Account(t, "pro").Key, "?toolsets=all", "")
	theirs.get(t, "setWorkspace", `{"description":"Tea kettles"}`, &struct{}{})
	var mine struct{ Videos []struct{ ID string } }
	ours.get(t, "getLibrary", "{}", &mine)
	var runs struct{ Scrolls []struct{ ID string } }
	ours.get(t, "listScrolls", "{}", &runs)
	if len(mine.Videos) == 0 || len(runs.Scrolls) == 0 {
		t.Fatalf("got %d videos and %d scrolls, want some", len(mine.Videos), len(runs.Scrolls))
	}
	var kept struct{ Collection struct{ ID string } }
	ours.get(t, "createCollection", `{"name":"Openings"}`, &kept)
	video, scroll, collection := mine.Videos[0].ID, runs.Scrolls[0].ID, kept.Collection.ID
	list, err := theirs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, tool := range list.Tools {
		properties := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
		arguments := map[string]any{}
		for name := range properties {
			switch name {
			case "videoId":
				arguments[name] = video
			case "scrollId":
				arguments[name] = scroll
			case "id":
				switch {
				case tool.Name == "getVideo":
					arguments[name] = video
				case strings.Contains(tool.Name, "Collection"):
					arguments[name] = collection
				default:
					arguments[name] = scroll
				}
			case "ids":
				arguments[name] = []string{video}
			case "videoIds":
				arguments[name] = []string{video}
			case "before":
				arguments[name] = video
			case "name":
				arguments[name] = "Kettles"
			case "archived":
				arguments[name] = true
			case "agentMetadata":
				arguments[name] = map[string]any{"a": "b"}
			case "key":
				arguments[name] = "hashtag:espresso"
			case "text":
				arguments[name] = "- at least 500 views"
			}
		}
		if tool.Name == "createScroll" || tool.Name == "setWorkspace" {
			continue
		}
		sent, _ := json.Marshal(arguments)
		text, refused := theirs.try(t, tool.Name, string(sent))
		if refused {
			t.Errorf("%s %s: got the refusal %s, want an answer without the other's rows", tool.Name, sent, text)
		}
		if strings.Contains(string(sent), video) || strings.Contains(string(sent), scroll) {
			named++
		}
		text = strings.Replace(text, fmt.Sprintf(`"missing":[%q]`, video), "", 1) // as it was asked for
		for _, id := range []string{video, scroll, collection} {
			if strings.Contains(text, id) {
				t.Errorf("%s %s: got %s of another account in %s, want no id of it", tool.Name, sent, id, text)
			}
		}
	}
	if named < 10 {
		t.Errorf("got %d calls with the ids of the other account, want at least 10", named)
	}
	if _, err := theirs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "scrollery://scrolls/" + scroll + "/coverage"}); err == nil {
		t.Error("the coverage of another account's scroll is shown, want an error")
	}
	for _, uri := range []string{"scrollery://scrolls/" + scroll + "/coverage", "scrollery://brief", "scrollery://rules", "scrollery://llms.txt"} {
		t.Run(uri, func(t *testing.T) {
			got, err := ours.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil || len(got.Contents) != 1 || len(got.Contents[0].Text) < 50 || got.CacheScope != "private" {
				t.Errorf(`%s: got %+v, error %v; want 1 content of at least 50 bytes, cached in private`, uri, got, err)
			}
		})
	}
	prompt, err := ours.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "why-outlier", Arguments: map[string]string{"videoId": video}})
	if err != nil || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text, video) {
		t.Errorf("got %+v, error %v; want a text with %v", prompt, err, video)
	}
	t.Run("pages go on at the next item", func(t *testing.T) {
		var ids []string
		for arguments := `{"limit":7,"detail":"full"}`; ; {
			var page struct {
				Videos []struct{ ID string }
				Next   string
			}
			ours.get(t, "getLibrary", arguments, &page)
			for _, v := range page.Videos {
				ids = append(ids, v.ID)
			}
			if page.Next == "" {
				break
			}
			arguments = fmt.Sprintf(`{"limit":7,"detail":"full","cursor":%q}`, page.Next)
		}
		var all []string
		for call := "GET /v1/library?limit=25"; ; {
			var page struct {
				Videos     []struct{ ID string }
				NextCursor *string
			}
			owner.Get(t, call, &page)
			for _, v := range page.Videos {
				all = append(all, v.ID)
			}
			if page.NextCursor == nil {
				break
			}
			call = "GET /v1/library?limit=25&cursor=" + *page.NextCursor
		}
		if !slices.Equal(ids, all) || len(all) < 20 {
			t.Errorf("got %d videos of %d by pages, want all in order", len(ids), len(all))
		}
	})
}

// TestAgentsInTheLog: each request is one line.
func TestAgentsInTheLog(t *testing.T) {
	t.Parallel()
	lines := &logLines{}
	running := apptest.StartBy(t, func(ctx context.Context, cfg app.Config, _ *slog.Logger) (*app.Service, error) {
		return app.Start(ctx, cfg, app.NewLog(lines, slog.LevelInfo))
	})
	account := running.Account(t, "pro")
	for _, call := range []string{
		listTools,
		`POST /mcp {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getWorkspace","arguments":{}}}`,
		`POST /mcp {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getWorkspace","arguments":{"x":1}}}`,
		`POST /mcp {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"topup","arguments":{}}}`,
		`POST /mcp {"x":`,
	} {
		account.Do(t, call, accepting)
	}
	running.Anonymous().Do(t, listTools, accepting)
	requests, _ := lines.split(t)
	var got []string
	for _, line := range requests {
		id, _ := line["request_id"].(string)
		if took, _ := line["took"].(string); id == "" || took == "" {
			t.Errorf("got %v, want an id and a time", line)
		}
		_, known := line["account"]
		got = append(got, fmt.Sprint(line["op"], " ", line["code"], " ", line["status"], " ", line["path"], " ", line["asked"], " ", known))
	}
	want := []string{
		" ok 200 /mcp tools/list true", "getWorkspace ok 200 <nil> <nil> true", "getWorkspace invalid_request 400 <nil> <nil> true",
		" ok 200 /mcp tools/call true", " protocol_error 400 /mcp <nil> true", " unauthorized 401 /mcp <nil> false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestServerCard: programs find out where and how the protocol is spoken.
func TestServerCard(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	text, err := os.ReadFile("../docs/server.json")
	if err != nil {
		t.Fatal(err)
	}
	type described struct {
		Name, Title, Description string
		Remotes                  []struct {
			Type    string
			URL     string `json:"-"`
			Headers []struct {
				Name, Description, Value string
				IsRequired, IsSecret     bool
			}
		}
	}
	var entry described
	if err := json.Unmarshal(text, &entry); err != nil {
		t.Fatal(err)
	}
	for path, media := range map[string]string{"/.well-known/mcp/server-card.json": "application/json", "/mcp/server-card": "application/mcp-server-card+json"} {
		t.Run(path, func(t *testing.T) {
			answer := running.Anonymous().Do(t, "GET "+path, "")
			var card described
			if err := json.Unmarshal(answer.Body, &card); err != nil || answer.Header.Get("Content-Type") != media {
				t.Fatalf("got %s, %v, want a card as %s: %s", answer.Header.Get("Content-Type"), err, media, answer.Body)
			}
			if diff := cmp.Diff(entry, card); diff != "" {
				t.Errorf("the card is not the entry of docs/server.json (-want +got):\n%s", diff)
			}
			if !strings.Contains(string(answer.Body), `"url": "`+running.BaseURL+`/mcp"`) || len(card.Description) > 100 {
				t.Errorf("got %s, want the address %s/mcp and a description of at most 100 bytes", answer.Body, running.BaseURL)
			}
		})
	}
	if answer := running.Anonymous().Do(t, "POST /.well-known/mcp/server-card.json {}", ""); answer.Status != http.StatusMethodNotAllowed {
		t.Errorf("POST answers %d, want %v", answer.Status, http.StatusMethodNotAllowed)
	}
}
