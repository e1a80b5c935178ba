package host

import (
	"context"
	"slices"

	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Tokens keeps the secrets that stages renew, such as OAuth refresh tokens, sealed.
type Tokens interface {
	// Load returns the newest value that Save stored for a plugin's secret while the
	// operator's own value was first; first if there is none.
	Load(ctx context.Context, plugin, name, first string) (string, error)
	// Save stores a value for Load. It is durable when Save returns.
	Save(ctx context.Context, plugin, name, first, value string) error
}

// maxToken bounds a token, in bytes.
const maxToken = 16 << 10

// tokens are the secrets that a call may renew, and the operator's values of them.
type tokens struct {
	plugin string
	first  map[string]string // by name
	store  Tokens            // nil keeps nothing
	output *output
}

// renewed replaces the operator's values by the newest ones, and returns what the call may
// renew: the tokens of the spec that are set and granted.
func (gs *grants) renewed(ctx context.Context, e *entry, g given, own *Own) (tokens, error) {
	t := tokens{plugin: e.id, first: map[string]string{}, store: gs.config.Tokens}
	if own != nil {
		t.store = own
	}
	for name, first := range g.secrets {
		if !slices.Contains(e.spec.Tokens, name) {
			continue
		}
		t.first[name] = first
		if t.store == nil {
			continue
		}
		value, err := t.store.Load(ctx, e.id, name, first)
		if err != nil {
			return t, &callerError{err}
		}
		g.secrets[name] = value
	}
	return t, nil
}

// keep stores what the stage sent. From then on the value is left out of the log.
func (t *tokens) keep(ctx context.Context, m *stagev1.Token) (*stagev1.Grant, error) {
	first, ok := t.first[m.GetName()]
	switch {
	case !ok:
		return nil, protocol("renewed a token %.40q that it does not declare or was not given", m.GetName())
	case m.GetValue() == "" || len(m.GetValue()) > maxToken:
		return nil, protocol("renewed a token by %d bytes, want 1 to %d", len(m.GetValue()), maxToken)
	}
	t.output.hide(m.GetName(), m.GetValue())
	if t.store != nil {
		if err := t.store.Save(ctx, t.plugin, m.GetName(), first, m.GetValue()); err != nil {
			return nil, &callerError{err}
		}
	}
	return &stagev1.Grant{Granted: true}, nil
}
