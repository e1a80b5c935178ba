package api

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/scrollery/scrollery/modules/kernel/cache"
)

const (
	// remembered is the most accounts, and the most addresses, that have a bucket. An
	// evicted bucket starts full again.
	remembered = 100_000
	// idle is the time after which an unused bucket is removed; by then it is full.
	idle   = 10 * time.Minute
	minute = time.Minute
)

// limiter holds the rates: a bucket for each account and each client address, one for each
// page of an address, and a strict count for operations with a limit per minute.
type limiter struct {
	on       bool
	account  policy
	client   policy
	stranger policy
	accounts cache.Of[rated, *bucket]
	clients  cache.Of[rated, *bucket]
	// strangers are the clients whose calls no key admits, or that have no path.
	strangers cache.Of[rated, *bucket]
	minutes   cache.Of[rated, *window]
	pages     cache.Of[rated, *bucket]
	// leases is nil where one process has all rates.
	leases         Leases
	sharedAccounts cache.Of[rated, *shared]
	sharedClients  cache.Of[rated, *shared]
}

// policy is a rate and its header.
type policy struct {
	name   string
	rate   float64
	burst  float64
	header []string
}

// rated is whose calls are counted: an account's, or a client's, of one operation if it is set.
// The caches have one type of key, since each type has its own code of the cache in the binary.
type rated struct {
	account int64
	client  netip.Addr
	op      string
}

func newPolicy(name string, rate float64, burst int) policy {
	p := policy{name: name, rate: rate, burst: float64(burst)}
	p.header = []string{describePolicy(name, burst, int64(math.Ceil(float64(burst)/rate)))}
	return p
}

func describePolicy(name string, quota int, seconds int64) string {
	return `"` + name + `";q=` + strconv.Itoa(quota) + `;w=` + strconv.FormatInt(seconds, 10)
}

func newLimiter(cfg Config) (*limiter, error) {
	l := &limiter{
		on:       cfg.RateLimit,
		account:  newPolicy("account", cfg.AccountRate, cfg.AccountBurst),
		client:   newPolicy("client", cfg.ClientRate, cfg.ClientBurst),
		stranger: newPolicy("stranger", cfg.StrangerRate, cfg.StrangerBurst),
	}
	l.leases = cfg.Leases
	var failed [7]error
	l.accounts, failed[0] = newCache[*bucket]()
	l.clients, failed[1] = newCache[*bucket]()
	l.minutes, failed[2] = newCache[*window]()
	l.sharedAccounts, failed[3] = newCache[*shared]()
	l.sharedClients, failed[4] = newCache[*shared]()
	l.strangers, failed[5] = newCache[*bucket]()
	l.pages, failed[6] = newCache[*bucket]()
	return l, errors.Join(failed[:]...)
}

func newCache[V any]() (cache.Of[rated, V], error) {
	return cache.New(otter.Options[rated, V]{MaximumSize: remembered, ExpiryCalculator: otter.ExpiryAccessing[rated, V](idle)})
}

// bucketOf returns the bucket of an account or address. A new bucket is full.
func bucketOf(buckets cache.Of[rated, *bucket], k rated, p policy, now time.Time) *bucket {
	if b, ok := buckets.GetIfPresent(k); ok {
		return b
	}
	b, _ := buckets.ComputeIfAbsent(k, func() (*bucket, bool) {
		return &bucket{tokens: p.burst, at: now}, false
	})
	return b
}

// takeAccount and takeClient take one call of an allowance, as bucket.take.
func (l *limiter) takeAccount(ctx context.Context, account int64, now time.Time) (left float64, wait time.Duration) {
	if l.leases == nil {
		return bucketOf(l.accounts, rated{account: account}, l.account, now).take(l.account, 1, now)
	}
	return sharedOf(l.sharedAccounts, rated{account: account}, l.account, now).take(ctx, l.leases, "account:"+strconv.FormatInt(account, 10), l.account, now)
}

func (l *limiter) takeClient(ctx context.Context, client netip.Addr, now time.Time) (left float64, wait time.Duration) {
	if l.leases == nil {
		return bucketOf(l.clients, rated{client: client}, l.client, now).take(l.client, 1, now)
	}
	return sharedOf(l.sharedClients, rated{client: client}, l.client, now).take(ctx, l.leases, "client:"+client.String(), l.client, now)
}

// leftOfClient returns what an address has left, and takes nothing.
func (l *limiter) leftOfClient(client netip.Addr, now time.Time) float64 {
	if !l.on {
		return l.client.burst
	}
	if s, ok := l.sharedClients.GetIfPresent(rated{client: client}); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.left(l.client, now)
	}
	if b, ok := l.clients.GetIfPresent(rated{client: client}); ok {
		left, _ := b.take(l.client, 0, now)
		return left
	}
	return l.client.burst
}

// takeMinute takes one call of an operation's quota a minute. A refusal by the shared
// count is remembered, and while that fails the process goes by its own.
func (l *limiter) takeMinute(ctx context.Context, op string, client netip.Addr, quota int, now time.Time) (int, time.Duration) {
	w, _ := l.minutes.ComputeIfAbsent(rated{client: client, op: op}, func() (*window, bool) { return &window{}, false })
	if l.leases == nil {
		return w.take(quota, now)
	}
	w.mu.Lock()
	refused := w.refused.Sub(now)
	w.mu.Unlock()
	if refused > 0 {
		return 0, refused
	}
	left, wait, err := l.leases.Minute(ctx, "minute:"+op+":"+client.String(), quota)
	if err != nil {
		return w.take(quota, now)
	}
	if wait > 0 {
		w.mu.Lock()
		w.refused = now.Add(wait)
		w.mu.Unlock()
	}
	return left, wait
}

// bucket is a token bucket: it refills at the policy's rate up to its burst.
type bucket struct {
	mu     sync.Mutex
	tokens float64
	at     time.Time
}

// take removes n tokens; 0 only reads. It returns the whole tokens left and, when
// there were too few, the time until there are enough.
func (b *bucket) take(p policy, n float64, now time.Time) (left float64, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.tokens, b.at = min(p.burst, b.tokens+passed*p.rate), now
	}
	if b.tokens < n {
		return 0, time.Duration((n - b.tokens) / p.rate * float64(time.Second))
	}
	b.tokens -= n
	return math.Floor(b.tokens), 0
}

// window holds the times of the last calls, so that no minute exceeds its quota, which is small.
type window struct {
	mu    sync.Mutex
	times []time.Time
	// refused until then by the count of all processes.
	refused time.Time
}

func (w *window) take(quota int, now time.Time) (left int, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.times[:0]
	for _, at := range w.times {
		if now.Sub(at) < minute {
			kept = append(kept, at)
		}
	}
	w.times = kept
	if len(w.times) >= quota {
		return 0, minute - now.Sub(w.times[len(w.times)-quota])
	}
	w.times = append(w.times, now)
	return quota - len(w.times), 0
}

// ClientAddress returns the address of the client whose call has this context, as the
// rates of public operations count it (an IPv6 client is its /64); "" where there is none.
func ClientAddress(ctx context.Context) string {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return ""
	}
	return c.client().String()
}

// client returns the address that a public call is counted for: the peer, or the last
// address in X-Forwarded-For that is not a trusted proxy.
func (c *call) client() netip.Addr {
	if !c.address.IsValid() {
		c.address = c.findClient()
	}
	return c.address
}

func (c *call) findClient() netip.Addr {
	peer, err := netip.ParseAddrPort(c.request.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap()
	defer func() { c.proxied = c.mux.trusts(addr) }()
	if !c.mux.trusts(addr) {
		return network(addr)
	}
	forwarded := strings.Split(strings.Join(c.request.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(forwarded) - 1; i >= 0; i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(forwarded[i]))
		if err != nil {
			break
		}
		if addr = next.Unmap(); !c.mux.trusts(addr) {
			break
		}
	}
	return network(addr)
}

func (m *Mux) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(m.config.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr) })
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
