package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// answerForm is the status of one kind of error over REST and over Connect.
type answerForm struct {
	status int
	code   connect.Code
}

// formOf is the table of kinds.
func formOf(kind apierr.Kind) answerForm {
	switch kind {
	case apierr.InvalidRequest, apierr.InvalidWorkspaceBrief:
		return answerForm{http.StatusBadRequest, connect.CodeInvalidArgument}
	case apierr.Unauthorized, apierr.AuthRequired:
		return answerForm{http.StatusUnauthorized, connect.CodeUnauthenticated}
	case apierr.SubscriptionRequired, apierr.PaymentRequired:
		return answerForm{http.StatusPaymentRequired, connect.CodeFailedPrecondition}
	case apierr.Forbidden, apierr.TierRequired:
		return answerForm{http.StatusForbidden, connect.CodePermissionDenied}
	case apierr.NotFound:
		return answerForm{http.StatusNotFound, connect.CodeNotFound}
	case apierr.CursorExpired:
		return answerForm{http.StatusGone, connect.CodeOutOfRange}
	case apierr.MethodNotAllowed:
		return answerForm{http.StatusMethodNotAllowed, connect.CodeUnimplemented}
	case apierr.WorkspaceRequired, apierr.ScrollActiveLimit:
		return answerForm{http.StatusConflict, connect.CodeFailedPrecondition}
	case apierr.WorkspaceAlreadySet:
		return answerForm{http.StatusConflict, connect.CodeAlreadyExists}
	case apierr.RateLimited:
		return answerForm{http.StatusTooManyRequests, connect.CodeResourceExhausted}
	case apierr.TemporaryServiceError, apierr.UpstreamError:
		return answerForm{http.StatusBadGateway, connect.CodeUnavailable}
	default:
		return answerForm{http.StatusConflict, connect.CodeInternal}
	}
}

// refusal is an error in its public form.
type refusal struct {
	answerForm
	body       *scrolleryv1.Error
	retryAfter string // seconds, for the header; empty: none
}

// refuse turns an error into its public form and stores it for the log. An error
// without a kind becomes operation_error, without its text.
func (c *call) refuse(err error) refusal {
	f := apierr.As(err)
	c.refused = f
	if f == nil {
		f = &apierr.Error{
			Kind:    apierr.OperationError,
			Message: "The operation failed. Try again; if it keeps failing, quote request " + c.requestID + ".",
			Cause:   err,
		}
	}
	kind := f.Kind
	if kind == apierr.TemporaryServiceError && c.op != nil && c.op.older() {
		kind = apierr.UpstreamError
	}
	c.code, c.cause, c.overRate = string(kind), f.Cause, c.overRate || f.OverRate
	r := refusal{answerForm: formOf(kind), body: &scrolleryv1.Error{Error: string(kind), Message: f.Message}}
	if apierr.IsBusy(f) {
		r.status, r.retryAfter = http.StatusServiceUnavailable, strconv.FormatInt(wholeSeconds(f.RetryAfter), 10)
	}
	c.mux.describe(&r, f, kind, c)
	if f.Kind == apierr.OperationError && apierr.As(err) == nil {
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			r.code = connect.CodeDeadlineExceeded
		case errors.Is(err, context.Canceled):
			r.code = connect.CodeCanceled
		}
	}
	return r
}

// describe fills in the fields that belong to the kind.
func (m *Mux) describe(r *refusal, f *apierr.Error, kind apierr.Kind, c *call) {
	body := r.body
	switch kind {
	case apierr.InvalidRequest:
		for _, issue := range f.Issues {
			body.Issues = append(body.Issues, &scrolleryv1.Issue{Path: issue.Path, Message: issue.Message})
		}
	case apierr.Unauthorized:
		if c.op != nil && c.op.older() {
			body.SignupUrl = proto.String(m.config.BaseURL + "/v1/signup")
		} else {
			body.SubscribeUrl = proto.String(m.config.BaseURL + "/v1/subscribe")
		}
	case apierr.SubscriptionRequired:
		body.SubscribeUrl = proto.String(m.config.BaseURL + "/v1/subscribe")
	case apierr.Forbidden:
		if f.RequiredScope != "" {
			body.RequiredScope, body.GrantedScopes = proto.String(f.RequiredScope), f.GrantedScopes
		}
	case apierr.TierRequired:
		body.RequiredTier, body.CurrentTier = proto.String(f.RequiredTier), proto.String(f.CurrentTier)
		body.SubscribeUrl = proto.String(m.config.BaseURL + "/v1/subscribe")
	case apierr.WorkspaceAlreadySet:
		body.Workspace, _ = f.Workspace.(*scrolleryv1.Workspace)
	case apierr.RateLimited:
		seconds := wholeSeconds(f.RetryAfter)
		body.RetryAfter, r.retryAfter = proto.Float64(float64(seconds)), strconv.FormatInt(seconds, 10)
	case apierr.TemporaryServiceError:
		body.Retryable = proto.Bool(true)
	case apierr.UpstreamError:
		body.Retryable = proto.Bool(f.Retryable || f.Kind == apierr.TemporaryServiceError)
	case apierr.PaymentRequired:
		m.describePayment(body, f)
	case apierr.OperationError:
		body.RequestId = proto.String(c.requestID)
	}
}

// describePayment gives payment_required the members of RFC 9457 beside its own.
func (m *Mux) describePayment(body *scrolleryv1.Error, f *apierr.Error) {
	body.Required, body.Balance = proto.Float64(float64(f.Required)), proto.Float64(float64(f.Balance))
	body.Shortfall = proto.Float64(float64(max(0, f.Required-f.Balance)))
	body.TopupUrl = proto.String(m.config.BaseURL + "/v1/topup")
	body.Type = proto.String("about:blank")
	body.Title = proto.String("Payment Required")
	body.Status = proto.Float64(http.StatusPaymentRequired)
	body.Detail = proto.String(f.Message)
}

// connectError carries the refusal's body as a typed detail.
func (r refusal) connectError() error {
	failed := connect.NewError(r.code, errors.New(r.body.Message))
	if detail, err := connect.NewErrorDetail(r.body); err == nil {
		failed.AddDetail(detail)
	}
	if r.retryAfter != "" {
		failed.Meta().Set("Retry-After", r.retryAfter)
	}
	return failed
}

// wholeSeconds rounds a wait up to at least 1 second.
func wholeSeconds(wait time.Duration) int64 {
	return max(1, int64(math.Ceil(wait.Seconds())))
}

// How much of a refusal the log has.
const (
	loggedIssues = 5
	loggedBytes  = 200
)

// reason is what the log says of a refusal: the message, or the faults of the input. What
// a message quotes or has behind a colon may be the caller's own text, and a property that
// the operation does not have may be a secret in the wrong place: the log has neither.
func (c *call) reason() string {
	if len(c.refused.Issues) == 0 {
		message, _, _ := strings.Cut(c.refused.Message, `"`)
		return message[:min(len(message), loggedBytes)]
	}
	var faults []string
	for _, issue := range c.refused.Issues[:min(len(c.refused.Issues), loggedIssues)] {
		name, _, _ := strings.Cut(issue.Path, "[")
		name, _, _ = strings.Cut(name, ".")
		message := issue.Message
		if at := strings.IndexAny(message, `":`); at >= 0 {
			message = message[:at]
		}
		if c.op != nil && c.op.desc.Input().Fields().ByJSONName(name) != nil {
			message = name + " " + message
		}
		faults = append(faults, message[:min(len(message), loggedBytes)])
	}
	return strings.Join(faults, "; ")
}
