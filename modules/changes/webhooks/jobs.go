package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/mail"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// The kinds of jobs. Queues of running servers hold them: never rename one.
const (
	deliverJob = "webhooks.deliver"
	mailJob    = "webhooks.mail"
	dueJob     = "webhooks.due"
	sweepJob   = "webhooks.sweep"
)

const (
	// glanceEvery is how soon a change of this process is seen, lookEvery one of another.
	glanceEvery      = 250 * time.Millisecond
	defaultLookEvery = 2 * time.Second
)

// jobArgs name a webhook.
type jobArgs struct {
	Account int64 `json:"account"`
	Webhook int64 `json:"webhook"`
}

type mailArgs = jobArgs

// workers returns the workers of the module.
func (s *sender) workers() []jobs.Worker {
	return []jobs.Worker{
		{
			// More jobs than places: the fairest of those that wait is chosen.
			Kind: deliverJob, Timeout: 2 * time.Minute, Concurrency: 4 * s.cfg.Concurrency,
			Work: func(ctx context.Context, raw json.RawMessage) error {
				var args jobArgs
				if err := json.Unmarshal(raw, &args); err != nil {
					return jobs.Cancel(fmt.Errorf("read arguments: %w", err))
				}
				return s.deliver(ctx, args.Account, args.Webhook)
			},
		},
		{
			Kind: mailJob, Timeout: time.Minute, Concurrency: 2,
			Work: func(ctx context.Context, raw json.RawMessage) error {
				var args mailArgs
				if err := json.Unmarshal(raw, &args); err != nil {
					return jobs.Cancel(fmt.Errorf("read arguments: %w", err))
				}
				return s.tell(viewer.As(ctx, args.Account), args)
			},
		},
	}
}

// Periodics returns the periodic tasks of the module.
func (s *Service) Periodics() []jobs.Periodic {
	return []jobs.Periodic{
		{Kind: dueJob, Every: glanceEvery, Everywhere: true, Run: s.sender.look},
		{Kind: sweepJob, Every: time.Hour, Run: s.Sweep},
	}
}

// look queues the webhooks that have changes to deliver, at once after a change of this
// process and otherwise every two seconds.
func (s *sender) look(ctx context.Context) error {
	now := s.now().UnixMilli()
	if !s.notified.Swap(false) && now-s.looked.Load() < s.lookEvery.Milliseconds() {
		return nil
	}
	s.looked.Store(now)
	found, err := s.due(ctx)
	if err != nil || len(found) == 0 {
		return err
	}
	return s.db.Write(viewer.System(ctx), func(ctx context.Context, tx *store.Tx) error {
		for _, args := range found {
			err := tx.Enqueue(ctx, store.Job{Kind: deliverJob, Args: args, UniqueKey: strconv.FormatInt(args.Webhook, 10)})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// tell mails the owner of a webhook that it rests.
func (s *sender) tell(ctx context.Context, args mailArgs) error {
	w, err := load(ctx, s.db.Ent(), args.Webhook)
	if err != nil || w == nil || w.Status != Failed && w.Status != Gone {
		return err
	}
	to, err := s.needs.Owners.Address(ctx, args.Account)
	if err != nil || to == "" {
		return err
	}
	host := "your server"
	if parsed, err := url.Parse(w.URL); err == nil {
		host = parsed.Host
	}
	why := "did not accept a change in 75 hours"
	if w.Status == Gone {
		why = "answered 410 Gone"
	}
	err = s.needs.Mailer.Send(ctx, mail.Message{
		To: to, Subject: "A webhook of your account is off",
		Text: "The webhook at " + host + " " + why + ", so nothing is sent to it any more.\n\n" +
			"No change is lost: changes are kept for 30 days, and the webhook goes on where it\nstopped when you start it again " +
			"(POST /v1/webhooks/update with \"paused\": false).\nDelete it if it is of no use any more.\n",
	})
	if errors.Is(err, mail.ErrRefused) {
		return jobs.Cancel(err) // no other try fares better
	}
	return err
}
