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

// tab is what one call of the agent runs up, from its fee to its answer. It is a
// row, so that whoever finds it after its process was lost knows what to give back
// and what to take:
//
//	the fee is taken                     with the row, in one transaction
//	a program's seconds are held         in the row, one as each starts
//	a program has ended                  its seconds become one entry
//	the call is answered, or has failed  the row goes, the fee stays or is returned
//
// Whoever changes the row shows that the call is alive. One that nobody was heard
// of is closed by [Service.Rescue]; its process, if it lives after all, finds no
// row then and has no answer to give.
type tab struct {
	service     *Service
	account, id int64
}

// tabRow is what the row says.
type tabRow struct {
	ID, Account, Fee, Held int64
	Runs                   int
	Ran                    bool
}

var (
	errLost      = errors.New("the call was given up and its fee returned")
	errUnsettled = errors.New("settle a program")
)

// open takes the fee.
func (s *Service) open(ctx context.Context, account int64) (*tab, error) {
	t := &tab{service: s, account: account, id: s.db.NewID()}
	fee := s.config.Agent.Fee
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := s.credits.Spend(ctx, tx, account, fee, feeReference(t.id), reasonFee); err != nil {
			return err
		}
		return insertTab(ctx, tx, tabRow{ID: t.id, Account: account, Fee: fee}, s.now())
	})
	if err != nil {
		return nil, fmt.Errorf("take the fee: %w", err)
	}
	return t, nil
}

func feeReference(id int64) string { return "agent:" + strconv.FormatInt(id, 10) }

// runReference names the entry of the row's present program.
func (r tabRow) runReference() string {
	return "run:" + strconv.FormatInt(r.ID, 10) + ":" + strconv.Itoa(r.Runs)
}

// change has do work on the row, which nobody else changes meanwhile.
func (t *tab) change(ctx context.Context, do func(ctx context.Context, tx *store.Tx, row tabRow) error) error {
	return t.service.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		row, err := lockTab(ctx, tx, t.id, t.service.now())
		if err != nil {
			return err
		}
		return do(ctx, tx, row)
	})
}

// hold holds one more second; the first one begins a program.
func (t *tab) hold(ctx context.Context, first bool) error {
	return t.change(ctx, func(ctx context.Context, tx *store.Tx, row tabRow) error {
		if err := t.service.holds.Hold(ctx, tx, t.account, 1); err != nil {
			return err
		}
		if first {
			row.Runs, row.Ran = row.Runs+1, false
		}
		row.Held++
		return updateTab(ctx, tx, row)
	})
}

// stepped says that the program takes its first step: from now on it is paid.
func (t *tab) stepped(ctx context.Context) error {
	return t.change(ctx, func(ctx context.Context, tx *store.Tx, row tabRow) error {
		row.Ran = true
		return updateTab(ctx, tx, row)
	})
}

// finish pays for the seconds of a program that ran, and lets go of those of one
// that did not. It answers how many were paid.
func (t *tab) finish(ctx context.Context, ran bool) (paid int64, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err = t.change(ctx, func(ctx context.Context, tx *store.Tx, row tabRow) error {
		row.Ran, paid = row.Ran && ran, 0
		if row.Ran {
			paid = row.Held
		}
		if err := t.service.settle(ctx, tx, row); err != nil {
			return err
		}
		row.Held, row.Ran = 0, false
		return updateTab(ctx, tx, row)
	})
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errUnsettled, err)
	}
	return paid, nil
}

// settle turns what is held into an entry, or lets go of it.
func (s *Service) settle(ctx context.Context, tx *store.Tx, row tabRow) error {
	switch {
	case row.Held == 0:
		return nil
	case row.Ran:
		return s.holds.Pay(ctx, tx, row.Account, row.Held, row.runReference(), reasonRun)
	default:
		return s.holds.Release(ctx, tx, row.Account, row.Held, row.runReference())
	}
}

// close ends the call. It is the last that is done before the answer goes out.
func (t *tab) close(ctx context.Context, answered bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := t.change(ctx, func(ctx context.Context, tx *store.Tx, row tabRow) error {
		return t.service.strike(ctx, tx, row, answered)
	})
	if err != nil {
		return fmt.Errorf("close a call: %w", err)
	}
	return nil
}

// strike settles everything and deletes the row.
func (s *Service) strike(ctx context.Context, tx *store.Tx, row tabRow, answered bool) error {
	if err := s.settle(ctx, tx, row); err != nil {
		return err
	}
	if !answered {
		if err := s.credits.Return(ctx, tx, row.Account, row.Fee, feeReference(row.ID)+":return"); err != nil {
			return err
		}
	}
	return deleteTab(ctx, tx, row.ID)
}

// keep shows that the call is alive, until stop, which waits. The context that it
// returns ends where the call was given up by others.
func (t *tab) keep(ctx context.Context) (alive context.Context, stop func()) {
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
			err := t.change(alive, func(context.Context, *store.Tx, tabRow) error { return nil })
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

// beats are how often a call shows that it is alive, before it is taken for lost.
const beats = 5

// Rescue closes the calls, of all accounts, whose process is lost: what ran is
// paid, and the fee returned. Each is closed once, whoever looks.
func (s *Service) Rescue(ctx context.Context) error {
	since := s.now().Add(-s.config.Agent.Stale)
	var faults []error
	for after := int64(0); ; {
		lost, err := s.lostTabs(ctx, since, after)
		if err != nil {
			return errors.Join(append(faults, fmt.Errorf("find lost calls: %w", err))...)
		}
		for _, t := range lost {
			after = t.id
			err := s.db.Write(viewer.As(ctx, t.account), func(ctx context.Context, tx *store.Tx) error {
				row, err := lockLostTab(ctx, tx, t.id, since, s.now())
				if errors.Is(err, errLost) {
					return nil // somebody was faster, or it lives
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
