// Package viewer says who is asking.
//
// A context carries at most one viewer. Everything that reads or writes tenant
// data takes the tenant from there and from nowhere else, so a query without a
// viewer fails instead of seeing everything.
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
	// Session tells a session key from a lasting one.
	Session bool
	// Plan is `standard` or `pro`, empty without a subscription.
	Plan string
	// Interval is `monthly` or `annual`, empty without a subscription.
	Interval string
	// Status is `active`, `none`, `cancelled` or `past_due`.
	Status string
	// system lifts the tenant rule.
	system bool
}

// Active tells whether the subscription is paid.
func (v *Viewer) Active() bool { return v.Status == "active" }

// Has tells whether the viewer's key holds the scope.
func (v *Viewer) Has(scope string) bool { return slices.Contains(v.Scopes, scope) }

// AllScopes returns every scope there is, in the order in which they are shown.
func AllScopes() []string {
	return strings.Fields("workspace:read workspace:write rules:read rules:write scrolls:read scrolls:write " +
		"library:read library:write usage:read keys:write sandbox:write agent:run billing:write")
}

type contextKey struct{}

// NewContext returns a context in which v is asking.
func NewContext(ctx context.Context, v *Viewer) context.Context {
	return context.WithValue(ctx, contextKey{}, v)
}

// FromContext returns the viewer, or nil where nobody is known.
func FromContext(ctx context.Context) *Viewer {
	v, _ := ctx.Value(contextKey{}).(*Viewer)
	return v
}

type knownKey struct{}

// WithKnown returns a context of a public call that came with a valid key: v is
// known, and has no more rights than anybody.
func WithKnown(ctx context.Context, v *Viewer) context.Context {
	return context.WithValue(ctx, knownKey{}, v)
}

// Known returns who is asking, or who is known to make a public call, or nil.
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

// System returns a context that sees every tenant. Only what belongs to no
// tenant may use it: admission, the queue, the operator's commands.
func System(ctx context.Context) context.Context {
	return NewContext(ctx, &Viewer{system: true})
}

// Tenant returns the account whose rows the context may touch. all is true for
// the system; ok is false where neither is known.
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
