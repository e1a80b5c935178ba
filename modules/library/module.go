// Package library stores the videos that scrolls gathered, and what follows from
// them: hooks, outliers and trends.
//
// What a creator wrote is stored byte for byte and returned as data. It is never
// used as an address to fetch, a template, a query or an instruction. Annotations
// and archive flags belong to the caller: no scroll changes them.
//
// A Video's JSON is rendered when it changes and never when it is read: lists
// join ready text, a few ranges of one index each, whatever the size of the library.
package library

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the library. The app provides Config and answers Workspace and Scrolls.
var Module = fx.Module("library", fx.Provide(
	New,
	fx.Annotate(func(s *Service) api.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
	fx.Annotate((*Service).Workers, fx.ResultTags(`group:"workers,flatten"`)),
	fx.Annotate((*Service).Periodics, fx.ResultTags(`group:"periodics,flatten"`)),
))
