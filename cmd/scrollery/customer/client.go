package customer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
)

const (
	// callTimeout bounds a call that is no stream. A preview takes up to two minutes.
	callTimeout = 150 * time.Second
	// maxAnswer bounds an answer.
	maxAnswer = 64 << 20
)

// errRedirect keeps the key from going anywhere else.
var errRedirect = errors.New("the server redirects to another address, which is not followed: sign in with that address instead")

// client calls one server with one key.
type client struct {
	login.Login
	http *http.Client
}

func newClient(l login.Login) *client {
	return &client{Login: l, http: &http.Client{
		Transport:     bearer{l.Key, http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}}
}

// carrier takes any message through Connect's client. The generated clients have types of
// their own for each operation, some 4 MB of the binary.
type carrier struct{ proto.Message }

// ask calls the operation of a request, which answers once.
func ask[A proto.Message](ctx context.Context, c *client, request proto.Message) (answer A, err error) {
	if err := sendable(request); err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	got, err := c.operation(request, answer).CallUnary(ctx, connect.NewRequest(&carrier{request}))
	if err != nil {
		return answer, err
	}
	return got.Msg.Message.(A), nil
}

// askOnce is ask with the account that is signed in, for a command that asks once.
func askOnce[A proto.Message](c *call, request proto.Message) (answer A, err error) {
	client, err := c.client()
	if err != nil {
		return answer, err
	}
	return ask[A](c.ctx, client, request)
}

// sendable refuses a request that cannot be written, as one with a text that is not UTF-8.
// Connect's client would send an empty one in its place before it fails, which starts a
// scroll or makes a key all the same.
func sendable(request proto.Message) error {
	if _, err := proto.Marshal(request); err != nil {
		return wrongUse("nothing was sent: %w", err)
	}
	return nil
}

// receive calls the operation of a request, which answers until it ends or seen returns an error.
func receive[A proto.Message](ctx context.Context, c *client, request proto.Message, seen func(A) error) error {
	if err := sendable(request); err != nil {
		return err
	}
	var answer A
	stream, err := c.operation(request, answer).CallServerStream(ctx, connect.NewRequest(&carrier{request}))
	if err != nil {
		return err
	}
	defer stream.Close()
	for stream.Receive() {
		if err := seen(stream.Msg().Message.(A)); err != nil {
			return err
		}
	}
	return stream.Err()
}

// operation is the one that takes this type of request, and no other.
func (c *client) operation(request, answer proto.Message) *connect.Client[carrier, carrier] {
	method := methodOf(request.ProtoReflect().Descriptor())
	return connect.NewClient[carrier, carrier](c.http, fmt.Sprintf("%s/%s/%s", strings.TrimRight(c.Server, "/"), method.Parent().FullName(), method.Name()),
		connect.WithSchema(method), connect.WithReadMaxBytes(maxAnswer),
		connect.WithResponseInitializer(func(_ connect.Spec, message any) error {
			message.(*carrier).Message = answer.ProtoReflect().New().Interface()
			return nil
		}))
}

func methodOf(input protoreflect.MessageDescriptor) (found protoreflect.MethodDescriptor) {
	protoregistry.GlobalFiles.RangeFilesByPackage(input.ParentFile().Package(), func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				if methods.Get(j).Input() == input {
					found = methods.Get(j)
				}
			}
		}
		return found == nil
	})
	return found
}

// client returns the client of the login in force.
func (c *call) client() (*client, error) {
	store, err := c.Store()
	if err != nil {
		return nil, err
	}
	current, err := store.Current()
	if err != nil {
		return nil, err
	}
	return newClient(current), nil
}

// bearer sends the key with each request.
type bearer struct {
	key  string
	next http.RoundTripper
}

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("User-Agent", "scrollery-cli")
	if b.key != "" {
		request.Header.Set("Authorization", "Bearer "+b.key)
	}
	return b.next.RoundTrip(request)
}

// pause waits, or returns the error of a context that ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// patient repeats a call that was refused for its rate, as long as the server does not
// ask for more than maxPatience.
func patient(ctx context.Context, call func() error) error {
	for {
		err := call()
		body := refusal(err)
		if body == nil || body.GetError() != "rate_limited" || body.RetryAfter == nil {
			return err
		}
		wait := time.Duration(body.GetRetryAfter() * float64(time.Second))
		if wait > maxPatience {
			return err
		}
		if stopped := pause(ctx, max(wait, 100*time.Millisecond)); stopped != nil {
			return fmt.Errorf("%w; %w", err, stopped)
		}
	}
}

// maxPatience is above what a rate asks for, and below the end of a budget.
const maxPatience = 30 * time.Second
