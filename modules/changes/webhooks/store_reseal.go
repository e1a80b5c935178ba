package webhooks

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/webhook"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// resealedAtOnce is how many webhooks are read at once; each is a transaction.
const resealedAtOnce = 100

// Reseal seals with the server's newest key the secrets that older ones sealed, of all tenants,
// and returns of how many webhooks. It can be stopped at any time. A secret that is rotated
// meanwhile stays as it is.
func (s *Service) Reseal(ctx context.Context) (resealed int, err error) {
	ctx = viewer.System(ctx)
	sealer, err := s.needs.Sealer()
	if err != nil {
		return 0, err
	}
	for after := int64(0); ; {
		rows, err := s.db.Ent().Webhook.Query().Where(webhook.IDGT(after)).Order(ent.Asc(webhook.FieldID)).Limit(resealedAtOnce).All(ctx)
		if err != nil {
			return resealed, fmt.Errorf("read webhooks: %w", err)
		}
		if len(rows) == 0 {
			return resealed, nil
		}
		for _, row := range rows {
			after = row.ID
			prior := row.PriorSecret != nil && sealer.IsOld(*row.PriorSecret)
			if !prior && !sealer.IsOld(row.Secret) {
				continue
			}
			place := publicid.Format(idPrefix, row.ID)
			secret, err := sealer.Reseal(row.Secret, place)
			if err != nil {
				return resealed, fmt.Errorf("webhook %s: %w", place, err)
			}
			err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				update := tx.Ent().Webhook.Update().Where(webhook.ID(row.ID), webhook.Secret(row.Secret)).SetSecret(secret)
				if prior {
					again, err := sealer.Reseal(*row.PriorSecret, place)
					if err != nil {
						return err
					}
					update.SetPriorSecret(again)
				}
				return update.Exec(ctx)
			})
			if err != nil {
				return resealed, fmt.Errorf("seal webhook %s again: %w", place, err)
			}
			resealed++
		}
	}
}
