package api

import (
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// crowd counts what each of many has under way. The zero value is ready.
type crowd[K comparable] struct {
	mu   sync.Mutex
	open map[K]int
}

// enter counts one more, unless there are as many as may be.
func (c *crowd[K]) enter(who K, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[who] >= most {
		return false
	}
	if c.open == nil {
		c.open = map[K]int{}
	}
	c.open[who]++
	return true
}

func (c *crowd[K]) leave(who K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[who]--; c.open[who] == 0 {
		delete(c.open, who)
	}
}

// enterClient counts a request of a client address, or reports that it has as many under way
// as it may. A request that waits for its client costs memory for as long.
func (m *Mux) enterClient(c *call) (leave func(), ok bool) {
	client, few := c.client(), func() {}
	if !m.limiter.on || c.proxied { // by a proxy that does not say for whom
		return few, true
	}
	if !m.clients.enter(client, m.config.MaxClientCalls) {
		return few, false
	}
	return func() { m.clients.leave(client) }, true
}

// crowdTime is after how long a caller with too many calls under way should ask again.
const crowdTime = time.Second

func (c *call) tooManyOfClient() error {
	c.overRate = true
	return &apierr.Error{
		Kind: apierr.RateLimited, RetryAfter: crowdTime,
		Message: "Too many requests from your network are under way. Wait for their answers.",
	}
}

// enterAccount counts a call of an account, or refuses it where as many are under way as may
// be. Streams have a bound of their own.
func (c *call) enterAccount() error {
	m := c.mux
	if !m.limiter.on || c.viewer == nil || c.op != nil && c.op.desc.IsStreamingServer() {
		return nil
	}
	if !m.accounts.enter(c.viewer.AccountID, m.config.MaxAccountCalls) {
		c.overRate = true
		return &apierr.Error{
			Kind: apierr.RateLimited, RetryAfter: crowdTime,
			Message: "The account has as many calls under way as it may. Wait for their answers.",
		}
	}
	c.ofAccount = true
	return nil
}

// awaited is a request's body. While the call waits for it, its place is another's; it is
// served only if there is one once the body has come, see served.
type awaited struct {
	io.ReadCloser
	call *call
}

func (a *awaited) Read(p []byte) (int, error) {
	if c := a.call; c.counted {
		c.mux.inFlight.Add(-1)
		defer func() { c.crowded = c.mux.inFlight.Add(1) > int64(c.mux.config.MaxInFlight) }()
	}
	return a.ReadCloser.Read(p)
}

// served refuses a call whose body has come when as many were served as may be.
func (c *call) served() error {
	if c.crowded {
		return apierr.Busy(errInFlight)
	}
	return nil
}

// mustRead is a writer whose client must read what is written.
type mustRead struct {
	http.ResponseWriter
	call *call
}

// Unwrap is for [http.ResponseController].
func (w *mustRead) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *mustRead) WriteHeader(status int) {
	w.call.mustBeRead()
	w.ResponseWriter.WriteHeader(status)
}

func (w *mustRead) Write(p []byte) (int, error) {
	w.call.mustBeRead()
	return w.ResponseWriter.Write(p)
}

// Held serves a page of the service that is in memory: one client address gets so many
// requests a minute, 0 for any number, and has as long to read an answer as one of the API.
func (m *Mux) Held(name string, quota int, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{mux: m, request: r, writer: w}
		w = &mustRead{w, c}
		leave, ok := m.enterClient(c)
		if !ok {
			refusePage(w, crowdTime)
			return
		}
		defer leave()
		if l := m.limiter; l.on && quota > 0 {
			if _, wait := l.windowOf(c.client(), name).take(quota, time.Now()); wait > 0 {
				refusePage(w, wait)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
