package billing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/store"
)

// endKind is the job that ends a subscription which another one has replaced.
const endKind = "billing.end"

// endAttempts outlast a day of a provider that does not answer.
const endAttempts = 20

// ending is what the job gets.
type ending struct {
	Subscription string `json:"subscription"`
}

// Ender returns the worker that ends replaced subscriptions.
func Ender(s *Service) store.Worker {
	return store.Worker{
		Kind: endKind, Timeout: time.Minute, Concurrency: 1,
		Work: func(ctx context.Context, args json.RawMessage) error {
			var order ending
			if err := json.Unmarshal(args, &order); err != nil {
				return store.Cancel(fmt.Errorf("read the arguments: %w", err))
			}
			if s.remote == nil {
				return store.Cancel(fmt.Errorf("end subscription %s: its provider is not configured", order.Subscription))
			}
			return s.remote.End(ctx, order.Subscription)
		},
	}
}

// Sweeper returns the room's housekeeping.
func Sweeper(s *Service) store.Periodic {
	return store.Periodic{Kind: "billing.sweep", Every: 6 * time.Hour, Run: s.Sweep}
}

// Reconciler returns what finds lost notices.
func Reconciler(s *Service) store.Periodic {
	return store.Periodic{Kind: "billing.reconcile", Every: s.cfg.ReconcileEvery, Run: s.Reconcile}
}
