package scrolls

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	changefeed "github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
)

// hot are the statements that BenchmarkHot shows to be at least 1.3 times as fast as
// the same work through Ent. The ratio beside each was measured on SQLite; of several, with
// some of them.
type hot struct {
	get     *store.Hot // 3.6: a poll of one scroll
	counted *store.Hot // 2.5: how many scrolls of a subject are completed, for lists
	judge   *store.Hot // 4.0: the verdicts of a batch of records, in one statement
	rewrite *store.Hot // 4.6: the records of a batch with their findings

	byKey, active, insert        *store.Hot // 2.8: a start: the scroll of a key, how many are active, a new one
	lock, start, beat, save, end *store.Hot // 3.7: what a worker writes of its scroll
	addCompleted, runs, records  *store.Hot // not measured: counts a completed scroll; how many are; deletes the records of one
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
		judge: db.Hot(`UPDATE scroll_records
			SET dropped_by = v.column2, rank = v.column3 FROM (VALUES {values:2 BIGINT,TEXT,FLOAT8}) AS v
			WHERE scroll_records.id = v.column1 AND +scroll_id = $1 AND +{tenant:scroll_records}`),
		rewrite: db.Hot(`UPDATE scroll_records SET record = v.column2 FROM (VALUES {values:2 BIGINT,TEXT}) AS v
			WHERE scroll_records.id = v.column1 AND +scroll_id = $1 AND +{tenant:scroll_records}`),

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
		addCompleted: db.Hot(`INSERT INTO scroll_counts (id, {owner}, subject, completed, runs) VALUES ($1, {account}, $2, 1, $3)
			ON CONFLICT ({owner}, subject) DO UPDATE SET completed = scroll_counts.completed + 1, runs = scroll_counts.runs + excluded.runs`),
		runs:    db.Hot("SELECT CAST(COALESCE(sum(runs), 0) AS BIGINT) FROM scroll_counts WHERE {tenant}"),
		records: db.Hot("DELETE FROM scroll_records WHERE {tenant} AND scroll_id = $1"),
	}
}

// readRow reads a scroll from its columns.
func readRow(row store.Row, parse func(progress string) (Progress, error)) (*Scroll, error) {
	s := &Scroll{
		Step: textAt(row[2]), FailureCode: textAt(row[6]), Schedule: intAt(row[7]), Template: textAt(row[8]),
		StartedAt: timeAt(row[11]), CompletedAt: timeAt(row[12]),
	}
	s.ID, _ = row[0].(int64)
	s.Status, _ = row[1].(string)
	text, _ := row[3].(string)
	s.Attempts, s.NewVideos = intOf(row[4]), intOf(row[5])
	s.CreatedAt, _ = row[9].(int64)
	s.UpdatedAt, _ = row[10].(int64)
	var err error
	s.Progress, err = parse(text)
	return s, err
}

// into reads a number.
func into(n *int) func(store.Row) (bool, error) {
	return func(row store.Row) (bool, error) {
		*n = intOf(row[0])
		return false, nil
	}
}

func intOf(value any) int {
	n, _ := value.(int64)
	return int(n)
}

func textAt(value any) *string {
	if text, ok := value.(string); ok {
		return &text
	}
	return nil
}

func intAt(value any) *int {
	if n, ok := value.(int64); ok {
		small := int(n)
		return &small
	}
	return nil
}

func timeAt(value any) *int64 {
	if n, ok := value.(int64); ok {
		return &n
	}
	return nil
}

// findByKey reads the scroll of an idempotency key; nil where there is none.
func (h *hot) findByKey(ctx context.Context, tx *store.Tx, key string) (found *Scroll, err error) {
	err = h.byKey.EachIn(ctx, tx, func(row store.Row) (_ bool, err error) {
		found, err = readRow(row, parseProgress)
		return false, err
	}, key)
	return found, err
}

// countActive counts what the limit of active scrolls applies to.
func (h *hot) countActive(ctx context.Context, tx *store.Tx) (active int, err error) {
	err = h.active.EachIn(ctx, tx, into(&active))
	return active, err
}

// runNumber counts the workspace's runs from 1. Imports are no runs of it.
func (s *Service) runNumber(ctx context.Context) (runs int, err error) {
	err = s.hot.runs.Each(ctx, into(&runs))
	return runs + 1, err
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

// lockRow reads a scroll and keeps others from changing it; nil where there is none.
func (h *hot) lockRow(ctx context.Context, tx *store.Tx, id int64) (found *claimRow, err error) {
	err = h.lock.EachIn(ctx, tx, func(row store.Row) (_ bool, err error) {
		found = &claimRow{ID: id, Attempt: intOf(row[2]), StartedAt: timeAt(row[4])}
		found.Account, _ = row[0].(int64)
		found.Status, _ = row[1].(string)
		found.HeartbeatAt, _ = row[3].(int64)
		found.Template, _ = row[5].(string)
		found.Prompt, _ = row[6].(string)
		found.state.checkpoint, _ = row[7].(string)
		found.state.newVideos = intOf(row[8])
		progress, _ := row[9].(string)
		found.state.subject, _ = row[10].(string)
		found.state.rulesVersion = intOf(row[11])
		found.state.progress, err = parseProgress(progress)
		return true, err
	}, id)
	return found, err
}

// startRow makes the attempt after the row's own the one that may commit.
func (h *hot) startRow(ctx context.Context, tx *store.Tx, row *claimRow, step string, now int64) error {
	if err := one(h.start.ExecIn(ctx, tx, row.ID, row.Attempt, step, now)); err != nil || row.StartedAt != nil {
		return err
	}
	return changefeed.Append(ctx, tx, changefeed.Change{Kind: changefeed.ScrollStarted, Scroll: row.ID})
}

// count adds a completed scroll to those of its subject.
func (h *hot) count(ctx context.Context, tx *store.Tx, id int64, subject, template string) error {
	runs := 1
	if isOwn(template) {
		runs = 0
	}
	_, err := h.addCompleted.ExecIn(ctx, tx, id, subject, runs)
	return err
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

// forget deletes all records of a scroll.
func (h *hot) forget(ctx context.Context, tx *store.Tx, scroll int64) error {
	_, err := h.records.ExecIn(ctx, tx, scroll)
	return err
}

// fence locks the row, or fails with errLost, and writes the heartbeat.
func (r *run) fence(ctx context.Context, tx *store.Tx, now int64) error {
	return one(r.s.hot.beat.ExecIn(ctx, tx, r.id, r.attempt, now))
}

// save writes the worker's part of the row.
func (r *run) save(ctx context.Context, tx *store.Tx, next state, now int64) error {
	progress := next.progress
	progress.Coverage = coverage.Shorten(progress.Coverage, r.s.cfg.MaxCoverage)
	text, err := json.Marshal(progress)
	if err != nil {
		return fmt.Errorf("render progress: %w", err)
	}
	return one(r.s.hot.save.ExecIn(ctx, tx, r.id, r.attempt, now, next.step, next.checkpoint, string(text), next.newVideos, next.subject, next.rulesVersion))
}
