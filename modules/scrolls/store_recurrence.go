package scrolls

import (
	"context"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/recurrence"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// dueRow is a recurrence whose time has come.
type dueRow struct {
	ID, AccountID    int64
	EveryDays        int
	Prompt, Template *string
	NextAt           int64
}

// replaceRecurrence makes a start the one that repeats.
func (s *Service) replaceRecurrence(ctx context.Context, tx *store.Tx, account int64, start Start, now int64) error {
	_, err := tx.Exec(ctx, `INSERT INTO recurrences (id, account_id, every_days, prompt, template, next_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (account_id) DO UPDATE SET every_days = excluded.every_days,
		prompt = excluded.prompt, template = excluded.template, next_at = excluded.next_at, created_at = excluded.created_at`,
		s.db.NewID(), account, *start.Schedule, start.Prompt, start.Template,
		nextTime(now, *start.Schedule, time.UnixMilli(now)), now)
	return err
}

func (s *Service) deleteRecurrence(ctx context.Context) (bool, error) {
	var deleted int
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		deleted, err = tx.Ent().Recurrence.Delete().Exec(ctx)
		return err
	})
	return deleted > 0, err
}

// due finds recurrences, of all tenants, whose time has come.
func (s *Service) due(ctx context.Context, now int64) ([]dueRow, error) {
	rows, err := s.db.Ent().Recurrence.Query().Where(recurrence.NextAtLTE(now)).
		Order(ent.Asc(recurrence.FieldNextAt, recurrence.FieldID)).Limit(100).All(ctx)
	due := make([]dueRow, len(rows))
	for i, row := range rows {
		due[i] = dueRow{row.ID, row.AccountID, row.EveryDays, row.Prompt, row.Template, row.NextAt}
	}
	return due, err
}

// advance moves a recurrence on; mine is false where somebody else did, or changed it.
func (s *Service) advance(ctx context.Context, tx *store.Tx, row dueRow, next int64) (mine bool, err error) {
	result, err := tx.Exec(ctx, "UPDATE recurrences SET next_at = $1 WHERE account_id = $2 AND next_at = $3", next, row.AccountID, row.NextAt)
	if err != nil {
		return false, err
	}
	changed, err := result.RowsAffected()
	return changed == 1, err
}
