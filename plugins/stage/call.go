package stage

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"
)

// Call is one call of a stage.
type Call struct {
	Run
	// Settings and Secrets of the Spec that are set, by name, with defaults filled in.
	Settings map[string]string
	Secrets  map[string]string
	// Scratch is an empty folder of this call, deleted after it. A stage may write
	// nowhere else.
	Scratch string
	// Log writes into the host's log, at most 2,000 lines a call. Never log a secret.
	Log *slog.Logger
	// Transport reaches the hosts that the spec names; use it through HTTP. A test may
	// set its own.
	Transport http.RoundTripper
	// Grant answers Spend; a test may set its own. Nil grants everything.
	Grant func(ctx context.Context, quota string, units int64, item string) error
	// Return answers GiveBack; a test may set its own. Nil takes nothing back.
	Return func(ctx context.Context, quota string, units int64) error

	// Keep answers KeepToken; a test may set its own. Nil keeps nothing.
	Keep func(ctx context.Context, name, value string) error

	// Memory answers Recall and Remember; a test may set its own. Nil remembers nothing.
	Memory Memory

	progress func(note string)
}

// KeepToken has the host store the new value of a secret that is among Spec.Tokens. Once it
// returns nil, later calls get the value in Secrets, until the operator sets another one.
// Call it as soon as a site has replaced the token: the old one may not work again. It is
// safe for concurrent use.
func (c *Call) KeepToken(ctx context.Context, name, value string) error {
	if c.Keep == nil {
		return nil
	}
	return c.Keep(ctx, name, value)
}

// Progress tells the host that the stage still works: the host ends a call that neither
// emits nor reports progress within Limits.Stall. The note is for the log. Call it as
// often as is handy: only a few notes a second are sent.
func (c *Call) Progress(note string) {
	if c.progress != nil {
		c.progress(note)
	}
}

// HTTP is a client that reaches the hosts which the spec names, and no others. It
// follows redirects only where those lead to such a host. An answer must begin
// within 30 s; how long the whole may take is the context's matter.
func (c *Call) HTTP() *http.Client {
	if c.Transport == nil {
		return &http.Client{Transport: transport("")}
	}
	return &http.Client{Transport: c.Transport}
}

// transport uses the host's proxy. Without a proxy the kernel refuses connections; in a
// test without a host it is direct.
func transport(proxy string) http.RoundTripper {
	direct := http.DefaultTransport.(*http.Transport).Clone()
	direct.ResponseHeaderTimeout = 30 * time.Second
	direct.Proxy = nil
	if address, err := url.Parse(proxy); err == nil && address.Host != "" {
		direct.Proxy = http.ProxyURL(address)
	}
	return direct
}
