package apierr

import (
	"context"
	"errors"
	"time"
)

// ErrUnknown is the error of a write that was sent to a database, which then was lost:
// the write may stand or not. A caller gets no answer then.
var ErrUnknown = errors.New("it is not known whether the write was committed")

// Busy returns the TemporaryServiceError of a service that has more to do than it can,
// or that has lost for a moment what it works with. It is answered as 503, with the time
// after which to try again.
func Busy(cause error) *Error {
	return &Error{Kind: TemporaryServiceError, Message: "The service is busy. Try again.", RetryAfter: time.Second, Cause: cause}
}

// IsBusy reports whether err is of the kind that Busy returns.
func IsBusy(err error) bool {
	found := As(err)
	return found != nil && found.Kind == TemporaryServiceError && found.RetryAfter > 0
}

type patienceKey struct{}

// WithPatience has what runs under the context wait at most so long for a resource that
// others occupy, such as a connection, and then fail as Busy does. Work without it waits
// as long as its context lasts.
func WithPatience(ctx context.Context, wait time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, wait)
}

// Patience returns the wait of the innermost WithPatience.
func Patience(ctx context.Context) (wait time.Duration, ok bool) {
	wait, ok = ctx.Value(patienceKey{}).(time.Duration)
	return wait, ok
}
