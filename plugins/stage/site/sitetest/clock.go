// Package sitetest has a clock that tests advance without waiting, and faults of a site.
package sitetest

import (
	"context"
	"sync"
	"time"
)

// Clock moves when a caller sleeps, and then at once.
type Clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

// NewClock begins at a time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now is the time so far.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep moves the clock on.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return nil
}

// Waited is the sum of all sleeps of at least a second: what is shorter is the
// pause between two requests.
func (c *Clock) Waited() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum time.Duration
	for _, d := range c.slept {
		if d >= time.Second {
			sum += d
		}
	}
	return sum
}

// Longest is the longest sleep.
func (c *Clock) Longest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var longest time.Duration
	for _, d := range c.slept {
		longest = max(longest, d)
	}
	return longest
}
