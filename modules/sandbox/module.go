// Package sandbox keeps what an account does by itself: its files, its programs
// and the agent that uses both.
//
// Files lie in a folder an account, below the data folder, and no path leads out
// of it. They belong to the machine: several machines that serve one database
// need a data folder that they share.
//
// An agent works in a loop of plan, act and observe. Its planner chooses among
// five tools and has no others. The fee is paid before it begins and a credit is
// held for every second that a program starts, so nothing is ever owed; what a
// call has run up is a row until it is answered, so a process that is lost takes
// nobody's credits along.
package sandbox

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the room. The app provides Config and Needs.
var Module = fx.Module("sandbox", fx.Provide(
	New,
	fx.Annotate(func(s *Service) api.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
	fx.Annotate(Rescuer, fx.ResultTags(`group:"periodics"`)),
))
