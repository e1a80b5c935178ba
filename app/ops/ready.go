package ops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

const (
	// probeTimeout bounds what a probe waits for.
	probeTimeout = 2 * time.Second
	// fresh is how long an answer serves other probes too: any number of balancers
	// costs the database a few rows a second.
	fresh = 500 * time.Millisecond
	// retryAfter, in seconds, is the header of an answer 503.
	retryAfter = 2
	// MinFree is the least free space, in bytes, of a disk that is not full: the
	// database's log grows to 64 MiB by itself.
	MinFree = 32 << 20
)

// Database is what readiness asks.
type Database interface {
	// Probe writes a row.
	Probe(ctx context.Context) error
	SchemaVersion(ctx context.Context) (store.Schema, error)
}

// Readiness says whether a process can work. It is a handler.
type Readiness struct {
	stopping atomic.Bool

	mu sync.Mutex
	// database is nil until it is open.
	database Database
	folders  []string
	notes    func() []string
	last     answer
	// running is closed when the probe under way has ended; nil for none.
	running chan struct{}
}

// answer is the result of a probe.
type answer struct {
	at     time.Time
	faults []string
	lines  []string
}

// Opened makes the process ready as far as the database and the disks of the folders
// are. notes are further lines of the answer; it must not wait for anything.
func (r *Readiness) Opened(database Database, folders []string, notes func() []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.database, r.folders, r.notes = database, folders, notes
}

// Stopping makes the process not ready for good.
func (r *Readiness) Stopping() { r.stopping.Store(true) }

// ServeHTTP answers 200, or 503 with the reasons.
func (r *Readiness) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	result := r.probe()
	status, first := http.StatusOK, "ok"
	if len(result.faults) > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		status, first = http.StatusServiceUnavailable, strings.Join(result.faults, "\n")
	}
	plain(w, status, strings.Join(append([]string{first}, result.lines...), "\n")+"\n")
}

// probe returns the result of a probe that is not older than fresh. One runs at a time,
// and no caller waits for longer than probeTimeout, however long a disk hangs.
func (r *Readiness) probe() answer {
	if r.stopping.Load() {
		return answer{faults: []string{"stopping"}}
	}
	r.mu.Lock()
	if r.database == nil {
		r.mu.Unlock()
		return answer{faults: []string{"starting"}}
	}
	if time.Since(r.last.at) < fresh {
		defer r.mu.Unlock()
		return r.last
	}
	if r.running == nil {
		r.running = make(chan struct{})
		go r.run(r.database, r.running)
	}
	running := r.running
	r.mu.Unlock()
	select {
	case <-running:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.last
	case <-time.After(probeTimeout):
		return answer{faults: []string{"database or disk: no answer within " + probeTimeout.String()}}
	}
}

func (r *Readiness) run(database Database, done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	var result answer
	for _, folder := range r.folders {
		if err := Space(folder); err != nil {
			result.faults = append(result.faults, "disk: "+err.Error())
		}
	}
	if err := database.Probe(ctx); err != nil {
		result.faults = append(result.faults, "database: "+firstLine(err))
	} else if schema, err := database.SchemaVersion(ctx); err != nil {
		result.faults = append(result.faults, "database: "+firstLine(err))
	} else {
		result.lines = append(result.lines, "schema: "+schema.String())
	}
	result.lines = append(result.lines, r.notes()...)
	result.at = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.running = result, nil
	close(done)
}

// Space returns an error if the disk of a folder has less than MinFree bytes free. It
// returns nil if the system does not say, or there is no such folder.
func Space(folder string) error {
	free, err := freeBytes(folder)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	if free < MinFree {
		return fmt.Errorf("%s has %d MiB free, want %d", folder, free>>20, MinFree>>20)
	}
	return nil
}

// Free is how many bytes of the disk of a folder an ordinary user can still write; known is false
// where the system does not say, or there is no such folder.
func Free(folder string) (free uint64, known bool) {
	free, err := freeBytes(folder)
	return free, err == nil
}

// firstLine bounds an error's text; those of several hosts have a line each.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text[:min(len(text), 300)]
}
