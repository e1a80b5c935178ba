package limit

import (
	"context"
	"math"
	"time"
)

const (
	// block is the most calls that a process leases at once: how far all of its calls
	// may be over the rate of an account or address.
	block = 10
	// alone is how long a process goes by its own count when the leases failed.
	alone = time.Second
)

// Leases shares rates between processes.
type Leases interface {
	// Lease takes up to most calls of a subject's allowance, which grows by one call in
	// each and holds burst of them.
	Lease(ctx context.Context, subject string, each time.Duration, burst, most int) (Lease, error)
	// Minute takes one call of a quota that no minute may exceed, and returns the calls
	// left, or the wait until there is one.
	Minute(ctx context.Context, subject string, quota int) (left int, wait time.Duration, err error)
}

// Lease is what was taken of an allowance.
type Lease struct {
	Granted int
	// Spent is the time in which the allowance is full again.
	Spent time.Duration
}

// leased is the part of an allowance of all processes that this one holds.
type leased struct {
	// held calls were leased and not made yet.
	held int
	// fullAt is when the allowance is full again, as far as this process knows.
	fullAt time.Time
	// aloneUntil then the process goes by its own count: the leases failed.
	aloneUntil time.Time
}

func (p Policy) each() time.Duration { return time.Duration(float64(time.Second) / p.PerSecond) }

// take is like bucket.take, of the allowance that all processes share. A refusal costs
// no lease until the time at which there can be a call. While the leases fail, the
// process goes by its own count.
func (a *allowance) take(ctx context.Context, subject string, p Policy, now time.Time) (left float64, wait time.Duration) {
	if a.held == 0 && now.After(a.aloneUntil) {
		if wait := a.wait(p, now); wait > 0 {
			return 0, wait
		}
		lease, err := p.Leases.Lease(ctx, subject, p.each(), p.Burst, min(block, p.Burst))
		if err != nil {
			a.aloneUntil = now.Add(alone)
		} else {
			a.held, a.fullAt = lease.Granted, now.Add(lease.Spent)
		}
	}
	if a.held == 0 && !now.After(a.aloneUntil) {
		return a.own.take(p, 1, now)
	}
	if a.held == 0 {
		return 0, max(a.wait(p, now), time.Millisecond)
	}
	a.held--
	return a.left(p, now), 0
}

// wait is the time until the allowance has a call.
func (l *leased) wait(p Policy, now time.Time) time.Duration {
	full := time.Duration(p.Burst) * p.each()
	return max(max(l.fullAt.Sub(now), 0)-full+p.each(), 0)
}

// left is what this process knows to be left.
func (l *leased) left(p Policy, now time.Time) float64 {
	spent := max(float64(l.fullAt.Sub(now))/float64(p.each()), 0)
	return min(float64(p.Burst), float64(l.held)+math.Floor(max(float64(p.Burst)-spent, 0)))
}
