// Package changes shows the change feed of an account.
//
// The feed itself is written by modules/kernel/feed, in the transactions that make the
// changes. Its numbers are in the order of the commits and have no gaps, so a reader that
// goes on after the last number it has seen misses none. This module reads it, wakes those
// who wait, and deletes what is older than 30 days.
package changes

import (
	"context"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// Module provides the module.
var Module = fx.Module("changes", fx.Provide(
	open,
	fx.Annotate(Operations, fx.ResultTags(`group:"operations"`)),
	fx.Annotate((*Service).Sweeper, fx.ResultTags(`group:"periodics"`)),
))

func open(lifecycle fx.Lifecycle, db *store.DB, library Library) *Service {
	s := New(db, library)
	lifecycle.Append(fx.StopHook(func(context.Context) { s.Close() }))
	return s
}
