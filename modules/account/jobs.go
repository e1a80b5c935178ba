package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
)

// The jobs of a deletion.
const (
	mailKind  = "account.mail"
	eraseKind = "account.erase"
	restKind  = "account.erase_rest"
)

const (
	// eraseWithin is how long the payment provider may be away.
	eraseWithin = 30 * 24 * time.Hour
	// eraseSlice is how long one run of an erasure takes; the next one goes on.
	eraseSlice = 5 * time.Minute
	// restAfter is longer than a call, a step of a scroll or an attempt to deliver takes:
	// what one of them wrote after the deletion is deleted then.
	restAfter = 2 * time.Hour
)

// order is the argument of both jobs: the subject is that of the confirmation.
type order struct {
	Account int64  `json:"account"`
	Subject string `json:"subject"`
}

// Workers returns the workers that mail links and delete accounts.
func Workers(s *Service) []jobs.Worker {
	return []jobs.Worker{
		{Kind: mailKind, Timeout: time.Minute, Concurrency: 2, Work: work(func(ctx context.Context, o order) error {
			err := s.Eraser.sendLink(ctx, o.Account)
			if errors.Is(err, mail.ErrRefused) {
				return jobs.Cancel(err)
			}
			return err
		})},
		{Kind: eraseKind, Timeout: 2 * eraseSlice, Concurrency: 1, Work: work(func(ctx context.Context, o order) error {
			slice, cancel := context.WithTimeout(ctx, eraseSlice)
			defer cancel()
			err := s.Eraser.erase(slice, o.Account, o.Subject)
			if err != nil && slice.Err() != nil && ctx.Err() == nil {
				return jobs.Snooze(time.Second)
			}
			return err
		})},
		{Kind: restKind, Timeout: 2 * eraseSlice, Concurrency: 1, Work: work(func(ctx context.Context, o order) error {
			return s.Eraser.eraseRest(ctx, o.Account)
		})},
	}
}

func work(do func(context.Context, order) error) func(context.Context, json.RawMessage) error {
	return func(ctx context.Context, args json.RawMessage) error {
		var o order
		if err := json.Unmarshal(args, &o); err != nil {
			return jobs.Cancel(fmt.Errorf("read the arguments: %w", err))
		}
		return do(ctx, o)
	}
}
