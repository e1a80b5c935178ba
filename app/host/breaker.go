package host

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// breaker rests a plugin that crashes again and again. It counts processes
// that died, hung or broke the protocol; not errors that the stage reports itself, since
// one account's odd brief must not rest a stage for all.
type breaker struct {
	most int
	rest time.Duration

	mu      sync.Mutex
	crashes int
	until   time.Time
}

// allow answers the end of the rest, or zero if a call may go on. After a rest
// one call is let through, and decides.
func (b *breaker) allow(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.until) {
		return b.until
	}
	if b.crashes >= b.most {
		b.until = now.Add(b.rest)
	}
	return time.Time{}
}

// resting is allow without letting a call through.
func (b *breaker) resting(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.until) {
		return b.until
	}
	return time.Time{}
}

func (b *breaker) crashed(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.crashes++; b.crashes >= b.most {
		b.until = now.Add(b.rest)
	}
}

func (b *breaker) worked() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.crashes, b.until = 0, time.Time{}
}

func (b *breaker) count() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strconv.Itoa(b.crashes) + " times"
}

// maxSlots is the most calls at once that a stage can ask to be held to.
const maxSlots = 1000

// slots hold back calls of a stage that wants only so many at once. Waiting calls are let
// in by order of arrival.
type slots struct {
	once sync.Once
	free chan struct{}
}

// enter waits for a slot among at most calls; 0 is any number. The caller leaves.
func (t *slots) enter(ctx context.Context, calls int) (leave func(), err error) {
	if calls <= 0 {
		return func() {}, nil
	}
	t.once.Do(func() { t.free = make(chan struct{}, calls) })
	select {
	case t.free <- struct{}{}:
		return func() { <-t.free }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
