package customer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
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

	accounts   scrolleryv1connect.AccountServiceClient
	billing    scrolleryv1connect.BillingServiceClient
	briefs     scrolleryv1connect.BriefsServiceClient
	changes    scrolleryv1connect.ChangesServiceClient
	keys       scrolleryv1connect.KeysServiceClient
	libraries  scrolleryv1connect.LibraryServiceClient
	rulesets   scrolleryv1connect.RulesServiceClient
	scrolls    scrolleryv1connect.ScrollsServiceClient
	usages     scrolleryv1connect.UsageServiceClient
	workspaces scrolleryv1connect.WorkspaceServiceClient
}

func newClient(l login.Login) *client {
	over := &http.Client{
		Transport:     bearer{l.Key, http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
	options := []connect.ClientOption{connect.WithInterceptors(connect.UnaryInterceptorFunc(deadline)), connect.WithReadMaxBytes(maxAnswer)}
	return &client{
		Login: l, http: over,
		accounts:   scrolleryv1connect.NewAccountServiceClient(over, l.Server, options...),
		billing:    scrolleryv1connect.NewBillingServiceClient(over, l.Server, options...),
		briefs:     scrolleryv1connect.NewBriefsServiceClient(over, l.Server, options...),
		changes:    scrolleryv1connect.NewChangesServiceClient(over, l.Server, options...),
		keys:       scrolleryv1connect.NewKeysServiceClient(over, l.Server, options...),
		libraries:  scrolleryv1connect.NewLibraryServiceClient(over, l.Server, options...),
		rulesets:   scrolleryv1connect.NewRulesServiceClient(over, l.Server, options...),
		scrolls:    scrolleryv1connect.NewScrollsServiceClient(over, l.Server, options...),
		usages:     scrolleryv1connect.NewUsageServiceClient(over, l.Server, options...),
		workspaces: scrolleryv1connect.NewWorkspaceServiceClient(over, l.Server, options...),
	}
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

func deadline(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		return next(ctx, request)
	}
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
