// Package sandbox stores the files of an account, runs its programs, and has an agent
// that uses both.
//
// Files are rows on PostgreSQL, so that every process has the same files; a program gets
// copies in a scratch folder. With SQLite each account has a folder below the data
// folder, and no path leads out of it.
//
// An agent works in a loop of plan, act and observe. Its planner chooses among
// five tools and has no others. The fee is paid before it begins and a credit is
// held for every second that a program starts, so nothing is ever owed.
package sandbox

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the sandbox. The app provides Config and Needs.
var Module = fx.Module("sandbox", fx.Provide(
	New,
	fx.Annotate(func(s *Service) api.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
))
