package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

func TestCallsBeyondTheMostAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxInFlight = 2 })
	begun, release := make(chan struct{}, 2), make(chan struct{})
	b.fake.do = func(context.Context, proto.Message) (proto.Message, error) {
		begun <- struct{}{}
		<-release
		return nil, nil
	}
	served := make(chan int, 2)
	for range 2 {
		go func() { served <- b.call(t, "GET", "/v1/workspace", "good", "").status }()
		<-begun
	}

	got := b.call(t, "GET", "/v1/workspace", "good", "") // answered while the others still run
	check(t, "status", 503, got.status)
	check(t, "Retry-After", "1", got.header.Get("Retry-After"))
	check(t, "body", map[string]any{"error": "temporary_service_error", "message": "The service is busy. Try again.", "retryable": true}, got.json(t))
	client := scrolleryv1connect.NewSystemServiceClient(b.server.Client(), b.server.URL)
	_, err := client.GetHealth(t.Context(), &scrolleryv1.GetHealthRequest{})
	check(t, "Connect's code", connect.CodeUnavailable, connect.CodeOf(err))
	check(t, "events of refused calls", 0, b.events.count())

	close(release)
	for range 2 {
		check(t, "status of a call that was in flight", 200, <-served)
	}
	b.fake.do = nil
	check(t, "status afterwards", 200, b.call(t, "GET", "/v1/workspace", "good", "").status)
}

func TestCallsHavePatience(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxWait = 7 * time.Second })
	b.fake.do = func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		if wait, ok := apierr.Patience(ctx); !ok || wait != 7*time.Second {
			t.Errorf("got patience %v, %v; want 7s", wait, ok)
		}
		return nil, nil
	}
	check(t, "status", 200, b.call(t, "GET", "/v1/workspace", "good", "").status)
}

func TestAStrangerWhoAsksTooOftenGets429(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *api.Config) { cfg.RateLimit, cfg.StrangerRate, cfg.StrangerBurst = true, 0.001, 6 })
	for i, c := range []struct {
		method, path, key string
		want              int
	}{
		{"GET", "/v1/usage", "", 401},
		{"GET", "/v1/usage", "unknown", 401},
		{"GET", "/v1/nothing", "", 404},
		{"GET", "/nothing", "good", 404},
		{"PATCH", "/v1/usage", "", 405},
		{"GET", "/v1/usage", "ended", 401},
		{"GET", "/v1/usage", "", 429},
		{"GET", "/v1/nothing", "", 429},
		{"PATCH", "/v1/usage", "good", 429},
		{"GET", "/v1/usage", "good", 200},
		{"GET", "/v1/health", "", 200},
	} {
		got := b.call(t, c.method, c.path, c.key, "")
		check(t, fmt.Sprintf("call %d, %s %s: status", i+1, c.method, c.path), c.want, got.status)
		if c.want == 429 {
			check(t, "Retry-After is missing", false, got.header.Get("Retry-After") == "")
		}
	}
}
