package api

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api/limit"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// rates are how often callers may call.
type rates struct {
	accounts, clients *limit.Rate
	// strangers are the client addresses whose calls no key admits, or that have no path.
	strangers *limit.Rate
	// descriptions and pages are of one name each of a client address, in this process.
	descriptions, pages *limit.Rate
	minutes             *limit.Minutes
}

const (
	// describedAMinute is how often one client address may ask what the service is.
	describedAMinute = 300
	// pagesAMinute is how often one client address asks one process for a page of a name; a page
	// of the console is many files, and a payment service calls from few addresses.
	pagesAMinute = 3000
)

func newRates(cfg Config) (r rates, err error) {
	var failed [6]error
	of := func(i int, name string, perSecond float64, burst int, leases limit.Leases) *limit.Rate {
		var rate *limit.Rate
		rate, failed[i] = limit.NewRate(limit.Policy{Name: name, PerSecond: perSecond, Burst: burst, Off: !cfg.RateLimit, Leases: leases})
		return rate
	}
	r = rates{
		accounts:     of(0, "account", cfg.AccountRate, cfg.AccountBurst, cfg.Leases),
		clients:      of(1, "client", cfg.ClientRate, cfg.ClientBurst, cfg.Leases),
		strangers:    of(2, "stranger", cfg.StrangerRate, cfg.StrangerBurst, nil),
		descriptions: of(3, "description", describedAMinute/time.Minute.Seconds(), describedAMinute, nil),
		pages:        of(4, "page", pagesAMinute/time.Minute.Seconds(), pagesAMinute, nil),
	}
	r.minutes, failed[5] = limit.NewMinutes(!cfg.RateLimit, cfg.Leases)
	return r, errors.Join(failed[:]...)
}

// spendRate takes one call from the allowance and sets the rate headers.
func (c *call) spendRate(ctx context.Context) error {
	r := c.mux.rates
	if !c.public() {
		left, wait := r.accounts.Take(ctx, limit.Whose{Account: c.viewer.AccountID}, c.start)
		c.setRate(r.accounts.Describe(left), r.accounts.Header())
		return spent(wait)
	}
	left, wait := r.clients.Take(ctx, limit.Whose{Client: c.client()}, c.start)
	shown, policies := r.clients.Describe(left), r.clients.Header()
	if quota := int(c.op.PerMinute); quota > 0 {
		leftMinute := quota
		if wait == 0 {
			leftMinute, wait = r.minutes.Take(ctx, limit.Whose{Client: c.client(), Name: c.op.Id}, quota, c.start)
		}
		shown += `, "minute";r=` + strconv.Itoa(leftMinute) + `;t=60`
		policies = []string{policies[0] + ", " + limit.DescribePolicy("minute", quota, 60)}
	}
	c.setRate(shown, policies)
	return spent(wait)
}

// spent refuses a call for its rate if it must wait.
func spent(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	return &apierr.Error{Kind: apierr.RateLimited, RetryAfter: wait, Message: "Too many requests; slow down.", OverRate: true}
}

// refuseAnonymous returns the refusal of a call without a valid key or path: why, unless its
// client has had too many of them.
func (c *call) refuseAnonymous(why error) error {
	f := apierr.As(why)
	if f != nil && f.Kind != apierr.OperationError && !apierr.IsBusy(why) {
		if over := c.spendStranger(); over != nil {
			return over
		}
	}
	return why
}

// spendStranger takes one call without a caller from the allowance of its client address.
func (c *call) spendStranger() error {
	_, wait := c.mux.rates.strangers.Take(context.Background(), limit.Whose{Client: c.client()}, c.start)
	return spent(wait)
}

// showRate sets the rate headers of a caller without a key: the allowance of the
// client address.
func (c *call) showRate() {
	clients := c.mux.rates.clients
	c.setRate(clients.Describe(clients.Left(limit.Whose{Client: c.client()}, c.start)), clients.Header())
}

func (c *call) setRate(left string, policies []string) {
	c.set("Ratelimit", left)
	c.header["Ratelimit-Policy"] = policies
}

// spendDescription takes one request of a client address for what describes the service.
func (c *call) spendDescription(name string) error {
	if err := c.place.enterNetwork(); err != nil {
		return err
	}
	_, wait := c.mux.rates.descriptions.Take(context.Background(), limit.Whose{Client: c.client(), Name: name}, time.Now())
	return spent(wait)
}

// ClientAddress returns the address of the client whose call has this context, as the
// rates of public operations count it (an IPv6 client is its /64); "" if there is none.
func ClientAddress(ctx context.Context) string {
	if c := callFrom(ctx); c != nil {
		return c.client().String()
	}
	return ""
}

// ClientOf is ClientAddress for a request to a page of the service.
func (m *Mux) ClientOf(r *http.Request) string {
	client, _ := m.config.client(r)
	return client.String()
}

// client returns the address that a call without a key is counted for.
func (c *call) client() netip.Addr {
	if p := &c.place; !p.address.IsValid() {
		p.address, p.proxied = c.mux.config.client(c.request)
	}
	return c.place.address
}

// client returns the address that a call without a key is counted for, and whether it is that
// of a trusted proxy: the peer, or the last address in X-Forwarded-For that is no such proxy.
func (c Config) client(r *http.Request) (client netip.Addr, proxied bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	addr := peer.Addr().Unmap()
	if !c.trusts(addr) {
		return network(addr), false
	}
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0; i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
		if err != nil {
			break
		}
		if addr = next.Unmap(); !c.trusts(addr) {
			break
		}
	}
	return network(addr), c.trusts(addr)
}

func (c Config) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(c.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// network truncates an IPv6 address to its /64: one client usually holds all of it.
func network(addr netip.Addr) netip.Addr {
	addr = addr.WithZone("")
	if addr.Is6() {
		if prefix, err := addr.Prefix(64); err == nil {
			return prefix.Addr()
		}
	}
	return addr
}
