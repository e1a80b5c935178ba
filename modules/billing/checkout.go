package billing

import (
	"context"
	"time"
)

// What a checkout buys: a subscription, or credits for an account that is there
// or for a new one.
const (
	purposeSubscription = "subscription"
	purposeTopup        = "topup"
	purposeSignup       = "signup"
)

// State is the state of a checkout.
type State string

// The states. A claimed checkout is a paid one whose key or credits were handed
// out; the others that are not open never change.
const (
	Open State = "open"
	// Processing is said by providers only, of a payment that is under way: the
	// row stays open, past its time if need be.
	Processing State = "processing"
	// Unknown is said by providers only, of a checkout that they never heard of:
	// it was opened with another one, or with another account. It ends nothing.
	Unknown   State = "unknown"
	Paid      State = "paid"
	Claimed   State = "claimed"
	Cancelled State = "cancelled"
	Expired   State = "expired"
)

// Order is what a provider is asked to sell.
type Order struct {
	// Reference is our own name of the order: asked twice under one, a provider
	// sells once.
	Reference string
	// Purpose is `subscription`, `topup` or `signup`.
	Purpose string
	// Plan is `standard` or `pro`, Interval `monthly` or `annual`; both are empty
	// for credits.
	Plan, Interval string
	// AmountCents is the price of one interval, or of the credits, in US cents.
	AmountCents int64
	// Replaces is the provider's id of the subscription that the account has, and
	// that a new one ends; empty for none. What is left of it counts for the new one.
	Replaces string
	// ExpiresAt is when the order can no longer be paid.
	ExpiresAt time.Time
}

// Payment is what a provider knows of a checkout.
type Payment struct {
	// State is any but Claimed.
	State State
	// Email is the payer's, empty if it is not known.
	Email string
	// ID is the payment's own, by which a refund names it; empty for subscriptions.
	ID string
	// Subscription is what was bought; zero for credits, and where
	// the provider renews nothing.
	Subscription SubscriptionState
}

// SubscriptionState is a provider's subscription as it is.
type SubscriptionState struct {
	ID string
	// Status is one of the constants of a subscription.
	Status string
	// Plan and Interval are empty if the provider's price is none of ours.
	Plan, Interval string
	PeriodEnd      time.Time
}

// Provider takes the payment. An error of its methods is taken for a passing one.
type Provider interface {
	// Create opens a checkout, under an id that cannot be guessed and an address
	// at which to pay.
	Create(ctx context.Context, order Order) (session, url string, err error)
	// State says its state. Whether an open one can still be paid is for the
	// provider to say: its clock and its bounds are not ours.
	State(ctx context.Context, session string) (Payment, error)
}

// checkout is a row of the checkouts, as the service sees it.
type checkout struct {
	id             int64
	session        string
	purpose        string
	plan, interval string
	amountCents    int64
	state          State
	email          string
	accountID      int64  // 0 if there is none yet
	payment        string // empty if it is not known
	refunded       int64
	disputed       int64
	reversed       int64
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

// undone is how much of the payment the payer got back, or wants back.
func (c checkout) undone() int64 { return min(c.amountCents, c.refunded+c.disputed) }
