package console

import "go.uber.org/fx"

// Module provides the module.
var Module = fx.Module("console", fx.Provide(Built, NewCodes, New))
