package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scrollery/scrollery/modules/kernel/api/rest"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// AgentsPath is where agents call operations as tools.
const AgentsPath = "/mcp"

const agentProtocol = "mcp"

// Tool is an operation that agents may call.
type Tool struct {
	*scrolleryv1.Operation
	// Output describes its answer.
	Output protoreflect.MessageDescriptor
}

// ReadOnly reports whether its calls change nothing.
func (t Tool) ReadOnly() bool { return strings.HasSuffix(t.Scope, ":read") }

// Tools returns the mounted operations that agents may call, by id.
func (m *Mux) Tools() []Tool {
	var tools []Tool
	for _, b := range m.rpc {
		if b.op.Tool != nil && b.invoke != nil {
			tools = append(tools, Tool{Operation: b.op.Operation, Output: b.op.desc.Output()})
		}
	}
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.Id, b.Id) })
	return tools
}

// AgentScopes returns the scopes that tools need, in the order of viewer.AllScopes.
func (m *Mux) AgentScopes() []string {
	needed := map[string]bool{}
	for _, t := range m.Tools() {
		needed[t.Scope] = true
	}
	return slices.DeleteFunc(viewer.AllScopes(), func(scope string) bool { return !needed[scope] })
}

// ServeAgents passes the requests at AgentsPath to h: those with a key that is valid, from
// no foreign web page. The caller is viewer.Known in the request's context, which Invoke
// and SpendRate need. An error of h is answered as on REST. h must write one short answer.
func (m *Mux) ServeAgents(h func(w http.ResponseWriter, r *http.Request) error) {
	m.agents = &agentDoor{mux: m, handle: h, protection: http.NewCrossOriginProtection()}
	for _, origin := range m.config.Origins {
		if err := m.agents.protection.AddTrustedOrigin(origin); err != nil {
			m.fail("trust origin %s: %w", origin, err)
		}
	}
}

// agentDoor is where the requests of agents come in.
type agentDoor struct {
	mux        *Mux
	handle     func(w http.ResponseWriter, r *http.Request) error
	protection *http.CrossOriginProtection
}

// carried are the calls of operations that one request of an agent carries. They may run
// at the same time.
type carried struct {
	outer    *call
	mu       sync.Mutex
	calls    int
	lost     bool // a call must not be answered
	borrowed int  // 0: none of them has the request's place among those of the account
	cause    error
}

type carriedKey struct{}

// rest gives back the account's place of a request whose call waits as a stream does: it is
// counted among those.
func (a *carried) rest() {
	if a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.borrowed++
		a.outer.place.end()
	}
}

// lend gives a call the account's place of the request, which waits for it. Others need one
// of their own: a request may carry many.
func (a *carried) lend() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.borrowed > 0 {
		return false
	}
	a.borrowed++
	return true
}

func (a *carried) giveBack() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.borrowed--
}

func (d *agentDoor) serve(ctx context.Context, w http.ResponseWriter, c *call) {
	r, all := c.request, &carried{outer: c}
	c.header["Cache-Control"] = cachePrivate
	out := &held{header: http.Header{}}
	err := d.admit(ctx, c)
	if err == nil {
		ctx = context.WithValue(viewer.WithKnown(ctx, c.viewer), carriedKey{}, all)
		err = d.handle(out, r.WithContext(ctx))
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	c.quiet, c.cause = all.calls > 0, all.cause
	switch {
	case all.lost:
		panic(http.ErrAbortHandler)
	case err != nil:
		d.mux.refuseREST(w, c, err)
		return
	}
	for _, name := range []string{"Content-Type", "Allow"} {
		if value := out.header.Get(name); value != "" {
			c.set(name, value)
		}
	}
	if c.sent = max(out.status, http.StatusOK); c.sent >= http.StatusBadRequest {
		c.code = "protocol_error"
	}
	c.mustBeRead()
	w.WriteHeader(c.sent)
	if _, err := w.Write(out.body.Bytes()); err != nil {
		c.cause = err
	}
}

// admit finds the caller of a request. What the request asks for is not known yet:
// its operations are admitted by Invoke.
func (d *agentDoor) admit(ctx context.Context, c *call) error {
	if c.request.Method != http.MethodPost {
		c.set("Allow", http.MethodPost)
		c.showRate()
		return c.refuseAnonymous(apierr.New(apierr.MethodNotAllowed, "%s takes POST.", AgentsPath))
	}
	if err := d.sameSite(c.request); err != nil {
		c.showRate()
		return c.refuseAnonymous(err)
	}
	if _, err := c.identify(ctx); err != nil {
		c.showRate()
		return c.refuseAnonymous(err)
	}
	if err := c.place.enterNetwork(); err != nil {
		return err
	}
	return c.place.enterAccount(c.viewer.AccountID)
}

// sameSite refuses requests of web pages of other origins, and those that name another
// host to a server on this machine (DNS rebinding).
func (d *agentDoor) sameSite(r *http.Request) error {
	foreign := d.protection.Check(r) != nil
	if base, err := url.Parse(d.mux.config.BaseURL); err == nil && !strings.EqualFold(base.Host, r.Host) {
		local, known := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		foreign = foreign || known && loopback(local.String()) && !loopback(r.Host)
	}
	if foreign {
		return apierr.New(apierr.Forbidden, "Web pages of other origins may not call %s.", AgentsPath)
	}
	return nil
}

// loopback reports whether a host, with or without a port, is this machine.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

// SpendRate takes one request from the rate of the account, for a request that runs no
// operation: its error is the answer to it. what names the request in the log.
func SpendRate(ctx context.Context, what string) error {
	all := ctx.Value(carriedKey{}).(*carried)
	c := all.outer
	c.asked = shorten(what)
	if err := c.place.enter(); err != nil {
		return err
	}
	return c.spendRate(ctx)
}

// SpendUncarried is SpendRate after a request that was to run operations: it takes nothing
// if one ran, which has paid for itself.
func SpendUncarried(ctx context.Context, what string) error {
	all := ctx.Value(carriedKey{}).(*carried)
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.calls > 0 {
		return nil
	}
	return SpendRate(ctx, what)
}

// Failed adds to the log why a request of an agent failed beside its operations.
func Failed(ctx context.Context, cause error) {
	all := ctx.Value(carriedKey{}).(*carried)
	all.mu.Lock()
	defer all.mu.Unlock()
	all.cause = cause
}

// Invoked is the outcome of an operation.
type Invoked struct {
	// Body is the JSON of the answer, or of the refusal.
	Body    []byte
	Refused bool
	// RetryAfter is the seconds after which it is worth calling again; empty: unknown.
	RetryAfter string
}

// Invoke calls an operation within a request of an agent, as a call of its own: with the
// admission, the decoder, the event and the log line of a call over REST. arguments is a
// JSON object; faults are those that were found in it before.
func Invoke(ctx context.Context, id string, arguments []byte, faults ...apierr.Issue) Invoked {
	return carry(ctx, id, arguments, faults, answerTool)
}

// Watch is Invoke for a stream: the answer is its last message, once it has ended or has
// run so long.
func Watch(ctx context.Context, id string, arguments []byte, long time.Duration) Invoked {
	return carry(ctx, id, arguments, nil, func(ctx context.Context, c *call, b *binding, request proto.Message) (last []byte, err error) {
		ctx, cancel := context.WithTimeout(ctx, long)
		defer cancel()
		err = c.runStream(ctx, b, request, func(_ context.Context, message proto.Message) (err error) {
			last, err = rest.AppendMessage(last[:0], message.ProtoReflect(), b.op.output)
			return err
		}, nil)
		if last != nil && errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
		return last, err
	})
}

// carry runs a call of an operation within the request of an agent.
func carry(ctx context.Context, id string, arguments []byte, faults []apierr.Issue, do handling) (out Invoked) {
	all := ctx.Value(carriedKey{}).(*carried)
	m := all.outer.mux
	b := m.byID(id)
	if b == nil {
		panic("invoke " + id + ": no such operation")
	}
	c := &call{
		mux: m, place: place{mux: m, carriedBy: all}, protocol: agentProtocol, code: "ok", requestID: all.outer.requestID, start: time.Now(),
		request: all.outer.request, writer: all.outer.writer, header: http.Header{},
	}
	ctx = within{apierr.WithPatience(c.request.Context(), m.config.MaxWait), c}
	defer func() {
		lost := recover() != nil // of hangUp: whether it was done cannot be said
		c.place.end()
		c.report(ctx)
		all.add(c, lost)
	}()
	c.open(b.op)
	body, err := runTool(ctx, c, b, arguments, faults, do)
	if err = c.settle(ctx, err); err == nil {
		c.sent = c.status
		return Invoked{Body: body, RetryAfter: c.header.Get("Retry-After")}
	}
	r := c.refuse(err)
	c.sent = r.status
	if body, err = rest.AppendMessage(nil, r.body.ProtoReflect(), m.errorShape); err != nil {
		body = []byte(`{"error":"` + string(apierr.OperationError) + `","message":"The operation failed."}`)
	}
	return Invoked{Body: body, Refused: true, RetryAfter: r.retryAfter}
}

// runTool is the part of a call between its start and its event.
func runTool(ctx context.Context, c *call, b *binding, arguments []byte, faults []apierr.Issue, do handling) (body []byte, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	if err := c.admit(ctx); err != nil {
		return nil, err
	}
	ctx = c.join(c.withViewer(ctx))
	request := b.op.newInput()
	if err := readArguments(ctx, c, b, request.ProtoReflect(), arguments, faults); err != nil {
		return nil, err
	}
	return do(ctx, c, b, request)
}

// handling is how the JSON of an answer is made.
type handling func(ctx context.Context, c *call, b *binding, request proto.Message) ([]byte, error)

func answerTool(ctx context.Context, _ *call, b *binding, request proto.Message) ([]byte, error) {
	result, err := b.invoke(ctx, request)
	if err != nil {
		return nil, err
	}
	if result.page != nil {
		defer result.page.release()
		return bytes.Clone(result.page.Body), nil
	}
	return rest.AppendMessage(nil, result.message.ProtoReflect(), b.op.output)
}

// readArguments fills a request from a JSON object, as readREST from a body.
func readArguments(ctx context.Context, c *call, b *binding, message protoreflect.Message, arguments []byte, faults []apierr.Issue) error {
	d := c.mux.decoders.Get().(*rest.Decoder)
	defer c.mux.decoders.Put(d)
	d.Reset()
	for _, fault := range faults {
		d.Report(fault.Path, "%s", fault.Message)
	}
	d.Parse(arguments, message, b.op.input)
	for _, f := range d.Raw {
		c.keepRaw(f.Name, f.Text)
	}
	if d.Broken {
		return d.Issues.Err()
	}
	return c.mux.judge(ctx, c, b, &d.Issues, message.Interface())
}

// add counts a call that has ended. Its rate is shown with the answer to the request.
func (a *carried) add(c *call, lost bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls++
	a.lost = a.lost || lost
	for _, name := range []string{"Ratelimit", "Ratelimit-Policy"} {
		if values := c.header[name]; values != nil {
			a.outer.header[name] = values
		}
	}
}

func (m *Mux) byID(id string) *binding {
	for _, b := range m.rpc {
		if b.op.Id == id {
			return b
		}
	}
	return nil
}

// held keeps an answer until it may be sent.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (h *held) Header() http.Header { return h.header }

func (h *held) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

func (h *held) Write(p []byte) (int, error) { return h.body.Write(p) }
