package api_test

import (
	"context"
	"testing"

	"connectrpc.com/connect"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

func TestEveryProtocolServes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.call(t, "GET", "/v1/health", "", "")
	if got.status != 200 || got.body != `{"status":""}` {
		t.Errorf("REST: %d %s", got.status, got.body)
	}
	if e := b.events.last(t); e.Op != "getHealth" || e.Status != "ok" || e.Viewer != nil || e.Units != 0 {
		t.Errorf("event %+v", e)
	}
	client := scrolleryv1connect.NewSystemServiceClient(b.server.Client(), b.server.URL)
	if _, err := client.GetHealth(context.Background(), &scrolleryv1.GetHealthRequest{}); err != nil {
		t.Error(err)
	}
	workspace := scrolleryv1connect.NewWorkspaceServiceClient(b.server.Client(), b.server.URL)
	_, err := workspace.GetWorkspace(context.Background(), &scrolleryv1.GetWorkspaceRequest{})
	if connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("without a key: %v", err)
	}
}
