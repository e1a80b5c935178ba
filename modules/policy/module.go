// Package policy keeps the table of what the server stores and for how long.
//
// The table is policy.yaml. It deletes nothing: each module ends what it keeps. At the start
// the table is compared with what the modules do, so that it cannot say anything else.
package policy

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the module. The app provides Config.
var Module = fx.Module("policy", fx.Provide(
	New,
	fx.Annotate(func(s *Service) api.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
))
