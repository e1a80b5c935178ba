// Package preview judges stored videos by a ruleset that is not in force: what it returns
// is what the next scroll would do. It stores nothing.
package preview

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the preview. The app answers Screens and Library.
var Module = fx.Module("rules-preview",
	fx.Provide(
		New,
		fx.Annotate(func(s *Service) api.Operations { return s.Mount }, fx.ResultTags(`group:"operations"`)),
	),
)
