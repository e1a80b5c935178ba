package relay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/relay"
)

// serve runs a server with one tool, which refuses requests without a key.
func serve(t *testing.T) *httptest.Server {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(request.Params.Arguments)}}}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"unauthorized",`+"\n"+`"message":"An API key is needed."}`)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(far.Close)
	return far
}

type bearing string

func (key bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(key))
	return http.DefaultTransport.RoundTrip(r)
}

// TestClientsReachTheServer: the SDK's client, which knows nothing of HTTP, calls a tool by
// each generation of the protocol.
func TestClientsReachTheServer(t *testing.T) {
	t.Parallel()
	far := serve(t)
	for _, version := range []string{"2026-07-28", "2025-06-18", "2024-11-05"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			fromClient, toRelay := io.Pipe()
			fromRelay, toClient := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				r := &relay.Relay{URL: far.URL, Client: &http.Client{Transport: bearing("good")}}
				ended <- r.Run(t.Context(), fromClient, toClient)
			}()
			client := mcp.NewClient(&mcp.Implementation{Name: "near", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromRelay, Writer: toRelay}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			if got := session.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("got version %s, want %s", got, version)
			}
			for i := range 20 {
				want := fmt.Sprintf(`{"n":%d,"text":"line\nbreak ü"}`, i)
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(want)})
				if err != nil || len(result.Content) != 1 || result.Content[0].(*mcp.TextContent).Text != want {
					t.Fatalf("got %+v, %v, want %s", result, err, want)
				}
			}
			_ = toRelay.Close()
			if err := <-ended; err != nil {
				t.Errorf("the relay ended with %v", err)
			}
		})
	}
}

func TestRefusalsReachTheClient(t *testing.T) {
	t.Parallel()
	far := serve(t)
	for name, c := range map[string]struct{ url, key, in, want string }{
		"no valid key": {
			far.URL, "bad", `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"An API key is needed.","data":{"error":"unauthorized","message":"An API key is needed."}}}`,
		},
		"no server":                     {"http://127.0.0.1:1", "good", `{"jsonrpc":"2.0","id":"a","method":"ping"}`, `"id":"a","error":{"code":-32000,"message":"The server cannot be reached`},
		"a line that is no message":     {far.URL, "good", `hello`, ``},
		"a notification with a bad key": {far.URL, "bad", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			r := &relay.Relay{URL: c.url, Client: &http.Client{Transport: bearing(c.key)}}
			if err := r.Run(t.Context(), strings.NewReader(c.in+"\n"), &out); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), c.want) || c.want == "" && out.Len() > 0 || strings.Count(out.String(), "\n") > 1 {
				t.Errorf("got %q, want %q in one line", out.String(), c.want)
			}
			if strings.Contains(out.String(), "Bearer") {
				t.Errorf("got %s, want the key masked", out.String())
			}
		})
	}
	t.Run("a message beyond 1 MiB", func(t *testing.T) {
		t.Parallel()
		r := &relay.Relay{URL: far.URL, Client: http.DefaultClient}
		if err := r.Run(t.Context(), strings.NewReader(strings.Repeat("a", 2<<20)), io.Discard); err == nil {
			t.Error("got no error, want an error")
		}
	})
}
