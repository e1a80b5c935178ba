package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/scrollery/scrollery/modules/kernel/api/rest"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// envelope carries any message through Connect's typed handlers, so that one
// handler type serves every operation.
type envelope struct {
	proto.Message
	// broken is the error of reading the message.
	broken error
}

// codec reads and writes envelopes in the protobuf and ProtoJSON forms that Connect
// clients expect. It reports a message that it cannot read in the envelope instead of
// as an error, so that checkRPC refuses it with the same typed detail as other faults.
type codec struct{ name string }

func (c codec) Name() string { return c.name }

func (c codec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

func (c codec) MarshalAppend(dst []byte, message any) ([]byte, error) {
	if c.name == "proto" {
		return proto.MarshalOptions{}.MarshalAppend(dst, inner(message))
	}
	return protojson.MarshalOptions{}.MarshalAppend(dst, inner(message))
}

func (c codec) Unmarshal(data []byte, message any) error {
	err := c.unmarshal(data, inner(message))
	if e, ok := message.(*envelope); ok {
		e.broken = err
		return nil
	}
	return err
}

func (c codec) unmarshal(data []byte, message proto.Message) error {
	if c.name == "proto" {
		return proto.Unmarshal(data, message)
	}
	if len(data) == 0 {
		return errors.New("an empty body is no JSON object")
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, message)
}

// inner returns the message of an envelope.
func inner(message any) proto.Message {
	if e, ok := message.(*envelope); ok {
		return e.Message
	}
	m, _ := message.(proto.Message)
	return m
}

// rpcHandler serves an operation over Connect, gRPC and gRPC-Web.
func (b *binding) rpcHandler() http.Handler {
	options := []connect.HandlerOption{
		connect.WithSchema(b.op.desc),
		connect.WithReadMaxBytes(int(b.op.maxBody())),
		connect.WithCodec(codec{name: "proto"}),
		connect.WithCodec(codec{name: "json"}),
		connect.WithCodec(codec{name: "json; charset=utf-8"}),
		connect.WithRequestInitializer(func(_ connect.Spec, message any) error {
			message.(*envelope).Message = b.op.newInput()
			return nil
		}),
		connect.WithRequestGate(func(ctx context.Context, _ connect.Spec, _ connect.Peer, _ http.Header) (context.Context, error) {
			c := callFrom(ctx)
			err := c.admit(ctx)
			if err == nil && c.request.ContentLength > b.op.maxBody() {
				err = apierr.Invalid("", "the body is larger than %d KiB", b.op.maxBody()/kibibyte)
			}
			if err != nil {
				return nil, c.refuse(c.settle(ctx, err)).connectError()
			}
			if ctx = c.withViewer(ctx); b.op.Upload {
				return ctx, nil
			}
			return c.join(ctx), nil
		}),
	}
	if b.readOnly() {
		options = append(options, connect.WithIdempotency(connect.IdempotencyNoSideEffects))
	}
	if b.stream != nil {
		return connect.NewServerStreamHandlerSimple(b.op.procedure, b.streamRPC, options...)
	}
	return connect.NewUnaryHandlerSimple(b.op.procedure, b.unaryRPC, options...)
}

func (b *binding) readOnly() bool {
	options, _ := b.op.desc.Options().(*descriptorpb.MethodOptions)
	return options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS
}

func (b *binding) unaryRPC(ctx context.Context, request *envelope) (response *envelope, err error) {
	c := callFrom(ctx)
	defer func() {
		if err = c.settleRPC(ctx, err, recover()); err != nil {
			response = nil
		}
	}()
	if err := b.checkRPC(ctx, c, request); err != nil {
		return nil, err
	}
	result, err := b.invoke(ctx, request.Message)
	if err != nil {
		return nil, err
	}
	if result.page == nil {
		return &envelope{Message: result.message}, nil
	}
	defer result.page.release()
	message, err := b.op.decodePage(result.page)
	return &envelope{Message: message}, err
}

// settleRPC settles a call that ended with err or with a panic, and returns the error
// in Connect's form.
func (c *call) settleRPC(ctx context.Context, err error, panicked any) error {
	if panicked != nil {
		err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
	}
	if err = c.settle(ctx, err); err != nil {
		return c.refuse(err).connectError()
	}
	return nil
}

// streamRPC settles a stream with its first message: an answer whose event is not
// recorded must not be released.
func (b *binding) streamRPC(ctx context.Context, request *envelope, out *connect.ServerStream[envelope]) (err error) {
	c := callFrom(ctx)
	defer func() {
		err = c.settleRPC(ctx, err, recover())
		c.mustBeRead() // the end of the stream, too
	}()
	if err := b.checkRPC(ctx, c, request); err != nil {
		return err
	}
	return c.runStream(ctx, b, request.Message, func(ctx context.Context, message proto.Message) error {
		if err := c.settle(ctx, nil); err != nil {
			return err
		}
		c.mustBeRead()
		defer c.mayRest()
		return out.Send(&envelope{Message: message})
	}, nil)
}

// checkRPC checks a decoded request against the same bounds as REST does.
func (b *binding) checkRPC(ctx context.Context, c *call, request *envelope) error {
	if err := c.place.served(); err != nil {
		return err
	}
	if request.broken != nil {
		return apierr.Invalid("", "the message could not be read: %v", request.broken)
	}
	var found rest.Issues
	message := request.ProtoReflect()
	rest.EachText(message, func(path, text string) {
		if !rest.IsSound(text) {
			found.Add(path, rest.BadText)
		}
	})
	if err := c.mux.judge(ctx, c, b, &found, request.Message); err != nil {
		return err
	}
	rest.EachFree(message, func(path string, value *structpb.Value) {
		if text, err := rest.AppendFree(nil, value); err == nil {
			c.keepRaw(path, text)
		}
	})
	return nil
}

// decodePage reads rendered text into the operation's response message. Fields that
// have another name on REST are not read.
func (o *operation) decodePage(page *Rendered) (proto.Message, error) {
	message := o.newOutput()
	if err := (protojson.UnmarshalOptions{DiscardUnknown: o.output.Names != nil}).Unmarshal(page.Body, message); err != nil {
		return nil, fmt.Errorf("decode the page of %s: %w", o.Id, err)
	}
	if next := o.desc.Output().Fields().ByName("next_page_token"); next != nil && page.NextPageToken != "" {
		message.ProtoReflect().Set(next, protoreflect.ValueOfString(page.NextPageToken))
	}
	return message, nil
}

// serveRPC passes a call to Connect, which checks admission before it reads the body.
func (m *Mux) serveRPC(ctx context.Context, w http.ResponseWriter, c *call, b *binding) {
	r := c.request
	if r.Method != http.MethodPost && (r.Method != http.MethodGet || !b.readOnly()) {
		c.set("Allow", http.MethodPost)
		m.refuseREST(w, c, c.refuseAnonymous(apierr.New(apierr.MethodNotAllowed, "An rpc takes POST.")))
		return
	}
	c.protocol = protocolOf(r.Header.Get("Content-Type"))
	c.open(b.op)
	b.rpc.ServeHTTP(&rpcWriter{ResponseWriter: w, call: c, ctx: ctx}, r.WithContext(ctx))
}

func protocolOf(contentType string) string {
	switch {
	case strings.HasPrefix(contentType, "application/grpc-web"):
		return "grpc-web"
	case strings.HasPrefix(contentType, "application/grpc"):
		return "grpc"
	default:
		return "connect"
	}
}

// rpcWriter settles a call that Connect itself refuses, for example a malformed frame,
// before the answer is sent.
type rpcWriter struct {
	http.ResponseWriter
	call *call
	ctx  context.Context
}

var errProtocol = errors.New("refused by the protocol")

func (w *rpcWriter) begin(status int) {
	if w.call.sent != 0 {
		return
	}
	w.call.sent = status
	w.call.mustBeRead()
	if !w.call.recorded {
		if w.call.viewer == nil { // refused before its caller was looked up
			w.call.overRate = w.call.spendStranger() != nil
		}
		w.call.code = "protocol_error"
		_ = w.call.settle(w.ctx, errProtocol)
	}
}

func (w *rpcWriter) WriteHeader(status int) {
	w.begin(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *rpcWriter) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// Flush sends the bytes written so far; streams need it.
func (w *rpcWriter) Flush() {
	w.begin(http.StatusOK)
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap returns the wrapped writer to http.ResponseController.
func (w *rpcWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// reflectionHandlers serves the API's descriptors in both versions of gRPC
// server reflection.
func reflectionHandlers(m *Mux) map[string]http.Handler {
	services := map[string]bool{}
	for _, op := range m.list() {
		services[string(op.desc.Parent().FullName())] = true
	}
	reflector := grpcreflect.NewStaticReflector(slices.Collect(maps.Keys(services))...)
	handlers := map[string]http.Handler{}
	for _, make := range []func(*grpcreflect.Reflector, ...connect.HandlerOption) (string, http.Handler){
		grpcreflect.NewHandlerV1, grpcreflect.NewHandlerV1Alpha,
	} {
		path, handler := make(reflector)
		handlers[path+"ServerReflectionInfo"] = handler
	}
	return handlers
}
