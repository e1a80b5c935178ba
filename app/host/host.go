// Package host starts stages, watches them and ends them.
//
// Each call of a stage has a process of its own, so that neither a crash nor a
// leak crosses from one tenant to another:
//
//	Host ── launcher: hash, limits, Landlock ── exec ── the stage
//	  │                                                   │
//	  └──────── one gRPC stream, mutual TLS, Unix socket ─┘
//
// A stage is not trusted. It sees no environment, no file but its own, those that
// the operator's settings name and its scratch folder, and no host that it did not
// declare; what it sends is bounded, cleaned and counted; and its process group is
// killed when the call ends, however it ends.
//
// The built-in stages that only compute or read the operator's feed share one process in
// the calls of a scroll, see [Session]. It ends with the scroll, so nothing of one tenant
// can reach another.
package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/scrollery/scrollery/app/host/box"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/peer"
)

// Host keeps the plugins. It is safe for concurrent use.
type Host struct {
	config   Config
	log      *slog.Logger
	self     []string
	scratch  string
	confiner *box.Confiner
	peer     *peer.Host

	known      sync.RWMutex // guards what follows; held before an entry's own lock
	entries    map[string]*entry
	order      []string
	strays     []Plugin // manifests that could not even be read
	lateStrays []Plugin

	learning sync.WaitGroup
	ends     context.Context // with the host
	end      context.CancelFunc

	mu     sync.Mutex
	closed bool
	live   map[*process]struct{}
	lent   int // scratch folders that callers hold
}

// closeTimeout is how long Close waits for the folders of what it killed.
const closeTimeout = 5 * time.Second

// New finds the plugins. It starts none of them: an external one is asked for its spec
// when it is first listed or called.
func New(config Config, log *slog.Logger) (*Host, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	h := &Host{
		config: config.filled(), log: log, self: config.Self,
		entries: map[string]*entry{}, live: map[*process]struct{}{},
	}
	if len(h.self) == 0 {
		path, err := running()
		if err != nil {
			return nil, err
		}
		h.self = []string{path}
	}
	var err error
	if h.peer, err = peer.NewHost(); err != nil {
		return nil, fmt.Errorf("make the host's key: %w", err)
	}
	if h.scratch, err = scratchRoot(config.ScratchDir, log); err != nil {
		return nil, err
	}
	for _, spec := range config.Builtins {
		h.add(&entry{id: spec.ID, builtin: true, spec: spec, described: true, enabled: true})
	}
	if config.Dir != "" {
		if err := h.discover(config.Dir); err != nil {
			return nil, err
		}
	}
	h.readLate()
	h.confiner = box.New(h.self, config.Box == NoBox)
	if h.config.Box == NoBox {
		log.Warn("plugins run without a box: the author of one can read and change what this server can", "setting", "SCROLLERY_PLUGIN_BOX=none")
	}
	h.ends, h.end = context.WithCancel(context.Background())
	return h, nil
}

// Missing is the part of a plugin's box that this system lacks, or nil.
func (h *Host) Missing() error { return h.confiner.Missing() }

// Ungrouped is why no cgroup bounds a call of a plugin; nil where one does.
func (h *Host) Ungrouped() error { return h.confiner.Ungrouped() }

// running is the running executable: the very file, where the system can name it,
// so that an upgrade on disk does not mix two versions.
func running() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the running executable: %w", err)
	}
	return path, nil
}

func (h *Host) add(e *entry) {
	h.known.Lock()
	defer h.known.Unlock()
	h.place(e)
}

// place adds an entry, or replaces the one of its id. The caller holds h.known.
func (h *Host) place(e *entry) {
	e.asking = make(chan struct{}, 1)
	e.breaker = breaker{most: h.config.Crashes, rest: h.config.CoolDown}
	if h.entries[e.id] == nil {
		h.order = append(h.order, e.id)
	}
	h.entries[e.id] = e
}

// Close kills what still runs. Calls under way fail.
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	var live []*process
	for p := range h.live {
		live = append(live, p)
	}
	h.mu.Unlock()
	for _, p := range live {
		p.runner.kill()
	}
	h.awaitEmpty()
	h.end()
	h.learning.Wait()
	h.confiner.Close()
	return nil
}

func (h *Host) enter(p *process) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return box.ErrClosed
	}
	h.live[p] = struct{}{}
	return nil
}

func (h *Host) leave(p *process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.live, p)
}

// awaitEmpty waits until the callers of killed processes have deleted their folders, for
// at most closeTimeout. What is left then, the next host deletes.
func (h *Host) awaitEmpty() {
	for end := time.Now().Add(closeTimeout); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		h.mu.Lock()
		empty := len(h.live) == 0 && h.lent == 0
		h.mu.Unlock()
		if empty {
			return
		}
	}
}

// entry is one plugin.
type entry struct {
	id       string
	builtin  bool
	enabled  bool
	manifest manifest
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
	turns       turns
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

// ready makes sure that the entry may be called and its spec is known.
func (h *Host) ready(ctx context.Context, e *entry) error {
	if missing := h.confiner.Missing(); !e.builtin && missing != nil && h.config.Box != NoBox && e.refusable() {
		e.refuse(fmt.Errorf("%w: %w", box.ErrNoBox, missing))
	}
	if settled, err := e.known(time.Now()); settled {
		return err
	}
	select {
	case e.asking <- struct{}{}:
		defer func() { <-e.asking }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if settled, err := e.known(time.Now()); settled {
		return err
	}
	spec, also, err := h.describe(ctx, e)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			e.undescribed, e.again = err, time.Now().Add(h.config.CoolDown)
		}
		return err
	}
	e.spec, e.extras, e.described, e.undescribed = spec, also, true, nil
	return nil
}

// refusable reports whether nothing keeps the entry from being started.
func (e *entry) refusable() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.enabled && e.refused == ""
}

var errDisabled = errors.New("disabled in its manifest")
