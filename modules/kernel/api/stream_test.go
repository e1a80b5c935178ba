package api_test

import (
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/scrollery/scrollery/modules/kernel/api"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

// watch opens a stream that does not end by itself, and reads its first messages.
func watch(t *testing.T, client scrolleryv1connect.ScrollsServiceClient, key string) *connect.ServerStreamForClient[scrolleryv1.WatchScrollResponse] {
	t.Helper()
	id := "scr_waits"
	stream, err := client.WatchScroll(withKey(key), &scrolleryv1.WatchScrollRequest{Id: &id})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	for range 2 {
		if !stream.Receive() {
			t.Fatalf("got the end (%v), want a message", stream.Err())
		}
	}
	return stream
}

func TestAStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	// A stream may rest for longer than a message may stay unread: it does so until its key
	// is checked again. A message must be written within the shorter time, also under load.
	b := setup(t, func(cfg *api.Config) { cfg.ReadmitEvery, cfg.UnreadFor = 1500*time.Millisecond, time.Second })
	streams := map[string]*connect.ServerStreamForClient[scrolleryv1.WatchScrollResponse]{}
	for name, client := range clients(b) {
		streams[name] = watch(t, client, "good")
	}
	b.revoked.Store("good", true)
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			for stream.Receive() {
				t.Error("got a message, want the end")
			}
			check(t, "error", "unauthorized", detailOf(stream.Err()).GetError())
		})
	}
}

func TestStreamsOfAnAccountAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *api.Config) { cfg.MaxStreams, cfg.MaxAccountStreams = 2, 3 })
	client := clients(b)["gRPC"]
	watch(t, client, "good")
	watch(t, client, "good")
	watch(t, client, "session") // a session key of the same account
	id := "scr_1"
	refused, err := client.WatchScroll(withKey("session"), &scrolleryv1.WatchScrollRequest{Id: &id})
	if err == nil {
		refused.Receive()
		err = refused.Err()
	}
	check(t, "a fourth stream of the account", "rate_limited", detailOf(err).GetError())
	watch(t, client, "pro") // another account has streams of its own
}

func TestStreamsOfAKeyAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *api.Config) { cfg.MaxStreams = 2 })
	client := clients(b)["gRPC"]
	first := watch(t, client, "good")
	watch(t, client, "good")
	id := "scr_1"
	refused, err := client.WatchScroll(withKey("good"), &scrolleryv1.WatchScrollRequest{Id: &id})
	if err == nil {
		refused.Receive()
		err = refused.Err()
	}
	check(t, "a third stream", "rate_limited", detailOf(err).GetError())
	watch(t, client, "pro") // another key has streams of its own
	_ = first.Close()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		next, err := client.WatchScroll(withKey("good"), &scrolleryv1.WatchScrollRequest{Id: &id})
		if err == nil && next.Receive() {
			_ = next.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after another stream ended: got %v, want a stream", err)
		}
	}
}
