package app

import (
	"net/http"
	"sync/atomic"
)

// drain is the state of a process that is about to stop. Its probe answers 503, so that
// balancers send requests elsewhere, and it closes each connection after the next answer.
type drain struct{ begun atomic.Bool }

func newDrain() *drain { return new(drain) }

func (d *drain) begin() { d.begun.Store(true) }

// closing makes clients open another connection for their next request.
func (d *drain) closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.begun.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
