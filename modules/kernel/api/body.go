package api

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

const (
	// freeBody is how many bytes of a body need no room.
	freeBody = 64 * kibibyte
	// largestBody is the room for one body of any operation, with what a protocol adds.
	largestBody = 17 << 20
)

var errBodies = errors.New("bodies take as much memory as they may")

// awaited is a request's body. While the call waits for it, its place is another's; it is
// served only if there is one once the body has come, see served.
type awaited struct {
	io.ReadCloser
	call *call
	came int
}

// await has the call wait for its body, in a copy of the request: the server looks at its own
// for what was not read.
func (c *call) await() *http.Request {
	if c.request.Body != http.NoBody {
		own := *c.request
		own.Body = &awaited{ReadCloser: own.Body, call: c}
		c.request = &own
	}
	return c.request
}

func (a *awaited) Read(p []byte) (int, error) {
	c := a.call
	if c.counted {
		c.mux.inFlight.Add(-1)
		defer func() { c.crowded = c.mux.inFlight.Add(1) > int64(c.mux.config.MaxInFlight) }()
	}
	n, err := a.ReadCloser.Read(p)
	a.came += n
	if refused := c.buffer(a.came); refused != nil {
		return n, refused
	}
	return n, err
}

// uploadPause is how long an upload may bring nothing.
const uploadPause = 30 * time.Second

// uploaded is the body of an upload, which its handler stores as it comes: it takes no room,
// and may take longer than other requests. While the call waits for it, its place is
// another's.
func (c *call) uploaded(w http.ResponseWriter) io.Reader {
	body := c.request.Body
	if waiting, ok := body.(*awaited); ok {
		body = waiting.ReadCloser
	}
	control := http.NewResponseController(w)
	return readerFunc(func(p []byte) (int, error) {
		_ = control.SetReadDeadline(time.Now().Add(uploadPause))
		defer c.aside()()
		return body.Read(p)
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// buffer takes room for a body of which so many bytes came, or refuses the call: anyone can send
// the most of a large body and leave out its end.
func (c *call) buffer(came int) error {
	if came <= freeBody || c.recorded { // a refused call's body is read to be dropped
		return nil
	}
	m, room, share := c.mux, came+came/4, c.mux.config.BodyBytes
	if c.overRPC() {
		room = 2 * came // its buffer doubles
	}
	if m.limiter.on {
		share = max(share/8, largestBody)
	}
	more := room - c.buffered
	if c.buffered == 0 {
		c.sender = c.sends()
	}
	switch {
	case !m.bodies.Add(c.sender, more, share):
		c.unread = c.tooManyUnderWay("Too much is sent at once. Wait for the answers.")
	case !m.bodies.Add(rated{}, more, m.config.BodyBytes):
		m.bodies.Remove(c.sender, more)
		c.unread = apierr.Busy(errBodies)
	default:
		c.buffered = room
		return nil
	}
	if c.overRPC() {
		return c.refuse(c.settle(c.request.Context(), c.unread)).connectError()
	}
	return c.unread
}

// releaseBody gives back the room of the body.
func (c *call) releaseBody() {
	if c.buffered > 0 {
		c.mux.bodies.Remove(c.sender, c.buffered)
		c.mux.bodies.Remove(rated{}, c.buffered)
		c.buffered = 0
	}
}

// sends is whose share of the room a body takes.
func (c *call) sends() rated {
	if c.viewer != nil {
		return rated{account: c.viewer.AccountID}
	}
	return rated{client: c.client()}
}

func (c *call) overRPC() bool {
	return c.op != nil && c.protocol != "rest" && c.protocol != agentProtocol
}
