package host

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// plugins are those that the host knows: compiled in, of manifests, and of late sources.
type plugins struct {
	config *Config
	log    *slog.Logger

	known      sync.RWMutex // guards what follows; held before an entry's own lock
	entries    map[string]*entry
	order      []string
	strays     []Plugin // manifests that could not even be read
	lateStrays []Plugin
}

// find finds the plugins of a configuration. It starts none.
func find(config *Config, log *slog.Logger) (*plugins, error) {
	p := &plugins{config: config, log: log, entries: map[string]*entry{}}
	for _, spec := range config.Builtins {
		p.add(&entry{id: spec.ID, builtin: true, spec: spec.Priced(), described: true, enabled: true})
	}
	if config.Dir != "" {
		if err := p.discover(config.Dir); err != nil {
			return nil, err
		}
	}
	p.readLate()
	return p, nil
}

func (p *plugins) add(e *entry) {
	p.known.Lock()
	defer p.known.Unlock()
	p.place(e)
}

// place adds an entry, or replaces the one of its id. The caller holds h.known.
func (p *plugins) place(e *entry) {
	e.asking = make(chan struct{}, 1)
	e.breaker = breaker{most: p.config.Crashes, rest: p.config.CoolDown}
	if p.entries[e.id] == nil {
		p.order = append(p.order, e.id)
	}
	p.entries[e.id] = e
}

// entry is the plugin of an id, or nil.
func (p *plugins) entry(id string) *entry {
	p.known.RLock()
	defer p.known.RUnlock()
	return p.entries[id]
}

// ids are those of all plugins, in their order.
func (p *plugins) ids() []string {
	p.known.RLock()
	defer p.known.RUnlock()
	return slices.Clone(p.order)
}

// unreadable are the manifests and late sources that cannot be used at all.
func (p *plugins) unreadable() []Plugin {
	p.known.RLock()
	defer p.known.RUnlock()
	return slices.Concat(p.strays, p.lateStrays)
}

// entry is one plugin.
type entry struct {
	id       string
	builtin  bool
	enabled  bool
	manifest Manifest
	path     string // of an external binary
	late     *Late  // of a source that a file describes

	asking chan struct{} // held while it is asked for its spec

	mu   sync.Mutex // held for a moment only
	spec stage.Spec // without functions for an external one
	extras
	described bool
	refused   string // why it is never started
	fault     string // of the file of a late source that works as it was before
	// A plugin that failed to describe itself is not asked again before this time.
	undescribed error
	again       time.Time
	breaker     breaker
	slots       slots
	ownTurns    ownTurns
}

// known reports whether it is settled that the entry may be called, or why not. If it
// is not settled, the error is the last one, if any.
func (e *entry) known(now time.Time) (settled bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !e.enabled:
		return true, errDisabled
	case e.refused != "":
		return true, fmt.Errorf("refused: %s", e.refused)
	case e.described:
		return true, nil
	}
	return now.Before(e.again), e.undescribed
}

// refusable reports whether nothing keeps the entry from being started.
func (e *entry) refusable() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.enabled && e.refused == ""
}

var errDisabled = errors.New("disabled in its manifest")
