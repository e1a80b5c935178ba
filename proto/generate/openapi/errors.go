package main

import (
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// errorForm is one error code as answers show it.
type errorForm struct {
	schema, code string
	status       int
	fields       []string // of message Error, always there
	when         string
	occurs       func(*scrolleryv1.Operation) bool
}

// listed is for codes that an operation names itself.
func listed(code string) func(*scrolleryv1.Operation) bool {
	return func(op *scrolleryv1.Operation) bool { return slices.Contains(op.Errors, code) }
}

func always(*scrolleryv1.Operation) bool { return true }

func keyed(op *scrolleryv1.Operation) bool { return !public(op) }

// errorForms lists every code that an operation can answer with.
func errorForms() []errorForm {
	older := func(op *scrolleryv1.Operation) bool { return op.Auth == scrolleryv1.Auth_AUTH_OLDER_KEY }
	return []errorForm{
		{"InvalidRequestError", "invalid_request", 400, []string{"issues"}, "The input is not valid.", always},
		{"InvalidWorkspaceBriefError", "invalid_workspace_brief", 400, nil, "The brief is not acceptable.", listed("invalid_workspace_brief")},
		{"UnauthorizedError", "unauthorized", 401, []string{"subscribeUrl"}, "The key is missing or not valid.", func(op *scrolleryv1.Operation) bool { return keyed(op) && !older(op) }},
		{"OlderUnauthorizedError", "unauthorized", 401, []string{"signupUrl"}, "The key is missing or not valid.", older},
		{"AuthRequiredError", "auth_required", 401, nil, "The session has ended.", keyed},
		{"SubscriptionRequiredError", "subscription_required", 402, []string{"subscribeUrl"}, "An active subscription is needed.", func(op *scrolleryv1.Operation) bool { return op.Subscription }},
		{"PaymentRequiredError", "payment_required", 402, []string{"required", "balance", "shortfall", "topupUrl", "type", "title", "status", "detail"}, "Credits are missing (RFC 9457).", listed("payment_required")},
		{"ForbiddenError", "forbidden", 403, []string{"requiredScope", "grantedScopes"}, "The key lacks a scope.", keyed},
		{"TierRequiredError", "tier_required", 403, []string{"requiredTier", "currentTier", "subscribeUrl"}, "The plan is too small.", keyed},
		{"NotFoundError", "not_found", 404, nil, "There is nothing of this id.", listed("not_found")},
		{"CursorExpiredError", "cursor_expired", 410, nil, "The changes after the cursor are not kept any more.", listed("cursor_expired")},
		{"WorkspaceRequiredError", "workspace_required", 409, nil, "There is no workspace.", listed("workspace_required")},
		{"WorkspaceAlreadySetError", "workspace_already_set", 409, []string{"workspace"}, "There is another workspace.", listed("workspace_already_set")},
		{"ScrollActiveLimitError", "scroll_active_limit", 409, nil, "Too many scrolls are active.", listed("scroll_active_limit")},
		{"OperationError", "operation_error", 409, nil, "The operation failed; the message carries the request's id.", always},
		{"RateLimitedError", "rate_limited", 429, []string{"retryAfter"}, "Too many requests, or the budget is spent.", always},
		{"TemporaryServiceError", "temporary_service_error", 502, []string{"retryable"}, "A service behind failed; safe to retry.", listed("temporary_service_error")},
		{"UpstreamError", "upstream_error", 502, []string{"retryable"}, "A service behind failed.", listed("upstream_error")},
	}
}

func reason(status string) string {
	switch status {
	case "4XX":
		return "The call was refused; each schema names its status."
	case "400":
		return "The input was refused."
	case "402":
		return "Payment needed."
	case "404":
		return "There is nothing of this id."
	case "410":
		return "What the cursor names is not kept any more."
	case "409":
		return "The state does not allow it, or the operation failed."
	default:
		return "A service behind failed."
	}
}

// describe says what an error has beside what every error has. The fields are those of
// message Error, whose comments name the code.
func (e errorForm) describe(d *document, desc protoreflect.MessageDescriptor) object {
	properties, must := object{"error": object{"type": "string", "const": e.code}}, []any{}
	for _, name := range e.fields {
		field := desc.Fields().ByJSONName(name)
		property := annotate(e.field(d, field), field)
		if text, ok := property["description"].(string); ok {
			property["description"] = strings.TrimPrefix(text, "`"+e.code+"`: ")
		}
		properties[name] = property
		must = append(must, name)
	}
	schema := object{
		"allOf": []any{reference("AnyError")}, "description": strconv.Itoa(e.status) + ": " + e.when, "properties": properties,
	}
	if len(must) > 0 {
		schema["required"] = must
	}
	return schema
}

func (e errorForm) field(d *document, field protoreflect.FieldDescriptor) object {
	switch {
	case field.JSONName() == "retryable" && e.code == "temporary_service_error":
		return object{"type": "boolean", "const": true}
	case field.JSONName() == "requiredTier":
		return object{"type": "string", "enum": []any{"starter", "max"}}
	case field.JSONName() == "currentTier":
		return object{"type": "string", "enum": []any{"starter", "max", "none"}}
	default:
		return d.plain(field)
	}
}
