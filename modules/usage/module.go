// Package usage records every call through the gateway, counts what accounts
// spend of their budgets, and reports both.
//
// An event is durable before the call that it records is answered. Days and
// months are those of UTC. The module decides nothing about a call: whether a
// spent budget stops it is for admission, which has [Budget.Wait].
package usage

import (
	"context"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the module. The app provides Config and answers Plans. The
// recorder runs from the app's start to its stop.
var Module = fx.Module("usage", fx.Provide(
	New,
	NewPending,
	NewRecorder,
	func(r *Recorder, life fx.Lifecycle) api.Recorder {
		life.Append(fx.Hook{
			OnStart: func(context.Context) error { return r.Start() },
			OnStop:  r.Stop,
		})
		return r
	},
	fx.Annotate(func(s *Service) api.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
	fx.Annotate(Sweeper, fx.ResultTags(`group:"periodics"`)),
))
