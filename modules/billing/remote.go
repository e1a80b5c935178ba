package billing

import (
	"context"
	"errors"
	"time"
)

// errRefused is in the chain of a provider's error that no other try heals.
var errRefused = errors.New("refused")

// Remote is a provider that keeps the state itself: it sends events of changes,
// and is asked for the state, so that it does not matter how events arrive.
type Remote interface {
	Provider
	// Subscription returns a subscription as it is. Providers forget none: ok is
	// false for one of another account.
	Subscription(ctx context.Context, id string) (state SubscriptionState, ok bool, err error)
	// Reversal returns how much of a charge was given back.
	Reversal(ctx context.Context, charge string) (Reversal, error)
	// Reversals returns what was given back since a moment, a line a charge, and
	// only of that time.
	Reversals(ctx context.Context, since time.Time) ([]Reversal, error)
	// SessionOf returns the checkout that a payment was made in, empty for none.
	SessionOf(ctx context.Context, payment string) (session string, err error)
	// End cancels a subscription at once; ended twice is once.
	End(ctx context.Context, subscription string) error
}

// Reversal is what was given back of a charge, in US cents.
type Reversal struct {
	Charge string
	// Payment that the charge belongs to.
	Payment string
	// Refunded by us, and Disputed by the payer unless we won.
	Refunded, Disputed int64
}

// Event says that something changed at the provider. Only one of Session,
// Subscription and Charge is set; none is of a event that concerns nothing here.
type Event struct {
	// ID is the provider's own, Kind what happened.
	ID, Kind                      string
	Session, Subscription, Charge string
}
