// Package viewer holds who makes a call.
//
// A context carries at most one viewer. Everything that reads or writes a tenant's
// data takes the tenant from there alone, so a query without a viewer fails and
// never returns the rows of all.
package viewer

import (
	"context"
	"slices"
	"strings"
)

// Viewer is the caller behind a context.
type Viewer struct {
	// AccountID is the tenant; 0 for a caller without a key.
	AccountID int64
	// KeyID is the key that the call was made with; 0 for jobs and commands.
	KeyID int64
	// Scopes are what the key may do, in the order of AllScopes.
	Scopes []string
	// Session is true for a session key, false for a lasting one.
	Session bool
	// Plan is `standard` or `pro`, empty without a subscription.
	Plan string
	// Interval is `monthly` or `annual`, empty without a subscription.
	Interval string
	// Limits are what the operator set for the account instead of its plan's, as billing reads them.
	Limits string
	// Status is `active`, `none`, `cancelled` or `past_due`.
	Status string
	// AtAdmission is what was read when the call was admitted; nil for
	// jobs and commands, and for work that goes on after its call.
	AtAdmission *AtAdmission
	// system lifts the tenant rule.
	system bool
}

// AtAdmission is the state of a tenant's data when a call was admitted. A list that is shown
// as of then is current, or at most a second behind another process where the workspace is
// concerned. What decides on a write reads for itself, within its transaction.
type AtAdmission struct {
	// Workspace is false if none is set.
	Workspace bool
	// Subject is the canonical id of the workspace's subject, or empty.
	Subject string
	// LibraryRevision is 0 before the library's first video.
	LibraryRevision int64
}

// Active reports whether the subscription is paid.
func (v *Viewer) Active() bool { return v.Status == "active" }

// Has reports whether the viewer's key holds the scope.
func (v *Viewer) Has(scope string) bool { return slices.Contains(v.Scopes, scope) }

// AllScopes returns every scope there is, in the order in which they are shown.
func AllScopes() []string {
	return strings.Fields("workspace:read workspace:write rules:read rules:write scrolls:read scrolls:write " +
		"library:read library:write shares:read shares:write usage:read keys:read keys:write webhooks:read webhooks:write sources:read sources:write " +
		"account:read account:write account:export sandbox:write agent:run billing:write")
}

type contextKey struct{}

// NewContext returns a context of the viewer v.
func NewContext(ctx context.Context, v *Viewer) context.Context {
	return context.WithValue(ctx, contextKey{}, v)
}

// FromContext returns the viewer, or nil if none is known.
func FromContext(ctx context.Context) *Viewer {
	v, _ := ctx.Value(contextKey{}).(*Viewer)
	return v
}

type knownKey struct{}

// WithKnown returns a context of a public call that came with a valid key: v is
// known, and has no more rights than a caller without a key.
func WithKnown(ctx context.Context, v *Viewer) context.Context {
	return context.WithValue(ctx, knownKey{}, v)
}

// Known returns the viewer, or the one that is known to make a public call, or nil.
func Known(ctx context.Context) *Viewer {
	if v := FromContext(ctx); v != nil {
		return v
	}
	v, _ := ctx.Value(knownKey{}).(*Viewer)
	return v
}

// As returns a context for work that the service does on a tenant's behalf.
func As(ctx context.Context, accountID int64) context.Context {
	return NewContext(ctx, &Viewer{AccountID: accountID})
}

type byIDsKey struct{}

// ByIDs returns a context for statements that name their rows by id. Without statistics SQLite
// expects few rows of a tenant, and would read all of them to find those with some ids; so the
// tenant's rule, which still holds, is written as one that no index serves.
func ByIDs(ctx context.Context) context.Context { return context.WithValue(ctx, byIDsKey{}, true) }

// IsByIDs reports whether the context is for statements that name their rows by id.
func IsByIDs(ctx context.Context) bool { return ctx.Value(byIDsKey{}) != nil }

// System returns a context that sees every tenant. Only what belongs to no
// tenant may use it: admission, the queue, the operator's commands.
func System(ctx context.Context) context.Context {
	return NewContext(ctx, &Viewer{system: true})
}

// Tenant returns the account whose rows the context may touch. all is true for
// the system; ok is false if neither is known.
func Tenant(ctx context.Context) (accountID int64, all, ok bool) {
	v := FromContext(ctx)
	switch {
	case v == nil:
		return 0, false, false
	case v.system:
		return 0, true, true
	default:
		return v.AccountID, false, v.AccountID != 0
	}
}
