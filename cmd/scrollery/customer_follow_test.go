package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/scrollery/scrollery/app/apptest"
	customers "github.com/scrollery/scrollery/cmd/scrollery/customer"
)

// TestFollowOutlivesTheServer kills the server under a command that follows a scroll, and
// starts it again.
func TestFollowOutlivesTheServer(t *testing.T) {
	t.Parallel()
	c := newChaos(t, "")
	for range 5 { // a scroll may end before the kill
		command := program(t.Context(), t.TempDir(), "scroll", "start", "--follow", "--json", "status")
		command.Env = append(command.Env, "SCROLLERY_SERVER="+c.base, "SCROLLERY_KEY="+c.key)
		var stdout bytes.Buffer
		stderr := &lockedBuffer{}
		command.Stdout, command.Stderr = &stdout, stderr
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		const lost = "the server does not answer"
		shows := func(texts ...string) {
			t.Helper()
			found := func(text string) bool { return strings.Contains(stderr.String(), text) }
			for end := time.Now().Add(2 * time.Minute); !slices.ContainsFunc(texts, found); time.Sleep(2 * time.Millisecond) {
				if time.Now().After(end) {
					_ = command.Process.Kill()
					t.Fatalf("got %q within 2 min, want one of %q", stderr, texts)
				}
			}
		}
		shows("queued")
		c.kill()
		shows(lost, "completed")
		c.start(t)
		err := command.Wait()
		var got []struct{ Status string }
		if json.Unmarshal([]byte("["+stdout.String()+"]"), &got) != nil || len(got) != 1 || got[0].Status != "completed" || err != nil {
			t.Errorf("got %v and %q, want one completed scroll and no error\n%s", err, stdout.String(), stderr)
		}
		if strings.Contains(stderr.String(), lost) {
			return
		}
	}
	t.Error("got no scroll that was running at the kill, want one in the tries")
}

// between is a proxy that a test can let misbehave.
func between(t *testing.T, server string, misbehave func(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, bool)) string {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(address)
	pass.FlushInterval = -1
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if w, ok := misbehave(w, r); ok {
			pass.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	t.Cleanup(proxy.CloseClientConnections)
	return proxy.URL
}

// follows checks that a scroll is followed where streams do not pass.
func follows(t *testing.T, caller *apptest.Caller) {
	var watched, asked atomic.Int32
	server := between(t, caller.Address(), func(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, bool) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/WatchScroll"):
			watched.Add(1)
			w.WriteHeader(http.StatusBadGateway)
			return w, false
		case strings.HasSuffix(r.URL.Path, "/GetScroll"):
			asked.Add(1)
		}
		return w, true
	})
	c := newTerminal(t, map[string]string{"SCROLLERY_SERVER": server, "SCROLLERY_KEY": caller.Key})
	got := c.must(t, customers.ExitDone, "scroll", "start", "--follow", "--jq", ".status")
	if got.stdout != "completed\n" || watched.Load() == 0 || asked.Load() == 0 {
		t.Errorf("got %q after %d tries of the stream and %d questions for the scroll, want \"completed\\n\" after some of each\n%s", got.stdout, watched.Load(), asked.Load(), got.stderr)
	}
}

// listens forwards the feed to a receiver that first fails, and verifies each message by
// the official library.
func listens(t *testing.T, caller *apptest.Caller) {
	const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	const wanted = 6
	type message struct {
		Type, Timestamp string
		Data            json.RawMessage
	}
	var mu sync.Mutex
	var received []message
	var ids []string
	failures := 0
	enough := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		if err := verifier.Verify(body, r.Header); err != nil {
			t.Errorf("verify: %v", err)
		}
		if r.Header.Get("Authorization") != "" || r.Header.Get("User-Agent") != "Scrollery-Webhooks/1" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf(`headers %v, want Authorization empty, User-Agent "Scrollery-Webhooks/1" and Content-Type "application/json"`, r.Header)
		}
		if failures++; failures == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			t.Errorf("%v: %s", err, body)
		}
		if received, ids = append(received, m), append(ids, r.Header.Get("Webhook-Id")); len(received) == wanted {
			close(enough)
		}
	}))
	defer receiver.Close()
	var feed struct{ Changes []json.RawMessage }
	caller.Get(t, "GET /v1/changes?limit=6", &feed)

	c := newTerminal(t, map[string]string{"SCROLLERY_SERVER": caller.Address(), "SCROLLERY_KEY": caller.Key, "SCROLLERY_WEBHOOK_SECRET": secret})
	ctx, interrupt := contextOf(t)
	ended := make(chan result, 1)
	go func() { ended <- c.run(ctx, "", "listen", "--forward-to", receiver.URL+"/hook", "--since", "start") }()
	select {
	case <-enough:
	case <-time.After(2 * time.Minute):
		t.Errorf("got fewer than %d changes forwarded within 2 min, want all", wanted)
	}
	interrupt()
	got := <-ended
	if got.code != customers.ExitDone || !strings.HasPrefix(got.stdout, "200 ") {
		t.Errorf("exit %d\n%s%s, want code %v and stdout starting with \"200 \"", got.code, got.stdout, got.stderr, customers.ExitDone)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(feed.Changes) != wanted || len(received) < wanted {
		t.Fatalf("got %d changes from the feed and %d forwarded, want %d of each", len(feed.Changes), len(received), wanted)
	}
	for i, change := range feed.Changes {
		var about struct {
			ID, Type string
			At       int64
		}
		if err := json.Unmarshal(change, &about); err != nil {
			t.Fatal(err)
		}
		want := message{about.Type, time.UnixMilli(about.At).UTC().Format("2006-01-02T15:04:05.000Z"), change}
		if diff := cmp.Diff(want, received[i]); diff != "" || ids[i] != about.ID {
			t.Errorf("message %d has the id %s, want %s; -feed +received:\n%s", i, ids[i], about.ID, diff)
		}
	}
}

// tails reads the feed over a proxy that cuts each stream after its first message.
func tails(t *testing.T, caller *apptest.Caller) {
	var feed struct{ Changes []struct{ ID string } }
	caller.Get(t, "GET /v1/changes?limit=4", &feed)
	var want []string
	for _, change := range feed.Changes {
		want = append(want, change.ID)
	}
	if len(want) != 4 {
		t.Fatalf("got %d changes from the feed, want 4", len(want))
	}
	server := between(t, caller.Address(), func(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, bool) {
		if strings.HasSuffix(r.URL.Path, "/WatchChanges") {
			return &cutting{ResponseWriter: w, left: 250}, true
		}
		return w, true
	})
	c := newTerminal(t, map[string]string{"SCROLLERY_SERVER": server, "SCROLLERY_KEY": caller.Key})
	got := c.must(t, customers.ExitDone, "change", "tail", "--since", "start", "--limit", "4", "--jq", ".change.id")
	if diff := cmp.Diff(want, strings.Fields(got.stdout)); diff != "" {
		t.Errorf("the tail differs from the feed (-want +got):\n%s", diff)
	}
}

// cutting breaks the connection after some bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) >= c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

func (c *cutting) Unwrap() http.ResponseWriter { return c.ResponseWriter }
