package scrolls

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// lockAccount lets one start of an account decide at a time.
func lockAccount(ctx context.Context, tx *store.Tx, account int64) error {
	return tx.Lock(ctx, "scrolls", account)
}

func (s *Service) findByKey(ctx context.Context, tx *store.Tx, account int64, key string) (*Scroll, error) {
	rows, err := tx.Query(ctx, "SELECT "+columns+" FROM scrolls WHERE account_id = $1 AND idempotency_key = $2", account, key)
	if err != nil {
		return nil, err
	}
	return s.scanOne(rows)
}

// countActive counts what the active limit is about; imports are the operator's.
func countActive(ctx context.Context, tx *store.Tx, account int64) (count int, err error) {
	rows, err := tx.Query(ctx, `SELECT count(*) FROM scrolls WHERE account_id = $1 AND status IN ('queued', 'running')
		AND (template IS NULL OR template <> 'import')`, account)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&count)
	}
	if err != nil {
		return 0, err
	}
	return count, rows.Err()
}

// insert writes a queued scroll with its job.
func (s *Service) insert(ctx context.Context, tx *store.Tx, account int64, subject string, start Start) (*Scroll, error) {
	now := s.now().UnixMilli()
	scroll := &Scroll{
		ID: s.db.NewID(), Status: Queued, Schedule: start.Schedule, Template: start.Template,
		CreatedAt: now, UpdatedAt: now,
	}
	_, err := tx.Exec(ctx, `INSERT INTO scrolls (id, account_id, status, progress, new_videos, schedule, template, prompt,
		rules_version, subject, idempotency_key, attempt, heartbeat_at, checkpoint, created_at, updated_at)
		VALUES ($1, $2, 'queued', '`+noProgress+`', 0, $3, $4, $5, 0, $6, $7, 0, 0, '', $8, $9)`,
		scroll.ID, account, start.Schedule, start.Template, start.Prompt, subject, start.IdempotencyKey, now, now)
	if err != nil {
		return nil, err
	}
	return scroll, s.enqueue(ctx, tx, account, scroll.ID, 1, s.now())
}
