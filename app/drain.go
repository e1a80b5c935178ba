package app

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/scrollery/scrollery/app/ops"
)

// drain is the state of a process that is about to stop. Its probe answers 503, so that
// balancers send requests elsewhere, and it closes each connection after the next answer.
type drain struct {
	begun atomic.Bool
	ready *ops.Readiness
	// hurried is closed when no more time may be given to requests and jobs.
	hurried chan struct{}
	once    sync.Once
}

func newDrain(ready *ops.Readiness) *drain {
	return &drain{ready: ready, hurried: make(chan struct{})}
}

// hurry ends the lame-duck phase and the wait for what still runs.
func (d *drain) hurry() { d.once.Do(func() { close(d.hurried) }) }

// bound returns a context that ends after drainTimeout, or at hurry.
func (d *drain) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	go func() {
		select {
		case <-d.hurried:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (d *drain) begin() {
	d.begun.Store(true)
	d.ready.Stopping()
}

// closing makes clients open another connection for their next request.
func (d *drain) closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.begun.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
