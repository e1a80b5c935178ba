// Package collections keeps named, ordered collections of videos: at most 200 of 500 videos
// an account.
//
// A video is in a collection until it is taken out, or deleted from the library; whether it is
// archived does not matter. A place is a number with room on both sides, so that a move writes
// one row. The rows of all collections of an account change one transaction at a time, after
// those of the library: see [Members].
package collections

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides collections. The app provides Library.
var Module = fx.Module("collections", fx.Provide(
	NewMembers,
	New,
	fx.Annotate(func(s *Service) api.Operations { return s.Mount }, fx.ResultTags(`group:"operations"`)),
))
