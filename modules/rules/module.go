// Package rules keeps each tenant's rules in plain words: every version of the
// text, and the items that it falls into.
//
// It never says what a rule means; screen stages do.
package rules

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the module. The app answers Workspace.
var Module = fx.Module("rules",
	fx.Provide(
		New,
		fx.Annotate(func(s *Service) api.Operations { return s.Mount }, fx.ResultTags(`group:"operations"`)),
	),
)
