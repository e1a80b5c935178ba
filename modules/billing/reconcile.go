package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/audit"
	"github.com/scrollery/scrollery/modules/store"
	"github.com/scrollery/scrollery/modules/viewer"
)

const (
	// reconcileAge is how long notices get before the provider is asked without one.
	reconcileAge = 10 * time.Minute
	// syncAge is how long a subscription is believed without a notice.
	syncAge = 6 * time.Hour
	// reconcileBatch bounds what one run asks.
	reconcileBatch = 200
)

// Synced says what a reconciliation did.
type Synced struct{ Checked, Changed int }

// Reconcile asks the provider about what it has long said nothing of: open
// checkouts and paid subscriptions. So a lost notice costs minutes, and no money.
func (s *Service) Reconcile(ctx context.Context) error {
	if s.remote == nil {
		return nil
	}
	ctx = audit.As(viewer.System(ctx), audit.Payment)
	open, err := s.checkouts.waiting(ctx, s.now().Add(-reconcileAge), reconcileBatch)
	if err != nil {
		return err
	}
	for _, found := range open {
		if err := s.reconcile(ctx, found); err != nil {
			return fmt.Errorf("reconcile checkout %d: %w", found.id, err)
		}
	}
	stale, err := s.subscriptions.stale(ctx, s.now().Add(-syncAge), 0, reconcileBatch)
	if err != nil {
		return err
	}
	_, err = s.sync(ctx, stale)
	return err
}

func (s *Service) reconcile(ctx context.Context, found checkout) error {
	change, err := s.learnCheckout(ctx, found)
	if err != nil || change == nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := s.checkouts.touch(ctx, tx, found.id, s.now()); err != nil {
			return err
		}
		return change(ctx, tx)
	})
}

// SyncAll asks the provider about every subscription that has not ended.
func (s *Service) SyncAll(ctx context.Context) (Synced, error) {
	var total Synced
	if s.remote == nil {
		return total, errors.New("the test checkout renews nothing; set a Stripe secret key")
	}
	ctx = audit.As(viewer.System(ctx), audit.Payment)
	for after := int64(0); ; {
		batch, err := s.subscriptions.stale(ctx, s.now().Add(time.Minute), after, reconcileBatch)
		if err != nil || len(batch) == 0 {
			return total, err
		}
		done, err := s.sync(ctx, batch)
		total.Checked += done.Checked
		total.Changed += done.Changed
		if err != nil {
			return total, err
		}
		after = batch[len(batch)-1].id
	}
}

func (s *Service) sync(ctx context.Context, batch []staleSubscription) (done Synced, err error) {
	for _, one := range batch {
		asked := s.db.NewID()
		standing, ok, err := s.remote.Subscription(ctx, one.external)
		if err != nil {
			return done, upstream(err)
		}
		if !ok {
			standing = Standing{ID: one.external, Status: StatusCancelled}
		}
		var changed bool
		err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			changed, err = s.subscriptions.follow(ctx, tx, standing, asked)
			return err
		})
		if err != nil {
			return done, err
		}
		done.Checked++
		if changed {
			done.Changed++
		}
	}
	return done, nil
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
