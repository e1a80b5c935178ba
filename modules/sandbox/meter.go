package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/fault"
)

// Broke is a program that was ended since nobody could pay for its next second.
const Broke = "credits"

var errSpent = errors.New("what a goal's programs may cost is used up")

// metered runs a program for 1 credit a started second. Each second is paid as
// it starts, so a run is never owed and a lost process takes nothing along; a
// second that cannot be paid is not run. What was paid for a program that could
// not be run at all is returned.
func (s *Service) metered(ctx context.Context, account, most int64, program Program) (Result, int64, error) {
	dir, err := s.dir(ctx)
	if err != nil {
		return Result{}, 0, err
	}
	if err := s.inFolder(ctx, nothing); err != nil { // it has to be there
		return Result{}, 0, err
	}
	reference := "run:" + strconv.FormatInt(s.db.NewID(), 10)
	pay := func(second int64) error {
		if second > most {
			return errSpent
		}
		return s.spend(ctx, account, 1, reference+":"+strconv.FormatInt(second, 10), reasonRun)
	}
	if err := pay(1); err != nil {
		return Result{}, 0, err
	}
	paid := int64(1)
	running, stop := context.WithCancelCause(ctx)
	var meter sync.WaitGroup
	ended := make(chan struct{})
	var once sync.Once
	started := func() {
		once.Do(func() {
			meter.Go(func() {
				seconds := time.NewTicker(s.second)
				defer seconds.Stop()
				for {
					select {
					case <-ended:
						return
					case <-seconds.C:
					}
					if err := pay(paid + 1); err != nil {
						stop(err)
						return
					}
					paid++
				}
			})
		})
	}
	result, err := s.programs.Run(running, dir, program, started)
	close(ended)
	meter.Wait()
	stop(nil)
	switch {
	case err == nil:
		return result, paid, nil
	case errors.Is(err, errSpent), fault.Is(err, fault.PaymentRequired):
		return Result{Failure: Broke, Message: fmt.Sprintf("There were no credits for more than %d s.", paid)}, paid, nil
	case ctx.Err() != nil:
		return Result{Failure: "time", Message: "The time of the goal was up."}, paid, nil
	}
	return Result{}, 0, errors.Join(fmt.Errorf("run a program: %w", err), s.giveBack(ctx, account, paid, reference+":return"))
}
