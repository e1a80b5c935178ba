// Package limit counts how often callers call, and tells those beyond a rate when to call again.
package limit

import (
	"context"
	"math"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/scrollery/scrollery/modules/kernel/cache"
)

const (
	// remembered is the most callers that a rate counts. One that was forgotten starts anew.
	remembered = 100_000
	// idle is the time after which an unused count is removed; by then it is full.
	idle   = 10 * time.Minute
	minute = time.Minute
)

// Whose is whose calls are counted: an account's, or a client address's, of one operation or
// page if Name is set. All rates have one type of key, since each type has its own code of the
// cache in the binary.
type Whose struct {
	Account int64
	Client  netip.Addr
	Name    string
}

// subject is the caller in the words that processes share.
func (w Whose) subject() string {
	if w.Account != 0 {
		return "account:" + strconv.FormatInt(w.Account, 10)
	}
	return "client:" + w.Client.String()
}

// Policy is how often one caller may call.
type Policy struct {
	// Name is what headers call the rate.
	Name string
	// PerSecond is above 0; Burst is the most calls at once, at least 1.
	PerSecond float64
	Burst     int
	// Off counts nothing: every caller has its whole allowance.
	Off bool
	// Leases shares the allowance with other processes; nil: this process has all of it.
	Leases Leases
}

// Rate is a policy and what each caller has left of it: a bucket that refills at the policy's
// rate up to its burst. It is safe for concurrent use.
type Rate struct {
	Policy
	header  []string
	callers cache.Of[Whose, *allowance]
}

// NewRate returns a rate of which every caller has all.
func NewRate(p Policy) (*Rate, error) {
	callers, err := newCache[*allowance]()
	header := []string{DescribePolicy(p.Name, p.Burst, int64(math.Ceil(float64(p.Burst)/p.PerSecond)))}
	return &Rate{Policy: p, header: header, callers: callers}, err
}

func newCache[V any]() (cache.Of[Whose, V], error) {
	return cache.New(otter.Options[Whose, V]{MaximumSize: remembered, ExpiryCalculator: otter.ExpiryAccessing[Whose, V](idle)})
}

// Header is the header RateLimit-Policy. It is never written to.
func (r *Rate) Header() []string { return r.header }

// DescribePolicy returns one item of the header RateLimit-Policy.
func DescribePolicy(name string, quota int, seconds int64) string {
	return `"` + name + `";q=` + strconv.Itoa(quota) + `;w=` + strconv.FormatInt(seconds, 10)
}

// Describe returns the header RateLimit: the calls left, and the seconds until the allowance is
// full.
func (r *Rate) Describe(left float64) string {
	full := math.Ceil((float64(r.Burst) - left) / r.PerSecond)
	return `"` + r.Name + `";r=` + strconv.Itoa(int(left)) + `;t=` + strconv.Itoa(int(full))
}

// Take takes one call of a caller's allowance. It returns the whole calls left or, if there was
// none, the time until there is one. It asks the leases only if this process holds none.
func (r *Rate) Take(ctx context.Context, of Whose, now time.Time) (left float64, wait time.Duration) {
	if r.Off {
		return float64(r.Burst), 0
	}
	a, ok := r.callers.GetIfPresent(of)
	if !ok {
		a, _ = r.callers.ComputeIfAbsent(of, func() (*allowance, bool) {
			return &allowance{own: bucket{tokens: float64(r.Burst), at: now}}, false
		})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Leases == nil {
		return a.own.take(r.Policy, 1, now)
	}
	return a.take(ctx, of.subject(), r.Policy, now)
}

// Left returns what a caller has left, as far as this process knows, and takes nothing.
func (r *Rate) Left(of Whose, now time.Time) float64 {
	a, ok := r.callers.GetIfPresent(of)
	if !ok {
		return float64(r.Burst)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Leases != nil {
		return a.left(r.Policy, now)
	}
	left, _ := a.own.take(r.Policy, 0, now)
	return left
}

// allowance is what one caller has left.
type allowance struct {
	mu  sync.Mutex
	own bucket
	leased
}

// bucket is a token bucket.
type bucket struct {
	tokens float64
	at     time.Time
}

// take removes n tokens; 0 only reads. It returns the whole tokens left or, if there were too
// few, the time until there are enough.
func (b *bucket) take(p Policy, n float64, now time.Time) (left float64, wait time.Duration) {
	if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.tokens, b.at = min(float64(p.Burst), b.tokens+passed*p.PerSecond), now
	}
	if b.tokens < n {
		return 0, time.Duration((n - b.tokens) / p.PerSecond * float64(time.Second))
	}
	b.tokens -= n
	return math.Floor(b.tokens), 0
}
