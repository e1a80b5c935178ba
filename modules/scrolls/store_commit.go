package scrolls

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// fence locks the row, and fails with errLost where it is not the worker's own.
func (r *run) fence(ctx context.Context, tx *store.Tx, now int64) error {
	result, err := tx.Exec(ctx, `UPDATE scrolls SET heartbeat_at = $1
		WHERE id = $2 AND account_id = $3 AND attempt = $4 AND status = 'running'`, now, r.id, r.account, r.attempt)
	return one(result, err)
}

// pulse is a fence and nothing else.
func (r *run) pulse(ctx context.Context) error {
	return r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return r.fence(ctx, tx, r.s.now().UnixMilli())
	})
}

// save writes the worker's part of the row.
func (r *run) save(ctx context.Context, tx *store.Tx, next state, now int64) error {
	progress, err := r.encode(next.progress)
	if err != nil {
		return err
	}
	result, err := tx.Exec(ctx, `UPDATE scrolls SET stage = $1, checkpoint = $2, progress = $3, new_videos = $4, subject = $5,
		rules_version = $6, updated_at = $7 WHERE id = $8 AND account_id = $9 AND attempt = $10 AND status = 'running'`,
		next.stage, next.checkpoint, progress, next.newVideos, next.subject, next.rulesVersion, now, r.id, r.account, r.attempt)
	return one(result, err)
}

func (r *run) encode(progress Progress) (string, error) {
	progress.Coverage = shortened(progress.Coverage, r.s.cfg.MaxCoverage)
	text, err := json.Marshal(progress)
	if err != nil {
		return "", fmt.Errorf("render progress: %w", err)
	}
	return string(text), nil
}

// end writes a final state; what was under way goes.
func (r *run) end(ctx context.Context, status, failure string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		now := r.s.now().UnixMilli()
		if err := r.fence(ctx, tx, now); err != nil {
			return err
		}
		next := r.state
		if status == Completed {
			next.checkpoint = Score
			next.progress.raise(100)
		}
		if err := r.save(ctx, tx, next, now); err != nil {
			return err
		}
		return endRow(ctx, tx, &claimRow{ID: r.id, Account: r.account}, r.attempt, status, failure, now)
	})
	if err == nil {
		r.s.signals.changed(r.id)
	}
	return err
}

// putDown leaves the scroll to another start, which follows upon attempt.
func (r *run) putDown(ctx context.Context, tx *store.Tx, attempt int) error {
	now := r.s.now().UnixMilli()
	if err := r.fence(ctx, tx, now); err != nil {
		return err
	}
	result, err := tx.Exec(ctx, `UPDATE scrolls SET heartbeat_at = 0, attempt = $1, updated_at = $2
		WHERE id = $3 AND account_id = $4`, attempt, now, r.id, r.account)
	return one(result, err)
}
