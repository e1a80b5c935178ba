package changes

import (
	"context"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// Sweeper returns the module's housekeeping.
func (s *Service) Sweeper() jobs.Periodic {
	return jobs.Periodic{Kind: "changes.trim", Every: time.Hour, Run: s.Trim}
}

// Trim deletes the changes of all accounts that are older than 30 days, in short
// transactions. It can be stopped at any time, and goes on where it was.
func (s *Service) Trim(ctx context.Context) error {
	for {
		now := s.now()
		accounts, err := s.trimmable(ctx, now)
		if err != nil || len(accounts) == 0 {
			return err
		}
		for _, account := range accounts {
			if err := s.trim(ctx, account, now); err != nil {
				return fmt.Errorf("delete changes of account %d: %w", account, err)
			}
		}
	}
}
