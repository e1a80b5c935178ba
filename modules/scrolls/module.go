package scrolls

import (
	"go.uber.org/fx"
)

// Module provides the room: its service, its history for other rooms, its
// operations, and its work for the queue.
var Module = fx.Module("scrolls", fx.Provide(
	NewHistory,
	New,
	fx.Annotate(Operations, fx.ResultTags(`group:"operations"`)),
	fx.Annotate((*Service).Workers, fx.ResultTags(`group:"workers,flatten"`)),
	fx.Annotate((*Service).Periodics, fx.ResultTags(`group:"periodics,flatten"`)),
))
