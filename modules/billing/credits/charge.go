package credits

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// What is charged.
const (
	Agent = "agent"
	Brief = "brief"
)

const (
	// stale is how long a charge has no heartbeat before its process counts as lost.
	stale = 15 * time.Second
	// beats is the number of heartbeats in that time.
	beats = 5
	// patience bounds the time to settle, which goes on after the end of the call.
	patience = 10 * time.Second
	// retry is the first pause between two tries to close a charge, and mostRetry the longest.
	retry, mostRetry = 20 * time.Millisecond, 320 * time.Millisecond
)

// ErrClosed is the error of a charge that another process has closed, since its own
// counted as lost. The fee was returned.
var ErrClosed = errors.New("the call was given up and its fee returned")

// Charge is the cost of one call, from its fee to its answer. It is a row, so that a job
// settles what a lost process leaves:
//
//	a call begins     the fee is taken and the row inserted, in one transaction
//	a second starts   its credit is held, in the row
//	a program ends    its seconds become one entry
//	the call ends     the row is deleted; the fee stays if the call was answered, and is
//	                  returned if not, in the same transaction
//
// Each change of the row is a heartbeat. [Service.SettleLost] closes charges without one;
// the process of such a call, if it still runs, finds no row and gives no answer.
type Charge struct {
	service *Service
	row     charged // as it was inserted
	stop    func()  // ends the heartbeats
}

// charged is the row of a Charge.
type charged struct {
	ID, Account int64
	Kind        string
	Fee, Held   int64
	Runs        int
	Ran         bool
}

func (r charged) feeReference() string { return r.Kind + ":" + strconv.FormatInt(r.ID, 10) }

func (r charged) returnReference() string { return r.feeReference() + ":return" }

// runReference names the entry of the row's present program.
func (r charged) runReference() string {
	return "run:" + strconv.FormatInt(r.ID, 10) + ":" + strconv.Itoa(r.Runs)
}

// Open takes the fee, above 0, of a call of the kind Agent or Brief, or fails with
// PaymentRequired. The returned context ends, with ErrClosed, if another process closes
// the charge. The caller calls Close at the end.
func (s *Service) Open(ctx context.Context, account, fee int64, kind string) (alive context.Context, c *Charge, err error) {
	row := charged{ID: s.db.NewID(), Account: account, Kind: kind, Fee: fee}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := s.Spend(ctx, tx, account, fee, row.feeReference(), Fee); err != nil {
			return err
		}
		return insertCharge(ctx, tx, row, s.now())
	})
	if err != nil {
		return nil, nil, fmt.Errorf("take the fee: %w", err)
	}
	c = &Charge{service: s, row: row}
	return c.beat(ctx), c, nil
}

// beat sends heartbeats until stop, which waits for the last.
func (c *Charge) beat(ctx context.Context) (alive context.Context) {
	alive, cancel := context.WithCancelCause(ctx)
	var beat sync.WaitGroup
	beat.Go(func() {
		ticker := time.NewTicker(c.service.stale / beats)
		defer ticker.Stop()
		for {
			select {
			case <-alive.Done():
				return
			case <-ticker.C:
			}
			err := c.change(alive, func(context.Context, *store.Tx, charged) error { return nil })
			if errors.Is(err, ErrClosed) {
				cancel(ErrClosed)
			}
		}
	})
	c.stop = func() {
		cancel(nil)
		beat.Wait()
	}
	return alive
}

// change runs do on the locked row.
func (c *Charge) change(ctx context.Context, do func(ctx context.Context, tx *store.Tx, row charged) error) error {
	return c.service.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		row, err := lockCharge(ctx, tx, c.row.ID, c.service.now())
		if err != nil {
			return err
		}
		return do(ctx, tx, row)
	})
}

// Hold holds one credit more, for the next second of a program; the first one begins a
// program. It fails with PaymentRequired if none is free.
func (c *Charge) Hold(ctx context.Context, first bool) error {
	return c.change(ctx, func(ctx context.Context, tx *store.Tx, row charged) error {
		if first { // a lost reply may have left what the program before it held
			if err := c.service.settle(ctx, tx, row); err != nil {
				return err
			}
			row.Runs, row.Held, row.Ran = row.Runs+1, 0, false
		}
		if err := c.service.Hold(ctx, tx, row.Account, 1); err != nil {
			return err
		}
		row.Held++
		return updateCharge(ctx, tx, row)
	})
}

// Started records the program's first step: from now on it is paid.
func (c *Charge) Started(ctx context.Context) error {
	return c.change(ctx, func(ctx context.Context, tx *store.Tx, row charged) error {
		row.Ran = true
		return updateCharge(ctx, tx, row)
	})
}

// Settle pays for the seconds of a program that ran, and releases those of one that did
// not. It returns the credits paid.
func (c *Charge) Settle(ctx context.Context, ran bool) (paid int64, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.service.patience)
	defer cancel()
	err = c.change(ctx, func(ctx context.Context, tx *store.Tx, row charged) error {
		row.Ran, paid = row.Ran && ran, 0
		if row.Ran {
			paid = row.Held
		}
		if err := c.service.settle(ctx, tx, row); err != nil {
			return err
		}
		row.Held, row.Ran = 0, false
		return updateCharge(ctx, tx, row)
	})
	if err != nil {
		return 0, fmt.Errorf("settle a program: %w", err)
	}
	return paid, nil
}

// settle turns the held credits into an entry, or releases them.
func (s *Service) settle(ctx context.Context, tx *store.Tx, row charged) error {
	switch {
	case row.Held == 0:
		return nil
	case row.Ran:
		return s.Pay(ctx, tx, row.Account, row.Held, row.runReference(), Run)
	default:
		return s.Release(ctx, tx, row.Account, row.Held, row.runReference())
	}
}

// Close ends the charge, right before the answer: the fee of an answered call stays, any
// other is returned. If an error comes back, the call must not be answered with its
// result: the fee was returned, or, where owed, a job returns it. With
// [apierr.ErrUnknown] the fee may have stayed: nothing can be said of it.
//
// A reply that was lost says nothing about the commit, so Close tries again for a while
// and looks at what the first try did.
func (c *Charge) Close(ctx context.Context, answered bool) (owed bool, err error) {
	c.stop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.service.patience)
	defer cancel()
	sent := false // a commit whose reply was lost
	for pause := retry; ; pause = min(2*pause, mostRetry) {
		err = c.change(ctx, func(ctx context.Context, tx *store.Tx, row charged) error {
			err := c.service.strike(ctx, tx, row, answered)
			sent = sent || err == nil
			return err
		})
		if errors.Is(err, ErrClosed) {
			err = c.closed(ctx, answered, sent)
		}
		if err == nil || errors.Is(err, ErrClosed) {
			return false, err
		}
		select {
		case <-time.After(pause):
			continue
		case <-ctx.Done():
		}
		if answered && sent {
			return false, fmt.Errorf("close a charge: %w: %w", apierr.ErrUnknown, err)
		}
		return true, fmt.Errorf("close a charge: %w", err)
	}
}

// closed returns what Close does of a charge whose row is gone: nil if it ended as asked,
// by a commit that was sent or by the job.
func (c *Charge) closed(ctx context.Context, answered, sent bool) error {
	if !answered {
		return nil
	}
	if !sent {
		return ErrClosed
	}
	returned, err := c.service.entries.returned(ctx, c.row)
	if err == nil && returned {
		return ErrClosed
	}
	return err
}

// strike settles everything and deletes the row.
func (s *Service) strike(ctx context.Context, tx *store.Tx, row charged, answered bool) error {
	if err := s.settle(ctx, tx, row); err != nil {
		return err
	}
	if !answered {
		if err := s.Return(ctx, tx, row.Account, row.Fee, row.returnReference()); err != nil {
			return err
		}
	}
	return deleteCharge(ctx, tx, row.ID)
}

// SettleLost closes the charges, of all accounts, whose process is lost: it pays for what
// ran and returns the fee. Each is closed once, on any number of servers.
func (s *Service) SettleLost(ctx context.Context) error {
	since := s.now().Add(-s.stale)
	var faults []error
	for after := int64(0); ; {
		lost, err := s.entries.lostCharges(ctx, since, after)
		if err != nil {
			return errors.Join(append(faults, fmt.Errorf("find lost charges: %w", err))...)
		}
		for _, row := range lost {
			after = row.ID
			err := s.db.Write(viewer.As(ctx, row.Account), func(ctx context.Context, tx *store.Tx) error {
				row, err := lockLostCharge(ctx, tx, row.ID, since, s.now())
				if errors.Is(err, ErrClosed) {
					return nil // another server was faster, or the call is alive
				}
				if err != nil {
					return err
				}
				return s.strike(ctx, tx, row, false)
			})
			if err != nil {
				faults = append(faults, fmt.Errorf("close the lost charge %d: %w", row.ID, err))
			}
		}
		if len(lost) < lostAtOnce {
			return errors.Join(faults...)
		}
	}
}
