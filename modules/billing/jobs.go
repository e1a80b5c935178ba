package billing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// endKind is the job that ends a subscription which another one has replaced.
const endKind = "billing.end"

const (
	// endWithin is how long the provider may be away, or its key be wrong: until the
	// older subscription is ended, the customer pays for both.
	endWithin = 7 * 24 * time.Hour
	// keyWait is how long a process without a key leaves the job to others.
	keyWait = time.Hour
)

// ending is what the job gets.
type ending struct {
	Subscription string `json:"subscription"`
}

// Ender returns the worker that ends replaced subscriptions.
func Ender(s *Service) jobs.Worker {
	return jobs.Worker{
		Kind: endKind, Timeout: time.Minute, Concurrency: 1,
		Work: func(ctx context.Context, args json.RawMessage) error {
			var order ending
			if err := json.Unmarshal(args, &order); err != nil {
				return jobs.Cancel(fmt.Errorf("read the arguments: %w", err))
			}
			if s.remote == nil {
				s.log.WarnContext(ctx, "a replaced subscription cannot be ended without the provider's key", "subscription", order.Subscription)
				return jobs.Snooze(keyWait)
			}
			return s.remote.End(ctx, order.Subscription)
		},
	}
}

// Sweeper returns the module's housekeeping.
func Sweeper(s *Service) jobs.Periodic {
	return jobs.Periodic{Kind: "billing.sweep", Every: 6 * time.Hour, Run: s.Sweep}
}

// Reconciler returns what finds lost events.
func Reconciler(s *Service) jobs.Periodic {
	return jobs.Periodic{Kind: "billing.reconcile", Every: s.cfg.ReconcileEvery, Run: s.Updates.reconcileAll}
}

// Close ends what an account pays for, at the provider too: the account is to be deleted.
// Closing it again changes nothing.
func (s *Service) Close(ctx context.Context, accountID int64) error {
	sub, err := s.subscriptions.Of(ctx, accountID)
	if err != nil || !sub.renewing() {
		return err
	}
	if s.remote == nil {
		return fmt.Errorf("subscription %s cannot be ended without the provider's key", sub.External)
	}
	if err := s.remote.End(ctx, sub.External); err != nil {
		return fmt.Errorf("end subscription %s: %w", sub.External, err)
	}
	return nil
}
