package keys

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// KeepEnded is how long codes and session keys are kept after they are of use.
const KeepEnded = 24 * time.Hour

// Worker returns the worker that mails one-time codes for lost keys.
func Worker(s *Service) jobs.Worker { return s.Codes.mails(recoverKind, forRecovery) }

// SignInWorker returns the worker that mails one-time codes for sign-ins.
func SignInWorker(s *Service) jobs.Worker { return s.Codes.mails(signInKind, forSignIn) }

func (c *Codes) mails(kind string, why purpose) jobs.Worker {
	return jobs.Worker{
		Kind:        kind,
		Timeout:     time.Minute,
		Concurrency: 4,
		Work: func(ctx context.Context, args json.RawMessage) error {
			var order recovery
			if err := json.Unmarshal(args, &order); err != nil {
				return jobs.Cancel(fmt.Errorf("read the arguments: %w", err))
			}
			err := c.send(ctx, why, order.Email)
			if errors.Is(err, mail.ErrRefused) {
				return jobs.Cancel(err) // no other try fares better
			}
			return err
		},
	}
}

// Sweeper returns the module's housekeeping.
func Sweeper(s *Service) jobs.Periodic {
	return jobs.Periodic{Kind: "keys.sweep", Every: time.Hour, Run: s.Sweep}
}

// Sweep forgets codes and session keys that ended a day ago.
func (s *Service) Sweep(ctx context.Context) error {
	const batch = 500
	before := s.now().Add(-KeepEnded)
	for _, sweep := range []func(context.Context, time.Time, int) (int, error){s.rows.sweepCodes, s.rows.sweepSessions} {
		for removed := batch; removed == batch; {
			var err error
			if removed, err = sweep(ctx, before, batch); err != nil {
				return err
			}
		}
	}
	return nil
}
