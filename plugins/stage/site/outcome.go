package site

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// Scope is how much a Stop ends.
type Scope int

// The scopes.
const (
	// Seed ends the seed at hand.
	Seed Scope = iota
	// Kind ends all handles, or all terms.
	Kind
	// All ends the call.
	All
)

// Stop is why nothing more is to be had.
type Stop struct {
	Status stage.Status
	// RetryAt is when another try makes sense; zero if unknown.
	RetryAt time.Time
	Detail  string
	Scope   Scope
}

func (s *Stop) Error() string { return s.Detail }

// Outcome of a seed that brought so many videos before the stop: what was brought
// is kept, and the seed is then partial, whatever ended it.
func (s *Stop) Outcome(seed stage.Outcome) stage.Outcome {
	seed.Status, seed.Detail = s.Status, s.Detail
	if seed.Returned > 0 {
		seed.Status = stage.Partial
	}
	if !s.RetryAt.IsZero() {
		at := s.RetryAt.UnixMilli()
		seed.RetryAt = &at
	}
	return seed
}

// OverQuota makes a Stop of a quota that the host did not grant; other errors stay.
func OverQuota(err error, scope Scope) error {
	var fault *stage.Error
	if errors.As(err, &fault) && fault.Fault == stage.FaultQuota {
		return &Stop{Status: stage.Quota, RetryAt: fault.RetryAt, Detail: fault.Message, Scope: scope}
	}
	return err
}

// Asked is how many videos a seed asks for.
func Asked(seed stage.Seed, fallback int) int {
	if seed.Limit > 0 {
		return seed.Limit
	}
	return fallback
}

// Each works on the seeds of a platform, handles first, and accounts for every
// one. Work answers how many videos a seed brought, with a *Stop where it ended
// early. A seed that is listed twice is asked for once. The call ends a little
// before its deadline, so that its account still arrives. An error is neither a
// Stop nor about time: then the stage is broken.
func Each(ctx context.Context, platform string, seeds []stage.Seed, fallback int, work func(context.Context, stage.Seed) (int, error)) ([]stage.Outcome, error) {
	inner, cancel := Early(ctx)
	defer cancel()
	stops := map[bool]*Stop{} // by whether it is about handles
	known := map[string]stage.Outcome{}
	var outcomes []stage.Outcome
	for _, seed := range inOrder(platform, seeds) {
		o, again := known[name(seed)]
		if !again {
			o = stage.Outcome{Platform: platform, Status: stage.OK, Asked: Asked(seed, fallback)}
			stop := stops[seed.Handle != ""]
			if stop == nil {
				var err error
				o.Returned, err = work(inner, seed)
				if stop = Stopped(ctx, inner, err); stop == nil && err != nil {
					return outcomes, err
				}
			}
			o = settled(o, stop)
			known[name(seed)] = o
			if stop != nil && stop.Scope >= Kind {
				stops[seed.Handle != ""] = stop
			}
			if stop != nil && stop.Scope == All {
				stops[seed.Handle == ""] = stop
			}
		}
		o.Seed = seed.Text()
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// name is equal for seeds that ask for the same.
func name(seed stage.Seed) string {
	if seed.Handle != "" {
		return "@" + strings.ToLower(strings.TrimLeft(seed.Handle, "@"))
	}
	return strings.ToLower(seed.Term)
}

func settled(o stage.Outcome, stop *Stop) stage.Outcome {
	switch {
	case stop != nil:
		return stop.Outcome(o)
	case o.Returned == 0:
		o.Status = stage.Empty
	}
	return o
}

// Stopped is the Stop that err is or means, inner being Early's context of outer;
// nil for an error that is the stage's own.
func Stopped(outer, inner context.Context, err error) *Stop {
	var stop *Stop
	switch {
	case err == nil, outer.Err() != nil:
		return nil
	case inner.Err() != nil:
		return &Stop{Status: stage.Partial, Detail: "the time of the call was up", Scope: All}
	case errors.Is(err, stage.ErrEnough):
		return &Stop{Status: stage.Partial, Detail: "the call may give no more videos", Scope: All}
	case errors.As(err, &stop):
		return stop
	}
	return nil
}

// Early is the context with a deadline that leaves time for the account.
func Early(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(10*time.Second, time.Until(deadline)/10)))
}

// inOrder are the seeds of a platform: own and competitors' handles before
// others, so that they do not go without when a quota ends.
func inOrder(platform string, seeds []stage.Seed) []stage.Seed {
	var mine []stage.Seed
	for _, seed := range seeds {
		if seed.Text() != "" && (seed.Platform == "" || seed.Platform == platform) {
			mine = append(mine, seed)
		}
	}
	rank := func(s stage.Seed) int {
		if s.Handle != "" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(mine, func(a, b stage.Seed) int { return cmp.Compare(rank(a), rank(b)) })
	return mine
}
