// Package sources keeps what sources need between two calls.
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
	fx.Annotate(Sweeper, fx.ResultTags(`group:"periodics"`)),
))
