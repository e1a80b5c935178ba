package console

import "go.uber.org/fx"

// Module provides the module. The app provides the files.
var Module = fx.Module("console", fx.Provide(NewCodes, New))
