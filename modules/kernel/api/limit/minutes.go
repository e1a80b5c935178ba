package limit

import (
	"context"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/cache"
)

// Minutes counts calls that have a quota a minute, strictly: no minute has more of them. The
// quotas are small. It is safe for concurrent use.
type Minutes struct {
	off     bool
	leases  Leases
	callers cache.Of[Whose, *window]
}

// NewMinutes returns counts that are 0. off counts nothing; leases are as those of a [Policy].
func NewMinutes(off bool, leases Leases) (*Minutes, error) {
	callers, err := newCache[*window]()
	return &Minutes{off: off, leases: leases, callers: callers}, err
}

// Take takes one call of a quota, and returns the calls left, or the wait until there is one. A
// refusal by the count of all processes is remembered. While that fails, the process goes by
// its own.
func (m *Minutes) Take(ctx context.Context, of Whose, quota int, now time.Time) (left int, wait time.Duration) {
	if m.off {
		return quota, 0
	}
	w, _ := m.callers.ComputeIfAbsent(of, func() (*window, bool) { return &window{}, false })
	if m.leases == nil {
		return w.take(quota, now)
	}
	w.mu.Lock()
	refused := w.refused.Sub(now)
	w.mu.Unlock()
	if refused > 0 {
		return 0, refused
	}
	left, wait, err := m.leases.Minute(ctx, "minute:"+of.Name+":"+of.Client.String(), quota)
	if err != nil {
		return w.take(quota, now)
	}
	if wait > 0 {
		w.mu.Lock()
		w.refused = now.Add(wait)
		w.mu.Unlock()
	}
	return left, wait
}

// window holds the times of the last calls.
type window struct {
	mu    sync.Mutex
	times []time.Time
	// refused until then by the count of all processes.
	refused time.Time
}

func (w *window) take(quota int, now time.Time) (left int, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.times[:0]
	for _, at := range w.times {
		if now.Sub(at) < minute {
			kept = append(kept, at)
		}
	}
	w.times = kept
	if len(w.times) >= quota {
		return 0, minute - now.Sub(w.times[len(w.times)-quota])
	}
	w.times = append(w.times, now)
	return quota - len(w.times), 0
}
