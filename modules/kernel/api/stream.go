package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api/rest"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// enterStream counts a stream, or refuses it where its key or its account has as many as
// it may.
func (c *call) enterStream() (leave func(), err error) {
	if c.viewer == nil {
		return func() {}, nil
	}
	m, key, account := c.mux, c.viewer.KeyID, c.viewer.AccountID
	if !m.keyStreams.Enter(key, m.config.MaxStreams) {
		return nil, m.config.tooManyStreams("key", m.config.MaxStreams)
	}
	if most := max(m.config.MaxStreams, m.config.MaxAccountStreams); !m.accountStreams.Enter(account, most) {
		m.keyStreams.Leave(key)
		return nil, m.config.tooManyStreams("account", most)
	}
	return func() {
		m.keyStreams.Leave(key)
		m.accountStreams.Leave(account)
	}, nil
}

func (cfg Config) tooManyStreams(of string, most int) error {
	message := fmt.Sprintf("The %s may have %d open streams. End one first.", of, most)
	return &apierr.Error{Kind: apierr.RateLimited, RetryAfter: cfg.UnreadFor, Message: message}
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
// connection and keep one stream waiting. There, the deadline ends a stream that writes
// nothing, too: mayRest lifts it after each message. The call waits for its client from now
// on, and has no place any more.
func (c *call) mustBeRead() {
	c.place.leave()
	if c.request.ProtoMajor >= 2 {
		_ = http.NewResponseController(c.writer).SetWriteDeadline(time.Now().Add(c.mux.config.UnreadFor))
	}
}

// mayRest lets a stream wait for its next message as long as it takes.
func (c *call) mayRest() {
	if c.request.ProtoMajor >= 2 {
		_ = http.NewResponseController(c.writer).SetWriteDeadline(time.Time{})
	}
}

// bounded runs do with a context that ends with the key, and when the process stops.
// beside, if it is not nil, starts what runs as long as do.
func (c *call) bounded(ctx context.Context, beside func(context.Context, context.CancelCauseFunc) (stop func()), do func(ctx context.Context) error) (err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(c.mux.streams, func() { end(errStreamEnded) })()
	defer c.keepAdmitted(ctx, end)()
	if beside != nil {
		defer beside(ctx, end)()
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	err = do(ctx)
	var refused *refusedError
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errStreamEnded):
		return apierr.New(apierr.TemporaryServiceError, "The server is stopping. Call again: another one goes on.")
	case err != nil && errors.As(context.Cause(ctx), &refused):
		return refused.why
	}
	return err
}

// errStreamEnded is why the context of a stream ended that [Mux.EndStreams] ended.
var errStreamEnded = errors.New("the process is stopping")

// runStream runs the handler of a stream within the bounds of every stream. beside, if
// it is not nil, starts what runs as long as the handler.
func (c *call) runStream(ctx context.Context, b *binding, request proto.Message,
	send func(context.Context, proto.Message) error, beside func(context.Context, context.CancelCauseFunc) (stop func()),
) (err error) {
	leave, err := c.enterStream()
	if err != nil {
		return err
	}
	defer leave()
	c.place.carriedBy.rest()
	return c.bounded(ctx, beside, func(ctx context.Context) error {
		return b.stream(ctx, request, func(message proto.Message) error { return send(ctx, message) })
	})
}

const (
	eventStream = "text/event-stream"
	// heartbeat is the time between comments in a stream, so that proxies keep it open
	// and a client that is gone is noticed.
	heartbeat = 15 * time.Second
	// firstHeartbeat comes when a stream has had nothing to send for so long: the client
	// learns that the stream is open.
	firstHeartbeat = time.Second
	// maxCursor is the longest Last-Event-ID in bytes; longer ones are ignored.
	maxCursor = 200
)

// Cursor sets the cursor of the next message of a stream: a REST client resumes after
// it. A message without one is identified by its text. It has no effect over the other
// protocols.
func Cursor(ctx context.Context, cursor string) {
	if c := callFrom(ctx); c != nil {
		c.cursor = cursor
	}
}

// ResumeAfter returns the cursor of the last event that the client of a stream has
// (Last-Event-ID), as the client sent it; empty if there is none, and over the other
// protocols.
func ResumeAfter(ctx context.Context) string {
	c := callFrom(ctx)
	if c == nil || c.protocol != "rest" {
		return ""
	}
	if sent := c.request.Header.Get("Last-Event-Id"); len(sent) <= maxCursor {
		return sent
	}
	return ""
}

// wantsEvents reports whether a request asks for Server-Sent Events.
func wantsEvents(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header["Accept"], ",")), eventStream)
}

// serveEvents serves a stream as Server-Sent Events. Until the first event or comment,
// an error is answered as on every path of REST; after it, it is an event `error` with
// the same body. A stream that ends without an event, because the client has them all,
// is answered 204, so that an EventSource does not connect again.
func (m *Mux) serveEvents(ctx context.Context, w http.ResponseWriter, c *call, b *binding) {
	e := &events{mux: m, call: c, op: b.op, writer: w, control: http.NewResponseController(w), after: ResumeAfter(ctx)}
	err := e.run(ctx, b)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.begun && err != nil:
		e.fail(err)
	case e.begun:
	case err != nil:
		m.refuseREST(w, c, c.settle(ctx, err))
	default:
		if err := c.settle(ctx, nil); err != nil {
			m.refuseREST(w, c, err)
			return
		}
		c.sent = http.StatusNoContent
		w.WriteHeader(http.StatusNoContent)
	}
}

// events is one stream on its way to a client.
type events struct {
	mux     *Mux
	call    *call
	op      *operation
	writer  http.ResponseWriter
	control *http.ResponseController
	after   string // the event that the client has

	mu    sync.Mutex // guards the writer, and the call while both goroutines run
	begun bool
	first bool // a message was sent, or left out as known
}

// run calls the handler and, beside it, sends comments.
func (e *events) run(ctx context.Context, b *binding) (err error) {
	if err := e.call.admit(ctx); err != nil {
		return err
	}
	ctx = e.call.withViewer(ctx)
	request := b.op.newInput()
	if err := e.mux.readREST(ctx, e.writer, e.call, b, request); err != nil {
		return err
	}
	// The server's read timeout is for requests; it would end the stream.
	_ = e.control.SetReadDeadline(time.Time{})
	return e.call.runStream(ctx, b, request, e.send, e.beside)
}

// beside sends comments until stop is called.
func (e *events) beside(ctx context.Context, end context.CancelCauseFunc) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var beating sync.WaitGroup
	beating.Go(func() {
		if err := e.beat(ctx); err != nil {
			end(err)
		}
	})
	return func() { cancel(); beating.Wait() }
}

// beat sends comments until the context ends.
func (e *events) beat(ctx context.Context) error {
	for wait := firstHeartbeat; ; wait = heartbeat {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		e.mu.Lock()
		err := e.write(ctx, []byte(":\n\n"))
		e.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// send sends a message, unless it is the first and the one that the client has.
func (e *events) send(ctx context.Context, message proto.Message) error {
	data, err := rest.AppendMessage(nil, message.ProtoReflect(), e.op.output)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	id := e.call.cursor
	if e.call.cursor = ""; id == "" {
		hash := fnv.New64a()
		hash.Write(data)
		id = strconv.FormatUint(hash.Sum64(), 36)
	}
	known := !e.first && id == e.after
	if e.first = true; known {
		return nil
	}
	return e.write(ctx, []byte("id: "+id+"\ndata: "+string(data)+"\n\n"))
}

// write sends one event or comment at once. The first one settles the call and sends
// the headers.
func (e *events) write(ctx context.Context, text []byte) error {
	if !e.begun {
		if err := e.call.settle(ctx, nil); err != nil {
			return err
		}
		e.begun = true
		e.call.set("Content-Type", eventStream)
		e.call.set("X-Accel-Buffering", "no") // a proxy must not hold events back
		e.call.sent = http.StatusOK
		e.writer.WriteHeader(http.StatusOK)
	}
	e.call.mustBeRead()
	defer e.call.mayRest()
	if _, err := e.writer.Write(text); err != nil {
		return err
	}
	return e.control.Flush()
}

// fail ends a stream that has begun.
func (e *events) fail(err error) {
	r := e.call.refuse(err)
	e.mux.withBuffer(func(buffer *bytes.Buffer) {
		body, err := rest.AppendMessage(buffer.AvailableBuffer(), r.body.ProtoReflect(), e.mux.errorShape)
		if err == nil {
			_ = e.write(context.Background(), []byte("event: error\ndata: "+string(body)+"\n\n")) // the client may be gone
		}
	})
}
