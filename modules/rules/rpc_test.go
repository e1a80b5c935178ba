package rules_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/api/apitest"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/rules"
	"github.com/scrollery/scrollery/modules/rules/preview"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

func serve(t *testing.T, current workspace) *httptest.Server {
	t.Helper()
	db := storetest.SQLite(t)
	service := rules.New(db, current)
	return apitest.Serve(t, db.NewID(), func(m *api.Mux) {
		service.Mount(m)
		preview.New(service, nil, nil).Mount(m) // which has PutRules
	})
}

func TestREST(t *testing.T) {
	t.Parallel()
	apitest.Walk(t, serve(t, 7), "/v1/rules", []apitest.Step{
		{Name: "there are no rules at first", Method: "GET", Status: 200, Want: `{"rules":null,"items":[]}`},
		{Name: "no text is refused", Method: "PUT", Body: `{}`, Status: 400, Want: `"path":"text"`},
		{Name: "an empty text is refused", Method: "PUT", Body: `{"text":""}`, Status: 400, Want: `"path":"text"`},
		{Name: "20001 characters are refused", Method: "PUT", Body: `{"text":"` + strings.Repeat("é", 20001) + `"}`, Status: 400, Want: `"path":"text"`},
		{Name: "a text is version 1", Method: "PUT", Body: `{"text":"- A\n- B"}`, Status: 200, Want: `{"outcome":"created","rules":{"workspaceId":"#","version":1,"text":"- A\n- B","createdAt":#}}`},
		{Name: "the same text again changes nothing", Method: "PUT", Body: `{"text":"- A\n- B"}`, Status: 200, Want: `{"outcome":"unchanged","rules":{"workspaceId":"#","version":1,"text":"- A\n- B","createdAt":#}}`},
		{Name: "another text is version 2", Method: "PUT", Body: `{"text":"B"}`, Status: 200, Want: `{"outcome":"created","rules":{"workspaceId":"#","version":2,"text":"B","createdAt":#}}`},
		{Name: "a rule that is gone is archived", Method: "GET", Status: 200, Want: `{"rules":{"workspaceId":"#","version":2,"text":"B","createdAt":#},"items":[{"id":"#","text":"B","archived":false,"createdAt":#},{"id":"#","text":"A","archived":true,"createdAt":#}]}`},
		{Name: "20000 characters are stored", Method: "PUT", Body: `{"text":"` + strings.Repeat("é", 20000) + `"}`, Status: 200},
	})
}

func TestConnect(t *testing.T) {
	t.Parallel()
	server := serve(t, 0)
	client := scrolleryv1connect.NewRulesServiceClient(server.Client(), server.URL)
	ctx, info := connect.NewClientContext(t.Context())
	info.RequestHeader().Set("Authorization", "Bearer x")
	if _, err := client.PutRules(ctx, &scrolleryv1.PutRulesRequest{Text: new("x")}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("put without a workspace: got %v, want failed_precondition", err)
	}
	got, err := client.GetRules(ctx, &scrolleryv1.GetRulesRequest{})
	if err != nil || got.GetRules() != nil || len(got.GetItems()) != 0 {
		t.Errorf("get: got %v, error %v; want no rules and no items", got, err)
	}
}
