// Package workspace keeps each tenant's one research brief.
//
// It never fetches the addresses it is given, and never changes what other rooms
// keep by itself: a changed subject is told to them in the same transaction.
package workspace

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module is the room. It wants Library, Scrolls and Rules bound.
var Module = fx.Module("workspace",
	fx.Provide(
		New,
		fx.Annotate(func(s *Service) api.Operations { return s.Mount }, fx.ResultTags(`group:"operations"`)),
	),
)
