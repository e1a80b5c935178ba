package site

import "go.uber.org/fx"

// Module provides the module. The app provides the pages.
var Module = fx.Module("site", fx.Provide(New))
