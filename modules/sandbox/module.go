// Package sandbox keeps what an account does by itself: its files, its programs
// and the agent that uses both.
//
// Files lie in a folder an account, below the data folder, and no path leads out
// of it. They belong to the machine: several machines that serve one database
// need a data folder that they share.
package sandbox

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/door"
)

// Module provides the room. The app provides Config.
var Module = fx.Module("sandbox", fx.Provide(
	New,
	fx.Annotate(func(s *Service) door.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
))
