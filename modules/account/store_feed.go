package account

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/accountsource"
	"github.com/scrollery/scrollery/ent/webhook"
	"github.com/scrollery/scrollery/ent/webhookdelivery"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
)

// The prefixes of the public ids of webhooks and of their deliveries.
const (
	webhookPrefix  = "whk"
	deliveryPrefix = "dlv"
)

// changes are the feed, as far back as it is kept.
func (e *exporter) changes() entity {
	return entity{
		columns: []column{
			"id", "type", "at", "videoId", "scrollId", "keyId", "workspaceId", "keyHash", "stage", "failureCode", "status", "old", "new",
		},
		rows: func(ctx context.Context, do func(...any) error) error {
			for seq := int64(0); ; {
				changes, next, err := e.needs.Changes.After(ctx, seq, rowsAtOnce)
				if err != nil || len(changes) == 0 {
					return err
				}
				for i := range changes {
					c := &changes[i]
					err := do(c.ID, c.Type, c.At, known(c.VideoID), known(c.ScrollID), known(c.KeyID), known(c.WorkspaceID), known(c.KeyHash),
						known(c.Stage), known(c.FailureCode), known(c.Status), number(c.Old), number(c.New))
					if err != nil {
						return err
					}
				}
				seq = next
			}
		},
	}
}

// known is a text, or nothing where it is empty.
func known(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func number(n *float64) any {
	if n == nil {
		return nil
	}
	return *n
}

// webhooks are shown without their secrets.
func (e *exporter) webhooks() entity {
	return entity{
		columns: []column{"id", "url", "types", "status", "failures", "createdAt", "updatedAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return eachByID(ctx, func(after int64) ([]*ent.Webhook, error) {
				return e.db.Ent().Webhook.Query().Where(webhook.IDGT(after)).Order(webhook.ByID()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.Webhook) int64 { return r.ID }, func(r *ent.Webhook) error {
				return do(publicid.Format(webhookPrefix, r.ID), r.URL, r.Types, r.Status, r.Failures, r.CreatedAt, r.UpdatedAt)
			})
		},
	}
}

// sources are what the account set for sources by itself, without its keys.
func (e *exporter) sources() entity {
	return entity{
		columns: []column{"source", "settings", "createdAt", "updatedAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			return eachByID(ctx, func(after int64) ([]*ent.AccountSource, error) {
				return e.db.Ent().AccountSource.Query().Where(accountsource.IDGT(after)).Order(accountsource.ByID()).Limit(rowsAtOnce).All(ctx)
			}, func(r *ent.AccountSource) int64 { return r.ID }, func(r *ent.AccountSource) error {
				return do(r.Source, jsontext.Value(r.Settings), r.CreatedAt, r.UpdatedAt)
			})
		},
	}
}

// deliveries are the attempts to deliver, webhook by webhook: that is their index.
// Those of a webhook that was deleted since go with it.
func (e *exporter) deliveries() entity {
	return entity{
		columns: []column{"id", "webhookId", "messageId", "type", "attempt", "outcome", "statusCode", "tookMillis", "createdAt"},
		rows: func(ctx context.Context, do func(...any) error) error {
			hooks, err := e.db.Ent().Webhook.Query().Order(webhook.ByID()).IDs(ctx)
			if err != nil {
				return err
			}
			for _, hook := range hooks {
				err := eachByID(ctx, func(after int64) ([]*ent.WebhookDelivery, error) {
					return e.db.Ent().WebhookDelivery.Query().Where(webhookdelivery.WebhookID(hook), webhookdelivery.IDGT(after)).
						Order(webhookdelivery.ByID()).Limit(rowsAtOnce).All(ctx)
				}, func(r *ent.WebhookDelivery) int64 { return r.ID }, func(r *ent.WebhookDelivery) error {
					return do(publicid.Format(deliveryPrefix, r.ID), publicid.Format(webhookPrefix, r.WebhookID), r.MessageID, r.Kind, r.Attempt,
						r.Outcome, r.StatusCode, r.Took, r.CreatedAt)
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}
