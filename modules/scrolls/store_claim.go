package scrolls

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/scroll"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// claimRow is what a worker has to know of a scroll.
type claimRow struct {
	ID, Account  int64
	Status       string
	Attempt      int
	HeartbeatAt  int64
	Checkpoint   string
	Template     string
	Prompt       string
	Subject      string
	RulesVersion int
	NewVideos    int
	Progress     Progress
}

// lockRow reads a scroll and keeps others from changing it; nil where there is none.
func lockRow(ctx context.Context, tx *store.Tx, account, id int64) (*claimRow, error) {
	// An update that changes nothing takes the row's lock on both dialects.
	_, err := tx.Exec(ctx, "UPDATE scrolls SET attempt = attempt WHERE id = $1 AND account_id = $2", id, account)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `SELECT id, account_id, status, attempt, heartbeat_at, checkpoint, template, prompt,
		subject, rules_version, new_videos, progress FROM scrolls WHERE id = $1 AND account_id = $2`, id, account)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, rows.Err()
	}
	var row claimRow
	var template, prompt sql.NullString
	var progress []byte
	err = rows.Scan(&row.ID, &row.Account, &row.Status, &row.Attempt, &row.HeartbeatAt, &row.Checkpoint, &template, &prompt,
		&row.Subject, &row.RulesVersion, &row.NewVideos, &progress)
	if err != nil {
		return nil, err
	}
	row.Template, row.Prompt = template.String, prompt.String
	if row.Progress, err = parseProgress(progress); err != nil {
		return nil, err
	}
	return &row, rows.Close()
}

// startRow makes the attempt after the row's own the one that may commit.
func startRow(ctx context.Context, tx *store.Tx, row *claimRow, stage string, now int64) error {
	result, err := tx.Exec(ctx, `UPDATE scrolls SET status = 'running', stage = $1, attempt = attempt + 1, heartbeat_at = $2,
		started_at = COALESCE(started_at, $3), updated_at = $4 WHERE id = $5 AND account_id = $6 AND attempt = $7`,
		stage, now, now, now, row.ID, row.Account, row.Attempt)
	return one(result, err)
}

// endRow ends a scroll that an attempt has, or that nobody has.
func endRow(ctx context.Context, tx *store.Tx, row *claimRow, attempt int, status, failure string, now int64) error {
	result, err := tx.Exec(ctx, `UPDATE scrolls SET status = $1, failure_code = $2, stage = NULL, completed_at = $3, updated_at = $4
		WHERE id = $5 AND account_id = $6 AND attempt = $7 AND status IN ('queued', 'running')`,
		status, sql.NullString{String: failure, Valid: failure != ""}, now, now, row.ID, row.Account, attempt)
	if err := one(result, err); err != nil {
		return err
	}
	return deleteRecords(ctx, tx, row.Account, row.ID)
}

// errLost is what a worker gets whose scroll is not its own any more.
var errLost = errors.New("the scroll has another worker or has ended")

// one turns a change that met no row into errLost.
func one(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	if changed, err := result.RowsAffected(); err != nil || changed == 1 {
		return err
	}
	return errLost
}

// lost finds active scrolls, of all tenants, that nobody was heard of since a time.
func (s *Service) lost(ctx context.Context, since int64) ([]*ent.Scroll, error) {
	return s.db.Ent().Scroll.Query().
		Where(scroll.Or(
			scroll.And(scroll.Status(Running), scroll.HeartbeatAtLTE(since)),
			scroll.And(scroll.Status(Queued), scroll.CreatedAtLTE(since)),
		)).
		Order(ent.Asc(scroll.FieldID)).Limit(100).
		Select(scroll.FieldID, scroll.FieldAccountID, scroll.FieldAttempt).All(ctx)
}
