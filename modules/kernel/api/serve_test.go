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
	t.Run("REST answers and records an event", func(t *testing.T) {
		got := b.call(t, "GET", "/v1/health", "", "")
		check(t, "status", 200, got.status)
		check(t, "body", `{"status":""}`, got.body)
		check(t, "event", outcome{Op: "getHealth", Status: "ok"}, b.events.outcome(t))
	})
	t.Run("Connect answers", func(t *testing.T) {
		client := scrolleryv1connect.NewSystemServiceClient(b.server.Client(), b.server.URL)
		if _, err := client.GetHealth(context.Background(), &scrolleryv1.GetHealthRequest{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("Connect refuses a call without a key", func(t *testing.T) {
		client := scrolleryv1connect.NewWorkspaceServiceClient(b.server.Client(), b.server.URL)
		_, err := client.GetWorkspace(context.Background(), &scrolleryv1.GetWorkspaceRequest{})
		check(t, "code", connect.CodeUnauthenticated, connect.CodeOf(err))
	})
}
