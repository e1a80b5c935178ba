// Package sandbox keeps what an account does by itself: its files, its programs
// and the agent that uses both.
//
// Files lie in a folder an account, below the data folder, and no path leads out
// of it. They belong to the machine: several machines that serve one database
// need a data folder that they share.
//
// An agent works in a loop of plan, act and observe. Its planner chooses among
// five tools and has no others; the fee and every second of a run are paid before
// they are used, each as a movement of its own.
package sandbox

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/door"
)

// Module provides the room. The app provides Config and Needs.
var Module = fx.Module("sandbox", fx.Provide(
	New,
	fx.Annotate(func(s *Service) door.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
))
