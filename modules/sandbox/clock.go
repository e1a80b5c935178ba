package sandbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
)

// Broke is the failure of a program that was ended for lack of credits.
const Broke = "credits"

var errSpent = errors.New("what a goal's programs may cost is used up")

// metered runs a program for 1 credit per started second. It holds the credit as the
// second starts, so that no second runs unpaid; at the end all of them are one entry. A
// program that could not be run at all costs nothing. It returns the seconds paid.
func (s *Service) metered(ctx context.Context, t *meter, most int64, program Program) (Result, int64, error) {
	dir, err := s.dir(ctx)
	if err != nil {
		return Result{}, 0, err
	}
	if err := s.inFolder(ctx, nothing); err != nil { // it has to be there
		return Result{}, 0, err
	}
	if err := t.hold(ctx, true); err != nil {
		return Result{}, 0, fmt.Errorf("hold the first second: %w", err)
	}
	m := &clock{meter: t, most: most, second: s.second, ended: make(chan struct{})}
	running, stop := context.WithCancelCause(ctx)
	result, err := s.programs.Run(running, dir, program, func() { m.start(ctx, stop) })
	m.end()
	stop(nil)
	ended := errors.Is(err, errSpent) || apierr.Is(err, apierr.PaymentRequired) || ctx.Err() != nil
	paid, failed := t.finish(ctx, err == nil || ended)
	switch {
	case failed != nil:
		return Result{}, 0, errors.Join(failed, err)
	case err == nil:
		return result, paid, nil
	case ctx.Err() != nil:
		return Result{Failure: "time", Message: "The time of the goal was up."}, paid, nil
	case ended:
		return Result{Failure: Broke, Message: fmt.Sprintf("There were no credits for more than %d s.", paid)}, paid, nil
	}
	return Result{}, 0, fmt.Errorf("run a program: %w", err)
}

// clock holds a credit for each second that a program starts.
type clock struct {
	meter  *meter
	most   int64
	second time.Duration

	once    sync.Once
	ended   chan struct{}
	running sync.WaitGroup
}

// start is called right before the program's first step; stop ends the program.
func (m *clock) start(ctx context.Context, stop context.CancelCauseFunc) {
	m.once.Do(func() {
		if err := m.meter.stepped(ctx); err != nil {
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
		if err := m.meter.hold(ctx, false); err != nil {
			return err
		}
	}
}

func (m *clock) end() {
	close(m.ended)
	m.running.Wait()
}
