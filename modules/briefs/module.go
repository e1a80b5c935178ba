// Package briefs drafts short creative briefs from a library's outliers, hooks and
// trends. Every sentence cites the videos and trends that it rests on; a sentence that
// cites nothing, or anything else, is left out.
//
// The built-in composer counts, takes medians and quotes. A stage of the kind brief, such
// as the built-in one that asks a chat endpoint, writes the sentences where one is set up;
// what it writes is not trusted. A brief is not stored.
package briefs

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides briefs. The app provides Config and Needs.
var Module = fx.Module("briefs", fx.Provide(
	New,
	fx.Annotate(func(s *Service) api.Operations { return s.Mount }, fx.ResultTags(`group:"operations"`)),
))
