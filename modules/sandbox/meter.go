package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// meter counts the cost of one call of the agent, from its fee to its answer. It is a
// row, so that another process can settle the call after its process was lost:
//
//	a call begins     the fee is taken and the row inserted, in one transaction
//	a second starts   its credit is held, in the row
//	a program ends    its seconds become one entry
//	the call ends     the row is deleted; the fee stays if the call was answered,
//	                  and is returned if not
//
// Each change of the row is a heartbeat. [Service.Rescue] closes calls without one; the
// process of such a call, if it still runs, finds no row and gives no answer.
type meter struct {
	service     *Service
	account, id int64
}

// meterRow is the row of a meter.
type meterRow struct {
	ID, Account, Fee, Held int64
	Runs                   int
	Ran                    bool
}

var (
	errLost      = errors.New("the call was given up and its fee returned")
	errUnsettled = errors.New("settle a program")
)

// open takes the fee.
func (s *Service) open(ctx context.Context, account int64) (*meter, error) {
	t := &meter{service: s, account: account, id: s.db.NewID()}
	fee := s.config.Agent.Fee
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := s.credits.Spend(ctx, tx, account, fee, feeReference(t.id), reasonFee); err != nil {
			return err
		}
		return insertMeter(ctx, tx, meterRow{ID: t.id, Account: account, Fee: fee}, s.now())
	})
	if err != nil {
		return nil, fmt.Errorf("take the fee: %w", err)
	}
	return t, nil
}

func feeReference(id int64) string { return "agent:" + strconv.FormatInt(id, 10) }

// runReference names the entry of the row's present program.
func (r meterRow) runReference() string {
	return "run:" + strconv.FormatInt(r.ID, 10) + ":" + strconv.Itoa(r.Runs)
}

// change runs do on the locked row.
func (t *meter) change(ctx context.Context, do func(ctx context.Context, tx *store.Tx, row meterRow) error) error {
	return t.service.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		row, err := lockMeter(ctx, tx, t.id, t.service.now())
		if err != nil {
			return err
		}
		return do(ctx, tx, row)
	})
}

// hold holds one more second; the first one begins a program.
func (t *meter) hold(ctx context.Context, first bool) error {
	return t.change(ctx, func(ctx context.Context, tx *store.Tx, row meterRow) error {
		if err := t.service.holds.Hold(ctx, tx, t.account, 1); err != nil {
			return err
		}
		if first {
			row.Runs, row.Ran = row.Runs+1, false
		}
		row.Held++
		return updateMeter(ctx, tx, row)
	})
}

// stepped records the program's first step: from now on it is paid.
func (t *meter) stepped(ctx context.Context) error {
	return t.change(ctx, func(ctx context.Context, tx *store.Tx, row meterRow) error {
		row.Ran = true
		return updateMeter(ctx, tx, row)
	})
}

// finish pays for the seconds of a program that ran, and releases those of one that did
// not. It returns how many were paid.
func (t *meter) finish(ctx context.Context, ran bool) (paid int64, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err = t.change(ctx, func(ctx context.Context, tx *store.Tx, row meterRow) error {
		row.Ran, paid = row.Ran && ran, 0
		if row.Ran {
			paid = row.Held
		}
		if err := t.service.settle(ctx, tx, row); err != nil {
			return err
		}
		row.Held, row.Ran = 0, false
		return updateMeter(ctx, tx, row)
	})
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errUnsettled, err)
	}
	return paid, nil
}

// settle turns the held credits into an entry, or releases them.
func (s *Service) settle(ctx context.Context, tx *store.Tx, row meterRow) error {
	switch {
	case row.Held == 0:
		return nil
	case row.Ran:
		return s.holds.Pay(ctx, tx, row.Account, row.Held, row.runReference(), reasonRun)
	default:
		return s.holds.Release(ctx, tx, row.Account, row.Held, row.runReference())
	}
}

// close ends the call, right before the answer is sent.
func (t *meter) close(ctx context.Context, answered bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := t.change(ctx, func(ctx context.Context, tx *store.Tx, row meterRow) error {
		return t.service.strike(ctx, tx, row, answered)
	})
	if err != nil {
		return fmt.Errorf("close a call: %w", err)
	}
	return nil
}

// strike settles everything and deletes the row.
func (s *Service) strike(ctx context.Context, tx *store.Tx, row meterRow, answered bool) error {
	if err := s.settle(ctx, tx, row); err != nil {
		return err
	}
	if !answered {
		if err := s.credits.Return(ctx, tx, row.Account, row.Fee, feeReference(row.ID)+":return"); err != nil {
			return err
		}
	}
	return deleteMeter(ctx, tx, row.ID)
}

// keep sends heartbeats until stop, which waits for the last. The returned context ends
// when another process has closed the call.
func (t *meter) keep(ctx context.Context) (alive context.Context, stop func()) {
	alive, cancel := context.WithCancelCause(ctx)
	var beat sync.WaitGroup
	beat.Go(func() {
		ticker := time.NewTicker(t.service.config.Agent.Stale / beats)
		defer ticker.Stop()
		for {
			select {
			case <-alive.Done():
				return
			case <-ticker.C:
			}
			err := t.change(alive, func(context.Context, *store.Tx, meterRow) error { return nil })
			if errors.Is(err, errLost) {
				cancel(errLost)
			}
		}
	})
	return alive, func() {
		cancel(nil)
		beat.Wait()
	}
}

// beats is the number of heartbeats before a call without one counts as lost.
const beats = 5

// Rescue closes the calls, of all accounts, whose process is lost: it pays for
// what ran and returns the fee. Each call is closed once, on any number of servers.
func (s *Service) Rescue(ctx context.Context) error {
	since := s.now().Add(-s.config.Agent.Stale)
	var faults []error
	for after := int64(0); ; {
		lost, err := s.lostMeters(ctx, since, after)
		if err != nil {
			return errors.Join(append(faults, fmt.Errorf("find lost calls: %w", err))...)
		}
		for _, t := range lost {
			after = t.id
			err := s.db.Write(viewer.As(ctx, t.account), func(ctx context.Context, tx *store.Tx) error {
				row, err := lockLostMeter(ctx, tx, t.id, since, s.now())
				if errors.Is(err, errLost) {
					return nil // another server was faster, or the call is alive
				}
				if err != nil {
					return err
				}
				return s.strike(ctx, tx, row, false)
			})
			if err != nil {
				faults = append(faults, fmt.Errorf("close the lost call %d: %w", t.id, err))
			}
		}
		if len(lost) < lostAtOnce {
			return errors.Join(faults...)
		}
	}
}
