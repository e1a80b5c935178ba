package removal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// Sweep deletes, from the libraries of all tenants, what sources have not read again in the time
// that the policy gives them, and thins out old readings. It takes a short transaction of each library, the oldest readings
// first, and then another one of those where more is due. It can be stopped at any time and goes
// on where it was.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	if len(s.retention) == 0 && s.thinning.All == 0 {
		return nil
	}
	var more []int64
	var failed []error
	some := func(account int64) {
		switch done, err := s.sweepSome(viewer.As(ctx, account), now); {
		case err != nil: // others are swept
			failed = append(failed, fmt.Errorf("sweep the library of account %d: %w", account, err))
		case !done:
			more = append(more, account)
		}
	}
	err := s.everyLibrary(ctx, func(_ context.Context, account int64) error { some(account); return nil })
	failed = append(failed, err)
	for len(more) > 0 && ctx.Err() == nil {
		accounts := more
		more = nil
		for _, account := range accounts {
			some(account)
		}
	}
	return errors.Join(failed...)
}

// sweepSome is a step of the tenant's library. done is true once nothing is due.
func (s *Service) sweepSome(ctx context.Context, now time.Time) (done bool, err error) {
	done = true
	for _, r := range s.retention {
		swept, readings, end, err := s.sweeps.Sweep(ctx, r, now)
		if err != nil {
			return false, err
		}
		if done = done && end; swept+readings > 0 {
			if err := rest(ctx); err != nil {
				return false, err
			}
		}
	}
	if done {
		if err := s.deletions.ScoreNow(ctx); err != nil {
			return false, err
		}
	}
	thinned, end, err := s.sweeps.Thin(ctx, s.thinning, now)
	if err == nil && thinned > 0 {
		err = rest(ctx)
	}
	return done && end, err
}
