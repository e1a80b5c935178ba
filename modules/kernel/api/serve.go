package api

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
)

// Handler returns the handler of all operations, /openapi.json and reflection. It
// answers every path, an unknown one with 404, and never redirects. Do not put it
// behind an http.ServeMux, which redirects unclean paths.
func (m *Mux) Handler() http.Handler {
	return http.HandlerFunc(m.serve)
}

// serve opens a call and always closes it, with one event and one log line.
func (m *Mux) serve(w http.ResponseWriter, r *http.Request) {
	c := m.begin(w, r)
	defer func(r *http.Request) {
		if c.sent != 0 { // else there must be no answer, not even its head
			readOn(w, r, r.Body)
		}
	}(r)
	c.requestID = requestID(r.Header["X-Request-Id"])
	c.set("X-Request-Id", c.requestID)
	r = c.body.await()
	defer c.body.release()
	ctx := context.Context(within{apierr.WithPatience(r.Context(), m.config.MaxWait), c})
	defer c.place.end()
	defer func() {
		if cause := recover(); cause != nil {
			if cause == http.ErrAbortHandler {
				c.report(ctx)
				panic(cause)
			}
			c.rescue(ctx, w, cause)
		}
		_ = c.settle(ctx, errUnsettled)
		c.report(ctx)
	}()
	c.describe()
	if m.shareWith(w, c) {
		return
	}
	leave, _ := c.place.enterClient(c.client())
	defer leave()
	m.dispatch(ctx, w, c)
}

// begin returns the call of a request.
func (m *Mux) begin(w http.ResponseWriter, r *http.Request) *call {
	c := &call{mux: m, place: place{mux: m}, protocol: "other", code: "ok", start: time.Now(), request: r, writer: w, header: w.Header()}
	c.body.call = c
	return c
}

// How much of a body is read on after the answer, and for how long. The HTTP server itself
// reads up to readOnFrom.
const (
	readOnFrom   = 256 << 10
	readOnUpTo   = 16 << 20
	readOnWithin = 2 * time.Second
)

// readOn reads and drops what a client still sends after a refusal: many clients read the
// answer only when they have sent the whole body, and would report a broken connection
// instead.
func readOn(w http.ResponseWriter, r *http.Request, body io.Reader) {
	if r.ProtoMajor != 1 || r.Header.Get("Expect") != "" || r.ContentLength >= 0 && r.ContentLength <= readOnFrom {
		return
	}
	control := http.NewResponseController(w)
	if control.Flush() != nil || control.SetReadDeadline(time.Now().Add(readOnWithin)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, body, readOnUpTo)
}

// errUnsettled is the outcome of a call that ended without being settled.
var errUnsettled = fmt.Errorf("ended without an answer")

// dispatch finds the protocol and the operation of a request.
func (m *Mux) dispatch(ctx context.Context, w http.ResponseWriter, c *call) {
	r := c.request
	path := r.URL.Path
	if r.URL.RawPath != "" {
		path = r.URL.RawPath // an escaped spelling is a different path
	}
	if at := m.rest[path]; at != nil {
		c.protocol = "rest"
		b := at.byMethod[r.Method]
		if at.events != nil && r.Method == http.MethodGet && (b == nil || wantsEvents(r)) {
			c.open(at.events.op)
			if at.events.op.MediaType != "" {
				m.serveDownload(ctx, w, c, at.events)
				return
			}
			m.serveEvents(ctx, w, c, at.events)
			return
		}
		if b != nil {
			c.open(b.op)
			m.serveREST(ctx, w, c, b)
			return
		}
		c.set("Allow", at.allow)
		m.refuseREST(w, c, c.refuseAnonymous(apierr.New(apierr.MethodNotAllowed, "%s takes %s.", path, at.allow)))
		return
	}
	if b := m.rpc[path]; b != nil {
		m.serveRPC(ctx, w, c, b)
		return
	}
	if path == AgentsPath && m.agents != nil {
		c.protocol = agentProtocol
		m.agents.serve(ctx, w, c)
		return
	}
	if path == "/openapi.json" {
		m.serveOpenAPI(w, c)
		return
	}
	if h := m.reflection[path]; h != nil {
		c.protocol = "grpc"
		m.serveReflection(ctx, w, c, h)
		return
	}
	if strings.HasPrefix(path, "/v1/") {
		c.protocol = "rest"
	}
	m.refuseREST(w, c, c.refuseAnonymous(apierr.New(apierr.NotFound, "There is nothing at this path; /openapi.json describes what there is.")))
}

// open sets the operation of the call.
func (c *call) open(op *operation) {
	c.op, c.status, c.units = op, op.success(), int(op.Units)
	c.header["Cache-Control"] = op.caching
	if op.list != nil && c.protocol == "rest" {
		c.header["Vary"] = varyAccept
		if len(c.mux.config.Origins) > 0 {
			c.header["Vary"] = varyBoth
		}
	}
}

// rescue answers after a panic in a handler.
func (c *call) rescue(ctx context.Context, w http.ResponseWriter, cause any) {
	err := c.settle(ctx, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
	if c.sent == 0 {
		c.mux.refuseREST(w, c, err)
		return
	}
	c.refuse(err) // too late to answer; the log line still has the cause
}

// report writes the request's log line and calls the observer.
func (c *call) report(ctx context.Context) {
	if c.quiet && c.cause == nil {
		return
	}
	took, op := time.Since(c.start), ""
	if c.op != nil {
		op = c.op.Id
	}
	if c.mux.config.Observe != nil {
		c.mux.config.Observe(Observation{Op: op, Protocol: c.protocol, Code: c.code, Cause: c.cause, Duration: took})
	}
	level := slog.LevelInfo
	switch {
	case c.overRate, c.preflight: // any number of them comes: metrics and sums count them
		level = slog.LevelDebug
	case c.code == string(apierr.OperationError) && (c.refused == nil || c.cause != nil) && ctx.Err() == nil:
		level = slog.LevelError
	case c.cause != nil || len(c.notes) > 0:
		level = slog.LevelWarn
	}
	if !c.mux.log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs,
		slog.String("op", op), slog.String("code", c.code), slog.Int("status", c.sent),
		slog.String("took", took.Round(time.Microsecond).String()), slog.String("request_id", c.requestID))
	if c.op == nil {
		attrs = append(attrs, slog.String("method", c.request.Method), slog.String("path", shorten(c.request.URL.Path)))
	}
	if c.asked != "" {
		attrs = append(attrs, slog.String("asked", c.asked))
	}
	if c.viewer != nil {
		attrs = append(attrs, slog.String("account", publicid.Format(publicid.Account, c.viewer.AccountID)))
	}
	if c.cause != nil {
		attrs = append(attrs, slog.Any("error", c.cause))
	} else if c.refused != nil {
		attrs = append(attrs, slog.String("refused", c.reason()))
	}
	attrs = append(attrs, c.notes...)
	c.mux.log.LogAttrs(ctx, level, "request", attrs...)
}

// shorten bounds a path in the log: any client can send one.
func shorten(path string) string {
	if len(path) > 200 {
		return path[:200] + "…"
	}
	return path
}

// requestID returns the id that the caller sent if it is a plain word, or a new one.
func requestID(sent []string) string {
	if len(sent) == 1 && plain(sent[0]) {
		return sent[0]
	}
	var raw [16]byte
	binary.LittleEndian.PutUint64(raw[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(raw[8:], rand.Uint64())
	var text [32]byte
	hex.Encode(text[:], raw[:])
	return string(text[:])
}

func plain(id string) bool {
	if len(id) == 0 || len(id) > 128 {
		return false
	}
	for i := range len(id) {
		b := id[i]
		if (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && b != '-' && b != '_' && b != '.' {
			return false
		}
	}
	return true
}
