package host

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// State says whether a plugin can be called.
type State string

// The states.
const (
	// Ready can be called.
	Ready State = "ready"
	// Disabled is switched off in its manifest.
	Disabled State = "disabled"
	// Refused is not started: its binary is not the pinned one, or it is no stage.
	Refused State = "refused"
	// Unset lacks a setting that it cannot do without.
	Unset State = "unset"
	// Resting crashed too often in a row and is left alone for a while.
	Resting State = "resting"
	// Unknown has not described itself yet.
	Unknown State = "unknown"
)

// Plugin describes a plugin to people.
type Plugin struct {
	ID        string
	Kind      stage.Kind
	Version   string
	Summary   string
	Platforms []string
	// Refreshes reports whether a source can read known videos again.
	Refreshes bool
	// FetchesMedia reports whether a source can fetch videos themselves, NeedsMedia
	// whether an evidence stage looks at them.
	FetchesMedia, NeedsMedia bool
	// Checks reports whether [Host.Check] can ask it if settings and connection work.
	Checks bool
	// AfterEvidence: a screen that runs after the evidence stages.
	AfterEvidence bool
	// Requests are the requests that a seed of a source usually takes.
	Requests stage.Cost
	// After and Fallback order a source behind others.
	After    []string
	Fallback bool
	// Docs is the address of the page on what it asks, in its author's words; empty for none.
	Docs string
	// MostRecords is the most that a call of it may emit: what the plugin asks for itself if
	// OwnBound, and else what the host grants.
	MostRecords int
	OwnBound    bool
	// Online reports whether it talks to any host.
	Online  bool
	Builtin bool
	State   State
	// Reason is why it is not ready.
	Reason string
	// Until is when a plugin that rests can be called again; zero for others.
	Until time.Time
}

// sideBySide is how many plugins are started side by side to learn what they are.
const sideBySide = 4

// List shows all plugins, built-ins first, then by id. The first call starts each
// external one for its description; a slow one does not delay the others.
func (h *Host) List() []Plugin { return h.list(context.Background()) }

func (h *Host) list(ctx context.Context) []Plugin {
	ids := h.plugins.ids()
	plugins := make([]Plugin, len(ids))
	places := make(chan struct{}, sideBySide)
	var all sync.WaitGroup
	for n, id := range ids {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			if e := h.plugins.entry(id); e != nil {
				plugins[n] = h.find(ctx, e, nil)
			}
		})
	}
	all.Wait()
	plugins = slices.DeleteFunc(plugins, func(p Plugin) bool { return p.ID == "" }) // it is gone since
	return append(plugins, h.plugins.unreadable()...)
}

// Known is List without waiting for anything: it starts no plugin, and one
// that was not asked yet is Unknown. See Learn.
func (h *Host) Known() []Plugin {
	var plugins []Plugin
	for _, id := range h.plugins.ids() {
		e := h.plugins.entry(id)
		if e == nil {
			continue
		}
		settled, err := e.known(time.Now())
		p := h.plugin(e, err, nil)
		if !settled && err == nil {
			p.State = Unknown
		}
		plugins = append(plugins, p)
	}
	return append(plugins, h.plugins.unreadable()...)
}

// Learn asks the plugins in the background to describe themselves, and those that failed
// again after the cool-down. It also follows the files of late sources. It ends with the host.
func (h *Host) Learn() {
	h.watchLate()
	h.learning.Go(func() {
		if missing := h.Processes.confiner.Missing(); missing != nil && h.config.Box != NoBox {
			h.log.Error("this system has no box for plugins; external ones are refused, and built-in ones less confined", "missing", missing)
		} else if why := h.Processes.Ungrouped(); missing == nil && why != nil {
			h.log.Info("no cgroup bounds the calls of plugins; the server counts what they use", "reason", why)
		}
		h.askUntilKnown()
	})
}

func (h *Host) askUntilKnown() {
	for {
		h.list(h.ends)
		if !h.wonders() {
			return
		}
		select {
		case <-h.ends.Done():
			return
		case <-time.After(h.config.CoolDown):
		}
	}
}

// wonders reports whether any plugin has yet to describe itself.
func (h *Host) wonders() bool {
	return slices.ContainsFunc(h.plugins.ids(), func(id string) bool {
		e := h.plugins.entry(id)
		if e == nil {
			return false
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.enabled && e.refused == "" && !e.described
	})
}

// has reports whether a plugin of that id is installed, in any state.
func (p *plugins) has(id string) bool { return p.entry(id) != nil }

// builtin is the spec of a stage that is compiled in; nil for any other id.
func (p *plugins) builtin(id string) *stage.Spec {
	if e := p.entry(id); e != nil && e.builtin {
		return &e.spec
	}
	return nil
}

// Spec is what a plugin says of itself, without functions, and the names of the settings
// and secrets that it is given. It is empty for a plugin that did not describe itself.
func (h *Host) Spec(id string) (spec stage.Spec, set []string) {
	e := h.plugins.entry(id)
	if e == nil {
		return stage.Spec{}, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	given, _ := h.grants.give(e, e.spec, stage.Run{}, nil)
	return e.spec, slices.Concat(slices.Sorted(maps.Keys(given.settings)), slices.Sorted(maps.Keys(given.secrets)))
}

// Value is a setting or a secret of a plugin and what it is set to.
type Value struct {
	Plugin string
	stage.Setting
	// Text is the value in force, a default too; empty for a secret, of which Set says whether
	// there is one.
	Text        string
	Secret, Set bool
	// Variable is the environment variable that sets it; empty for one without.
	Variable string
}

// Values are the settings and secrets of the plugins that described themselves, for those that
// operators set.
func (h *Host) Values() (all []Value) {
	for _, id := range h.plugins.ids() {
		e := h.plugins.entry(id)
		if e == nil {
			continue
		}
		e.mu.Lock()
		spec := e.spec
		e.mu.Unlock()
		given, _ := h.grants.give(e, spec, stage.Run{}, nil)
		variables := h.config.Variables[id]
		for _, s := range spec.Settings {
			all = append(all, Value{Plugin: id, Setting: s, Text: given.settings[s.Name], Variable: variables[s.Name]})
		}
		for _, name := range spec.Secrets {
			all = append(all, Value{Plugin: id, Setting: stage.Setting{Name: name, Required: slices.Contains(spec.RequiredSecrets, name)}, Secret: true, Set: given.secrets[name] != "", Variable: variables[name]})
		}
	}
	return all
}

// Find shows one plugin; ok is false for an unknown id.
func (h *Host) Find(id string) (plugin Plugin, ok bool) { return h.FindOwn(id, nil) }

// FindOwn shows one plugin to an account that set own for it; nil is Find.
func (h *Host) FindOwn(id string, own *Own) (plugin Plugin, ok bool) {
	e := h.plugins.entry(id)
	if e == nil {
		return Plugin{}, false
	}
	return h.find(context.Background(), e, own), true
}

// find asks one plugin, within a time of its own.
func (h *Host) find(ctx context.Context, e *entry, own *Own) Plugin {
	ctx, cancel := context.WithTimeout(ctx, 2*h.config.Start)
	defer cancel()
	return h.plugin(e, h.ready(ctx, e), own)
}

// plugin shows what is known; err is why it cannot be called.
func (h *Host) plugin(e *entry, err error, own *Own) Plugin {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := Plugin{
		ID: e.id, Kind: e.spec.Kind, Version: e.spec.Version, Summary: e.spec.Summary,
		Platforms: slices.Clone(e.spec.Platforms), Builtin: e.builtin, State: Ready,
		Refreshes: e.refreshes || e.spec.Refresh != nil, FetchesMedia: e.fetches || e.spec.Media != nil,
		Checks:     e.checks || e.spec.Check != nil,
		NeedsMedia: e.spec.NeedsMedia, AfterEvidence: e.spec.AfterEvidence, Requests: e.spec.Requests, Docs: e.spec.Docs, After: e.spec.After, Fallback: e.spec.Fallback,
	}
	p.MostRecords = int(least(int64(e.spec.Limits.Records), int64(h.config.Records)))
	p.OwnBound = p.MostRecords < h.config.Records
	given, unset := h.grants.give(e, e.spec, stage.Run{}, own)
	p.Online = len(e.spec.Hosts) > 0 || slices.ContainsFunc(e.spec.Settings, func(s stage.Setting) bool {
		return s.Endpoint && given.settings[s.Name] != ""
	})
	switch until := e.breaker.resting(time.Now()); {
	case errors.Is(err, errDisabled):
		p.State, p.Reason = Disabled, err.Error()
	case err != nil:
		p.State, p.Reason = Refused, Printable(err.Error())
	case unset != nil:
		p.State, p.Reason = Unset, unset.Error()
	case len(e.withheld(e.spec, h.grants.secrets(e))) > 0 && until.IsZero():
		p.Reason = notGranted(e.withheld(e.spec, h.grants.secrets(e))[0])
	case e.fault != "":
		p.Reason = e.fault
	case !until.IsZero():
		p.State, p.Until, p.Reason = Resting, until, "crashed "+e.breaker.count()+" in a row; rests until "+until.UTC().Format(time.RFC3339)
	}
	return p
}
