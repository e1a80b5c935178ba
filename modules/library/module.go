// Package library keeps the videos that scrolls gathered, and what is seen in
// them: hooks, outliers and trends.
//
// What a creator wrote is kept byte for byte and handed out as data. Nothing of
// it is ever used as an address to fetch, a template, a query or an instruction.
// What the caller owns, annotations and what is archived, is written by the
// caller alone.
//
// A Video's JSON is rendered when it changes and never when it is read: lists
// join ready text, one range of one index each, whatever the size of the library.
package library

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the room. The app provides Config and answers Workspace and Scrolls.
var Module = fx.Module("library", fx.Provide(
	New,
	fx.Annotate(func(s *Service) api.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
))
