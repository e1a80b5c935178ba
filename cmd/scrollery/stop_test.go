package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/scrollery/scrollery/app/apptest"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

// TestStopInALongStage sends SIGTERM while a stage runs that would take far longer than
// the stop may.
func TestStopInALongStage(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, address string) { stopInALongStage(t, address, false) })
}

// TestStopInALongStageAtOnce sends a second SIGTERM.
func TestStopInALongStageAtOnce(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, address string) { stopInALongStage(t, address, true) })
}

// stopInALongStage sends SIGTERM, and with twice another one once streams have ended,
// which leaves the stage no time.
func stopInALongStage(t *testing.T, database string, twice bool) {
	var answers atomic.Bool
	asked := make(chan struct{}, 64)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not noticed
		if !answers.Load() {
			asked <- struct{}{}
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusForbidden) // the checks decide
	}))
	t.Cleanup(endpoint.Close)
	scratch := shortFolder(t) // sockets have short paths
	c := newChaos(t, database, "SCROLLERY_MODEL_URL="+endpoint.URL+"/v1", "SCROLLERY_MODEL=judge", "SCROLLERY_MODEL_KEY=k", "TMPDIR="+scratch)
	c.mustCall(t, "PUT", "/v1/rules", `{"text":"Be kind"}`, nil)
	var started struct{ Scroll apptest.Scroll }
	c.mustCall(t, "POST", "/v1/scrolls", `{}`, &started)
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatalf("got no question at the endpoint within a minute, want one: %s", c.stderr)
	}
	streamed := c.watch(t, started.Scroll.ID)

	time.Sleep(rand.N(time.Second)) // any moment of the stage
	began := time.Now()
	if err := c.server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-streamed:
		if got := connect.CodeOf(err); got != connect.CodeUnavailable {
			t.Errorf("the stream ended with %v, want unavailable: %v", got, err)
		}
	case <-time.After(10 * time.Second):
		t.Error("got a stream that is open after 10 s, want it ended")
	}
	longest := 20 * time.Second
	if twice {
		longest = 9 * time.Second
		if err := c.server.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.server.Wait(); err != nil {
		t.Errorf("the server ended with %v: %s", err, c.stderr)
	}
	if took := time.Since(began); took > longest {
		t.Errorf("the stop took %v, want at most %v", took, longest)
	}
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) > 0 {
		t.Errorf("scratch folders: got %v left, error %v; want none", left, err)
	}

	answers.Store(true)
	c.start(t)
	ended := c.await(t, started.Scroll.ID)
	if ended.Status != "completed" || ended.Progress.DispatchAttempts != 1 {
		t.Errorf("the scroll ended %s after %d starts, want completed after 1: %s", ended.Status, ended.Progress.DispatchAttempts, c.stderr)
	}
}

// watch opens a stream of the scroll, and delivers the error with which it ends.
func (c *chaos) watch(t *testing.T, id string) <-chan error {
	t.Helper()
	ctx, info := connect.NewClientContext(t.Context())
	info.RequestHeader().Set("Authorization", "Bearer "+c.key)
	stream, err := scrolleryv1connect.NewScrollsServiceClient(&http.Client{}, c.base).WatchScroll(ctx, &scrolleryv1.WatchScrollRequest{Id: &id})
	if err != nil {
		t.Fatal(err)
	}
	if !stream.Receive() {
		t.Fatalf("got %v, want a first message", stream.Err())
	}
	ended := make(chan error, 1)
	go func() {
		for stream.Receive() {
		}
		ended <- stream.Err()
	}()
	return ended
}

// TestLameDuck sends SIGTERM: the probe says 503 while requests are still taken. A machine
// that stalls for as long as the lame duck lives needs a longer one.
func TestLameDuck(t *testing.T) {
	t.Parallel()
	err := lameDuck(t, "2s")
	if err != nil {
		t.Logf("within 2 s: %v", err)
		err = lameDuck(t, "20s")
	}
	if err != nil {
		t.Error(err)
	}
}

// lameDuck stops a server that takes requests for so long.
func lameDuck(t *testing.T, lives string) error {
	t.Helper()
	c := newServed(t, t.TempDir(), "", "", "SCROLLERY_LAME_DUCK="+lives, "SCROLLERY_FEED_DIR="+t.TempDir())
	c.start(t)
	status := func(address string) (int, error) {
		answer, err := c.client.Get(address)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	for ready := 0; ready != http.StatusOK; {
		ready, _ = status(c.ops + "/readyz")
	}
	if err := c.server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(15 * time.Second); ; {
		got, err := status(c.ops + "/readyz")
		if err != nil {
			return fmt.Errorf("the probe: %w", err)
		}
		if got == http.StatusServiceUnavailable {
			break
		}
		if time.Now().After(end) {
			t.Fatal("got other answers of the probe for 15 s, want 503")
		}
	}
	if got, err := status(c.base + "/v1/health"); err != nil || got != http.StatusOK {
		return fmt.Errorf("after the probe said 503, health answers %d, %w, want 200", got, err)
	}
	if err := c.server.Wait(); err != nil {
		t.Errorf("the server ended with %v: %s", err, c.stderr)
	}
	return nil
}
