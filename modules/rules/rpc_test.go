package rules_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/rules"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

// gate lets everybody in as one account, and records nothing.
type gate struct{ account int64 }

func (g gate) Admit(context.Context, string) (*api.Caller, error) {
	return &api.Caller{Viewer: &viewer.Viewer{AccountID: g.account, Scopes: viewer.AllScopes(), Plan: "standard", Status: "active"}}, nil
}

func (gate) Record(context.Context, api.Event) error { return nil }

func serve(t *testing.T, room workspace) *httptest.Server {
	t.Helper()
	db := storetest.SQLite(t)
	cfg := api.Defaults()
	cfg.RateLimit = false
	g := gate{account: db.NewID()}
	m, err := api.New(cfg, g, g, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	rules.New(db, room).Mount(m)
	if err := m.Err(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(m.Handler())
	t.Cleanup(server.Close)
	return server
}

// TestREST walks through two rulesets; ids and times are replaced by # in the answers.
func TestREST(t *testing.T) {
	t.Parallel()
	server := serve(t, 7)
	varying := regexp.MustCompile(`"(ws|rule)_[0-9a-z]{13}"|:17[0-9]{11}|:1[89][0-9]{11}`)
	for i, step := range []struct {
		method, body string
		status       int
		want         string // the whole body, or a part of an error's
	}{
		{"GET", ``, 200, `{"rules":null,"items":[]}`},
		{"PUT", `{}`, 400, `"path":"text"`},
		{"PUT", `{"text":""}`, 400, `"path":"text"`},
		{"PUT", `{"text":"` + strings.Repeat("é", 20001) + `"}`, 400, `"path":"text"`},
		{"PUT", `{"text":"- A\n- B"}`, 200, `{"outcome":"created","rules":{"workspaceId":"#","version":1,"text":"- A\n- B","createdAt":#}}`},
		{"PUT", `{"text":"- A\n- B"}`, 200, `{"outcome":"unchanged","rules":{"workspaceId":"#","version":1,"text":"- A\n- B","createdAt":#}}`},
		{"PUT", `{"text":"B"}`, 200, `{"outcome":"created","rules":{"workspaceId":"#","version":2,"text":"B","createdAt":#}}`},
		{"GET", ``, 200, `{"rules":{"workspaceId":"#","version":2,"text":"B","createdAt":#},"items":[{"id":"#","text":"B","archived":false,"createdAt":#},{"id":"#","text":"A","archived":true,"createdAt":#}]}`},
		{"PUT", `{"text":"` + strings.Repeat("é", 20000) + `"}`, 200, ``},
	} {
		request, err := http.NewRequestWithContext(t.Context(), step.method, server.URL+"/v1/rules", strings.NewReader(step.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer x")
		if step.body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		body := varying.ReplaceAllStringFunc(string(raw), func(s string) string {
			if s[0] == ':' {
				return ":#"
			}
			return `"#"`
		})
		whole := step.status != 200 || step.want == "" || body == step.want
		if response.StatusCode != step.status || !whole || !strings.Contains(body, step.want) {
			t.Errorf("%d: %s %.80s: %d %.400s\nwant %d %s", i, step.method, step.body, response.StatusCode, body, step.status, step.want)
		}
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	server := serve(t, 0)
	client := scrolleryv1connect.NewRulesServiceClient(server.Client(), server.URL)
	ctx, info := connect.NewClientContext(t.Context())
	info.RequestHeader().Set("Authorization", "Bearer x")
	if _, err := client.PutRules(ctx, &scrolleryv1.PutRulesRequest{Text: new("x")}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("put without a workspace: %v", err)
	}
	got, err := client.GetRules(ctx, &scrolleryv1.GetRulesRequest{})
	if err != nil || got.GetRules() != nil || len(got.GetItems()) != 0 {
		t.Errorf("get: %v, %v", got, err)
	}
}
