package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store/jobs"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

const (
	// sliceTime and sliceCount bound what one job delivers, so that others get their turn.
	sliceTime  = 20 * time.Second
	sliceCount = 200
	// readAtOnce is how many changes are read for a webhook at a time.
	readAtOnce = 50
	// lobbyWithin is how long a job waits for a place before it goes back to the queue.
	lobbyWithin = 5 * time.Second
	// blockedWait is how long a webhook rests before its account is looked at again.
	blockedWait = time.Minute
)

// errLost is what a worker gets whose turn is over: the webhook was changed or deleted.
var errLost = errors.New("the webhook has another worker, or is not active")

// errAccountBlocked is what a worker gets whose account the operator has blocked.
var errAccountBlocked = errors.New("the account is blocked")

// deliver sends the changes after a webhook's cursor, one after the other, until there are
// none, one fails or the job's time is up.
func (s *sender) deliver(ctx context.Context, account, id int64) error {
	ctx = viewer.As(ctx, account)
	waiting, cancel := context.WithTimeout(ctx, lobbyWithin)
	leave, err := s.places.Enter(waiting, account)
	cancel()
	if err != nil {
		return jobs.Snooze(0)
	}
	defer leave()
	if !s.begin(id) {
		return nil
	}
	defer s.end(id)
	hook, err := s.take(ctx, id)
	if err != nil || hook == nil {
		return err
	}
	more, err := s.slice(ctx, hook)
	switch {
	case errors.Is(err, errAccountBlocked):
		return s.release(ctx, hook, s.now().Add(blockedWait))
	case errors.Is(err, errLost):
		return nil
	case err != nil:
		return err
	case more:
		return jobs.Snooze(0)
	}
	return nil
}

// slice delivers until it is time for another one; more is false if nothing is left to
// do now.
func (s *sender) slice(ctx context.Context, hook *Webhook) (more bool, err error) {
	until := time.Now().Add(sliceTime)
	for sent := 0; sent < sliceCount; {
		page, err := s.feed.Read(ctx, hook.Cursor, hook.Types, readAtOnce)
		if apierr.Is(err, apierr.CursorExpired) {
			if err := s.skip(ctx, hook); err != nil {
				return false, err
			}
			continue
		}
		if err != nil {
			return false, err
		}
		for i := range page.Changes {
			if time.Now().After(until) || ctx.Err() != nil {
				return true, s.release(ctx, hook, s.now())
			}
			ok, err := s.one(ctx, hook, &page.Changes[i])
			if err != nil || !ok {
				return false, err
			}
			sent++
		}
		if page.Next > hook.Cursor {
			if err := s.move(ctx, hook, page.Next); err != nil {
				return false, err
			}
		}
		if !page.More {
			return false, s.release(ctx, hook, s.now())
		}
	}
	return true, s.release(ctx, hook, s.now())
}

// one makes one attempt to deliver a change, and stores what came of it.
func (s *sender) one(ctx context.Context, hook *Webhook, c *changes.Change) (ok bool, err error) {
	message, err := messageOf(c)
	if err != nil {
		return false, err
	}
	account, _, _ := viewer.Tenant(ctx)
	blocked, err := s.needs.Owners.Blocked(ctx, account)
	switch {
	case err != nil:
		return false, err
	case blocked:
		return false, errAccountBlocked
	}
	now, err := load(ctx, s.db.Ent(), hook.ID) // its owner may have changed it
	switch {
	case err != nil:
		return false, err
	case now == nil || now.turn != hook.turn:
		return false, errLost
	case now.Status != Active || !now.Types.Want(c.Kind):
		return false, s.release(ctx, hook, s.now())
	}
	secrets, err := s.open(now)
	if err != nil {
		return false, errors.Join(fmt.Errorf("secret of webhook %s: %w", publicid.Format(idPrefix, hook.ID), err), s.release(ctx, hook, s.now().Add(time.Minute)))
	}
	r := s.post(ctx, now.URL, secrets, message)
	if ctx.Err() != nil && r.outcome != Delivered {
		return false, s.release(ctx, hook, s.now()) // the process stops: it is no failure of the receiver
	}
	ctx, cancel := s.settling(ctx)
	defer cancel()
	d := Delivery{MessageID: message.id, Kind: message.kind, Attempt: hook.Failures + 1, Outcome: r.outcome, Status: r.status, Took: r.took}
	if r.outcome == Delivered {
		return true, s.settle(ctx, hook, d, settled{cursor: c.Seq, status: Active, nextAt: s.now()})
	}
	next := settled{cursor: hook.Cursor, failures: hook.Failures + 1, status: Active, ended: true}
	waits := s.cfg.Retries
	switch {
	case r.status == 410:
		next.status = Gone
	case hook.Failures >= len(waits):
		next.status = Failed
	default:
		next.nextAt = s.now().Add(max(waits[hook.Failures], r.wait))
	}
	return false, s.settle(ctx, hook, d, next)
}

// settleTimeout bounds the transaction that stores what came of an attempt.
const settleTimeout = 30 * time.Second

// settling is the context of what is stored although the attempt, or its caller, has ended.
func (s *sender) settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.settleWithin)
}

// payload is the body of a message, by the Standard Webhooks specification.
type payload struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      any    `json:"data"`
}

// messageOf is the same for a change whenever it is sent.
func messageOf(c *changes.Change) (outgoing, error) {
	return newMessage(c.ID(), string(c.Kind), c.At, c.Show())
}

func newMessage(id, kind string, at int64, data any) (outgoing, error) {
	body, err := json.Marshal(payload{Type: kind, Timestamp: time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z"), Data: data})
	if err != nil {
		return outgoing{}, fmt.Errorf("render message %s: %w", id, err)
	}
	return outgoing{id: id, kind: kind, body: body}, nil
}
