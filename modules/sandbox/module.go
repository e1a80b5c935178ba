// Package sandbox is where an account's files, programs and agent will live.
// Nothing of it runs on this server yet: its operations are in the contract, and
// say so.
package sandbox

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/door"
)

// Module provides the room.
var Module = fx.Module("sandbox", fx.Provide(
	fx.Annotate(func() door.Operations { return Operations }, fx.ResultTags(`group:"operations"`)),
))
