// Package operator does the work of the operator's commands: it makes and revokes
// keys, shows accounts, scrolls, verdicts and quotas, grants credits, imports files
// and backs the data up.
//
// No protocol of customers reaches it; the page of the operator shows and changes accounts.
// Its contexts see every tenant, or act for the account of an address; changes are audited as
// those of the system user who runs the command, or of the page.
package operator

import "go.uber.org/fx"

// Module provides the service. The app provides Config and answers Needs.
var Module = fx.Module("operator", fx.Provide(New))
