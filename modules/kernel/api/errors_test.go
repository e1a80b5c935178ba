package api_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
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

func equal(got, want any) bool { return reflect.DeepEqual(got, want) }

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
	}{
		{
			apierr.Invalid("template", "is not known"), 400, connect.CodeInvalidArgument,
			`{"error":"invalid_request","message":"The request is not valid; see issues.","issues":[{"path":"template","message":"is not known"}]}`, "",
		},
		{apierr.New(apierr.InvalidWorkspaceBrief, "No."), 400, connect.CodeInvalidArgument, `{"error":"invalid_workspace_brief","message":"No."}`, ""},
		{fmt.Errorf("start: %w", apierr.New(apierr.WorkspaceRequired, "No.")), 409, connect.CodeFailedPrecondition, `{"error":"workspace_required","message":"No."}`, ""},
		{apierr.New(apierr.ScrollActiveLimit, "No."), 409, connect.CodeFailedPrecondition, `{"error":"scroll_active_limit","message":"No."}`, ""},
		{
			&apierr.Error{Kind: apierr.WorkspaceAlreadySet, Message: "No.", Workspace: &scrolleryv1.Workspace{Id: "ws_1", Status: "active"}}, 409, connect.CodeAlreadyExists,
			`{"error":"workspace_already_set","message":"No.","workspace":{"id":"ws_1","description":null,"website":null,"appStoreUrl":null,"competitors":[],"subjectType":null,"subjectUrl":null,"canonicalId":null,"name":null,"status":"active","rulesVersion":0,"createdAt":0,"updatedAt":0}}`, "",
		},
		{&apierr.Error{Kind: apierr.RateLimited, Message: "No.", RetryAfter: 1500 * time.Millisecond}, 429, connect.CodeResourceExhausted, `{"error":"rate_limited","message":"No.","retryAfter":2}`, "2"},
		{&apierr.Error{Kind: apierr.TemporaryServiceError, Message: "No.", Cause: errors.New("secret")}, 502, connect.CodeUnavailable, `{"error":"temporary_service_error","message":"No.","retryable":true}`, ""},
		{&apierr.Error{Kind: apierr.UpstreamError, Message: "No."}, 502, connect.CodeUnavailable, `{"error":"upstream_error","message":"No.","retryable":false}`, ""},
		{
			&apierr.Error{Kind: apierr.PaymentRequired, Message: "No.", Required: 50, Balance: 20}, 402, connect.CodeFailedPrecondition,
			`{"error":"payment_required","message":"No.","required":50,"balance":20,"shortfall":30,"topupUrl":"https://api.scrollery.test/v1/topup","type":"about:blank","title":"Payment Required","status":402,"detail":"No."}`, "",
		},
		{apierr.New(apierr.OperationError, "No."), 409, connect.CodeInternal, `{"error":"operation_error","message":"No.","requestId":"%s"}`, ""},
		{errors.New("secret"), 409, connect.CodeInternal, `{"error":"operation_error","message":"The operation failed. Try again; if it keeps failing, quote request %[1]s.","requestId":"%[1]s"}`, ""},
		{fmt.Errorf("query: %w", context.Canceled), 409, connect.CodeCanceled, "", ""},
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
			if got.status != c.status || (want != "" && got.body != want) || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("%d %s\nwant %s", got.status, got.body, want)
			}
			if got.header.Get("Retry-After") != c.header || got.header.Get("X-Request-Id") != "id-1" || strings.Contains(got.body, "secret") {
				t.Errorf("%v %s", got.header, got.body)
			}
			if e := b.events.last(t); e.Status == "ok" || e.Units != 0 {
				t.Errorf("event %+v", e)
			}
			for name, client := range clients(b) {
				_, err := client.CreateScroll(withKey("good"), &scrolleryv1.CreateScrollRequest{})
				if connect.CodeOf(err) != c.code {
					t.Errorf("%s: %v", name, err)
				}
				if detail := detailOf(err); detail == nil || detail.Error != got.json(t)["error"] || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: %v", name, detail)
				}
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
	if got := b.call(t, "POST", "/v1/signup", "", `{}`); got.status != 502 || got.body != `{"error":"upstream_error","message":"No.","retryable":true}` {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fake.do = func(context.Context, proto.Message) (proto.Message, error) { panic("secret") }
	got := b.call(t, "GET", "/v1/rules", "good", "")
	if got.status != 409 || got.json(t)["error"] != "operation_error" || strings.Contains(got.body, "secret") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if e := b.events.last(t); e.Op != "getRules" || e.Status != "error" {
		t.Errorf("event %+v", e)
	}
	rules := scrolleryv1connect.NewRulesServiceClient(b.server.Client(), b.server.URL)
	if _, err := rules.GetRules(withKey("good"), &scrolleryv1.GetRulesRequest{}); connect.CodeOf(err) != connect.CodeInternal || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	if b.events.count() != 2 {
		t.Errorf("%d events", b.events.count())
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for sent, kept := range map[string]bool{"abc-1_2.3": true, "": false, "a b": false, "<x>": false, strings.Repeat("a", 129): false} {
		got := b.call(t, "GET", "/v1/health", "", "", "X-Request-Id", sent).header.Get("X-Request-Id")
		if (got == sent) != kept || got == "" {
			t.Errorf("%q: %q", sent, got)
		}
	}
}
