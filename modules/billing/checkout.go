package billing

import (
	"context"
	"time"
)

// What a checkout buys. Credits have the other two, `topup` and `signup`.
const purposeSubscription = "subscription"

// State is where a checkout stands.
type State string

// The states. A claimed checkout is a paid one whose key was handed out; the
// others that are not open never change.
const (
	Open      State = "open"
	Paid      State = "paid"
	Claimed   State = "claimed"
	Cancelled State = "cancelled"
	Expired   State = "expired"
)

// Order is what a provider is asked to sell.
type Order struct {
	// Purpose is `subscription`.
	Purpose string
	// Plan is `standard` or `pro`, Interval `monthly` or `annual`.
	Plan, Interval string
	// AmountCents is the price of one interval in US cents.
	AmountCents int64
	// ExpiresAt is when the order can no longer be paid.
	ExpiresAt time.Time
}

// Provider takes the payment. An error of its methods is taken for a passing one.
type Provider interface {
	// Create opens a checkout, under an id that nobody can guess and an address
	// at which to pay.
	Create(ctx context.Context, order Order) (session, url string, err error)
	// State says whether it is open, paid, cancelled or expired. email is the
	// payer's, empty where it is not known.
	State(ctx context.Context, session string) (state State, email string, err error)
}

// checkout is a row of the checkouts, as the service sees it.
type checkout struct {
	id             int64
	session        string
	plan, interval string
	amountCents    int64
	state          State
	email          string
	accountID      int64 // 0 where there is none yet
	createdAt      time.Time
	expiresAt      time.Time
}

// stateAt is the state at a moment: an open checkout whose time is over has
// expired, and a claimed one was paid.
func (c checkout) stateAt(at time.Time) State {
	switch {
	case c.state == Open && !at.Before(c.expiresAt):
		return Expired
	case c.state == Claimed:
		return Paid
	}
	return c.state
}
