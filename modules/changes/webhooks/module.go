// Package webhooks delivers the change feed of accounts to addresses of theirs, by the
// Standard Webhooks specification.
//
// A webhook has a cursor in the feed, and one delivery in flight: changes arrive in order
// and at least once, with the id of the change on every attempt. Nothing is copied for a
// delivery: what was not delivered is still in the feed. The module connects to public
// addresses alone, follows no redirect, and keeps nothing of an answer but its status.
package webhooks

import (
	"context"

	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// Module provides the module. The app provides Config and Needs.
var Module = fx.Module("webhooks", fx.Provide(
	open,
	fx.Annotate(Operations, fx.ResultTags(`group:"operations"`)),
	fx.Annotate(func(s *Service) []jobs.Worker { return s.sender.workers() }, fx.ResultTags(`group:"workers,flatten"`)),
	fx.Annotate((*Service).Periodics, fx.ResultTags(`group:"periodics,flatten"`)),
))

func open(lifecycle fx.Lifecycle, db *store.DB, feed *changes.Service, cfg Config, needs Needs) (*Service, error) {
	s, err := New(db, feed, cfg, needs)
	if err != nil {
		return nil, err
	}
	lifecycle.Append(fx.StopHook(func(context.Context) { s.Close() }))
	return s, nil
}
