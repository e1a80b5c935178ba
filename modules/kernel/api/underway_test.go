package api_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

// trickle opens a call whose body never comes to its end, and ends it with the test.
func trickle(t *testing.T, b *bundle, path, key string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", b.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", path, key)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// filled has calls with the keys trickle until one with the last key is refused. A call of the
// test that runs as another begins takes its place, and that one is refused instead: so more come.
func (b *bundle) filled(t *testing.T, what string, keys ...string) (refused reply, conns []net.Conn) {
	t.Helper()
	last := len(keys) - 1
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); {
		for _, key := range keys[:last] {
			conns = append(conns, trickle(t, b, "/v1/library/archive", key))
		}
		for range 100 {
			if refused = b.call(t, "GET", "/v1/workspace", keys[last], ""); refused.status == 429 {
				return refused, conns
			}
			time.Sleep(time.Millisecond)
		}
	}
	t.Fatalf("%s: got status %d, want 429", what, refused.status)
	return refused, nil
}

// until calls with a key until it gets a status.
func (b *bundle) until(t *testing.T, what string, status int, key string) (got reply) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		if got = b.call(t, "GET", "/v1/workspace", key, ""); got.status == status {
			return got
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: got status %d, want %d", what, got.status, status)
		}
	}
}

func TestACallThatWaitsForItsClientHoldsNoPlace(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxInFlight = 2 })
	for range 8 {
		trickle(t, b, "/v1/library/archive", "good")
	}
	time.Sleep(100 * time.Millisecond) // until they are served
	for range 5 {
		check(t, "status beside calls that wait for their bodies", 200, b.call(t, "GET", "/v1/workspace", "good", "").status)
	}
}

// TestACallThatWaitsForAnotherPlaceHoldsNoneHere: those that wait for one of few places, such
// as a planner's, would be all that the server serves.
func TestACallThatWaitsForAnotherPlaceHoldsNoneHere(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxInFlight = 2 })
	places, entered := fair.New(1), make(chan struct{}, 20)
	leave, err := places.Enter(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(leave)
	b.fake.do = func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		entered <- struct{}{}
		leave, err := places.Enter(ctx, 2)
		if err != nil {
			return nil, err
		}
		leave()
		return nil, nil
	}
	const calls = 8
	statuses := make(chan int, calls)
	for range calls {
		go func() { statuses <- b.call(t, "GET", "/v1/workspace", "good", "").status }()
		select {
		case <-entered:
		case <-time.After(2 * time.Minute):
			t.Fatal("a call that waits for a place kept another one from being served")
		}
		time.Sleep(20 * time.Millisecond) // until it waits
	}
	waiting := make(chan int)
	go func() { waiting <- b.call(t, "GET", "/v1/nothing", "good", "").status }()
	check(t, "status beside calls that wait for a place", 404, <-waiting)
	leave()
	for range calls {
		check(t, "status of a call that has waited", 200, <-statuses)
	}
	b.fake.do = nil
	for range 3 { // all places are there again
		check(t, "status afterwards", 200, b.call(t, "GET", "/v1/workspace", "good", "").status)
	}
}

// TestBodiesThatComeTogetherAreServedInBounds: calls were admitted while they waited for them.
func TestBodiesThatComeTogetherAreServedInBounds(t *testing.T) {
	t.Parallel()
	const most, calls = 2, 20
	b := setup(t, func(c *api.Config) { c.MaxInFlight = most })
	release := make(chan struct{})
	b.fake.do = func(context.Context, proto.Message) (proto.Message, error) {
		<-release
		return nil, nil
	}
	var conns []net.Conn
	for range calls {
		conns = append(conns, trickle(t, b, "/v1/library/archive", "good"))
	}
	time.Sleep(100 * time.Millisecond) // until they are admitted
	rest := strings.Repeat(" ", 1000-len(`{"videoId":"vid_1","archived":true}`)) + `"videoId":"vid_1","archived":true}`
	for _, conn := range conns {
		if _, err := io.WriteString(conn, rest); err != nil {
			t.Fatal(err)
		}
	}
	busy := 0
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		head := make([]byte, len("HTTP/1.1 503"))
		if _, err := io.ReadFull(conn, head); err == nil && string(head) == "HTTP/1.1 503" {
			busy++
		}
	}
	close(release)
	check(t, "refused calls", calls-most, busy)
}

// TestCallsOfAnAccountTakeTurns: two run at once, the others after them, and others' beside them.
// One that waits for an event, a place or a provider gives its turn back.
func TestCallsOfAnAccountTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		c.RateLimit, c.AccountRate, c.AccountBurst, c.MaxWait = true, 1e6, 1e6, 300*time.Millisecond
	})
	running, release, waits := make(chan string, 20), make(chan struct{}), make(chan struct{})
	b.fake.do = func(ctx context.Context, request proto.Message) (proto.Message, error) {
		switch request.(type) {
		case *scrolleryv1.GetPricingRequest:
			return nil, nil
		case *scrolleryv1.GetScheduleRequest:
			defer fair.StepAside(ctx)()
			waits <- struct{}{}
			<-release
			return nil, nil
		case *scrolleryv1.GetUsageRequest:
			return nil, api.Waiting(ctx, func(context.Context) error {
				waits <- struct{}{}
				<-release
				return nil
			})
		}
		running <- viewer.FromContext(ctx).Plan
		<-release
		return nil, nil
	}
	end := sync.OnceFunc(func() { close(release) })
	t.Cleanup(end)
	statuses := make(chan int, 20)
	next := func() int {
		select {
		case status := <-statuses:
			return status
		case <-time.After(2 * time.Minute):
			t.Fatal("no call is answered")
			return 0
		}
	}
	send := func(path, key string) { go func() { statuses <- b.call(t, "GET", path, key, "").status }() }
	for range 3 { // more than may run
		for _, path := range []string{"/v1/usage", "/v1/scrolls/schedule"} {
			send(path, "good")
			select {
			case <-waits:
			case <-time.After(2 * time.Minute):
				t.Fatalf("%s waits for a turn, want it beside all others that wait", path)
			}
		}
	}
	for range 5 {
		send("/v1/workspace", "good")
	}
	for range 3 { // those beyond the two wait for as long as a call may
		check(t, "status of a call whose turn does not come", 503, next())
	}
	check(t, "calls that run", 2, len(running))
	send("/v1/workspace", "pro")
	check(t, "plan of the third call that runs", "pro", []string{<-running, <-running, <-running}[2])
	check(t, "status of a call that anyone may make", 200, b.call(t, "GET", "/v1/pricing", "good", "").status)
	send("/v1/workspace", "good")
	time.Sleep(20 * time.Millisecond) // until it waits
	end()
	for range 10 {
		check(t, "status of a call that had its turn", 200, next())
	}
}

// TestCarriedCallsGiveTheirPlacesBack: those of an agent's requests, one after the other.
func TestCarriedCallsGiveTheirPlacesBack(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		c.RateLimit, c.AccountRate, c.AccountBurst, c.MaxAccountCalls = true, 1e6, 1e6, 3
	})
	b.mux.ServeAgents(func(w http.ResponseWriter, r *http.Request) error {
		_, err := w.Write(api.Invoke(r.Context(), "getWorkspace", []byte(`{}`)).Body)
		return err
	})
	for i := range 10 {
		got := b.call(t, "POST", api.AgentsPath, "good", `{}`)
		check(t, fmt.Sprintf("request %d: status, and whether the call was refused", i+1), "200 false", fmt.Sprint(got.status, strings.Contains(got.body, "rate_limited")))
	}
	check(t, "status of a call afterwards", 200, b.call(t, "GET", "/v1/workspace", "good", "").status)
}

// TestARequestCoversOneCarriedCall: with its own place; those beside it need one each.
func TestARequestCoversOneCarriedCall(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RateLimit, c.MaxAccountCalls = true, 1 })
	begun, release := make(chan struct{}), make(chan struct{})
	b.fake.do = func(_ context.Context, request proto.Message) (proto.Message, error) {
		if _, waits := request.(*scrolleryv1.GetWorkspaceRequest); waits {
			close(begun)
			<-release
		}
		return nil, nil
	}
	b.mux.ServeAgents(func(w http.ResponseWriter, r *http.Request) error {
		first := make(chan api.Invoked, 1)
		go func() { first <- api.Invoke(r.Context(), "getWorkspace", []byte(`{}`)) }()
		select {
		case <-begun:
		case got := <-first:
			t.Errorf("the first call: got %s, want it served", got.Body)
			return nil
		}
		check(t, "a second call at once is refused", true, api.Invoke(r.Context(), "getUsage", []byte(`{}`)).Refused)
		close(release)
		check(t, "the first one is refused", false, (<-first).Refused)
		check(t, "one after it is refused", false, api.Invoke(r.Context(), "getUsage", []byte(`{}`)).Refused)
		return nil
	})
	check(t, "status", 200, b.call(t, "POST", api.AgentsPath, "good", `{}`).status)
	check(t, "status of a call afterwards", 200, b.call(t, "GET", "/v1/usage", "good", "").status)
}

func TestCallsOfAnAccountAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		c.RateLimit, c.AccountRate, c.AccountBurst, c.MaxAccountCalls = true, 1e6, 1e6, 2
	})
	got, conns := b.filled(t, "a third call of the account", "good", "session", "good")
	check(t, "error", "rate_limited", got.json(t)["error"])
	check(t, "Retry-After", "1", got.header.Get("Retry-After"))
	check(t, "status of another account", 200, b.call(t, "GET", "/v1/workspace", "pro", "").status)
	for _, conn := range conns {
		_ = conn.Close()
	}
	b.until(t, "when they have ended", 200, "good")
}

func TestRequestsOfAClientAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		c.RateLimit, c.AccountRate, c.AccountBurst, c.MaxClientCalls = true, 1e6, 1e6, 2
	})
	got, conns := b.filled(t, "a third request of the address", "good", "pro", "session")
	check(t, "error", "rate_limited", got.json(t)["error"])
	page := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/docs", http.NoBody)
	request.RemoteAddr = "127.0.0.1:1"
	held := b.mux.Held("page.test", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") }))
	held.ServeHTTP(page, request)
	check(t, "status of a page", 429, page.Code)
	for _, conn := range conns {
		_ = conn.Close()
	}
	b.until(t, "when they have ended", 200, "good")
	served, began := 0, time.Now()
	for page.Code = 200; page.Code == 200 && served < 100_000; served++ {
		page = httptest.NewRecorder()
		held.ServeHTTP(page, request)
	}
	if most := 3001 + int(50*time.Since(began).Seconds()) + 1; served < 3001 || served > most {
		t.Errorf("got %d requests for a page at once, the refused one too, want 3001 to %d", served, most)
	}
	check(t, "Retry-After of a page, of which 50 may be asked for in a second", "1", page.Header().Get("Retry-After"))
}

// TestACallBeyondItsNetworksIsRefusedInItsForm: with what is refused before, and by its event.
func TestACallBeyondItsNetworksIsRefusedInItsForm(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RateLimit, c.MaxClientCalls = true, 1 })
	b.mux.ServeAgents(func(http.ResponseWriter, *http.Request) error { return nil })
	trickle(t, b, "/v1/library/archive", "good")
	b.until(t, "a second request of the address", 429, "pro")
	for name, c := range protocols(b) {
		t.Run(name, func(t *testing.T) {
			before := b.events.count()
			client := scrolleryv1connect.NewSystemServiceClient(c.client, b.server.URL, c.options...)
			_, err := client.GetHealth(withKey("pro"), &scrolleryv1.GetHealthRequest{})
			check(t, "code", connect.CodeResourceExhausted, connect.CodeOf(err))
			check(t, "error", "rate_limited", detailOf(err).GetError())
			check(t, "events", before+1, b.events.count())
			check(t, "event", outcome{Op: "getHealth", Status: "rate_limited", Account: 5}, b.events.outcome(t))
		})
	}
	for name, c := range map[string]struct {
		method, path, key string
		status            int
	}{
		"a bad key":       {"GET", "/v1/workspace", "unknown", 401},
		"an unknown path": {"GET", "/v1/nothing", "pro", 404},
		"a wrong method":  {"DELETE", "/v1/workspace", "pro", 405},
		"the description": {"GET", "/openapi.json", "", 429},
		"an agent":        {"POST", api.AgentsPath, "pro", 429},
	} {
		check(t, name+": status", c.status, b.call(t, c.method, c.path, c.key, "").status)
	}
}

// TestAnswersOverHTTP2MustBeRead: a client reads the connection and takes nothing of a stream.
func TestAnswersOverHTTP2MustBeRead(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.UnreadFor = 300 * time.Millisecond })
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	page := httptest.NewUnstartedServer(b.mux.Held("page.test", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("words ", 10_000))
	})))
	page.Config.Protocols = protocols
	page.Start()
	t.Cleanup(page.Close)
	for name, c := range map[string]struct{ address, path, kind string }{
		"a page":      {page.Listener.Addr().String(), "/docs", "text/html"},
		"openapi":     {b.server.Listener.Addr().String(), "/openapi.json", "application/json"},
		"a call":      {b.server.Listener.Addr().String(), "/v1/nothing", "application/json"},
		"reflections": {b.server.Listener.Addr().String(), "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "application/grpc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", c.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
			var head strings.Builder
			fields := hpack.NewEncoder(&head)
			method := http.MethodGet
			if c.kind == "application/grpc" {
				method = http.MethodPost
			}
			for _, f := range [][2]string{{":method", method}, {":scheme", "http"}, {":authority", "x"}, {":path", c.path}, {"content-type", c.kind}, {"te", "trailers"}} {
				if err := fields.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
					t.Fatal(err)
				}
			}
			_, _ = io.WriteString(conn, http2.ClientPreface)
			framer := http2.NewFramer(conn, conn)
			_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
			if err := framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: 1, BlockFragment: []byte(head.String()), EndHeaders: true, EndStream: method == http.MethodGet,
			}); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for {
				frame, err := framer.ReadFrame()
				if err != nil {
					t.Fatalf("after %v: got %v, want the end of the stream", time.Since(began), err)
				}
				if settings, ok := frame.(*http2.SettingsFrame); ok && !settings.IsAck() {
					_ = framer.WriteSettingsAck()
				}
				reset, isReset := frame.(*http2.RSTStreamFrame)
				headers, isHead := frame.(*http2.HeadersFrame)
				if isReset || isHead && headers.StreamEnded() {
					t.Logf("ended after %v (%v)", time.Since(began), reset)
					break
				}
			}
		})
	}
}
