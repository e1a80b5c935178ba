package pluginhost

import (
	"context"

	"go.uber.org/fx"
)

// Module gives the app its *Host, from a Config and a *slog.Logger, and ends it
// with the app.
var Module = fx.Module("pluginhost",
	fx.Provide(New),
	fx.Invoke(func(lifecycle fx.Lifecycle, h *Host) {
		lifecycle.Append(fx.Hook{OnStop: func(context.Context) error { return h.Close() }})
	}),
)
