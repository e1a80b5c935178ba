package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const (
	// reconcileBatch bounds what one run asks.
	reconcileBatch = 200
	// reversalWindow is how far back lost events of refunds are looked for.
	reversalWindow = 3 * 24 * time.Hour
	// patience is how many questions in a row may go unanswered before a run takes
	// the provider for down.
	patience = 3
)

// Synced says what a reconciliation did. Unknown are subscriptions that the
// provider never heard of; they stay as they are.
type Synced struct{ Checked, Changed, Unknown int }

// reconcileAll asks the provider about what it has long said nothing of: open
// checkouts, paid subscriptions, and money that was given back. So a lost event
// costs minutes, and no money. What fails by itself holds up nothing else.
func (s *Updates) reconcileAll(ctx context.Context) error {
	if s.remote == nil {
		return nil
	}
	ctx = audit.As(viewer.System(ctx), audit.Payment)
	open, err := s.checkouts.waiting(ctx, s.sales.now().Add(-s.cfg.ReconcileAfter), reconcileBatch)
	if err != nil {
		return err
	}
	var run asking
	for _, found := range open {
		if !run.goesOn(ctx) {
			break
		}
		run.note("checkout", found.id, s.reconcile(ctx, found))
	}
	stale, err := s.subscriptions.stale(ctx, s.sales.now().Add(-s.cfg.SyncAfter), 0, reconcileBatch)
	if err != nil {
		return errors.Join(run.err(), err)
	}
	s.sync(ctx, stale, &run)
	if run.goesOn(ctx) {
		run.note("refunds and disputes", "", s.reconcileReversals(ctx, &run))
	}
	return run.err()
}

// asking is a row of questions to the provider. One that is refused fails alone.
type asking struct {
	faults []error
	silent int // in a row
}

// goesOn is false once the provider is taken for down.
func (a *asking) goesOn(ctx context.Context) bool { return a.silent < patience && ctx.Err() == nil }

func (a *asking) note(what string, which any, err error) {
	switch {
	case err == nil, errors.Is(err, errRefused):
		a.silent = 0
	default:
		a.silent++
	}
	if err != nil {
		a.faults = append(a.faults, fmt.Errorf("reconcile %s %v: %w", what, which, err))
	}
}

func (a *asking) err() error { return errors.Join(a.faults...) }

// reconcile asks about a checkout. One that cannot be asked about goes to the end
// of the queue.
func (s *Updates) reconcile(ctx context.Context, found checkout) error {
	change, failed := s.learnCheckout(ctx, found)
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := s.checkouts.touch(ctx, tx, found.id, s.sales.now()); err != nil || change == nil {
			return err
		}
		return change(ctx, tx)
	})
	return errors.Join(failed, err)
}

// reconcileReversals applies what was given back without a event.
func (s *Updates) reconcileReversals(ctx context.Context, run *asking) error {
	reversals, err := s.remote.Reversals(ctx, s.sales.now().Add(-reversalWindow))
	if err != nil {
		return upstream(err)
	}
	for _, one := range reversals {
		if !run.goesOn(ctx) {
			return nil
		}
		found, ok, err := s.checkouts.byPayment(ctx, one.Payment)
		if err != nil {
			return err
		}
		if ok && found.refunded >= one.Refunded && found.disputed >= one.Disputed {
			continue
		}
		change, err := s.learnReversal(ctx, one.Charge)
		if err == nil && change != nil {
			err = s.db.Write(ctx, change)
		}
		run.note("charge", one.Charge, err)
	}
	return nil
}

// SyncAll asks the provider about every subscription that has not ended.
func (s *Updates) SyncAll(ctx context.Context) (total Synced, err error) {
	if s.remote == nil {
		return total, errors.New("the test checkout renews nothing; set a Stripe secret key")
	}
	ctx = audit.As(viewer.System(ctx), audit.Payment)
	var run asking
	for after := int64(0); run.goesOn(ctx); {
		batch, err := s.subscriptions.stale(ctx, s.sales.now().Add(time.Minute), after, reconcileBatch)
		if err != nil || len(batch) == 0 {
			return total, errors.Join(run.err(), err)
		}
		done := s.sync(ctx, batch, &run)
		total.Checked += done.Checked
		total.Changed += done.Changed
		total.Unknown += done.Unknown
		after = batch[len(batch)-1].id
	}
	return total, errors.Join(run.err(), ctx.Err())
}

func (s *Updates) sync(ctx context.Context, batch []staleSubscription, run *asking) (done Synced) {
	for _, one := range batch {
		if !run.goesOn(ctx) {
			return done
		}
		known, changed, err := s.syncOne(ctx, one.external)
		run.note("subscription", one.external, err)
		switch {
		case err != nil:
			continue
		case !known:
			done.Unknown++
		case changed:
			done.Changed++
		}
		done.Checked++
	}
	return done
}

// syncOne takes the provider's word for a subscription. One that it says nothing
// of is not asked about again for a while.
func (s *Updates) syncOne(ctx context.Context, external string) (known, changed bool, err error) {
	asked := s.db.NewID()
	state, known, failed := s.remote.Subscription(ctx, external)
	if failed != nil && !errors.Is(failed, errRefused) {
		return false, false, upstream(failed)
	}
	if failed == nil && !known {
		s.strange(ctx, external)
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if !known {
			return s.subscriptions.seen(ctx, tx, external, asked)
		}
		changed, err = s.subscriptions.follow(ctx, tx, state, asked)
		return err
	})
	return known, changed, errors.Join(failed, err)
}

// SetUp makes what the provider has to know of the plans, and says what it did.
func (s *Service) SetUp(ctx context.Context) ([]string, error) {
	provider, ok := s.provider.(interface {
		Setup(ctx context.Context) ([]string, error)
	})
	if !ok {
		return nil, errors.New("the test checkout needs no setup; set a Stripe secret key")
	}
	return provider.Setup(ctx)
}
