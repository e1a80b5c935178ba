// Package credits keeps the ledger of credits, the older way to pay: one credit
// is one US cent.
//
// Every movement is an entry with a reference of its own, written once and never
// changed; the same reference again is the same movement, and moves nothing. The
// balance is the sum of the entries and never goes below zero, however many
// calls race. The spender brings the transaction, so what is paid for and the
// payment happen together or not at all.
//
// What is used up little by little is held meanwhile and paid in one entry at its
// end. Held credits are no one else's to spend or to take back, so what was used
// can always be paid. Who holds remembers how many, in the same transaction.
//
// A call that is paid before its work is a [Charge]: a row that says what to return if
// the call is not answered, so that no credits are lost with a process or a connection.
//
// The module sells nothing: billing does.
package credits

import "go.uber.org/fx"

// Module provides the module.
var Module = fx.Module("credits", fx.Provide(
	New,
	fx.Annotate(Settler, fx.ResultTags(`group:"periodics"`)),
))
