package host

import (
	"context"
	"sync"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Accounts keeps what accounts set for sources by themselves.
type Accounts interface {
	// Owned returns what the tenant of the context set, by source; empty for a context
	// without one.
	Owned(ctx context.Context) (map[string]*Own, error)
}

// Own is what an account set for a source. A call with it gets none of the operator's
// secrets, spends what the site grants the account, shares a process or a page with no
// other call, and waits only for calls of the account.
type Own struct {
	// Ledger names the account's allowances of the source among those of plugins.
	Ledger string
	// Settings are of those that the spec lets accounts set. The others are the operator's.
	Settings, Secrets map[string]string
	// Fault is why the secrets cannot be used; nil if they can.
	Fault error
	// Keep stores a secret that the source renewed. It is durable when Keep returns.
	Keep func(ctx context.Context, name, value string) error
}

// Owned is [Accounts.Owned] of the configuration.
func (h *Host) Owned(ctx context.Context) (map[string]*Own, error) { return h.grants.owned(ctx) }

func (gs *grants) owned(ctx context.Context) (map[string]*Own, error) {
	if gs.config.Accounts == nil {
		return nil, nil
	}
	return gs.config.Accounts.Owned(ctx)
}

// own is what the tenant of a call set for the stage; nil for the operator's.
func (gs *grants) own(ctx context.Context, e *entry) (*Own, error) {
	if e.spec.Kind != stage.SourceKind || len(e.spec.Secrets) == 0 {
		return nil, nil
	}
	owned, err := gs.owned(ctx)
	return owned[e.id], err
}

// values are what the settings of a stage are set to, the last one first: by the operator,
// or those of an account by the account.
func (o *Own) values(setting stage.Setting, operator []map[string]string, template map[string]string) []map[string]string {
	switch {
	case o == nil || !setting.Own:
		return operator
	case setting.Required:
		return []map[string]string{o.Settings}
	}
	return []map[string]string{template, o.Settings}
}

// Load and Save make the secrets of an account tokens that a call may renew.
func (o *Own) Load(_ context.Context, _, _, first string) (string, error) { return first, nil }

// Save stores a renewed secret with the account's own.
func (o *Own) Save(ctx context.Context, _, name, _, value string) error {
	return o.Keep(ctx, name, value)
}

// ownTurns are the places of calls with accounts' own secrets: what one account's key waits
// for keeps no other account from the site.
type ownTurns struct {
	mu      sync.Mutex
	ledgers map[string]*ownPlaces
}

type ownPlaces struct {
	slots
	users int
}

// enter waits for a place among the calls of the account.
func (o *ownTurns) enter(ctx context.Context, ledger string, calls int) (leave func(), err error) {
	o.mu.Lock()
	if o.ledgers == nil {
		o.ledgers = map[string]*ownPlaces{}
	}
	places := o.ledgers[ledger]
	if places == nil {
		places = &ownPlaces{}
		o.ledgers[ledger] = places
	}
	places.users++
	o.mu.Unlock()
	gone := func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if places.users--; places.users == 0 {
			delete(o.ledgers, ledger)
		}
	}
	left, err := places.slots.enter(ctx, calls)
	if err != nil {
		gone()
		return nil, err
	}
	return func() {
		left()
		gone()
	}, nil
}
