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
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/scrollery/scrollery/app/host/box"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Host keeps the plugins. It is safe for concurrent use.
type Host struct {
	// Processes are those of all plugins.
	Processes *Processes

	config  *Config
	log     *slog.Logger
	grants  *grants
	plugins *plugins
	// checkWithin bounds a Check; a test may shorten it.
	checkWithin time.Duration

	learning sync.WaitGroup
	ends     context.Context // with the host
	end      context.CancelFunc
}

// New finds the plugins. It starts none of them: an external one is asked for its spec
// when it is first listed or called.
func New(config Config, log *slog.Logger) (*Host, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	config = config.filled()
	processes, err := newProcesses(&config, log)
	if err != nil {
		return nil, err
	}
	h := &Host{
		Processes: processes, config: &config, log: log, grants: newGrants(&config), checkWithin: stage.CheckWithin,
	}
	if h.plugins, err = find(&config, log); err != nil {
		return nil, err
	}
	if config.Box == NoBox {
		log.Warn("plugins run without a box: the author of one can read and change what this server can", "setting", "SCROLLERY_PLUGIN_BOX=none")
	}
	h.ends, h.end = context.WithCancel(context.Background())
	return h, nil
}

// Close kills what still runs. Calls under way fail.
func (h *Host) Close() error {
	if h.Processes.close() {
		h.end()
		h.learning.Wait()
		h.Processes.confiner.Close()
	}
	return nil
}

// ready makes sure that the entry may be called and its spec is known.
func (h *Host) ready(ctx context.Context, e *entry) error {
	if missing := h.Processes.confiner.Missing(); !e.builtin && missing != nil && h.config.Box != NoBox && e.refusable() {
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
	e.spec, e.extras, e.described, e.undescribed = spec.Priced(), also, true, nil
	return nil
}
