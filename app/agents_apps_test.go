package app_test

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

const appPage = "<!doctype html><title>A page</title>"

// withPages gives a server a console whose files are empty but for the pages of apps.
func withPages(cfg *app.Config) {
	files := fstest.MapFS{}
	for _, name := range []string{"index.html", "console.js", "console.css", "messages.de.json", "licenses.txt", "operator.html", "operator.js"} {
		files[name] = &fstest.MapFile{}
	}
	for _, name := range []string{"outliers", "coverage"} {
		files["app-"+name+".html"] = &fstest.MapFile{Data: []byte(appPage)}
	}
	cfg.Console = files
}

// pages are the tools that name a page, and the pages that can be read.
func pages(t *testing.T, session *toolClient) (named map[string]string, listed []string, size int) {
	t.Helper()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(tools)
	if err != nil {
		t.Fatal(err)
	}
	named = map[string]string{}
	for _, tool := range tools.Tools {
		if ui, ok := tool.Meta["ui"].(map[string]any); ok {
			named[tool.Name], _ = ui["resourceUri"].(string)
		}
	}
	resources, err := session.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range resources.Resources {
		if one.MIMEType == "text/html;profile=mcp-app" {
			listed = append(listed, one.URI)
		}
	}
	return named, listed, len(text)
}

// TestAgentsApps: tools name the pages that show their results, where the server has them and
// the key may use the tool.
func TestAgentsApps(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, withPages)
	account := running.Account(t, "pro")
	const outliers, coverage = "ui://scrollery/outliers", "ui://scrollery/coverage"
	session := newAgent(t, running, account.Key, "", "")
	named, listed, size := pages(t, session)
	if diff := cmp.Diff(map[string]string{"getOutliers": outliers, "getScroll": coverage}, named); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{coverage, outliers}, listed); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	if t.Logf("%d bytes", size); size > 12<<10 {
		t.Errorf("the list of tools has %d bytes with the pages, want at most 12288", size)
	}
	read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: outliers})
	if err != nil {
		t.Fatal(err)
	}
	page := read.Contents[0]
	want := map[string]any{"ui": map[string]any{"csp": map[string]any{"connectDomains": []any{}, "resourceDomains": []any{}}, "prefersBorder": true}}
	if diff := cmp.Diff(want, map[string]any(page.Meta)); diff != "" || page.Text != appPage || page.URI != outliers {
		t.Errorf("got the page %+v; its meta (-want +got):\n%s", page, diff)
	}
	t.Run("a key without the scope", func(t *testing.T) {
		var few struct{ APIKey string }
		account.Get(t, `POST /v1/api_keys/sessions {"scopes":["library:read"],"ttlSeconds":600}`, &few)
		if _, listed, _ := pages(t, newAgent(t, running, few.APIKey, "", "")); len(listed) != 1 || listed[0] != outliers {
			t.Errorf("got %v, want the page of outliers alone", listed)
		}
	})
	t.Run("a server without the console", func(t *testing.T) {
		bare := apptest.Start(t)
		if named, listed, _ := pages(t, newAgent(t, bare, bare.Account(t, "pro").Key, "", "")); len(named)+len(listed) > 0 {
			t.Errorf("got %v and %v, want none", named, listed)
		}
	})
}
