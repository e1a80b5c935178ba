// Package apitest serves the operations of one module to a test.
package apitest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// gate admits every key as the same account, which has every scope, and records nothing.
type gate struct{ account int64 }

func (g gate) Admit(context.Context, string) (*api.Caller, error) {
	return &api.Caller{Viewer: &viewer.Viewer{AccountID: g.account, Scopes: viewer.AllScopes(), Plan: "standard", Status: "active"}}, nil
}

func (gate) Record(context.Context, api.Event) error { return nil }

// Serve mounts operations on a server that ends with the test. Every key that a call
// brings is one of the account.
func Serve(t testing.TB, account int64, mount func(*api.Mux)) *httptest.Server {
	t.Helper()
	cfg := api.Defaults()
	cfg.RateLimit = false
	m, err := api.New(cfg, gate{account}, gate{account}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	mount(m)
	if err := m.Err(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(m.Handler())
	t.Cleanup(server.Close)
	return server
}

// Step is a call of one path and the answer that it must get.
type Step struct {
	// Name says what happens.
	Name         string
	Method, Body string
	Status       int
	// Want is the whole body of a 200, where it is not empty, or a part of an error's. An
	// id is "#" in it, a time #.
	Want string
}

var (
	ids   = regexp.MustCompile(`"[a-z]+_[0-9a-z]{13}"`)
	times = regexp.MustCompile(`:1[789][0-9]{11}\b`)
)

// Walk makes the calls one after the other, each in a test of its own.
func Walk(t *testing.T, server *httptest.Server, path string, steps []Step) {
	t.Helper()
	for _, step := range steps {
		t.Run(step.Name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), step.Method, server.URL+path, strings.NewReader(step.Body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer x")
			if step.Body != "" {
				request.Header.Set("Content-Type", "application/json")
			}
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			raw, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			got := times.ReplaceAllString(ids.ReplaceAllString(string(raw), `"#"`), ":#")
			if response.StatusCode != step.Status {
				t.Fatalf("%s %.80s: got %d %.400s, want %d", step.Method, step.Body, response.StatusCode, got, step.Status)
			}
			if step.Status != http.StatusOK {
				if !strings.Contains(got, step.Want) {
					t.Errorf("%s %.80s: got %.400s, want %s in it", step.Method, step.Body, got, step.Want)
				}
			} else if diff := cmp.Diff(step.Want, got); diff != "" && step.Want != "" {
				t.Errorf("%s %.80s (-want +got):\n%s", step.Method, step.Body, diff)
			}
		})
	}
}
