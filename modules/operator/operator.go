package operator

import (
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// What the needs return. They have the fields of their modules' types, so that the
// app converts them as they are.

// Key is an API key.
type Key struct {
	// ID and AccountID in their public form.
	ID, AccountID string
	Scopes        []string
	// Hint is the last four characters of the secret.
	Hint      string
	Session   bool
	CreatedAt time.Time
	// ExpiresAt is zero for a key that never expires.
	ExpiresAt time.Time
	// RevokedAt is zero for a key that was not revoked.
	RevokedAt time.Time
}

// AccountRow is an account.
type AccountRow struct {
	ID int64
	// Email is empty if no checkout asked for it.
	Email     string
	CreatedAt time.Time
	// BlockedAt is zero unless it is blocked.
	BlockedAt time.Time
}

// Subscription is what an account has subscribed to; empty for none.
type Subscription struct {
	Plan, Interval, Status string
	// External is the provider's id.
	External string
	// PeriodEnd is zero for an account that does not pay.
	PeriodEnd time.Time
	// Limits are the account's own instead of its plan's, as `name=value` separated by spaces.
	Limits string
}

// activeStatus is that of a subscription in force.
const activeStatus = "active"

// Balance is the state of an account's credits: their sum, how many of them are
// held, and how many the account owes.
type Balance struct{ Credits, Held, Owed int64 }

// Movement is an entry of the ledger.
type Movement struct {
	ID int64
	// Amount is the change of the balance, Owed that of the debt.
	Amount, Owed int64
	// Balance after the movement.
	Balance           int64
	Reason, Reference string
	CreatedAt         time.Time
}

// ScrollLine is a scroll in a list.
type ScrollLine struct {
	ID, Account, Status, Failure string
	Videos                       int
	Created                      time.Time
}

// Reading is a video of an import.
type Reading struct {
	Record stage.Record
	// Part is the index of its file.
	Part int
}

// Imported says what an import did.
type Imported struct {
	// ScrollID is 0 if nothing was new.
	ScrollID int64
	// Parts are the tallies by [Reading.Part].
	Parts []Tally
}

// Tally counts readings: new videos, further observations, readings that the library
// had, further readings of the same import, and records that cannot be stored.
type Tally struct{ New, Again, Same, Repeated, Refused int }

// Quota is what a site allows a plugin.
type Quota struct {
	Plugin, Name, Window string
	Used, Limit          int64
	// Tenants that asked for it in this window or the one before.
	Tenants int
	// RenewsAt is zero if nothing is used.
	RenewsAt time.Time
	// Money: the units are millionths of a US dollar.
	Money bool
}
