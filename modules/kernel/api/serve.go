package api

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// Handler returns the handler of both doors, /openapi.json and reflection. It
// answers every path, an unknown one with 404, and never redirects: do not put
// it behind an http.ServeMux, which redirects paths that it finds unclean.
func (m *Mux) Handler() http.Handler {
	return http.HandlerFunc(m.serve)
}

// serve opens the call, and closes it whatever happens.
func (m *Mux) serve(w http.ResponseWriter, r *http.Request) {
	c := &call{mux: m, door: "other", code: "ok", start: time.Now(), request: r, header: w.Header()}
	c.requestID = requestID(r.Header["X-Request-Id"])
	c.set("X-Request-Id", c.requestID)
	ctx := context.WithValue(r.Context(), callKey{}, c)
	defer func() {
		if cause := recover(); cause != nil {
			if cause == http.ErrAbortHandler {
				panic(cause)
			}
			c.rescue(ctx, w, cause)
		}
		_ = c.settle(ctx, errUnsettled)
		c.report(ctx)
	}()
	m.dispatch(ctx, w, c)
}

// errUnsettled stands for what ended before anybody settled it.
var errUnsettled = fmt.Errorf("ended without an answer")

// dispatch finds the door of a request.
func (m *Mux) dispatch(ctx context.Context, w http.ResponseWriter, c *call) {
	r := c.request
	path := r.URL.Path
	if r.URL.RawPath != "" {
		path = r.URL.RawPath // an escaped spelling is not the path that it stands for
	}
	if at := m.rest[path]; at != nil {
		c.door = "rest"
		if b := at.byMethod[r.Method]; b != nil {
			c.open(b.op)
			m.serveREST(ctx, w, c, b)
			return
		}
		c.set("Allow", at.allow)
		m.refuseREST(w, c, apierr.New(apierr.MethodNotAllowed, "%s takes %s.", path, at.allow))
		return
	}
	if b := m.rpc[path]; b != nil {
		m.serveRPC(ctx, w, c, b)
		return
	}
	if path == "/openapi.json" {
		m.serveOpenAPI(w, c)
		return
	}
	if h := m.reflection[path]; h != nil {
		c.door = "grpc"
		h.ServeHTTP(w, r)
		return
	}
	if strings.HasPrefix(path, "/v1/") {
		c.door = "rest"
	}
	m.refuseREST(w, c, apierr.New(apierr.NotFound, "There is nothing at this path."))
}

// open says which operation the call is of.
func (c *call) open(op *operation) {
	c.op, c.status, c.units = op, op.success(), int(op.Units)
}

// rescue answers for a handler that panicked.
func (c *call) rescue(ctx context.Context, w http.ResponseWriter, cause any) {
	err := c.settle(ctx, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
	if c.sent == 0 {
		c.mux.refuseREST(w, c, err)
		return
	}
	c.refuse(err) // too late to answer; the log still says why
}

// report writes the request's one log line and tells the observer.
func (c *call) report(ctx context.Context) {
	took, op := time.Since(c.start), ""
	if c.op != nil {
		op = c.op.Id
	}
	if c.mux.config.Observe != nil {
		c.mux.config.Observe(Observation{Op: op, Door: c.door, Code: c.code, Duration: took})
	}
	level := slog.LevelInfo
	switch {
	case c.code == string(apierr.OperationError) && ctx.Err() == nil:
		level = slog.LevelError
	case c.cause != nil:
		level = slog.LevelWarn
	}
	if !c.mux.log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 8)
	attrs = append(attrs,
		slog.String("op", op), slog.String("code", c.code), slog.Int("status", c.sent),
		slog.Duration("took", took), slog.String("request_id", c.requestID))
	if c.op == nil {
		attrs = append(attrs, slog.String("method", c.request.Method), slog.String("path", shorten(c.request.URL.Path)))
	}
	if c.viewer != nil {
		attrs = append(attrs, slog.Int64("account", c.viewer.AccountID))
	}
	if c.cause != nil {
		attrs = append(attrs, slog.Any("error", c.cause))
	}
	c.mux.log.LogAttrs(ctx, level, "request", attrs...)
}

// shorten keeps a stranger's path from filling the log.
func shorten(path string) string {
	if len(path) > 200 {
		return path[:200] + "…"
	}
	return path
}

// requestID takes over the caller's id where it is a plain word, else makes one.
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
