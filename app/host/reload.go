package host

import (
	"log/slog"
	"reflect"
	"slices"
)

// Reload takes the settings and secrets of a configuration, and the external plugins of the
// manifests as they are now, and returns the ids of the plugins that came, changed or went.
// Calls that run end with what they began with. It changes nothing if it fails: because the
// folder cannot be read, or for what Usable reports. What else the configuration has is left as
// it was when the host was made.
func (h *Host) Reload(config Config, templates []Template) (changed []string, err error) {
	next := *h.config
	next.Settings, next.Secrets = config.Settings, config.Secrets
	found, err := find(&next, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	values := newGrants(&next)
	if err := (&Host{config: &next, grants: values, plugins: found}).Usable(templates); err != nil {
		return nil, err
	}
	changed = h.plugins.follow(found)
	h.grants.set.Store(values.set.Load())
	if len(changed) > 0 {
		h.learning.Go(h.askUntilKnown)
	}
	return changed, nil
}

// follow has the external plugins that were found. One whose manifest and binary are as they
// were stays, with what is known of it.
func (p *plugins) follow(found *plugins) (changed []string) {
	p.known.Lock()
	defer p.known.Unlock()
	external := func(e *entry) bool { return e != nil && !e.builtin && e.late == nil }
	for _, id := range found.order {
		next, old := found.entries[id], p.entries[id]
		if !external(next) || external(old) && old.as(next) {
			continue
		}
		p.place(next)
		changed = append(changed, id)
	}
	for _, id := range slices.Clone(p.order) {
		if external(p.entries[id]) && !external(found.entries[id]) {
			delete(p.entries, id)
			p.order = slices.DeleteFunc(p.order, func(other string) bool { return other == id })
			changed = append(changed, id)
		}
	}
	p.strays = found.strays
	return changed
}

// as reports whether a manifest that was read again says what it said, of a binary that may be
// started as before.
func (e *entry) as(next *entry) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refused == next.refused && e.path == next.path && reflect.DeepEqual(e.manifest, next.manifest)
}
