package webhooks

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/webhookdelivery"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// record stores an attempt.
func (s *sender) record(ctx context.Context, tx *store.Tx, hook *Webhook, d Delivery) error {
	err := tx.Ent().WebhookDelivery.Create().SetID(s.db.NewID()).SetAccountID(hook.Account).SetWebhookID(hook.ID).SetMessageID(d.MessageID).
		SetKind(d.Kind).SetAttempt(d.Attempt).SetOutcome(d.Outcome).SetStatusCode(d.Status).SetTook(d.Took.Milliseconds()).
		SetCreatedAt(s.now().UnixMilli()).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store a delivery: %w", err)
	}
	return nil
}

// deliveries returns attempts below an id, newest first; 0 starts with the newest.
func (s *Service) deliveries(ctx context.Context, hook, before int64, limit int) ([]Delivery, error) {
	query := s.db.Ent().WebhookDelivery.Query().Where(webhookdelivery.WebhookID(hook)).Order(ent.Desc(webhookdelivery.FieldID)).Limit(limit)
	if before > 0 {
		query.Where(webhookdelivery.IDLT(before))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	found := make([]Delivery, len(rows))
	for i, row := range rows {
		found[i] = Delivery{
			ID: row.ID, MessageID: row.MessageID, Kind: row.Kind, Attempt: row.Attempt, Outcome: row.Outcome, Status: row.StatusCode,
			Took: millis(row.Took), At: row.CreatedAt,
		}
	}
	return found, nil
}

// sweepAtOnce bounds the attempts that one statement deletes.
const sweepAtOnce = 500

// Sweep deletes attempts that are older than the changes that are kept.
func (s *Service) Sweep(ctx context.Context) error {
	ctx = viewer.System(ctx)
	first := publicid.First(s.now().Add(-feed.Keep))
	for {
		ids, err := s.db.Ent().WebhookDelivery.Query().Where(webhookdelivery.IDLT(first)).Order(webhookdelivery.ByID()).Limit(sweepAtOnce).IDs(ctx)
		if err != nil || len(ids) == 0 {
			return err
		}
		err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Ent().WebhookDelivery.Delete().Where(webhookdelivery.IDIn(ids...)).Exec(ctx)
			return err
		})
		if err != nil {
			return fmt.Errorf("delete old deliveries: %w", err)
		}
	}
}
