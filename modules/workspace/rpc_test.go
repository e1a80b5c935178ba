package workspace_test

import (
	"context"
	"fmt"
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
	"github.com/scrollery/scrollery/modules/workspace"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

// gate lets everybody in as one account, and records nothing.
type gate struct{ account int64 }

func (g gate) Admit(context.Context, string) (*api.Caller, error) {
	return &api.Caller{Viewer: &viewer.Viewer{AccountID: g.account, Scopes: viewer.AllScopes(), Plan: "standard", Status: "active"}}, nil
}

func (gate) Record(context.Context, api.Event) error { return nil }

func serve(t *testing.T) *httptest.Server {
	t.Helper()
	db := storetest.SQLite(t)
	o := &others{}
	cfg := api.Defaults()
	cfg.RateLimit = false
	g := gate{account: db.NewID()}
	m, err := api.New(cfg, g, g, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	workspace.New(db, o, o, o).Mount(m)
	if err := m.Err(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(m.Handler())
	t.Cleanup(server.Close)
	return server
}

// TestREST walks through one workspace; ids and times are replaced by # in the answers.
func TestREST(t *testing.T) {
	t.Parallel()
	server := serve(t)
	const tea = `{"id":"#","description":"Tea","website":null,"appStoreUrl":null,"competitors":[],"subjectType":null,"subjectUrl":null,"canonicalId":null,"name":null,"status":"active","rulesVersion":5,"createdAt":#,"updatedAt":#}`
	const site = `{"id":"#","description":"Tea","website":"https://A.com/","appStoreUrl":null,"competitors":[],"subjectType":"website","subjectUrl":"https://a.com","canonicalId":"website:a.com","name":null,"status":"active","rulesVersion":5,"createdAt":#,"updatedAt":#}`
	varying := regexp.MustCompile(`"ws_[0-9a-z]{13}"|:17[0-9]{11}|:1[89][0-9]{11}`)
	for i, step := range []struct {
		method, body string
		status       int
		want         string // the whole body, or a part of an error's
	}{
		{"GET", ``, 200, `{"workspace":null}`},
		{"PUT", `{}`, 409, `"error":"workspace_required"`},
		{"POST", `{"name":"x"}`, 400, `"error":"invalid_workspace_brief"`},
		{"POST", `{"website":"https://10.0.0.1"}`, 400, `"error":"invalid_workspace_brief"`},
		{"POST", `{"website":7}`, 400, `"error":"invalid_request"`},
		{"POST", `{"description":""}`, 400, `"path":"description"`},
		{"POST", `{"description":"Tea","competitors":["a","b"]}`, 200, `{"outcome":"created","workspace":` + strings.Replace(tea, `[]`, `["a","b"]`, 1) + `}`},
		{"POST", `{"description":"Tea"}`, 200, `{"outcome":"existing","workspace":` + strings.Replace(tea, `[]`, `["a","b"]`, 1) + `}`},
		{"POST", `{"description":"Tea","competitors":[]}`, 409, `"error":"workspace_already_set"`},
		{"POST", `{"description":"Coffee"}`, 409, `"workspace":` + strings.Replace(tea, `[]`, `["a","b"]`, 1)},
		{"PUT", `{"competitors":[]}`, 200, `{"workspace":` + tea + `,"archivedVideos":0}`},
		{"PUT", `{"website":"https://user@a.com","appStoreUrl":"https://a.com"}`, 400, `"path":"appStoreUrl"`},
		{"PUT", `{"url":"https://a.com"}`, 400, `"path":"url"`},
		{"PUT", `{"website":"https://A.com/","archivePriorSubject":true}`, 200, `{"workspace":` + site + `,"archivedVideos":3}`},
		{"GET", ``, 200, `{"workspace":` + site + `}`},
	} {
		request, err := http.NewRequestWithContext(t.Context(), step.method, server.URL+"/v1/workspace", strings.NewReader(step.body))
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
		whole := step.status != 200 || body == step.want
		if response.StatusCode != step.status || !whole || !strings.Contains(body, step.want) {
			t.Errorf("%d: %s %s: %d %s\nwant %d %s", i, step.method, step.body, response.StatusCode, body, step.status, step.want)
		}
	}
}

func TestConnect(t *testing.T) {
	t.Parallel()
	server := serve(t)
	client := scrolleryv1connect.NewWorkspaceServiceClient(server.Client(), server.URL)
	ctx, info := connect.NewClientContext(t.Context())
	info.RequestHeader().Set("Authorization", "Bearer x")
	//lint:ignore SA1019 callers may still send it
	made, err := client.SetWorkspace(ctx, &scrolleryv1.SetWorkspaceRequest{Url: new("https://apps.apple.com/app/id9")})
	if err != nil || made.GetOutcome() != "created" || made.GetWorkspace().GetCanonicalId() != "app_store:9" || made.GetWorkspace().Website != nil {
		t.Fatalf("set: %v, %v", made, err)
	}
	_, err = client.SetWorkspace(ctx, &scrolleryv1.SetWorkspaceRequest{Description: new("x")})
	if connect.CodeOf(err) != connect.CodeAlreadyExists && connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("again: %v", err)
	}
	changed, err := client.UpdateWorkspace(ctx, &scrolleryv1.UpdateWorkspaceRequest{Competitors: []string{"a"}})
	if err != nil || fmt.Sprint(changed.GetWorkspace().GetCompetitors()) != "[a]" {
		t.Errorf("update: %v, %v", changed, err)
	}
	changed, err = client.UpdateWorkspace(ctx, &scrolleryv1.UpdateWorkspaceRequest{ClearCompetitors: new(true)})
	if err != nil || len(changed.GetWorkspace().GetCompetitors()) != 0 {
		t.Errorf("clear: %v, %v", changed, err)
	}
}
