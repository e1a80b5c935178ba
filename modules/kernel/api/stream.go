package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// unreadFor is how long a client may leave a message of a stream, or an answer over
// HTTP/2, unread.
const unreadFor = 30 * time.Second

// streamsByKey counts the open streams of each key.
type streamsByKey struct {
	mu   sync.Mutex
	open map[int64]int
}

// enterStream counts a stream, or refuses it where its key has as many as it may.
func (m *Mux) enterStream(c *call) (leave func(), err error) {
	if c.viewer == nil {
		return func() {}, nil
	}
	key, s := c.viewer.KeyID, &m.streaming
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[key] >= m.config.MaxStreams {
		return nil, &apierr.Error{
			Kind: apierr.RateLimited, RetryAfter: unreadFor,
			Message: fmt.Sprintf("The key may have %d open streams. End one first.", m.config.MaxStreams),
		}
	}
	if s.open == nil {
		s.open = map[int64]int{}
	}
	s.open[key]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[key]--; s.open[key] == 0 {
			delete(s.open, key)
		}
	}, nil
}

// refusedError ends the context of a stream whose caller would not be admitted any more.
type refusedError struct{ why error }

func (e *refusedError) Error() string { return e.why.Error() }

// keepAdmitted ends a stream once its key is revoked or expired, or its subscription
// ends. It spends none of the account's rate. A database that is away ends no stream.
func (c *call) keepAdmitted(ctx context.Context, end context.CancelCauseFunc) (stop func()) {
	if c.op.public() {
		return func() {}
	}
	ctx, stop = context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(c.mux.config.ReadmitEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := c.readmit(ctx); apierr.As(err) != nil && !apierr.IsBusy(err) {
				end(&refusedError{err})
				return
			}
		}
	}()
	return stop
}

// readmit returns why the caller of a running stream would be refused now.
func (c *call) readmit(ctx context.Context) error {
	secret, _ := bearer(c.request.Header["Authorization"])
	caller, err := c.mux.admitter.Admit(ctx, secret)
	switch {
	case err != nil:
		return err
	case caller == nil || caller.Viewer == nil:
		return apierr.New(apierr.Unauthorized, "The API key is not valid any more.")
	case c.op.Subscription && !caller.Viewer.Active():
		return apierr.New(apierr.SubscriptionRequired, "The subscription has ended. Start one at subscribeUrl.")
	}
	return nil
}

// mustBeRead bounds the time that the client takes to read what is written next. Over
// HTTP/1 the bound of the connection does so; over HTTP/2 a client can read the
// connection and keep one stream waiting.
func (c *call) mustBeRead() {
	if c.request.ProtoMajor >= 2 {
		_ = http.NewResponseController(c.writer).SetWriteDeadline(time.Now().Add(unreadFor))
	}
}
