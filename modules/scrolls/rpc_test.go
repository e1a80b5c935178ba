package scrolls

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// gate admits all callers and remembers what calls cost.
type gate struct {
	mu     sync.Mutex
	events []api.Event
}

func (g *gate) Admit(context.Context, string) (*api.Caller, error) {
	return &api.Caller{Viewer: &viewer.Viewer{AccountID: account, KeyID: 1, Scopes: viewer.AllScopes(), Plan: "standard", Status: "active"}}, nil
}

func (g *gate) Record(_ context.Context, event api.Event) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events = append(g.events, event)
	return nil
}

func TestOperations(t *testing.T) {
	t.Parallel()
	w := setup(t, storetest.SQLite(t), quick())
	cfg := api.Defaults()
	cfg.BaseURL, cfg.RateLimit = "https://api.scrollery.test/", false
	g := &gate{}
	mux, err := api.New(cfg, g, g, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	Operations(w.service)(mux)
	if err := mux.Err(); err != nil {
		t.Fatal(err)
	}
	handler := mux.Handler()
	call := func(method, path, body string) (int, map[string]any, int) {
		t.Helper()
		req := httptest.NewRequest(method, path, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer any")
		if body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, req)
		raw, _ := io.ReadAll(answer.Result().Body)
		var parsed map[string]any
		if err := json.Unmarshal(raw, &parsed); err != nil {
			t.Fatalf("%s %s, want no error: %s", method, path, raw)
		}
		return answer.Code, parsed, g.events[len(g.events)-1].Units
	}

	status, body, units := call("POST", "/v1/scrolls", `{"idempotencyKey":"key-12345","schedule":7,"template":"own"}`)
	scroll, _ := body["scroll"].(map[string]any)
	if status != http.StatusAccepted || body["outcome"] != "queued" || units != 100 || len(scroll) != 12 {
		t.Fatalf(`start: %d %v, %d units, want status %v, outcome "queued", units 100 and 12 scroll`, status, body, units, http.StatusAccepted)
	}
	for field, want := range map[string]any{"status": "queued", "stage": nil, "failureCode": nil, "schedule": 7.0, "template": "own", "startedAt": nil, "completedAt": nil} {
		t.Run(field, func(t *testing.T) {
			if got, ok := scroll[field]; !ok || got != want {
				t.Errorf("%s: %v, want %v", field, got, want)
			}
		})
	}
	status, again, units := call("POST", "/v1/scrolls", `{"idempotencyKey":"key-12345"}`)
	if status != http.StatusOK || again["outcome"] != "existing" || units != 1 {
		t.Errorf(`again: %d %v, %d units, want status %v, outcome "existing" and units 1`, status, again, units, http.StatusOK)
	}
	status, refused, units := call("POST", "/v1/scrolls", `{}`)
	if status != http.StatusConflict || refused["error"] != "scroll_active_limit" || units != 0 {
		t.Errorf(`one too many: %d %v, %d units, want status %v, error "scroll_active_limit" and units 0`, status, refused, units, http.StatusConflict)
	}
	status, refused, _ = call("POST", "/v1/scrolls", `{"template":"import"}`)
	if status != http.StatusBadRequest || refused["error"] != "invalid_request" {
		t.Errorf(`template: %d %v, want status %v and error "invalid_request"`, status, refused, http.StatusBadRequest)
	}
	id, _ := scroll["id"].(string)
	status, got, units := call("GET", "/v1/scrolls?id="+id, "")
	if status != http.StatusOK || got["found"] != true || units != 1 {
		t.Errorf("get: %d %v, %d units, want status %v, found true and units 1", status, got, units, http.StatusOK)
	}
	status, got, _ = call("GET", "/v1/scrolls?id=what", "")
	if value, ok := got["scroll"]; status != http.StatusOK || got["found"] != false || !ok || value != nil {
		t.Errorf("get nothing: %d %v, want status %v, found false, one and no value", status, got, http.StatusOK)
	}
	const service = "/scrollery.v1.ScrollsService/"
	if status, got, _ = call("POST", service+"CancelScroll", `{"id":"`+id+`"}`); status != http.StatusOK || got["found"] != true {
		t.Errorf("cancel: %d %v, want status %v and found true", status, got, http.StatusOK)
	}
	if status, got, _ = call("POST", service+"ListScrolls", `{"pageSize":1}`); status != http.StatusOK || len(got["scrolls"].([]any)) != 1 {
		t.Errorf("list: %d %v, want status %v and length 1", status, got, http.StatusOK)
	}
	if status, got, _ = call("POST", service+"StopSchedule", `{}`); status != http.StatusOK || got["stopped"] != true {
		t.Errorf("stop schedule: %d %v, want status %v and stopped true", status, got, http.StatusOK)
	}
	for _, path := range []string{"cancel", "list", "schedule", "schedule/stop", "templates", "verdicts"} {
		t.Run("REST has "+path, func(t *testing.T) { checkREST(t, call, path, id) })
	}
	w.briefed = false
	status, refused, _ = call("POST", "/v1/scrolls", `{}`)
	if status != http.StatusConflict || refused["error"] != "workspace_required" {
		t.Errorf(`no workspace: %d %v, want status %v and error "workspace_required"`, status, refused, http.StatusConflict)
	}
}

// checkREST calls one operation on a path below /v1/scrolls of a tenant with one
// cancelled scroll and no schedule.
func checkREST(t *testing.T, call func(method, path, body string) (int, map[string]any, int), path, id string) {
	t.Helper()
	ask := func(method, query, body string, units int) map[string]any {
		t.Helper()
		status, got, cost := call(method, "/v1/scrolls/"+path+query, body)
		if status != http.StatusOK || cost != units {
			t.Fatalf("%s%s: got %d, %d units, want 200, %d: %v", path, query, status, cost, units, got)
		}
		return got
	}
	switch path {
	case "cancel":
		if got := ask("POST", "", `{"id":"`+id+`"}`, 2); got["found"] != true {
			t.Errorf("got %v, want found", got)
		}
	case "list":
		got := ask("GET", "?limit=1", "", 1)
		if listed, _ := got["scrolls"].([]any); len(listed) != 1 || got["nextCursor"] != nil {
			t.Errorf("got %v, want one scroll and no cursor", got)
		}
	case "schedule":
		if got := ask("GET", "", "", 1); got["schedule"] != nil {
			t.Errorf("got %v, want none", got)
		}
	case "schedule/stop":
		if got := ask("POST", "", `{}`, 2); got["stopped"] != false {
			t.Errorf("got %v, want stopped false", got)
		}
	case "templates":
		var names []string
		for cursor := ""; ; {
			got := ask("GET", "?limit=3"+cursor, "", 1)
			for _, template := range got["templates"].([]any) {
				names = append(names, template.(map[string]any)["name"].(string))
			}
			next, more := got["nextCursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		if diff := cmp.Diff([]string{"competitors", "default", "niche", "own"}, names); diff != "" {
			t.Errorf("templates (-want +got):\n%s", diff)
		}
	case "verdicts":
		got := ask("GET", "?dropped=true", "", 1)
		if listed, _ := got["verdicts"].([]any); len(listed) != 0 || got["nextCursor"] != nil {
			t.Errorf("got %v, want no verdicts and no cursor", got)
		}
	}
}
