package library

import (
	"context"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// nicheJob ends the scoring of a niche that is too large for a scroll to wait for.
const nicheJob = "library.niches"

// Workers returns the work of the module.
func (s *Service) Workers() []store.Worker {
	return []store.Worker{{Kind: nicheJob, Timeout: time.Hour, Work: s.finishNiches}}
}

// Periodics returns the module's housekeeping: libraries that were scored by former rules
// or another growth table are scored again.
func (s *Service) Periodics() []store.Periodic {
	return []store.Periodic{{Kind: "library.rescore", Every: 30 * time.Second, Run: s.RescoreAll}}
}

// RescoreAll scores every library again that was scored by other rules, one after the
// other. It can be stopped at any time and goes on where it was.
func (s *Service) RescoreAll(ctx context.Context) error {
	for {
		account, found, err := s.nextStale(ctx)
		if err != nil || !found {
			return err
		}
		if err := s.Rescore(withTenant(ctx, account)); err != nil {
			return err
		}
	}
}
