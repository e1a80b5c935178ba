// Package workspace keeps each tenant's one research brief.
//
// It never fetches the addresses it is given, and writes no other module's rows
// itself: it passes a changed subject to the library and the scrolls in the same
// transaction.
package workspace

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the service and the reader. The app answers Library, Scrolls and
// Rules.
var Module = fx.Module("workspace",
	fx.Provide(
		New, NewReader,
		fx.Annotate(func(s *Service) api.Operations { return s.Mount }, fx.ResultTags(`group:"operations"`)),
	),
)
