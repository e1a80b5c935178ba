package scrolls

import (
	"context"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/scroll"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// maxEarlier bounds the imports among whose readings an older one is looked for.
const maxEarlier = 100

// insertImport writes the scroll of an import. There is no job: its command runs it.
func (s *Service) insertImport(ctx context.Context, tx *store.Tx, row *claimRow) error {
	now := s.now().UnixMilli()
	_, err := tx.Exec(ctx, `INSERT INTO scrolls (id, account_id, status, progress, new_videos, template, rules_version, subject,
		attempt, heartbeat_at, checkpoint, created_at, updated_at) VALUES ($1, $2, 'running', '`+noProgress+`', 0, $3, 0, $4, 0, $5, '', $6, $7)`,
		row.ID, row.Account, row.Template, row.Subject, now, now, now)
	return err
}

// runningImports are the tenant's imports that have not ended.
func (s *Service) runningImports(ctx context.Context) ([]*ent.Scroll, error) {
	return s.db.Ent().Scroll.Query().
		Where(scroll.Status(Running), scroll.TemplateEQ(importTemplate)).
		Order(ent.Asc(scroll.FieldID)).Limit(maxEarlier).
		Select(scroll.FieldID, scroll.FieldHeartbeatAt, scroll.FieldAttempt).All(ctx)
}

// importPulse is one of them; nil once it has ended.
func (s *Service) importPulse(ctx context.Context, id int64) (*ent.Scroll, error) {
	rows, err := s.db.Ent().Scroll.Query().
		Where(scroll.ID(id), scroll.Status(Running)).
		Select(scroll.FieldID, scroll.FieldHeartbeatAt).All(ctx)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// earlierImports are the tenant's last imports, the newest first.
func (s *Service) earlierImports(ctx context.Context) ([]int64, error) {
	return s.db.Ent().Scroll.Query().
		Where(scroll.TemplateEQ(importTemplate)).
		Order(ent.Desc(scroll.FieldID)).Limit(maxEarlier).IDs(ctx)
}
