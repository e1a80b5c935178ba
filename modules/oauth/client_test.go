package oauth

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestRedirectsOfADocument(t *testing.T) {
	t.Parallel()
	d := document{redirects: []string{
		"https://agent.beans.coffee/back?x=1", "http://127.0.0.1/callback", "http://localhost:3000/callback", "http://[::1]/cb", "http://beans.coffee/plain", "cursor://agent/back",
	}}
	for address, want := range map[string]bool{
		"https://agent.beans.coffee/back?x=1": true, "https://agent.beans.coffee/back": false, "https://agent.beans.coffee:444/back?x=1": false,
		"https://AGENT.beans.coffee/back?x=1": false, "https://agent.beans.coffee/back?x=1#f": false,
		"http://127.0.0.1/callback": true, "http://127.0.0.1:65535/callback": true, "http://127.0.0.1:/callback": false, "http://127.0.0.1:9/Callback": false,
		"http://127.0.0.2:9/callback": false, "http://localhost/callback": true, "http://localhost:1/callback": true, "http://[::1]:8/cb": true,
		"https://127.0.0.1:9/callback": false, "http://beans.coffee/plain": false, "cursor://agent/back": false, "": false,
		"http://127.0.0.1:9/callback?x": false, "http://127.0.0.1:9@evil.coffee/callback": false, "http://127.0.0.1:9/callback\r\nX: y": false,
	} {
		t.Run(address, func(t *testing.T) {
			if got := d.allows(address); got != want {
				t.Errorf("got %t, want %t", got, want)
			}
		})
	}
}

func TestHowLongADocumentIsKept(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"": leastKept, "max-age=1": leastKept, "public, max-age=3600": time.Hour, "Max-Age=99999999": mostKept, "max-age=x": leastKept,
		"no-store": 0, "max-age=3600, no-cache": 0, "max-age=-5": leastKept, "max-age=99999999999999999999": leastKept,
	} {
		t.Run(header, func(t *testing.T) {
			if got := keepFor([]string{header}); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// TestDocumentsOfPrivateMachines: the address is checked when it is dialled, whatever the name says.
func TestDocumentsOfPrivateMachines(t *testing.T) {
	t.Parallel()
	asked := 0
	private := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer private.Close()
	transport := publicTransport()
	dial := transport.DialContext
	var cause error
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) { // what a name server could say
		conn, err := dial(ctx, network, private.Listener.Addr().String())
		cause = err
		return conn, err
	}
	known, err := newClients(transport)
	if err != nil {
		t.Fatal(err)
	}
	_, err = known.find(t.Context(), "https://rebind.beans.coffee/agent.json")
	if !errors.Is(err, errFetch) || cause == nil || !strings.Contains(cause.Error(), "not a public address") || asked > 0 {
		t.Errorf("got %v because of %v after %d requests, want that it is not dialled", err, cause, asked)
	}
}

// TestDocumentsAtOnce: slow sites hold the lookups that there are, and no more.
func TestDocumentsAtOnce(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	known, err := newClients(roundTrip(func(r *http.Request) (*http.Response, error) {
		arrived <- struct{}{}
		<-release
		return &http.Response{StatusCode: http.StatusNotFound, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan error, fetchesAtOnce)
	for range fetchesAtOnce {
		go func() {
			_, err := known.find(t.Context(), "https://slow.beans.coffee/agent.json")
			answers <- err
		}()
		<-arrived
	}
	if _, err := known.find(t.Context(), "https://slow.beans.coffee/other.json"); !errors.Is(err, errFetchBusy) {
		t.Errorf("got %v, want that too many are looked up", err)
	}
	close(release)
	for range fetchesAtOnce {
		if err := <-answers; !errors.Is(err, errFetch) {
			t.Errorf("got %v, want that there is no document", err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
