package host

import (
	"maps"
	"slices"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Late is a source that a file describes: it may come, change and go while the host runs.
type Late struct {
	// Spec is what the source may do. Its functions are not called here: the compiled
	// stage Serves answers its calls, in a process of its own.
	Spec   stage.Spec
	Serves string
	// Given are settings of each call that no one sets. Settings and Secrets are those of files;
	// the configuration goes before them.
	Given, Settings, Secrets map[string]string
	// Unset says how the operator sets a secret that is missing; empty for one that has a variable.
	Unset string
	// Version differs where anything of the source does.
	Version string
	// Err is what is wrong with the file. A source that was sound before stays as it was.
	Err error
}

// lateEvery is how often the late sources are read again.
const lateEvery = 3 * time.Second

// readLate brings the late sources up to date. Calls that run go on as they began.
func (p *plugins) readLate() {
	if p.config.Late == nil {
		return
	}
	all := p.config.Late()
	p.known.Lock()
	defer p.known.Unlock()
	var strays []Plugin
	kept := map[string]bool{}
	for i := range all {
		next := &all[i]
		id := next.Spec.ID
		old := p.entries[id]
		switch {
		case kept[id]:
			strays = append(strays, Plugin{ID: id, Kind: stage.SourceKind, State: Refused, Reason: "the id is taken by another recipe"})
		case old != nil && old.late == nil:
			strays = append(strays, Plugin{ID: id, Kind: stage.SourceKind, State: Refused, Reason: "the id is taken by another plugin"})
		case next.Err != nil && old == nil:
			strays = append(strays, Plugin{ID: id, Kind: stage.SourceKind, State: Refused, Reason: Printable(next.Err.Error())})
		case next.Err != nil:
			kept[id] = true
			old.complain("its file has a fault since: " + Printable(next.Err.Error()))
		case old != nil && old.late.Version == next.Version:
			kept[id] = true
			old.complain("")
		default:
			kept[id] = true
			p.place(&entry{id: id, builtin: true, spec: next.Spec, described: true, enabled: true, late: next})
		}
	}
	for _, id := range slices.Clone(p.order) {
		if e := p.entries[id]; e.late != nil && !kept[id] {
			delete(p.entries, id)
			p.order = slices.DeleteFunc(p.order, func(other string) bool { return other == id })
		}
	}
	if len(strays) > 0 && !slices.EqualFunc(strays, p.lateStrays, func(a, b Plugin) bool { return a.ID == b.ID && a.Reason == b.Reason }) {
		for _, stray := range strays {
			p.log.Warn("recipe refused", "recipe", stray.ID, "reason", stray.Reason)
		}
	}
	p.lateStrays = strays
}

// complain notes what is wrong with the file of a late source that still works.
func (e *entry) complain(fault string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fault = fault
}

// watchLate reads the late sources again until the host ends.
func (h *Host) watchLate() {
	if h.config.Late == nil {
		return
	}
	h.learning.Go(func() {
		for {
			select {
			case <-h.ends.Done():
				return
			case <-time.After(lateEvery):
				h.plugins.readLate()
			}
		}
	})
}

// Group are the sources that a name in a template stands for: the late ones, or the name itself.
func (h *Host) Group(name string) []string {
	if h.config.Late == nil || name != h.config.LateGroup {
		return []string{name}
	}
	h.plugins.known.RLock()
	defer h.plugins.known.RUnlock()
	var ids []string
	for _, id := range h.plugins.order {
		if h.plugins.entries[id].late != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// serves is the compiled stage that answers the calls of the entry.
func (e *entry) serves() string {
	if e.late != nil {
		return e.late.Serves
	}
	return e.id
}

// handOver adds to what a call gets what no one sets.
func (e *entry) handOver(g *given) {
	if e.late != nil {
		maps.Copy(g.settings, e.late.Given)
	}
}

// settings are those of the operator, the last one in force: of files, of the configuration, of a
// manifest and of the template.
func (gs *grants) settings(e *entry, run stage.Run) []map[string]string {
	all := []map[string]string{gs.set.Load().settings[e.id], e.manifest.Settings, run.Settings[e.id]}
	if e.late != nil {
		return append([]map[string]string{e.late.Settings}, all...)
	}
	return all
}

// secrets are those that the operator set for an entry.
func (gs *grants) secrets(e *entry) map[string]string {
	set := gs.set.Load().secrets[e.id]
	if e.late == nil {
		return set
	}
	all := maps.Clone(e.late.Secrets)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, set)
	return all
}
