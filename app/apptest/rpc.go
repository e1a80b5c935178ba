package apptest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"connectrpc.com/connect"

	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

// Protocol is one way to make a remote call.
type Protocol struct {
	Name    string
	client  *http.Client
	options []connect.ClientOption
}

// Protocols are all of them. gRPC comes over cleartext HTTP/2.
func Protocols() []Protocol {
	return []Protocol{
		{"Connect JSON", client, []connect.ClientOption{connect.WithProtoJSON()}},
		{"Connect proto", client, nil},
		{"gRPC", h2c, []connect.ClientOption{connect.WithGRPC()}},
		{"gRPC-Web", client, []connect.ClientOption{connect.WithGRPCWeb()}},
	}
}

var h2c = &http.Client{Timeout: 60 * time.Second, Transport: &http.Transport{Protocols: http2Alone()}}

func http2Alone() *http.Protocols {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return protocols
}

// Services are the clients of one caller over one protocol.
type Services struct {
	System    scrolleryv1connect.SystemServiceClient
	Billing   scrolleryv1connect.BillingServiceClient
	Keys      scrolleryv1connect.KeysServiceClient
	Workspace scrolleryv1connect.WorkspaceServiceClient
	Rules     scrolleryv1connect.RulesServiceClient
	Scrolls   scrolleryv1connect.ScrollsServiceClient
	Library   scrolleryv1connect.LibraryServiceClient
	Imports   scrolleryv1connect.ImportsServiceClient
	Usage     scrolleryv1connect.UsageServiceClient
	Sandbox   scrolleryv1connect.SandboxServiceClient
}

// RPC returns the caller's clients over a protocol.
func (c *Caller) RPC(p Protocol) Services {
	options := c.Options(p)
	return Services{
		System:    scrolleryv1connect.NewSystemServiceClient(p.client, c.base, options...),
		Billing:   scrolleryv1connect.NewBillingServiceClient(p.client, c.base, options...),
		Keys:      scrolleryv1connect.NewKeysServiceClient(p.client, c.base, options...),
		Workspace: scrolleryv1connect.NewWorkspaceServiceClient(p.client, c.base, options...),
		Rules:     scrolleryv1connect.NewRulesServiceClient(p.client, c.base, options...),
		Scrolls:   scrolleryv1connect.NewScrollsServiceClient(p.client, c.base, options...),
		Library:   scrolleryv1connect.NewLibraryServiceClient(p.client, c.base, options...),
		Imports:   scrolleryv1connect.NewImportsServiceClient(p.client, c.base, options...),
		Usage:     scrolleryv1connect.NewUsageServiceClient(p.client, c.base, options...),
		Sandbox:   scrolleryv1connect.NewSandboxServiceClient(p.client, c.base, options...),
	}
}

// Options are the options of another client that calls as c.
func (c *Caller) Options(p Protocol) []connect.ClientOption {
	return append([]connect.ClientOption{connect.WithInterceptors(bearer{c.Key})}, p.options...)
}

// Client is the HTTP client of the protocol.
func (p Protocol) Client() *http.Client { return p.client }

// Address is where the app answers.
func (c *Caller) Address() string { return c.base }

// WithKey returns a caller with another key of the same app.
func (c *Caller) WithKey(secret string) *Caller {
	return &Caller{base: c.base, Key: secret, Email: c.Email}
}

// Refusal returns the typed detail of a refused call.
func Refusal(t testing.TB, err error) *scrolleryv1.Error {
	t.Helper()
	var failed *connect.Error
	if !errors.As(err, &failed) {
		t.Fatalf("not refused: %v", err)
	}
	for _, detail := range failed.Details() {
		value, err := detail.Value()
		if err != nil {
			t.Fatal(err)
		}
		if body, ok := value.(*scrolleryv1.Error); ok {
			if body.GetMessage() != failed.Message() {
				t.Errorf("the status says %q, its detail %q", failed.Message(), body.GetMessage())
			}
			return body
		}
	}
	t.Fatalf("refused without a typed detail: %v", err)
	return nil
}

// bearer sends a key with each call.
type bearer struct{ key string }

func (b bearer) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		b.set(request.Header())
		return next(ctx, request)
	}
}

func (b bearer) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		b.set(conn.RequestHeader())
		return conn
	}
}

func (b bearer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

func (b bearer) set(header http.Header) {
	if b.key != "" {
		header.Set("Authorization", "Bearer "+b.key)
	}
}
