// Package sources keeps what sources need between two calls, and what accounts set for them.
//
// [Accounts] has the keys and settings that accounts set for sources by themselves. Keys are
// sealed and never shown again. A call with them gets none of the operator's keys and spends
// none of the operator's quotas; no operation here is a tool of agents.
//
// A [Memory] has public pages of sites, such as the feed of a channel, for all accounts
// together: one of them asks the site, and the others of that hour read the same page. A
// page says nothing of who asked for it. What a source may share so is decided in its own
// code; external plugins have no memory.
package sources

import "go.uber.org/fx"

// Module provides the module.
var Module = fx.Module("sources", fx.Provide(
	NewMemory,
	NewAccounts,
	New,
	fx.Annotate(Operations, fx.ResultTags(`group:"operations"`)),
	fx.Annotate(Sweeper, fx.ResultTags(`group:"periodics"`)),
))
