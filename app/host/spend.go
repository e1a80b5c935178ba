package host

import (
	"context"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Quotas keeps what sites allow the operator as a whole.
type Quotas interface {
	// Spend grants units of a plugin's allowance to the tenant of the context, or
	// says when to ask again; a zero time says never. The allowance's limit is the one
	// that counts. With an item, units that were granted for it within the window
	// are granted again for nothing.
	Spend(ctx context.Context, plugin string, allowance stage.Allowance, units int64, item string) (granted bool, retryAt time.Time, err error)
	// GiveBack returns units that were granted to the tenant of the context at or after a
	// time, if their window has not ended since.
	GiveBack(ctx context.Context, plugin string, allowance stage.Allowance, units int64, since time.Time) error
}

// maxItem bounds the name of what a quota is spent on, in bytes.
const maxItem = 500

// allowance is a quota that the spec declares, with the limit that counts: the
// operator's where a positive number is set, else the spec's.
func allowance(spec stage.Spec, settings map[string]string, name string) (stage.Allowance, bool) {
	for _, a := range spec.Quotas {
		if a.Name != name {
			continue
		}
		parse := func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }
		if a.Money {
			parse = stage.ParseMoney
		}
		if own, err := parse(settings[a.Setting]); a.Setting != "" && err == nil && own > 0 {
			a.Limit = own
		}
		return a, true
	}
	return stage.Allowance{}, false
}

// spender answers what one call asks of its quotas.
type spender struct {
	plugin   string // in the ledger
	spec     stage.Spec
	settings map[string]string
	quotas   Quotas // nil grants everything
	// granted are the units of money, by quota, that the call may give back, and since when.
	granted map[string]int64
	since   time.Time
}

// asked answers what a stage asks for.
func (s *spender) asked(ctx context.Context, m *stagev1.Spend) (*stagev1.Grant, error) {
	if a, _ := allowance(s.spec, s.settings, m.GetQuota()); a.Money && s.spec.Price != (stage.Price{}) {
		return nil, protocol("asks for money, which the host counts by its price")
	}
	return s.spend(ctx, m)
}

func (s *spender) spend(ctx context.Context, m *stagev1.Spend) (*stagev1.Grant, error) {
	a, ok := allowance(s.spec, s.settings, m.GetQuota())
	switch {
	case !ok:
		return nil, protocol("asked for a quota %.40q that it does not declare", m.GetQuota())
	case m.GetUnits() < 1:
		return nil, protocol("asked for %d units of a quota", m.GetUnits())
	case len(m.GetItem()) > maxItem:
		return nil, protocol("spends a quota on an item of more than %d bytes", maxItem)
	case m.GetBack() && (!a.Money || m.GetUnits() > s.granted[a.Name]):
		return nil, protocol("gives back %d units of a quota that it was not granted", m.GetUnits())
	case s.quotas == nil && !a.Money:
		return &stagev1.Grant{Granted: true}, nil
	case m.GetBack():
		return s.giveBack(ctx, a, m.GetUnits())
	}
	if s.quotas == nil {
		s.note(a, m.GetUnits())
		return &stagev1.Grant{Granted: true}, nil
	}
	if s.since.IsZero() {
		s.since = time.Now()
	}
	granted, retryAt, err := s.quotas.Spend(ctx, s.plugin, a, m.GetUnits(), m.GetItem())
	if err != nil {
		return nil, &callerError{err}
	}
	if granted {
		s.note(a, m.GetUnits())
	}
	grant := &stagev1.Grant{Granted: granted}
	if !granted && !retryAt.IsZero() {
		grant.RetryAt = retryAt.UnixMilli()
	}
	return grant, nil
}

// note remembers money that was granted.
func (s *spender) note(a stage.Allowance, units int64) {
	if !a.Money {
		return
	}
	if s.granted == nil {
		s.granted = map[string]int64{}
	}
	s.granted[a.Name] += units
}

func (s *spender) giveBack(ctx context.Context, a stage.Allowance, units int64) (*stagev1.Grant, error) {
	s.granted[a.Name] -= units
	if s.quotas != nil {
		if err := s.quotas.GiveBack(ctx, s.plugin, a, units, s.since); err != nil {
			return nil, &callerError{err}
		}
	}
	return &stagev1.Grant{Granted: true}, nil
}

// Quota is an allowance of a plugin, with the limit that counts.
type Quota struct {
	// Plugin names it in the ledger: the plugin's id, or that of an account's own.
	Plugin string
	stage.Allowance
}

// Quotas shows the operator's allowances of all plugins that can be described, in the order
// of List.
func (h *Host) Quotas() (all []Quota) {
	for _, p := range h.List() {
		all = append(all, h.QuotasOf(p.ID, nil)...)
	}
	return all
}

// QuotasOf shows the allowances of one plugin for an account that set own for it; nil is
// for the operator.
func (h *Host) QuotasOf(id string, own *Own) (all []Quota) {
	e := h.plugins.entry(id)
	if e == nil {
		return nil
	}
	e.mu.Lock()
	spec := e.spec
	e.mu.Unlock()
	given, _ := h.grants.give(e, spec, stage.Run{}, own) // what is set, though something else may be missing
	for _, q := range spec.Quotas {
		if a, ok := allowance(spec, given.settings, q.Name); ok {
			all = append(all, Quota{own.ledger(id), a})
		}
	}
	return all
}

// ledger is the name of a plugin's allowances in the ledger.
func (o *Own) ledger(plugin string) string {
	if o == nil {
		return plugin
	}
	return o.Ledger
}
