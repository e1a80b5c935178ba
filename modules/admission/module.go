// Package admission says who makes a call: it leads from a key to its account, subscription,
// scopes and what is left of its budget.
//
// What a key stands for is kept in memory for at most a second. A change that this process
// makes is seen by the next call, one of another process within a second. What is spent and
// the revision of the library are read at every call. Admission changes nothing: keys,
// subscriptions and usage belong to their modules.
package admission

import (
	"go.uber.org/fx"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

// Module provides the module. The app answers its needs.
var Module = fx.Module("admission", fx.Provide(
	New,
	func(s *Service) api.Admitter { return s },
))
