package site

import (
	"context"
	"errors"
	"time"
)

// Clock is time as a Site sees it, so that a test need not wait.
type Clock interface {
	Now() time.Time
	// Sleep ends early with the context's cause.
	Sleep(ctx context.Context, d time.Duration) error
}

// System is the system's clock.
type System struct{}

// Now is the time.
func (System) Now() time.Time { return time.Now() }

// Sleep waits.
func (System) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ErrPatience is a wait that would take longer than the call may.
var ErrPatience = errors.New("the wait is too long for this call")

// signs is how often a wait shows that the stage is alive.
const signs = 10 * time.Second

// Wait waits, and keeps the host from taking that for a stall. It does not even
// begin a wait that is longer than what is left of the call's patience or time.
func (s *Site) Wait(ctx context.Context, d time.Duration, why string) error {
	if deadline, ok := ctx.Deadline(); ok && s.Now().Add(d).After(deadline) {
		return ErrPatience
	}
	if !s.spend(d) {
		return ErrPatience
	}
	for d > 0 {
		s.progress(why)
		step := min(d, signs)
		if err := s.options.Clock.Sleep(ctx, step); err != nil {
			return err
		}
		d -= step
	}
	return nil
}

func (s *Site) spend(d time.Duration) bool {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	if d > s.left {
		return false
	}
	s.left -= d
	return true
}

// Now is the time by the site's clock.
func (s *Site) Now() time.Time { return s.options.Clock.Now() }
