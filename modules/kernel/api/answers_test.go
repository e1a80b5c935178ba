// The validator takes minutes to compile for the race detector and for fuzzing, and neither
// is about it.

//go:build !race && !fuzz

package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/api/apitest/described"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// contract reads the served document into a validator.
func contract(t *testing.T, b *bundle) *described.Document {
	t.Helper()
	document, err := described.Read([]byte(served(t, b)))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestAnswersMatchTheDocument(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Tiers = map[string]string{"getTrends": "max"} })
	v := contract(t, b)
	b.fake.page = api.Rendered{Body: []byte(`{"hooks":[]}`)}
	for _, c := range []struct{ method, path, key, body string }{
		{"PUT", "/v1/rules", "", `{"text":"a"}`},
		{"POST", "/v1/agent", "", `{"goal":"a"}`},
		{"PUT", "/v1/rules", "ended", `{"text":"a"}`},
		{"PUT", "/v1/rules", "reader", `{"text":"a"}`},
		{"PUT", "/v1/rules", "lapsed", `{"text":"a"}`},
		{"PUT", "/v1/rules", "drained", `{"text":"a"}`},
		{"PUT", "/v1/rules", "broken", `{"text":"a"}`},
		{"PUT", "/v1/rules", "good", `{"text":""}`},
		{"GET", "/v1/trends", "good", ``},
		{"GET", "/v1/workspace", "good", ``},
		{"GET", "/v1/rules", "good", ``},
		{"GET", "/v1/scrolls?id=x", "good", ``},
		{"GET", "/v1/hooks?limit=5", "good", ``},
		{"POST", "/v1/library/annotate", "good", `{"videoId":"v","agentMetadata":5}`},
	} {
		t.Run(fmt.Sprintf("%s %s as %q", c.method, c.path, c.key), func(t *testing.T) {
			request := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			if c.key != "" {
				request.Header.Set("Authorization", "Bearer "+c.key)
			}
			if c.body == "" {
				request.Body, request.ContentLength = http.NoBody, 0
			} else {
				request.Header.Set("Content-Type", "application/json")
			}
			recorder := httptest.NewRecorder()
			b.mux.Handler().ServeHTTP(recorder, request)
			for _, fault := range v.Faults(request, recorder.Result()) {
				t.Errorf("%s %s as %q: got %s, want an answer by the document", c.method, c.path, c.key, fault)
			}
		})
	}
}

func TestAStreamIsRefusedAsOtherCalls(t *testing.T) {
	t.Parallel()
	b := streams(t, func(context.Context, sendScroll) error {
		return apierr.New(apierr.NotFound, "There is no scroll of this id.")
	})
	v := contract(t, b)
	for name, c := range map[string]struct {
		method, path, key string
		status            int
		code              string
	}{
		"no key":          {"GET", watchPath, "", 401, "unauthorized"},
		"no scope":        {"GET", watchPath, "reader", 403, "forbidden"},
		"no subscription": {"GET", watchPath, "lapsed", 402, "subscription_required"},
		"no budget":       {"GET", watchPath, "drained", 429, "rate_limited"},
		"no id":           {"GET", "/v1/scrolls/watch?x=1", "good", 400, "invalid_request"},
		"not found":       {"GET", watchPath, "good", 404, "not_found"},
		"another method":  {"POST", watchPath, "good", 405, "method_not_allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			before := b.events.count()
			request := httptest.NewRequest(c.method, c.path, nil)
			request.Header.Set("Accept", "text/event-stream")
			if c.key != "" {
				request.Header.Set("Authorization", "Bearer "+c.key)
			}
			recorder := httptest.NewRecorder()
			b.mux.Handler().ServeHTTP(recorder, request)
			got := reply{recorder.Code, recorder.Header(), recorder.Body.String()}
			check(t, "status", c.status, got.status)
			check(t, "error", c.code, got.json(t)["error"])
			if c.status == 405 {
				check(t, "Allow", "GET", got.header.Get("Allow"))
				return
			}
			check(t, "events", before+1, b.events.count())
			for _, fault := range v.Faults(request, recorder.Result()) {
				t.Errorf("the document does not allow %s: %s", got.body, fault)
			}
		})
	}
}
