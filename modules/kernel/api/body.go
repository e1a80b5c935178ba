package api

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api/limit"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

const (
	// freeBody is how many bytes of a body need no room.
	freeBody = 64 * kibibyte
	// largestBody is the room for one body of any operation, with what a protocol adds.
	largestBody = 17 << 20
)

var errBodies = errors.New("bodies take as much memory as they may")

// intake is how the body of a call comes in, and the room that it takes.
type intake struct {
	call   *call
	room   int         // in bytes
	sender limit.Whose // whose share of the room that is
	unread error       // why the body was not read to its end; nil: it was
}

// awaited is a request's body. While the call waits for it, its place is another's; it is
// served only if there is one once the body has come, see place.served.
type awaited struct {
	io.ReadCloser
	call *call
	came int
}

// await has the call wait for its body, in a copy of the request: the server looks at its own
// for what was not read.
func (i *intake) await() *http.Request {
	c := i.call
	if c.request.Body != http.NoBody {
		own := *c.request
		own.Body = &awaited{ReadCloser: own.Body, call: c}
		c.request = &own
	}
	return c.request
}

func (a *awaited) Read(p []byte) (int, error) {
	c := a.call
	if c.place.counted {
		c.mux.inFlight.Add(-1)
		defer func() { c.place.overCapacity = c.mux.inFlight.Add(1) > int64(c.mux.config.MaxInFlight) }()
	}
	n, err := a.ReadCloser.Read(p)
	a.came += n
	if refused := c.body.take(a.came); refused != nil {
		return n, refused
	}
	return n, err
}

// uploadPause is how long an upload may bring nothing.
const uploadPause = 30 * time.Second

// uploaded is the body of an upload, which its handler stores as it comes: it takes no room,
// and may take longer than other requests. While the call waits for it, its place is
// another's.
func (i *intake) uploaded(w http.ResponseWriter) io.Reader {
	body := i.call.request.Body
	if waiting, ok := body.(*awaited); ok {
		body = waiting.ReadCloser
	}
	control := http.NewResponseController(w)
	return readerFunc(func(p []byte) (int, error) {
		_ = control.SetReadDeadline(time.Now().Add(uploadPause))
		defer i.call.place.aside()()
		return body.Read(p)
	})
}

// Dropped is the body of a request to a page that keeps nothing of it, so that it takes no room.
func Dropped(r *http.Request) io.Reader {
	if waiting, ok := r.Body.(*awaited); ok {
		return waiting.ReadCloser
	}
	return r.Body
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// take takes room for a body of which so many bytes came, or refuses the call: anyone can send
// the most of a large body and leave out its end.
func (i *intake) take(came int) error {
	c := i.call
	if came <= freeBody || c.recorded { // a refused call's body is read to be dropped
		return nil
	}
	m, room, share := c.mux, came+came/4, c.mux.config.BodyBytes
	if c.overRPC() {
		room = 2 * came // its buffer doubles
	}
	if m.config.RateLimit {
		share = max(share/8, largestBody)
	}
	more := room - i.room
	if i.room == 0 {
		if i.sender = (limit.Whose{Client: c.client()}); c.viewer != nil {
			i.sender = limit.Whose{Account: c.viewer.AccountID}
		}
	}
	switch {
	case !m.bodies.Add(i.sender, more, share):
		i.unread = tooManyUnderWay("Too much is sent at once. Wait for the answers.")
	case !m.bodies.Add(limit.Whose{}, more, m.config.BodyBytes):
		m.bodies.Remove(i.sender, more)
		i.unread = apierr.Busy(errBodies)
	default:
		i.room = room
		return nil
	}
	if c.overRPC() {
		return c.refuse(c.settle(c.request.Context(), i.unread)).connectError()
	}
	return i.unread
}

// release gives back the room of the body.
func (i *intake) release() {
	if i.room > 0 {
		i.call.mux.bodies.Remove(i.sender, i.room)
		i.call.mux.bodies.Remove(limit.Whose{}, i.room)
		i.room = 0
	}
}

func (c *call) overRPC() bool {
	return c.op != nil && c.protocol != "rest" && c.protocol != agentProtocol
}
