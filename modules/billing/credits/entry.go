package credits

import "time"

// Why credits move.
const (
	// Topup, Signup and Grant bring credits: paid for, or given by an operator.
	Topup  = "topup"
	Signup = "signup"
	Grant  = "grant"
	// Fee and Run take them: the agent's fee, a program's seconds.
	Fee = "fee"
	Run = "run"
	// Returned gives back what was taken for nothing.
	Returned = "return"
	// Reversal takes back what the payer got back.
	Reversal = "reversal"
	// Owed settles an older reversal that the balance did not cover.
	Owed = "owed"
)

// Entry is one movement.
type Entry struct {
	ID int64
	// Amount is the change of the balance, Owed that of the debt.
	Amount, Owed int64
	// Balance is what was there afterwards.
	Balance int64
	// Reason is one of the constants, Reference the movement's own name.
	Reason, Reference string
	CreatedAt         time.Time
}

// Balance is an account's balance.
type Balance struct {
	// Credits are the sum of the entries.
	Credits int64
	// Held of them are spoken for, see [Service.Hold].
	Held int64
	// Owed were taken back after they were spent: the next credits settle them.
	Owed int64
}

// Free is what can be spent.
func (b Balance) Free() int64 { return b.Credits - b.Held }
