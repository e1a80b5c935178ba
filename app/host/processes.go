package host

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/scrollery/scrollery/app/host/box"
	"github.com/scrollery/scrollery/plugins/stage/peer"
)

// Processes starts the processes of plugins, confined, and ends those that still run when
// the host is closed.
type Processes struct {
	config   *Config
	log      *slog.Logger
	self     []string
	scratch  string
	confiner *box.Confiner
	peer     *peer.Host

	mu       sync.Mutex
	closed   bool
	live     map[*process]struct{}
	borrowed int // scratch folders that callers hold
}

func newProcesses(config *Config, log *slog.Logger) (*Processes, error) {
	p := &Processes{config: config, log: log, self: config.Self, live: map[*process]struct{}{}}
	if len(p.self) == 0 {
		path, err := running()
		if err != nil {
			return nil, err
		}
		p.self = []string{path}
	}
	var err error
	if p.peer, err = peer.NewHost(); err != nil {
		return nil, fmt.Errorf("make the host's key: %w", err)
	}
	if p.scratch, err = scratchRoot(config.ScratchDir, log); err != nil {
		return nil, err
	}
	p.confiner = box.New(p.self, config.Box == NoBox)
	return p, nil
}

// Missing is the part of a plugin's box that this system lacks, or nil.
func (all *Processes) Missing() error { return all.confiner.Missing() }

// Ungrouped is why no cgroup bounds a call of a plugin; nil if one does.
func (all *Processes) Ungrouped() error { return all.confiner.Ungrouped() }

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

// closeTimeout is how long close waits for the folders of what it killed.
const closeTimeout = 5 * time.Second

// close kills what still runs, and reports whether it was the first to.
func (all *Processes) close() bool {
	all.mu.Lock()
	if all.closed {
		all.mu.Unlock()
		return false
	}
	all.closed = true
	var live []*process
	for one := range all.live {
		live = append(live, one)
	}
	all.mu.Unlock()
	for _, one := range live {
		one.runner.kill()
	}
	all.awaitEmpty()
	return true
}

func (all *Processes) enter(p *process) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return box.ErrClosed
	}
	all.live[p] = struct{}{}
	return nil
}

func (all *Processes) leave(p *process) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.live, p)
}

// awaitEmpty waits until the callers of killed processes have deleted their folders, for
// at most closeTimeout. What is left then, the next host deletes.
func (all *Processes) awaitEmpty() {
	for end := time.Now().Add(closeTimeout); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		all.mu.Lock()
		empty := len(all.live) == 0 && all.borrowed == 0
		all.mu.Unlock()
		if empty {
			return
		}
	}
}
