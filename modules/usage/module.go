// Package usage records every call through the gateway, counts what accounts
// spend of their budgets, and reports both.
//
// The event of a call that writes is part of its write; any other is durable within 250 ms.
// Days and months are those of UTC. The module decides nothing about a call: whether a spent
// budget stops it is for admission.
package usage

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the module. The app provides Config and answers Plans. The
// recorder stores what is left when the app stops.
var Module = fx.Module("usage", fx.Provide(
	New,
	NewRecorder,
	func(r *Recorder, life fx.Lifecycle) api.Recorder {
		life.Append(fx.StopHook(r.Stop))
		return r
	},
	fx.Annotate(func(s *Service) api.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
	fx.Annotate(Sweeper, fx.ResultTags(`group:"periodics"`)),
))
