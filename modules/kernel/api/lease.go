package api

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/cache"
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

// shared is the part of one allowance that this process holds.
type shared struct {
	mu sync.Mutex
	// held calls were leased and not made yet.
	held int
	// fullAt is when the allowance is full again, as far as this process knows.
	fullAt time.Time
	// alone until then: the leases failed.
	aloneUntil time.Time
	own        bucket
}

func (p policy) each() time.Duration { return time.Duration(float64(time.Second) / p.rate) }

// take is like bucket.take, of the allowance that all processes share. A refusal costs
// no lease until the time at which there can be a call. While the leases fail, the
// process goes by its own count.
func (s *shared) take(ctx context.Context, leases Leases, subject string, p policy, now time.Time) (left float64, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == 0 && now.After(s.aloneUntil) {
		if wait := s.wait(p, now); wait > 0 {
			return 0, wait
		}
		lease, err := leases.Lease(ctx, subject, p.each(), int(p.burst), min(block, int(p.burst)))
		if err != nil {
			s.aloneUntil = now.Add(alone)
		} else {
			s.held, s.fullAt = lease.Granted, now.Add(lease.Spent)
		}
	}
	if s.held == 0 && !now.After(s.aloneUntil) {
		return s.own.take(p, 1, now)
	}
	if s.held == 0 {
		return 0, max(s.wait(p, now), time.Millisecond)
	}
	s.held--
	return s.left(p, now), 0
}

// wait is the time until the allowance has a call.
func (s *shared) wait(p policy, now time.Time) time.Duration {
	full := time.Duration(p.burst) * p.each()
	return max(max(s.fullAt.Sub(now), 0)-full+p.each(), 0)
}

// left is what this process knows to be left.
func (s *shared) left(p policy, now time.Time) float64 {
	spent := max(float64(s.fullAt.Sub(now))/float64(p.each()), 0)
	return min(p.burst, float64(s.held)+math.Floor(max(p.burst-spent, 0)))
}

// sharedOf returns the shared allowance of an account or address.
func sharedOf(all cache.Of[rated, *shared], k rated, p policy, now time.Time) *shared {
	if s, ok := all.GetIfPresent(k); ok {
		return s
	}
	s, _ := all.ComputeIfAbsent(k, func() (*shared, bool) {
		return &shared{own: bucket{tokens: p.burst, at: now}}, false
	})
	return s
}
