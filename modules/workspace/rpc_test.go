package workspace_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/api/apitest"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/workspace"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

func serve(t *testing.T) *httptest.Server {
	t.Helper()
	db := storetest.SQLite(t)
	o := &others{}
	return apitest.Serve(t, db.NewID(), workspace.New(db, o, o, o).Mount)
}

func TestREST(t *testing.T) {
	t.Parallel()
	const tea = `{"id":"#","description":"Tea","website":null,"appStoreUrl":null,"competitors":[],"subjectType":null,"subjectUrl":null,"canonicalId":null,"name":null,"status":"active","rulesVersion":5,"createdAt":#,"updatedAt":#}`
	const site = `{"id":"#","description":"Tea","website":"https://A.com/","appStoreUrl":null,"competitors":[],"subjectType":"website","subjectUrl":"https://a.com","canonicalId":"website:a.com","name":null,"status":"active","rulesVersion":5,"createdAt":#,"updatedAt":#}`
	apitest.Walk(t, serve(t), "/v1/workspace", []apitest.Step{
		{Name: "there is no workspace at first", Method: "GET", Status: 200, Want: `{"workspace":null}`},
		{Name: "an update before the first brief is refused", Method: "PUT", Body: `{}`, Status: 409, Want: `"error":"workspace_required"`},
		{Name: "a name alone is no brief", Method: "POST", Body: `{"name":"x"}`, Status: 400, Want: `"error":"invalid_workspace_brief"`},
		{Name: "a private address is no brief", Method: "POST", Body: `{"website":"https://10.0.0.1"}`, Status: 400, Want: `"error":"invalid_workspace_brief"`},
		{Name: "a website that is no text is refused", Method: "POST", Body: `{"website":7}`, Status: 400, Want: `"error":"invalid_request"`},
		{Name: "an empty description is refused", Method: "POST", Body: `{"description":""}`, Status: 400, Want: `"path":"description"`},
		{Name: "a brief is created", Method: "POST", Body: `{"description":"Tea","competitors":["a","b"]}`, Status: 200, Want: `{"outcome":"created","workspace":` + strings.Replace(tea, `[]`, `["a","b"]`, 1) + `}`},
		{Name: "repeating the brief returns the same workspace", Method: "POST", Body: `{"description":"Tea"}`, Status: 200, Want: `{"outcome":"existing","workspace":` + strings.Replace(tea, `[]`, `["a","b"]`, 1) + `}`},
		{Name: "other competitors are refused", Method: "POST", Body: `{"description":"Tea","competitors":[]}`, Status: 409, Want: `"error":"workspace_already_set"`},
		{Name: "another description is refused, with the workspace", Method: "POST", Body: `{"description":"Coffee"}`, Status: 409, Want: `"workspace":` + strings.Replace(tea, `[]`, `["a","b"]`, 1)},
		{Name: "an update empties the competitors", Method: "PUT", Body: `{"competitors":[]}`, Status: 200, Want: `{"workspace":` + tea + `,"archivedVideos":0}`},
		{Name: "an App Store address elsewhere is refused", Method: "PUT", Body: `{"website":"https://user@a.com","appStoreUrl":"https://a.com"}`, Status: 400, Want: `"path":"appStoreUrl"`},
		{Name: "the older field is refused in an update", Method: "PUT", Body: `{"url":"https://a.com"}`, Status: 400, Want: `"path":"url"`},
		{Name: "an update of the website archives the videos of the prior subject", Method: "PUT", Body: `{"website":"https://A.com/","archivePriorSubject":true}`, Status: 200, Want: `{"workspace":` + site + `,"archivedVideos":3}`},
		{Name: "the workspace has the new website", Method: "GET", Status: 200, Want: `{"workspace":` + site + `}`},
	})
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
		t.Fatalf(`set: got %v, error %v; want it created with the canonical id app_store:9 and no website`, made, err)
	}
	_, err = client.SetWorkspace(ctx, &scrolleryv1.SetWorkspaceRequest{Description: new("x")})
	if got := connect.CodeOf(err); got != connect.CodeAlreadyExists {
		t.Errorf("again: got %v, want already_exists: %v", got, err)
	}
	changed, err := client.UpdateWorkspace(ctx, &scrolleryv1.UpdateWorkspaceRequest{Competitors: []string{"a"}})
	if diff := cmp.Diff([]string{"a"}, changed.GetWorkspace().GetCompetitors()); err != nil || diff != "" {
		t.Errorf("update: %v, competitors (-want +got):\n%s", err, diff)
	}
	changed, err = client.UpdateWorkspace(ctx, &scrolleryv1.UpdateWorkspaceRequest{ClearCompetitors: new(true)})
	if err != nil || len(changed.GetWorkspace().GetCompetitors()) != 0 {
		t.Errorf("clear: got %v, %v, want no competitors", changed, err)
	}
}
