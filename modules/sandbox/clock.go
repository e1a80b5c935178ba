package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/files"
)

// Broke is the failure of a program that was ended for lack of credits.
const Broke = "credits"

// errNoPlace is the end of the time before a program had a place.
var errNoPlace = apierr.New(apierr.RateLimited, "No place for a program came free in time; nothing was charged. Try again later.")

var errSpent = errors.New("what a goal's programs may cost is used up")

// metered runs a program for 1 credit per started second. It holds the credit as the
// second starts, so that no second runs unpaid; at the end all of them are one entry. A
// program that could not be run at all costs nothing. It returns the seconds paid.
func (s *Service) metered(ctx context.Context, t Meter, most int64, program Program) (Result, int64, error) {
	if err := t.Hold(ctx, true); err != nil {
		return Result{}, 0, fmt.Errorf("hold the first second: %w", err)
	}
	m := &clock{meter: t, most: most, second: s.second, ended: make(chan struct{})}
	running, stop := context.WithCancelCause(ctx)
	result, refusal, err := s.withFolder(ctx, func(folder func(context.Context) (string, error)) (Result, error) {
		defer m.end()
		return s.programs.Run(running, folder, program, func() { m.start(ctx, stop) })
	})
	stop(nil)
	ended := !errors.Is(err, errUnstored) && (errors.Is(err, errSpent) || apierr.Is(err, apierr.PaymentRequired) || ctx.Err() != nil)
	paid, failed := t.Settle(ctx, err == nil || ended)
	switch {
	case failed != nil:
		return Result{}, 0, errors.Join(errUnsettled, failed, err)
	case err == nil:
	case !ended:
		return Result{}, 0, fmt.Errorf("run a program: %w", err)
	case ctx.Err() != nil && paid == 0:
		return Result{}, 0, errNoPlace
	case ctx.Err() != nil:
		result = Result{Failure: "time", Message: "The time of the goal was up."}
	default:
		result = Result{Failure: Broke, Message: fmt.Sprintf("There were no credits for more than %d s.", paid)}
	}
	return result.unstored(refusal), paid, nil
}

var (
	errUnstored  = errors.New("store what a program wrote")
	errUnsettled = errors.New("the cost of a program is not settled")
)

// withFolder lends the caller's files to run, and stores what the program changed.
// refusal is why the limits did not allow that, or nil; every other reason is an error.
func (s *Service) withFolder(ctx context.Context, run func(folder func(context.Context) (string, error)) (Result, error)) (result Result, refusal *files.Error, err error) {
	var borrowed loan
	result, err = run(func(ctx context.Context) (path string, err error) {
		if borrowed, err = s.files.lend(ctx); err != nil {
			return "", err
		}
		return borrowed.path(), nil
	})
	if borrowed == nil {
		return result, nil, err
	}
	// The time of the goal, or the caller, may be gone by now.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	failed := borrowed.giveBack(ctx)
	if failed != nil && !errors.As(failed, &refusal) {
		err = errors.Join(fmt.Errorf("%w: %w", errUnstored, failed), err)
	}
	return result, refusal, err
}

// clock holds a credit for each second that a program starts.
type clock struct {
	meter  Meter
	most   int64
	second time.Duration

	once    sync.Once
	ended   chan struct{}
	running sync.WaitGroup
}

// start is called right before the program's first step; stop ends the program.
func (m *clock) start(ctx context.Context, stop context.CancelCauseFunc) {
	m.once.Do(func() {
		if err := m.meter.Started(ctx); err != nil {
			stop(err)
			return
		}
		m.running.Go(func() {
			if err := m.run(ctx); err != nil {
				stop(err)
			}
		})
	})
}

// run returns when the program has ended, or may not begin another second.
func (m *clock) run(ctx context.Context) error {
	seconds := time.NewTicker(m.second)
	defer seconds.Stop()
	for held := int64(1); ; held++ {
		select {
		case <-m.ended:
			return nil
		case <-seconds.C:
		}
		if held >= m.most {
			return errSpent
		}
		if err := m.meter.Hold(ctx, false); err != nil {
			return err
		}
	}
}

func (m *clock) end() {
	close(m.ended)
	m.running.Wait()
}
