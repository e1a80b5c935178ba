package api

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// computations is how many one process runs at once, of which an account has one.
const computations = 2

// errTooLong ends the context of a computation that has had its time.
var errTooLong = errors.New("the computation took too long")

// computed gives the handler of a computation its place, its deadline and readers of its own.
func (m *Mux) computed(invoke handler) handler {
	return func(ctx context.Context, request proto.Message) (answer, error) {
		waiting, stop := context.WithTimeout(ctx, m.config.ComputeFor)
		leave, err := m.computing.Enter(waiting, callFrom(ctx).viewer.AccountID)
		stop()
		switch {
		case ctx.Err() != nil:
			return answer{}, context.Cause(ctx)
		case err != nil:
			return answer{}, &apierr.Error{
				Kind: apierr.RateLimited, RetryAfter: m.config.ComputeFor,
				Message: "An account computes one answer at a time. Try again when the others have their answers.",
			}
		}
		defer leave()
		limited, stop := context.WithTimeoutCause(ctx, m.config.ComputeFor, errTooLong)
		defer stop()
		if m.config.BulkReader != nil {
			limited = m.config.BulkReader(limited)
		}
		result, err := invoke(limited, request)
		if err != nil && errors.Is(context.Cause(limited), errTooLong) {
			return answer{}, &apierr.Error{
				Kind: apierr.TemporaryServiceError, RetryAfter: m.config.ComputeFor, Cause: err,
				Message: "The answer took too long to compute. Try again when the server has less to do, or ask about less.",
			}
		}
		return result, err
	}
}

// computes reports whether calls of the operation take the place of a computation.
func (o *operation) computes() bool { return o.Class == scrolleryv1.Class_CLASS_COMPUTATION }
