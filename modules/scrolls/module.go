package scrolls

import (
	"go.uber.org/fx"
)

// Module provides the service, the history for other modules, the operations, and the
// work for the queue.
var Module = fx.Module("scrolls", fx.Provide(
	NewHistory,
	New,
	fx.Annotate(Operations, fx.ResultTags(`group:"operations"`)),
	fx.Annotate((*Service).Workers, fx.ResultTags(`group:"workers,flatten"`)),
	fx.Annotate((*Service).Periodics, fx.ResultTags(`group:"periodics,flatten"`)),
))
