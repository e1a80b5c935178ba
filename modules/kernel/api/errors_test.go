package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

// existing answers as an idempotent repeat does.
func existing(ctx context.Context, _ proto.Message) (proto.Message, error) {
	api.Status(ctx, 202)
	api.Units(ctx, 1)
	return nil, nil
}

func TestErrorsOverEveryProtocol(t *testing.T) {
	t.Parallel()
	cases := []struct {
		err    error
		status int
		code   connect.Code
		body   string // %s: the request id
		header string
		event  string
	}{
		{
			apierr.Invalid("template", "is not known"), 400, connect.CodeInvalidArgument,
			`{"error":"invalid_request","message":"The request is not valid; see issues.","issues":[{"path":"template","message":"is not known"}]}`, "", "error",
		},
		{apierr.New(apierr.InvalidWorkspaceBrief, "No."), 400, connect.CodeInvalidArgument, `{"error":"invalid_workspace_brief","message":"No."}`, "", "error"},
		{fmt.Errorf("start: %w", apierr.New(apierr.WorkspaceRequired, "No.")), 409, connect.CodeFailedPrecondition, `{"error":"workspace_required","message":"No."}`, "", "error"},
		{apierr.New(apierr.ScrollActiveLimit, "No."), 409, connect.CodeFailedPrecondition, `{"error":"scroll_active_limit","message":"No."}`, "", "error"},
		{
			&apierr.Error{Kind: apierr.WorkspaceAlreadySet, Message: "No.", Workspace: &scrolleryv1.Workspace{Id: "ws_1", Status: "active"}}, 409, connect.CodeAlreadyExists,
			`{"error":"workspace_already_set","message":"No.","workspace":{"id":"ws_1","description":null,"website":null,"appStoreUrl":null,"competitors":[],"subjectType":null,"subjectUrl":null,"canonicalId":null,"name":null,"status":"active","rulesVersion":0,"createdAt":0,"updatedAt":0}}`, "", "error",
		},
		{&apierr.Error{Kind: apierr.RateLimited, Message: "No.", RetryAfter: 1500 * time.Millisecond}, 429, connect.CodeResourceExhausted, `{"error":"rate_limited","message":"No.","retryAfter":2}`, "2", "rate_limited"},
		{&apierr.Error{Kind: apierr.TemporaryServiceError, Message: "No.", Cause: errors.New("secret")}, 502, connect.CodeUnavailable, `{"error":"temporary_service_error","message":"No.","retryable":true}`, "", "error"},
		{&apierr.Error{Kind: apierr.UpstreamError, Message: "No."}, 502, connect.CodeUnavailable, `{"error":"upstream_error","message":"No.","retryable":false}`, "", "error"},
		{
			&apierr.Error{Kind: apierr.PaymentRequired, Message: "No.", Required: 50, Balance: 20}, 402, connect.CodeFailedPrecondition,
			`{"error":"payment_required","message":"No.","required":50,"balance":20,"shortfall":30,"topupUrl":"https://api.scrollery.test/v1/topup","type":"about:blank","title":"Payment Required","status":402,"detail":"No."}`, "", "error",
		},
		{apierr.New(apierr.OperationError, "No."), 409, connect.CodeInternal, `{"error":"operation_error","message":"No.","requestId":"%s"}`, "", "error"},
		{errors.New("secret"), 409, connect.CodeInternal, `{"error":"operation_error","message":"The operation failed. Try again; if it keeps failing, quote request %[1]s.","requestId":"%[1]s"}`, "", "error"},
		{fmt.Errorf("query: %w", context.Canceled), 409, connect.CodeCanceled, "", "", "error"},
	}
	for _, c := range cases {
		t.Run(c.err.Error(), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.fake.do = func(context.Context, proto.Message) (proto.Message, error) { return nil, c.err }
			got := b.call(t, "POST", "/v1/scrolls", "good", `{}`, "X-Request-Id", "id-1")
			want := c.body
			if strings.Contains(want, "%") {
				want = fmt.Sprintf(want, "id-1")
			}
			check(t, "status", c.status, got.status)
			check(t, "Content-Type", "application/json", got.header.Get("Content-Type"))
			check(t, "Retry-After", c.header, got.header.Get("Retry-After"))
			check(t, "X-Request-Id", "id-1", got.header.Get("X-Request-Id"))
			check(t, "body shows the secret", false, strings.Contains(got.body, "secret"))
			if want != "" {
				check(t, "body", want, got.body)
			}
			check(t, "event", outcome{Op: "createScroll", Status: c.event, Account: 1}, b.events.outcome(t))
			for name, client := range clients(b) {
				_, err := client.CreateScroll(withKey("good"), &scrolleryv1.CreateScrollRequest{})
				check(t, name+": code", c.code, connect.CodeOf(err))
				check(t, name+": error of the detail", got.json(t)["error"], any(detailOf(err).GetError()))
				check(t, name+": error shows the secret", false, strings.Contains(err.Error(), "secret"))
			}
		})
	}
}

func TestUpstreamErrorOfAnOlderOperation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fake.do = func(context.Context, proto.Message) (proto.Message, error) {
		return nil, apierr.New(apierr.TemporaryServiceError, "No.")
	}
	got := b.call(t, "POST", "/v1/signup", "", `{}`)
	check(t, "status", 502, got.status)
	check(t, "body", `{"error":"upstream_error","message":"No.","retryable":true}`, got.body)
}

func TestPanic(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fake.do = func(context.Context, proto.Message) (proto.Message, error) { panic("secret") }
	got := b.call(t, "GET", "/v1/rules", "good", "")
	check(t, "status", 409, got.status)
	check(t, "error", any("operation_error"), got.json(t)["error"])
	check(t, "body shows the panic", false, strings.Contains(got.body, "secret"))
	check(t, "event", outcome{Op: "getRules", Status: "error", Account: 1}, b.events.outcome(t))
	rules := scrolleryv1connect.NewRulesServiceClient(b.server.Client(), b.server.URL)
	_, err := rules.GetRules(withKey("good"), &scrolleryv1.GetRulesRequest{})
	check(t, "code", connect.CodeInternal, connect.CodeOf(err))
	check(t, "error shows the panic", false, strings.Contains(err.Error(), "secret"))
	check(t, "events", 2, b.events.count())
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for sent, kept := range map[string]bool{"abc-1_2.3": true, "": false, "a b": false, "<x>": false, strings.Repeat("a", 129): false} {
		t.Run(fmt.Sprintf("%.20q", sent), func(t *testing.T) {
			got := b.call(t, "GET", "/v1/health", "", "", "X-Request-Id", sent).header.Get("X-Request-Id")
			check(t, "the id is kept", kept, got == sent)
			check(t, "the id is empty", false, got == "")
		})
	}
}

// TestRefusalsAreLogged: the line of a refused call says why and what to do, and nothing that
// the caller wrote; a failure is an error.
func TestRefusalsAreLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		name, call, body string
		err              error // of the module
		level, refused   string
	}{
		{"a fault", "GET /v1/hooks?limit=0", "", nil, "INFO", "limit must be from 1 to 25"},
		{"several", "POST /v1/library/archive", `{"scope":"scr_live_x","archived":1}`, nil, "INFO", "archived must be true or false"},
		{"an unknown name", "GET /v1/hooks?scr_live_x=1", "", nil, "INFO", "is not known"},
		{"a text behind a colon", "PUT /v1/rules", `{"text":"x"}`, apierr.Invalid("text", "could not be read: scr_live_x"), "INFO", "text could not be read"},
		{"a text in quotes", "PUT /v1/rules", `{"text":"x"}`, apierr.New(apierr.NotFound, "There is no rule %q.", "scr_live_x"), "INFO", "There is no rule "},
		{"what the caller can mend", "PUT /v1/rules", `{"text":"x"}`, apierr.New(apierr.OperationError, "There are too many. Delete one first."), "INFO", "Delete one first."},
		{"what failed, in words", "PUT /v1/rules", `{"text":"x"}`, &apierr.Error{Kind: apierr.OperationError, Message: "It is off.", Cause: errors.New("disk on fire")}, "ERROR", ""},
		{"what failed", "PUT /v1/rules", `{"text":"x"}`, errors.New("disk on fire"), "ERROR", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.fake.do = func(context.Context, proto.Message) (proto.Message, error) { return nil, c.err }
			method, path, _ := strings.Cut(c.call, " ")
			text := b.log.keep(func() {
				request := httptest.NewRequest(method, path, strings.NewReader(c.body))
				request.Header.Set("Authorization", "Bearer good")
				request.Header.Set("Content-Type", "application/json")
				b.mux.Handler().ServeHTTP(httptest.NewRecorder(), request)
			})
			var line struct{ Msg, Level, Refused, Error string }
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatalf("got %s, want one line of JSON: %v", text, err)
			}
			check(t, "level", c.level, line.Level)
			if !strings.Contains(line.Refused, c.refused) || (c.refused == "") != (line.Refused == "") {
				t.Errorf("got refused %q, want %q in it", line.Refused, c.refused)
			}
			if strings.Contains(text, "scr_live_x") {
				t.Errorf("got %s, want nothing that the caller wrote", text)
			}
			check(t, "an error", c.level == "ERROR", line.Error != "")
		})
	}
}
