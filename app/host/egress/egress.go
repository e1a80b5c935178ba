// Package egress is the one way out that a plugin has: an HTTP proxy, opened for one
// call and closed with it, on the loopback of the call's box.
//
// It lets through what the plugin's spec names and the operator's endpoints,
// resolves names itself, and looks at the very address that it dials, so that no
// name and no later answer of a name server leads into a private network. It looks
// into nothing that passes through a tunnel: who shares an address with an allowed
// host is reached as well.
package egress

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/scrollery/scrollery/modules/kernel/weburl"
)

// Config is what one call may reach, and how much of it.
type Config struct {
	// Hosts that may be reached, as `host:port` or `*.host:port`, at public addresses.
	Hosts []string
	// Endpoints are `host:port` that may also lie in a private network: the operator
	// named them, and no one else.
	Endpoints []string
	// Connections at once; one too many waits for half a minute. 32 by default.
	Connections int
	// Bytes of all connections together, in both directions. 1 GiB by default.
	Bytes int64
	// Idle is how long a connection may be silent. 5 min by default.
	Idle time.Duration
	// Total is how long one connection may last. 30 min by default.
	Total time.Duration
	// Lookup resolves a name; nil asks the system.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Log    *slog.Logger
	// Clean takes out of a host's name, in lower case, what must not be logged; nil
	// logs it as it is.
	Clean func(string) string
}

// Traffic is what went through a proxy.
type Traffic struct {
	// Connections that were made, and requests that were denied.
	Connections, Denied int64
	// Sent and Received in bytes, as the plugin sees it.
	Sent, Received int64
}

const (
	headerTime = 10 * time.Second
	headerSize = 64 << 10
	slotTime   = 30 * time.Second
	dialTime   = 10 * time.Second
	// strangers is how many connections without the credential are kept, until
	// they have shown the credential.
	strangers = 256
	// requests is how many requests, and connections, of a call are answered a second, and
	// requestBurst at once: the host works for each.
	requests     = 100
	requestBurst = 500
	// leastBytes is what the smallest read or write counts for the call's traffic.
	leastBytes = 256
)

// Proxy serves one call.
type Proxy struct {
	config  Config
	allowed hosts
	token   string
	address netip.AddrPort
	server  *http.Server
	forward http.RoundTripper
	slots   chan struct{}
	pace    *rate.Limiter
	public  func(netip.Addr) bool

	ctx    context.Context
	cancel context.CancelFunc

	left                      atomic.Int64
	opened, sent, got, denied atomic.Int64

	mu     sync.Mutex
	closed bool
	open   map[*metered]struct{}
	logged map[string]bool // hosts whose denial is in the log
	spent  bool            // as is the end of the allowance
}

// Open makes a proxy that will be served at an address, see [Proxy.Serve]; with the zero
// address, it listens at a port of this machine. The caller closes it.
func Open(config Config, address netip.AddrPort) (*Proxy, error) {
	allowed, err := newHosts(config.Hosts, config.Endpoints)
	if err != nil {
		return nil, err
	}
	config.Connections = cmp.Or(config.Connections, 32)
	config.Bytes = cmp.Or(config.Bytes, 1<<30)
	config.Idle = cmp.Or(config.Idle, 5*time.Minute)
	config.Total = cmp.Or(config.Total, 30*time.Minute)
	if config.Clean == nil {
		config.Clean = func(text string) string { return text }
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	p := &Proxy{
		config: config, allowed: allowed, token: rand.Text(), address: address, public: weburl.PublicIP,
		slots: make(chan struct{}, config.Connections), pace: newPace(), open: map[*metered]struct{}{}, logged: map[string]bool{},
	}
	p.left.Store(config.Bytes)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.forward = p.transport()
	p.server = &http.Server{
		Handler: p, ReadHeaderTimeout: headerTime, IdleTimeout: config.Idle, MaxHeaderBytes: headerSize,
		ErrorLog: slog.NewLogLogger(config.Log.Handler(), slog.LevelDebug),
	}
	if !address.IsValid() {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("open the way out: %w", err)
		}
		at := listener.Addr().(*net.TCPAddr).AddrPort()
		p.address = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
		p.Serve(listener)
	}
	return p, nil
}

// Serve answers at a listener from now on, until Close.
func (p *Proxy) Serve(listener net.Listener) {
	go func() { _ = p.server.Serve(&limited{listener, make(chan struct{}, strangers), newPace()}) }()
}

func newPace() *rate.Limiter { return rate.NewLimiter(requests, requestBurst) }

// URL is the proxy's address with the credential that it requires.
func (p *Proxy) URL() string {
	return (&url.URL{Scheme: "http", User: url.UserPassword(user, p.token), Host: p.address.String()}).String()
}

// Address is all that the plugin needs to connect to; an IPv4 one.
func (p *Proxy) Address() netip.AddrPort { return p.address }

// Close ends all connections and returns what went through. It may be called twice.
func (p *Proxy) Close() Traffic {
	p.mu.Lock()
	p.closed = true
	open := p.open
	p.open = map[*metered]struct{}{}
	p.mu.Unlock()
	p.cancel()
	for c := range open {
		_ = c.Close()
	}
	_ = p.server.Close()
	return Traffic{Connections: p.opened.Load(), Denied: p.denied.Load(), Sent: p.sent.Load(), Received: p.got.Load()}
}

// maxLogged bounds how many hosts a call can write into the log.
const maxLogged = 20

// refuse counts a denial, and logs the first of each host.
func (p *Proxy) refuse(target string, reason error) {
	p.denied.Add(1)
	p.mu.Lock()
	first := !p.logged[target] && len(p.logged) < maxLogged
	if first {
		p.logged[target] = true
	}
	p.mu.Unlock()
	if first {
		p.config.Log.Warn("plugin was kept from a host", "host", p.config.Clean(target), "reason", reason.Error())
	}
}

// The reasons that a plugin gets to hear.
var (
	errUndeclared = errors.New("the stage did not declare this host")
	errPrivate    = errors.New("the host has no public address")
	errSpent      = errors.New("the call's traffic is used up")
	errClosed     = errors.New("the call is over")
)
