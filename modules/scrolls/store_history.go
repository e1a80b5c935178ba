package scrolls

import (
	"context"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// maxCompleted bounds what Completed can return.
const maxCompleted = "100"

// isCompleted selects the completed scrolls of a subject.
const isCompleted = "account_id = $1 AND status = 'completed' AND subject = $2"

func prepareCounted(db *store.DB) *store.Statement {
	return db.Prepare("SELECT count(*) FROM scrolls WHERE " + isCompleted)
}

func prepareCompleted(db *store.DB) *store.Statement {
	return db.Prepare(`SELECT id, (SELECT count(*) FROM scrolls WHERE ` + isCompleted + `) FROM scrolls WHERE ` + isCompleted + `
		ORDER BY completed_at DESC, id DESC LIMIT ` + maxCompleted)
}

func prepareSubject(db *store.DB) *store.Statement {
	return db.Prepare("SELECT subject FROM scrolls WHERE account_id = $1 AND id = $2")
}

// activeOf returns the active scrolls of a subject.
func activeOf(ctx context.Context, tx *store.Tx, account int64, subject string) (ids []int64, err error) {
	rows, err := tx.Query(ctx, `SELECT id FROM scrolls WHERE account_id = $1 AND status IN ('queued', 'running') AND subject = $2 ORDER BY id`,
		account, subject)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func cancelRow(ctx context.Context, tx *store.Tx, account, id, now int64) (done bool, err error) {
	result, err := tx.Exec(ctx, `UPDATE scrolls SET status = 'cancelled', stage = NULL, updated_at = $1, completed_at = $2
		WHERE id = $3 AND account_id = $4 AND status IN ('queued', 'running')`, now, now, id, account)
	if err != nil {
		return false, err
	}
	if changed, err := result.RowsAffected(); err != nil || changed == 0 {
		return false, err
	}
	return true, deleteRecords(ctx, tx, account, id)
}
