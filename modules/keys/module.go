// Package keys keeps accounts, their API keys and the one-time codes that
// replace a lost key.
//
// A key is shown once and stored as a hash. A session key is a short-lived key
// with some of the scopes of a lasting one, and ends with it. The module never
// reports whether an address has an account: not by its answers, not by their
// time. Admission itself, which checks each call's key, is the app's; its rule
// is [State.Check].
package keys

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the module. The app provides Config and answers Mailer and
// Subscriptions.
var Module = fx.Module("keys", fx.Provide(
	New,
	NewRecoveryPage,
	fx.Annotate(func(s *Service) api.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
	fx.Annotate(Worker, fx.ResultTags(`group:"workers"`)),
	fx.Annotate(SignInWorker, fx.ResultTags(`group:"workers"`)),
	fx.Annotate(Sweeper, fx.ResultTags(`group:"periodics"`)),
))
