// Package account hands out everything that belongs to an account, and deletes it.
//
// Both walk rows of all modules: an export reads them page by page as one tenant, and an
// erasure deletes them table by table from the catalogue. It changes no row otherwise.
package account

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the module. The app provides Config and answers Needs.
var Module = fx.Module("account", fx.Provide(
	New,
	NewPage,
	fx.Annotate(func(s *Service) api.Operations { return s.Mount }, fx.ResultTags(`group:"operations"`)),
	fx.Annotate(Workers, fx.ResultTags(`group:"workers,flatten"`)),
))
