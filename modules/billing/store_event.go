package billing

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	entevent "github.com/scrollery/scrollery/ent/paymentevent"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// events keeps the events that were applied.
type events struct{ db *store.DB }

func (e events) known(ctx context.Context, event string) (bool, error) {
	known, err := e.db.Ent().PaymentEvent.Query().Where(entevent.Event(event)).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for event %s: %w", event, err)
	}
	return known, nil
}

// record is true for the first of all that race.
func (e events) record(ctx context.Context, tx *store.Tx, event Event, at time.Time) (first bool, err error) {
	id := e.db.NewID()
	err = tx.Ent().PaymentEvent.Create().SetID(id).SetEvent(event.ID).SetKind(event.Kind).SetCreatedAt(at.UnixMilli()).
		OnConflict(sql.ConflictColumns(entevent.FieldEvent), sql.DoNothing()).Exec(ctx)
	if err != nil {
		return false, err
	}
	stored, err := tx.Ent().PaymentEvent.Query().Where(entevent.Event(event.ID)).OnlyID(ctx)
	return stored == id, err
}

// sweep forgets at most limit events from before a moment.
func (e events) sweep(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = e.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := tx.Ent().PaymentEvent.Query().
			Where(entevent.CreatedAtLT(before.UnixMilli())).
			Order(entevent.ByCreatedAt(), entevent.ByID()).Limit(limit).IDs(ctx)
		if err != nil || len(ids) == 0 {
			removed = 0
			return err
		}
		removed, err = tx.Ent().PaymentEvent.Delete().Where(entevent.IDIn(ids...)).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old payment events: %w", err)
	}
	return removed, nil
}
