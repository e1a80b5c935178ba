package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scrollery/scrollery/modules/kernel/api/limit"
	"github.com/scrollery/scrollery/modules/kernel/api/rest"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/page"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Operations mounts the operations of one module. Each module provides one, in fx
// group "operations".
type Operations func(*Mux)

// Mux serves the operations that were mounted on it. All operations must be mounted
// before the handler serves its first request.
type Mux struct {
	config     Config
	admitter   Admitter
	recorder   Recorder
	log        *slog.Logger
	rates      rates
	operations map[string]*operation // by rpc name
	document   func() page.Fixed     // the OpenAPI document
	errorShape *rest.Shape
	rest       map[string]*route   // by path
	rpc        map[string]*binding // by procedure
	reflection map[string]http.Handler
	agents     *agentDoor // nil: none
	mistakes   []error    // of mounts
	buffers    sync.Pool
	decoders   sync.Pool
	inFlight   atomic.Int64 // calls that are served now, without streams
	clients    fair.Counts[netip.Addr]
	accounts   fair.Counts[int64]       // their calls, without streams
	bodies     fair.Counts[limit.Whose] // room of bodies in bytes; that of all is of no one
	// The open streams of each key, and of all keys of each account: an account makes as
	// many session keys as it likes.
	keyStreams, accountStreams fair.Counts[int64]
	running, computing         *fair.Places // their calls that run, and their computations
	// streams ends when the process stops; see EndStreams.
	streams    context.Context
	endStreams context.CancelFunc
}

// EndStreams ends every stream with a retryable error, also those that begin later:
// the process is about to stop, and another one can go on with them.
func (m *Mux) EndStreams() { m.endStreams() }

// route is one REST path.
type route struct {
	byMethod map[string]*binding
	// events is the stream of the path; nil: it has none.
	events *binding
	allow  string
}

// New reads the operation table. It fails when the table is inconsistent.
func New(cfg Config, admit Admitter, record Recorder, log *slog.Logger) (*Mux, error) {
	operations, err := operationTable()
	if err != nil {
		return nil, fmt.Errorf("read operation table: %w", err)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	rates, err := newRates(cfg)
	if err != nil {
		return nil, fmt.Errorf("prepare rates: %w", err)
	}
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	m := &Mux{
		config: cfg, admitter: admit, recorder: record, log: log,
		rates: rates, operations: operations,
		document:   sync.OnceValue(func() page.Fixed { return describe(cfg.BaseURL) }),
		errorShape: rest.ShapeOf((&scrolleryv1.Error{}).ProtoReflect().Descriptor(), map[protoreflect.FullName]*rest.Shape{}),
		rest:       map[string]*route{}, rpc: map[string]*binding{},
		running: fair.NewEach(cfg.MaxInFlight, turns), computing: fair.NewEach(computations, 1),
	}
	m.streams, m.endStreams = context.WithCancel(context.Background())
	m.buffers.New = func() any { return new(bytes.Buffer) }
	m.decoders.New = func() any { return rest.NewDecoder() }
	for id := range cfg.Tiers {
		if !slices.ContainsFunc(m.list(), func(op *operation) bool { return op.Id == id }) {
			return nil, fmt.Errorf("tier of an unknown operation %s", id)
		}
	}
	m.reflection = reflectionHandlers(m)
	return m, nil
}

// Missing returns the rpc names of the operations that are not mounted.
func (m *Mux) Missing() []string {
	var missing []string
	for _, op := range m.list() {
		if m.rpc[op.procedure] == nil {
			missing = append(missing, op.name)
		}
	}
	return missing
}

// Err returns the mistakes of the mounts: unknown names, message types that differ
// from the table, operations mounted twice.
func (m *Mux) Err() error { return errors.Join(m.mistakes...) }

// list returns the operations ordered by name.
func (m *Mux) list() []*operation {
	return slices.SortedFunc(maps.Values(m.operations), func(a, b *operation) int { return strings.Compare(a.name, b.name) })
}

// add registers a binding for every protocol.
func (m *Mux) add(b *binding) {
	switch {
	case b.invoke == nil || b.op.public() || b.op.Class == scrolleryv1.Class_CLASS_TASK:
		// A stream has bounds of its own, and the module of a task has places.
	case b.op.computes():
		b.invoke = m.computed(b.invoke)
	default:
		b.invoke = inTurn(b.invoke)
	}
	m.rpc[b.op.procedure] = b
	b.rpc = b.rpcHandler()
	if b.op.Path == "" {
		return
	}
	at := m.rest[b.op.Path]
	if at == nil {
		at = &route{byMethod: map[string]*binding{}}
		m.rest[b.op.Path] = at
	}
	methods := map[string]bool{}
	if b.stream != nil {
		at.events = b
	} else {
		at.byMethod[b.op.Method] = b
		if b.op.Method == http.MethodGet {
			at.byMethod[http.MethodHead] = b
		}
	}
	for method := range at.byMethod {
		methods[method] = true
	}
	if at.events != nil {
		methods[http.MethodGet] = true
	}
	at.allow = strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
}
