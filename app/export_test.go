package app

import (
	"context"
	"log/slog"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/console"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// StartWithStore starts the app and hands out its database.
func StartWithStore(db **store.DB) func(context.Context, Config, *slog.Logger) (*Service, error) {
	return func(ctx context.Context, cfg Config, log *slog.Logger) (*Service, error) {
		return start(ctx, cfg, log, fx.Populate(db))
	}
}

// StartWithParts starts the app and hands out parts of its graph, to pointers to them.
func StartWithParts(parts ...any) func(context.Context, Config, *slog.Logger) (*Service, error) {
	return func(ctx context.Context, cfg Config, log *slog.Logger) (*Service, error) {
		return start(ctx, cfg, log, fx.Populate(parts...))
	}
}

// StoreOf returns the database of the commands.
func StoreOf(o *Operator) *store.DB { return o.db }

// StartWithProvider starts the app with another payment provider.
func StartWithProvider(provider billing.Provider) func(context.Context, Config, *slog.Logger) (*Service, error) {
	return func(ctx context.Context, cfg Config, log *slog.Logger) (*Service, error) {
		return start(ctx, cfg, log, fx.Decorate(func(billing.Provider) billing.Provider { return provider }))
	}
}

// StartAndStop starts the app with a stop that comes while its parts start.
func StartAndStop(ctx context.Context, cfg Config, log *slog.Logger) (*Service, error) {
	ctx, stop := context.WithCancel(ctx)
	return start(ctx, cfg, log, fx.Invoke(func(lifecycle fx.Lifecycle) { lifecycle.Append(fx.StartHook(stop)) }))
}

// StartWithoutConsole starts the app as a binary that was built without npm.
func StartWithoutConsole(ctx context.Context, cfg Config, log *slog.Logger) (*Service, error) {
	return start(ctx, cfg, log, fx.Decorate(func(console.Assets) console.Assets { return nil }))
}

// CheckPlugin does what the page of the operator does for a plugin's check.
func (s *Service) CheckPlugin(ctx context.Context, id string) (Checked, error) {
	return s.reloader.check(ctx, id)
}
