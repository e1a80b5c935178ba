// Package billing sells subscriptions and credits: it keeps the plans, the
// checkouts and what each account has subscribed to.
//
// A checkout is opened with a provider, which takes the payment: Stripe, or the
// test checkout that comes with the service. What a provider sends unasked is
// only a reason to ask it. A paid one is claimed with
// its token, and the claim opens account, key and subscription in one
// transaction. The module never sees a card, and never keeps a claim token: only
// its hash. Credits, the older way to pay, it sells and has kept by another module.
package billing

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the module. The app provides Config and answers Keys, Credits and
// Provider.
var Module = fx.Module("billing", fx.Provide(
	NewSubscriptions,
	NewTestCheckout,
	New,
	NewWebhook,
	fx.Annotate(func(s *Service) api.Operations { return s.Operations }, fx.ResultTags(`group:"operations"`)),
	fx.Annotate(Sweeper, fx.ResultTags(`group:"periodics"`)),
	fx.Annotate(Reconciler, fx.ResultTags(`group:"periodics"`)),
	fx.Annotate(Ender, fx.ResultTags(`group:"workers"`)),
))
