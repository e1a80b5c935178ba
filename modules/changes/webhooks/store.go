package webhooks

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/webhook"
	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func fromRow(row *ent.Webhook) *Webhook {
	w := &Webhook{
		ID: row.ID, Account: row.AccountID, URL: row.URL, Status: row.Status, Cursor: row.Cursor, Failures: row.Failures, NextAt: row.NextAt,
		PriorUntil: row.PriorUntil, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, turn: row.Turn, secret: row.Secret,
	}
	for _, kind := range strings.Fields(row.Types) {
		w.Types = append(w.Types, feed.Kind(kind))
	}
	if row.PriorSecret != nil {
		w.prior = *row.PriorSecret
	}
	return w
}

func typesText(types changes.Types) string {
	words := make([]string, len(types))
	for i, kind := range types {
		words[i] = string(kind)
	}
	return strings.Join(words, " ")
}

// list returns the account's webhooks, oldest first.
func (s *Service) list(ctx context.Context) ([]*Webhook, error) {
	rows, err := s.db.Ent().Webhook.Query().Order(webhook.ByID()).Limit(MaxWebhooks).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	hooks := make([]*Webhook, len(rows))
	for i, row := range rows {
		hooks[i] = fromRow(row)
	}
	return hooks, nil
}

// load returns one of the account's webhooks, or nil.
func load(ctx context.Context, client *ent.Client, id int64) (*Webhook, error) {
	row, err := client.Webhook.Query().Where(webhook.ID(id)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load webhook %d: %w", id, err)
	}
	return fromRow(row), nil
}

// insert writes a new webhook, unless the account has as many as it may.
func (s *Service) insert(ctx context.Context, w *Webhook) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "webhooks", w.Account); err != nil {
			return err
		}
		count, err := tx.Ent().Webhook.Query().Count(ctx)
		if err != nil {
			return err
		}
		if count >= MaxWebhooks {
			return apierr.New(apierr.OperationError, "An account may have %d webhooks. Delete one first.", MaxWebhooks)
		}
		return tx.Ent().Webhook.Create().SetID(w.ID).SetAccountID(w.Account).SetURL(w.URL).SetTypes(typesText(w.Types)).SetSecret(w.secret).
			SetStatus(w.Status).SetCursor(w.Cursor).SetNextAt(w.NextAt).SetCreatedAt(w.CreatedAt).SetUpdatedAt(w.UpdatedAt).Exec(ctx)
	})
}

// change has do change one of the account's webhooks and writes it; it returns nil if
// there is none. A worker that delivers to it sees the change before its next attempt. Where
// do moves the cursor or the address, the worker's turn is over: what it delivers meanwhile
// does not count.
func (s *Service) change(ctx context.Context, id int64, do func(w *Webhook) error) (w *Webhook, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		// An update that changes nothing locks the row on both dialects.
		n, err := tx.Ent().Webhook.Update().Where(webhook.ID(id)).AddTurn(0).Save(ctx)
		if w = nil; err != nil || n == 0 {
			return err
		}
		if w, err = load(ctx, tx.Ent(), id); err != nil || w == nil {
			return err
		}
		cursor, address := w.Cursor, w.URL
		if err := do(w); err != nil {
			return err
		}
		if w.Cursor != cursor || w.URL != address {
			w.turn++
		}
		w.UpdatedAt = s.now().UnixMilli()
		update := tx.Ent().Webhook.Update().Where(webhook.ID(id)).SetURL(w.URL).SetTypes(typesText(w.Types)).SetStatus(w.Status).SetCursor(w.Cursor).
			SetFailures(w.Failures).SetNextAt(w.NextAt).SetTurn(w.turn).SetSecret(w.secret).SetPriorUntil(w.PriorUntil).SetUpdatedAt(w.UpdatedAt)
		if w.prior != nil {
			update.SetPriorSecret(w.prior)
		}
		tx.Notify(w.Account)
		return update.Exec(ctx)
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (s *Service) remove(ctx context.Context, id int64) (found bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		n, err := tx.Ent().Webhook.Delete().Where(webhook.ID(id)).Exec(ctx)
		found = n > 0
		return err
	})
	return found, err
}

// take begins a turn of the webhook: its worker alone moves the cursor. It returns nil
// if there is nothing to do now, or another worker does it.
func (s *sender) take(ctx context.Context, id int64) (hook *Webhook, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		now := s.now()
		n, err := tx.Ent().Webhook.Update().
			Where(webhook.ID(id), webhook.Status(Active), webhook.NextAtLTE(now.UnixMilli()), webhook.LeaseUntilLTE(s.leased(now))).
			AddTurn(1).SetLeaseUntil(now.Add(s.lease()).UnixMilli()).Save(ctx)
		if hook = nil; err != nil || n == 0 {
			return err
		}
		hook, err = load(ctx, tx.Ent(), id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take webhook %d: %w", id, err)
	}
	return hook, nil
}

// lease is how long a worker may be silent: longer than an attempt takes.
func (s *sender) lease() time.Duration { return s.cfg.Timeout + s.graceOfLease }

// leased is the end of a lease that holds no longer. One process works on SQLite, and knows
// what it does itself.
func (s *sender) leased(now time.Time) int64 {
	if s.db.Dialect() == store.SQLite {
		return math.MaxInt64
	}
	return now.UnixMilli()
}

// settled is a webhook after an attempt.
type settled struct {
	cursor   int64
	failures int
	status   string
	nextAt   time.Time
	// ended: the turn is over.
	ended bool
}

// settle stores an attempt and what follows from it. It fails with errLost, with the
// attempt stored, where the worker's turn was over.
func (s *sender) settle(ctx context.Context, hook *Webhook, d Delivery, next settled) error {
	lost := false
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := s.record(ctx, tx, hook, d); err != nil {
			return err
		}
		now := s.now()
		update := tx.Ent().Webhook.Update().Where(webhook.ID(hook.ID), webhook.Turn(hook.turn)).
			SetCursor(next.cursor).SetFailures(next.failures).SetLeaseUntil(now.Add(s.lease()).UnixMilli())
		if next.status != Active { // its owner may have paused it meanwhile
			update.SetStatus(next.status)
		}
		if next.ended {
			update.SetLeaseUntil(0)
		}
		if !next.nextAt.IsZero() {
			update.SetNextAt(next.nextAt.UnixMilli())
		}
		n, err := update.Save(ctx)
		if lost = n == 0; err != nil || lost || next.status == Active {
			return err
		}
		return tx.Enqueue(ctx, store.Job{Kind: mailJob, Args: mailArgs{Account: hook.Account, Webhook: hook.ID}})
	})
	switch {
	case err != nil:
		return fmt.Errorf("settle webhook %d: %w", hook.ID, err)
	case lost:
		return errLost
	}
	hook.Cursor, hook.Failures = next.cursor, next.failures
	return nil
}

// move sets the cursor past changes that the webhook does not want.
func (s *sender) move(ctx context.Context, hook *Webhook, cursor int64) error {
	return s.within(ctx, hook, func(u *ent.WebhookUpdate) { u.SetCursor(cursor) }, func() { hook.Cursor = cursor })
}

// release ends the turn, also where the job has ended.
func (s *sender) release(ctx context.Context, hook *Webhook, next time.Time) error {
	ctx, cancel := s.settling(ctx)
	defer cancel()
	return s.within(ctx, hook, func(u *ent.WebhookUpdate) { u.SetLeaseUntil(0).SetNextAt(next.UnixMilli()) }, func() {})
}

// within changes the webhook while the turn lasts, or fails with errLost.
func (s *sender) within(ctx context.Context, hook *Webhook, set func(*ent.WebhookUpdate), done func()) error {
	n := 0
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		update := tx.Ent().Webhook.Update().Where(webhook.ID(hook.ID), webhook.Turn(hook.turn))
		set(update)
		n, err = update.Save(ctx)
		return err
	})
	switch {
	case err != nil:
		return err
	case n == 0:
		return errLost
	}
	done()
	return nil
}

// skip moves a webhook past changes that are not kept any more, and notes it among its
// deliveries. A cursor beyond the feed, after a backup was restored, moves to its end.
func (s *sender) skip(ctx context.Context, hook *Webhook) error {
	cursor, err := s.feed.Start(ctx, changes.From{Oldest: true})
	if err == nil && cursor <= hook.Cursor {
		cursor, err = s.feed.Start(ctx, changes.From{Now: true})
	}
	if err != nil {
		return err
	}
	return s.settle(ctx, hook, Delivery{Attempt: 1, Outcome: Expired}, settled{cursor: cursor, status: Active})
}

// due returns webhooks, of all accounts, that have something to deliver now. Those that
// waited longest come first.
func (s *sender) due(ctx context.Context) (found []jobArgs, err error) {
	now := s.now()
	found, err = store.Query[jobArgs](viewer.System(ctx), s.db.HotTenantless(`SELECT w.id AS webhook, {owner:w} AS account FROM webhooks w JOIN feeds f ON {owner:f} = {owner:w}
WHERE w.status = 'active' AND w.next_at <= $1 AND w.lease_until <= $2 AND f.seq <> w.cursor ORDER BY w.next_at LIMIT 200`,
		"deliveries of all accounts are queued"), now.UnixMilli(), s.leased(now))
	if err != nil {
		return nil, fmt.Errorf("find webhooks with changes to deliver: %w", err)
	}
	return found, nil
}
