package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Rendered is an answer that is already JSON text.
type Rendered struct {
	// Body is the whole JSON body of the REST answer.
	Body []byte
	// NextPageToken becomes `nextPageToken` of the answer over the other protocols.
	NextPageToken string
	// ETag is the entity tag without its quotes; empty: none.
	ETag string
	// Done is called when Body is no longer read; it may be nil.
	Done func()
}

func (r Rendered) release() {
	if r.Done != nil {
		r.Done()
	}
}

// answer is the result of a handler: a message or a rendered page.
type answer struct {
	message proto.Message
	page    *Rendered
}

// handler answers a request.
type handler = func(ctx context.Context, request proto.Message) (answer, error)

// binding is a mounted operation.
type binding struct {
	op *operation
	// check reports faults of meaning; nil: there is none to look for.
	check func(ctx context.Context, request proto.Message) error
	// invoke runs the handler; nil for a stream.
	invoke handler
	// stream runs a streaming handler.
	stream func(ctx context.Context, request proto.Message, send func(proto.Message) error) error
	// upload runs the handler of a file; invoke then has the file in the request.
	upload func(ctx context.Context, request proto.Message, file io.Reader) (answer, error)
	rpc    http.Handler
}

// Check looks for faults of meaning in a request: what the bounds in the proto file
// cannot say. It runs together with them, before the handler, so that one answer lists
// all faults. The request may have other faults: a property that could not be read is
// absent, and Faulty reports it. A Check reads no rows and changes nothing.
//
// It returns nil or an apierr.Error with Issues. If its kind is not InvalidRequest, the
// caller sees that kind only when the request has no other fault; else its issues join
// the others. The handler runs only after a Check that returned nil.
type Check[Req any] func(ctx context.Context, req *Req) error

// Unary mounts an operation that returns one message. method is the name of its rpc.
// Err returns the mistakes.
func Unary[Req, Resp any](m *Mux, method string, fn func(context.Context, *Req) (*Resp, error), checks ...Check[Req]) {
	b := bind(m, method, false, checks)
	if b == nil || !m.matches(b.op, new(Resp)) {
		return
	}
	b.invoke = func(ctx context.Context, request proto.Message) (answer, error) {
		response, err := fn(ctx, any(request).(*Req))
		if err != nil {
			return answer{}, err
		}
		if response == nil {
			return answer{}, fmt.Errorf("%s returned no message", method)
		}
		return answer{message: any(response).(proto.Message)}, nil
	}
	m.add(b)
}

// Page mounts an operation that returns rendered JSON text. REST sends it unchanged;
// the other protocols decode it into the operation's response message.
func Page[Req any](m *Mux, method string, fn func(context.Context, *Req) (Rendered, error), checks ...Check[Req]) {
	b := bind(m, method, false, checks)
	if b == nil {
		return
	}
	b.invoke = func(ctx context.Context, request proto.Message) (answer, error) {
		page, err := fn(ctx, any(request).(*Req))
		if err != nil {
			return answer{}, err
		}
		return answer{page: &page}, nil
	}
	m.add(b)
}

// Stream mounts an operation that sends messages until it returns. REST serves it as
// Server-Sent Events; see [Cursor] and [ResumeAfter].
func Stream[Req, Resp any](m *Mux, method string, fn func(ctx context.Context, req *Req, send func(*Resp) error) error, checks ...Check[Req]) {
	b := bind(m, method, true, checks)
	if b == nil || !m.matches(b.op, new(Resp)) {
		return
	}
	b.stream = func(ctx context.Context, request proto.Message, send func(proto.Message) error) error {
		return fn(ctx, any(request).(*Req), func(response *Resp) error {
			return send(any(response).(proto.Message))
		})
	}
	m.add(b)
}

// Download mounts an operation that writes one file. REST sends it as one body of the
// operation's media type, the other protocols as a stream of its parts. What fails after
// the first byte ends the connection, so that the client does not take a part for all.
func Download[Req any](m *Mux, method string, fn func(ctx context.Context, req *Req, out io.Writer) error, checks ...Check[Req]) {
	b := bind(m, method, true, checks)
	if b == nil {
		return
	}
	if b.op.MediaType == "" {
		m.fail("mount %s: it has no media type", method)
		return
	}
	part := bytesOf(b.op.desc.Output())
	b.stream = func(ctx context.Context, request proto.Message, send func(proto.Message) error) error {
		return fn(ctx, any(request).(*Req), writerFunc(func(p []byte) (int, error) {
			message := b.op.newOutput()
			message.ProtoReflect().Set(part, protoreflect.ValueOfBytes(p))
			if err := send(message); err != nil {
				return 0, err
			}
			return len(p), nil
		}))
	}
	m.add(b)
}

// Upload mounts an operation that takes a file. REST streams the body to the handler, which
// bounds it; the other protocols have it in the request's field of bytes, within the bound of
// their messages. The handler reads the file to its end, or returns an error.
func Upload[Req, Resp any](m *Mux, method string, fn func(ctx context.Context, req *Req, file io.Reader) (*Resp, error), checks ...Check[Req]) {
	b := bind(m, method, false, checks)
	if b == nil || !m.matches(b.op, new(Resp)) {
		return
	}
	if !b.op.Upload {
		m.fail("mount %s: it is no upload", method)
		return
	}
	field := fileOf(b.op.desc.Input())
	b.upload = func(ctx context.Context, request proto.Message, file io.Reader) (answer, error) {
		response, err := fn(ctx, any(request).(*Req), file)
		if err != nil {
			return answer{}, err
		}
		return answer{message: any(response).(proto.Message)}, nil
	}
	b.invoke = func(ctx context.Context, request proto.Message) (answer, error) {
		return b.upload(ctx, request, bytes.NewReader(request.ProtoReflect().Get(field).Bytes()))
	}
	m.add(b)
}

// writerFunc is an io.Writer. What it is called with is not kept.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// bind finds the operation of a mount and checks the mount against it.
func bind[Req any](m *Mux, method string, stream bool, checks []Check[Req]) *binding {
	op := m.operations[method]
	if op == nil {
		m.fail("mount %s: no such operation", method)
		return nil
	}
	if m.rpc[op.procedure] != nil {
		m.fail("mount %s: mounted twice", method)
		return nil
	}
	if op.desc.IsStreamingServer() != stream || op.desc.IsStreamingClient() {
		m.fail("mount %s: a stream is mounted as one", method)
		return nil
	}
	request, ok := any(new(Req)).(proto.Message)
	if !ok || request.ProtoReflect().Descriptor() != op.desc.Input() {
		m.fail("mount %s: takes %T, the operation %s", method, new(Req), op.desc.Input().FullName())
		return nil
	}
	b := &binding{op: op}
	switch len(checks) {
	case 0:
	case 1:
		b.check = func(ctx context.Context, request proto.Message) error { return checks[0](ctx, any(request).(*Req)) }
	default:
		m.fail("mount %s: one check at most", method)
		return nil
	}
	return b
}

func (m *Mux) matches(op *operation, response any) bool {
	message, ok := response.(proto.Message)
	if !ok || message.ProtoReflect().Descriptor() != op.desc.Output() {
		m.fail("mount %s: returns %T, the operation %s", op.name, response, op.desc.Output().FullName())
		return false
	}
	return true
}

func (m *Mux) fail(format string, args ...any) {
	m.mistakes = append(m.mistakes, fmt.Errorf(format, args...))
}
