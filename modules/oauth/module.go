// Package oauth lets a person connect a program at /mcp without handing it a key: OAuth 2.1
// with PKCE and Client ID Metadata Documents. The person signs in by a mailed code.
//
// The access token is a session key of the module keys, so that admission, lists and
// revocation know no second kind of secret. There are no refresh tokens, no registration
// of clients, no cookies and no scripts. The module never reports whether an address has
// an account, trusts nothing that a client says of itself, and stores every secret as a
// hash. docs/oauth.md has the design.
package oauth

import (
	"go.uber.org/fx"
)

// Module provides the module. The app provides Config and Needs.
var Module = fx.Module("oauth", fx.Provide(
	New,
	fx.Annotate(Sweeper, fx.ResultTags(`group:"periodics"`)),
))
