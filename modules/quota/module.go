// Package quota keeps the ledger of what sites allow the operator as a whole:
// calls or units a day, things a week. All scrolls of all tenants and all
// replicas share them, so a stage asks before it spends, and what is granted
// never exceeds the limit.
//
// Sharing follows one rule. A tenant's share is the limit divided by the number
// of tenants that asked in this window or the one before.
//
//   - Within its share a tenant gets whatever is left.
//   - Beyond its share it gets what no one else claims. A tenant that asked within
//     the last hour claims the rest of its share, since its scroll may be in the
//     midst of it; another claims as much of its share as it asked for in the
//     window before.
//   - In the last quarter of a day no one claims anything: what is left is for all.
//
// So a tenant alone gets everything, a greedy one leaves the others what they
// came for the day before, and what no one comes for is not lost. A tenant that
// never asked before has no claim yet: it finds what is left, and a share from
// then on. A window of the last 7 days has no last quarter; there a claim ends a
// week after what it rests on.
//
// The ledger counts what was granted, not what was used: a call that failed was
// asked of the site all the same. Only money is given back, within the day: a price is
// granted for the most records of an answer, and paid for those that came.
package quota

import "go.uber.org/fx"

// Module provides the module.
var Module = fx.Module("quota", fx.Provide(
	New,
	fx.Annotate(Sweeper, fx.ResultTags(`group:"periodics"`)),
))
