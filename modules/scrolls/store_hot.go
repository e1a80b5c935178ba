package scrolls

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent/scrollcount"
	"github.com/scrollery/scrollery/ent/scrollrecord"
	changefeed "github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
)

// hot are the statements that BenchmarkHot shows to be at least 1.3 times as fast as
// the same work through Ent. The ratio beside each was measured on SQLite; of several, with
// some of them.
type hot struct {
	get     *store.Hot // 3.6: a poll of one scroll
	counted *store.Hot // 2.5: how many scrolls of a subject are completed, for lists
	judge   *store.Hot // 4.0: the verdicts of a batch of records
	rewrite *store.Hot // 4.6: the records of a batch with their findings

	byKey, active, insert        *store.Hot // 2.8: a start: the scroll of a key, how many are active, a new one
	lock, start, beat, save, end *store.Hot // 3.7: what a worker writes of its scroll
}

// columns are what a Scroll is read from.
const columns = `id, status, stage, progress, attempt, new_videos, failure_code, schedule, template,
	created_at, updated_at, started_at, completed_at`

// mine are the arguments $1 and $2 of what only a scroll's own worker may write: the scroll
// and its attempt.
const mine = " WHERE {tenant} AND id = $1 AND attempt = $2 AND status = 'running'"

// startedOnes selects what a tenant or their schedule started: imports belong to the
// operator, and passes between scrolls take no place of theirs.
const startedOnes = "(template IS NULL OR template NOT IN ('" + importTemplate + "', '" + youngTemplate + "'))"

func newHot(db *store.DB) hot {
	return hot{
		get:     db.Hot("SELECT " + columns + " FROM scrolls WHERE {tenant} AND id = $1"),
		counted: db.Hot("SELECT completed FROM scroll_counts WHERE {tenant} AND subject = $1"),
		judge:   db.Hot("UPDATE scroll_records SET dropped_by = $3, rank = $4 WHERE id = $2 AND +scroll_id = $1 AND +{tenant}"),
		rewrite: db.Hot("UPDATE scroll_records SET record = $3 WHERE id = $2 AND +scroll_id = $1 AND +{tenant}"),

		byKey:  db.Hot("SELECT " + columns + " FROM scrolls WHERE {tenant} AND idempotency_key = $1"),
		active: db.Hot("SELECT count(*) FROM scrolls WHERE {tenant} AND status IN ('queued', 'running') AND " + startedOnes),
		insert: db.Hot(`INSERT INTO scrolls ({owner}, id, status, progress, subject, schedule, template, prompt, idempotency_key,
			new_videos, rules_version, attempt, heartbeat_at, checkpoint, created_at, updated_at)
			VALUES ({account}, $1, 'queued', $2, $3, $4, $5, $6, $7, 0, 0, 0, 0, '', $8, $8)`),

		// The row is locked by a change of nothing.
		lock: db.Hot(`UPDATE scrolls SET attempt = attempt WHERE {tenant} AND id = $1 RETURNING {owner}, status, attempt,
			heartbeat_at, started_at, template, prompt, checkpoint, new_videos, progress, subject, rules_version`),
		start: db.Hot(`UPDATE scrolls SET status = 'running', stage = $3, attempt = attempt + 1, heartbeat_at = $4, updated_at = $4,
			started_at = COALESCE(started_at, $4) WHERE {tenant} AND id = $1 AND attempt = $2`),
		beat: db.Hot("UPDATE scrolls SET heartbeat_at = $3" + mine),
		save: db.Hot(`UPDATE scrolls SET heartbeat_at = $3, updated_at = $3, stage = $4, checkpoint = $5, progress = $6, new_videos = $7,
			subject = $8, rules_version = $9` + mine),
		end: db.Hot(`UPDATE scrolls SET status = $3, stage = NULL, completed_at = $4, updated_at = $4, failure_code = COALESCE($5, failure_code)
			WHERE {tenant} AND id = $1 AND attempt = $2 AND status IN ('queued', 'running')`),
	}
}

// scrollRow has the columns of a scroll.
type scrollRow struct {
	ID                     int64
	Status                 string
	Stage                  *string
	Progress               string
	Attempt, NewVideos     int
	FailureCode            *string
	Schedule               *int
	Template               *string
	CreatedAt, UpdatedAt   int64
	StartedAt, CompletedAt *int64
}

// scroll is the scroll of a row.
func (r scrollRow) scroll() (*Scroll, error) {
	progress, err := parseProgress(r.Progress)
	if err != nil {
		return nil, fmt.Errorf("scroll %s: %w", publicid.Format(publicid.Scroll, r.ID), err)
	}
	return &Scroll{
		ID: r.ID, Status: r.Status, Step: r.Stage, Progress: progress, Attempts: r.Attempt,
		NewVideos: r.NewVideos, FailureCode: r.FailureCode, Schedule: r.Schedule, Template: r.Template,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt,
	}, nil
}

// findByKey reads the scroll of an idempotency key; nil if there is none.
func (h *hot) findByKey(ctx context.Context, tx *store.Tx, key string) (*Scroll, error) {
	row, found, err := store.OneIn[scrollRow](ctx, tx, h.byKey, key)
	if err != nil || !found {
		return nil, err
	}
	return row.scroll()
}

// countActive counts what the limit of active scrolls applies to.
func (h *hot) countActive(ctx context.Context, tx *store.Tx) (int, error) {
	active, _, err := store.OneIn[int](ctx, tx, h.active)
	return active, err
}

// runNumber counts the workspace's runs from 1. Imports are no runs of it.
func (s *Service) runNumber(ctx context.Context) (int, error) {
	subjects, err := s.db.Ent().ScrollCount.Query().All(ctx)
	number := 1
	for _, subject := range subjects {
		number += subject.Runs
	}
	return number, err
}

// insert writes a queued scroll with its job.
func (s *Service) insert(ctx context.Context, tx *store.Tx, account int64, subject string, start Start) (*Scroll, error) {
	now := s.now()
	made := &Scroll{
		ID: s.db.NewID(), Status: Queued, Schedule: start.Schedule, Template: start.Template,
		CreatedAt: now.UnixMilli(), UpdatedAt: now.UnixMilli(),
	}
	var schedule any
	if start.Schedule != nil {
		schedule = *start.Schedule
	}
	_, err := s.hot.insert.ExecIn(ctx, tx, made.ID, noProgress, subject, schedule, start.Template, start.Prompt, start.IdempotencyKey, made.CreatedAt)
	if err != nil {
		return nil, err
	}
	return made, s.enqueue(ctx, tx, account, made.ID, 1, now)
}

// lockedRow has the columns of a scroll that a worker needs.
type lockedRow struct {
	AccountID         int64
	Status            string
	Attempt           int
	HeartbeatAt       int64
	StartedAt         *int64
	Template, Prompt  *string
	Checkpoint        string
	NewVideos         int
	Progress, Subject string
	RulesVersion      int
}

// lockRow reads a scroll and keeps others from changing it; nil if there is none.
func (h *hot) lockRow(ctx context.Context, tx *store.Tx, id int64) (*claimRow, error) {
	row, ok, err := store.OneIn[lockedRow](ctx, tx, h.lock, id)
	if err != nil || !ok {
		return nil, err
	}
	found := &claimRow{
		ID: id, Account: row.AccountID, Status: row.Status, Attempt: row.Attempt, HeartbeatAt: row.HeartbeatAt, StartedAt: row.StartedAt,
		state: state{checkpoint: row.Checkpoint, newVideos: row.NewVideos, subject: row.Subject, rulesVersion: row.RulesVersion},
	}
	if row.Template != nil {
		found.Template = *row.Template
	}
	if row.Prompt != nil {
		found.Prompt = *row.Prompt
	}
	found.state.progress, err = parseProgress(row.Progress)
	return found, err
}

// startRow makes the attempt after the row's own the one that may commit.
func (h *hot) startRow(ctx context.Context, tx *store.Tx, row *claimRow, step string, now int64) error {
	if err := one(h.start.ExecIn(ctx, tx, row.ID, row.Attempt, step, now)); err != nil || row.StartedAt != nil {
		return err
	}
	return changefeed.Append(ctx, tx, changefeed.Change{Kind: changefeed.ScrollStarted, Scroll: row.ID})
}

// countCompleted adds a completed scroll to those of its subject.
func countCompleted(ctx context.Context, tx *store.Tx, r *run, subject string) error {
	runs := 1
	if isOwn(r.name) {
		runs = 0
	}
	return tx.Ent().ScrollCount.Create().SetID(r.s.db.NewID()).SetAccountID(r.account).SetSubject(subject).SetCompleted(1).SetRuns(runs).
		OnConflict(entsql.ConflictColumns(scrollcount.FieldAccountID, scrollcount.FieldSubject), entsql.ResolveWith(func(u *entsql.UpdateSet) {
			u.Add(scrollcount.FieldCompleted, 1).Add(scrollcount.FieldRuns, runs)
		})).Exec(ctx)
}

// endRow ends a scroll of an attempt that has not ended, and deletes its records.
func (h *hot) endRow(ctx context.Context, tx *store.Tx, id int64, attempt int, status, failure string, now int64) error {
	code := sql.NullString{String: failure, Valid: failure != ""}
	if err := one(h.end.ExecIn(ctx, tx, id, attempt, status, now, code)); err != nil {
		return err
	}
	if err := changefeed.Append(ctx, tx, ending(id, status, failure)); err != nil {
		return err
	}
	return h.forget(ctx, tx, id)
}

// forget deletes all records of a scroll, and what its sources kept that is not in force.
func (h *hot) forget(ctx context.Context, tx *store.Tx, scroll int64) error {
	if _, err := tx.Ent().ScrollRecord.Delete().Where(scrollrecord.ScrollID(scroll)).Exec(ctx); err != nil {
		return err
	}
	return sourceStates{}.forget(ctx, tx, scroll)
}

// fence locks the row, or fails with errLost, and writes the heartbeat.
func (r *run) fence(ctx context.Context, tx *store.Tx, now int64) error {
	return one(r.s.hot.beat.ExecIn(ctx, tx, r.id, r.attempt, now))
}

// save writes the worker's part of the row.
func (r *run) save(ctx context.Context, tx *store.Tx, next state, now int64) error {
	progress := next.progress
	progress.Coverage = coverage.Shorten(progress.Coverage, r.s.cfg.MaxCoverage)
	if err := r.s.withoutErased(ctx, tx, &progress); err != nil {
		return err
	}
	text, err := json.Marshal(progress)
	if err != nil {
		return fmt.Errorf("render progress: %w", err)
	}
	return one(r.s.hot.save.ExecIn(ctx, tx, r.id, r.attempt, now, next.step, next.checkpoint, string(text), next.newVideos, next.subject, next.rulesVersion))
}
