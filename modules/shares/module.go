// Package shares makes frozen read-only pages of findings, videos, collections and briefs, for
// people without a key.
//
// What a page shows is copied when the share is made, and nothing else of the account is: no
// id, no address, no note. A part of it goes with the first deleted video that it rests on. A
// share ends by its date or by hand, and is deleted then. An unknown address and that of an
// ended share have the same answer. Addresses are stored as hashes.
package shares

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides shares. The app provides Config and answers Needs.
var Module = fx.Module("shares", fx.Provide(
	NewParts,
	New,
	NewPage,
	fx.Annotate(func(s *Service) api.Operations { return s.Mount }, fx.ResultTags(`group:"operations"`)),
	fx.Annotate((*Service).Periodic, fx.ResultTags(`group:"periodics"`)),
))
