// Package apierr defines the error type that callers of the API see.
//
// An Error has a kind, which decides the HTTP status, the Connect code and the
// machine-readable `error`, and a message for the caller. Any other error is
// internal: it is logged whole and answered as operation_error. The package never
// decides statuses itself; that table is in modules/kernel/api.
package apierr

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the stable, machine-readable code of an error.
type Kind string

// The kinds, with their names in answers.
const (
	InvalidRequest        Kind = "invalid_request"
	InvalidWorkspaceBrief Kind = "invalid_workspace_brief"
	Unauthorized          Kind = "unauthorized"
	AuthRequired          Kind = "auth_required"
	SubscriptionRequired  Kind = "subscription_required"
	PaymentRequired       Kind = "payment_required"
	Forbidden             Kind = "forbidden"
	TierRequired          Kind = "tier_required"
	NotFound              Kind = "not_found"
	CursorExpired         Kind = "cursor_expired"
	MethodNotAllowed      Kind = "method_not_allowed"
	WorkspaceRequired     Kind = "workspace_required"
	WorkspaceAlreadySet   Kind = "workspace_already_set"
	ScrollActiveLimit     Kind = "scroll_active_limit"
	OperationError        Kind = "operation_error"
	RateLimited           Kind = "rate_limited"
	TemporaryServiceError Kind = "temporary_service_error"
	UpstreamError         Kind = "upstream_error"
)

// Issue is one fault of an input. Path is in JSON names (`competitors[3]`); it is
// empty for the whole body.
type Issue struct {
	Path, Message string
}

// Error is an error for the caller. Fields that its kind does not use are zero.
type Error struct {
	Kind    Kind
	Message string
	// Issues: every fault of the input, with InvalidRequest. With InvalidWorkspaceBrief
	// they are shown only beside other faults of the input.
	Issues []Issue
	// RequiredScope and GrantedScopes: with Forbidden.
	RequiredScope string
	GrantedScopes []string
	// Workspace: the proto message of the current one, with WorkspaceAlreadySet.
	Workspace any
	// RetryAfter: with RateLimited; shown in whole seconds, rounded up. With
	// TemporaryServiceError it makes the answer a 503: the service is busy.
	RetryAfter time.Duration
	// OverRate: with RateLimited, if the caller calls too often or has too many calls under
	// way. There can be any number of such refusals.
	OverRate bool
	// Retryable: with UpstreamError.
	Retryable bool
	// RequiredTier and CurrentTier: with TierRequired.
	RequiredTier, CurrentTier string
	// Required and Balance, in credits: with PaymentRequired.
	Required, Balance int64
	// Cause is logged and never shown.
	Cause error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Kind, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

// New returns an error of a kind that needs no further fields.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns an InvalidRequest with one issue.
func Invalid(path, format string, args ...any) *Error {
	return InvalidIssues(Issue{path, fmt.Sprintf(format, args...)})
}

// InvalidIssues returns an InvalidRequest with all faults of an input.
func InvalidIssues(issues ...Issue) *Error {
	return &Error{Kind: InvalidRequest, Message: "The request is not valid; see issues.", Issues: issues}
}

// As returns the Error in err's chain, or nil for an internal error.
func As(err error) *Error {
	var found *Error
	errors.As(err, &found)
	return found
}

// Is reports whether err is an Error of the kind.
func Is(err error, kind Kind) bool {
	found := As(err)
	return found != nil && found.Kind == kind
}
