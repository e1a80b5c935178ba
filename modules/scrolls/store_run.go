package scrolls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/ent/scroll"
	changefeed "github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
)

const (
	// lookBack is how many completed scrolls are searched for what a seed brought.
	lookBack = 5
	// maxEarlier bounds the running imports that one look finds.
	maxEarlier = 100
)

// claimRow is the part of a scroll that a worker needs.
type claimRow struct {
	ID, Account      int64
	Status           string
	Attempt          int
	HeartbeatAt      int64
	StartedAt        *int64
	Template, Prompt string
	state            state
}

// errLost is what a worker gets that no longer owns its scroll.
var errLost = errors.New("the scroll has another worker or has ended")

// one returns errLost for a change that found no row.
func one(changed int64, err error) error {
	if err == nil && changed != 1 {
		return errLost
	}
	return err
}

// ending is the entry in the feed of a scroll that has ended.
func ending(id int64, status, failure string) changefeed.Change {
	kind := changefeed.ScrollFailed
	switch status {
	case Completed:
		kind = changefeed.ScrollCompleted
	case Cancelled:
		kind = changefeed.ScrollCancelled
	}
	return changefeed.Change{Kind: kind, Scroll: id, Word: failure}
}

// failRow fails a scroll that has no worker.
func (s *Service) failRow(ctx context.Context, tx *store.Tx, row *claimRow, code string, now int64) error {
	why := &Failure{Cause: words(code), Tries: row.Attempt}
	if row.StartedAt != nil {
		step := nextStep(row.state.checkpoint)
		why.Step = &step
	}
	row.state.progress.Failure = why
	text, err := json.Marshal(row.state.progress)
	if err != nil {
		return fmt.Errorf("render progress: %w", err)
	}
	update := tx.Ent().Scroll.Update().Where(scroll.ID(row.ID), scroll.Attempt(row.Attempt), active()).SetProgress(string(text))
	n, err := update.Save(ctx)
	if err := one(int64(n), err); err != nil {
		return err
	}
	return s.hot.endRow(ctx, tx, row.ID, row.Attempt, Failed, code, now)
}

// lost finds active scrolls, of all tenants, that had no heartbeat since a time: first
// those that run.
func (s *Service) lost(ctx context.Context, since int64) ([]*ent.Scroll, error) {
	return s.db.Ent().Scroll.Query().
		Where(scroll.Or(
			scroll.And(scroll.Status(Running), scroll.HeartbeatAtLTE(since)),
			scroll.And(scroll.Status(Queued), scroll.CreatedAtLTE(since)),
		)).
		Order(ent.Desc(scroll.FieldStatus), ent.Asc(scroll.FieldID)).Limit(100).
		Select(scroll.FieldID, scroll.FieldAccountID, scroll.FieldAttempt, scroll.FieldHeartbeatAt).All(ctx)
}

// Load is what an operator sees of a scroll of any tenant. Times are Unix milliseconds, 0 for none.
type Load struct {
	ID, AccountID        int64
	Step, FailureCode    string
	Attempt              int
	Created, HeartbeatAt int64
}

// Across returns at most limit scrolls with a status, of all tenants, those with the newest
// heartbeat first.
func (s *Service) Across(ctx context.Context, status string, limit int) ([]Load, error) {
	found, err := s.db.Ent().Scroll.Query().Where(scroll.Status(status)).
		Order(ent.Desc(scroll.FieldHeartbeatAt), ent.Desc(scroll.FieldID)).Limit(limit).
		Select(scroll.FieldID, scroll.FieldAccountID, scroll.FieldStage, scroll.FieldFailureCode, scroll.FieldAttempt, scroll.FieldCreatedAt, scroll.FieldHeartbeatAt).
		All(viewer.System(ctx))
	all := make([]Load, 0, len(found))
	for _, row := range found {
		load := Load{ID: row.ID, AccountID: row.AccountID, Attempt: row.Attempt, Created: row.CreatedAt, HeartbeatAt: row.HeartbeatAt}
		if row.Stage != nil {
			load.Step = *row.Stage
		}
		if row.FailureCode != nil {
			load.FailureCode = *row.FailureCode
		}
		all = append(all, load)
	}
	return all, err
}

// pulse is a fence and nothing else.
func (r *run) pulse(ctx context.Context) error {
	return r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		return r.fence(ctx, tx, r.s.now().UnixMilli())
	})
}

// end writes a final state and deletes the records. why is nil unless it failed.
func (r *run) end(ctx context.Context, status, failure string, why *Failure) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		now := r.s.now().UnixMilli()
		next := r.state
		next.progress.Failure = why
		if status == Completed {
			next.checkpoint = Score
			next.progress.raise(100)
		}
		if err := r.save(ctx, tx, next, now); err != nil {
			return err
		}
		if status == Completed {
			if err := countCompleted(ctx, tx, r, next.subject); err != nil {
				return err
			}
		}
		return r.s.hot.endRow(ctx, tx, r.id, r.attempt, status, failure, now)
	})
	if err == nil {
		r.s.signals.changed(r.id)
		r.s.cfg.Observer.Ended(status)
	}
	return err
}

// putDown leaves the scroll to another start, whose number follows attempt.
func (r *run) putDown(ctx context.Context, tx *store.Tx, attempt int) error {
	n, err := tx.Ent().Scroll.Update().Where(scroll.ID(r.id), scroll.Attempt(r.attempt), scroll.Status(Running)).
		SetHeartbeatAt(0).SetAttempt(attempt).SetUpdatedAt(r.s.now().UnixMilli()).Save(ctx)
	return one(int64(n), err)
}

// insertImport writes the scroll of an import, started. It has no job: its command
// runs it.
func (r importing) insertImport(ctx context.Context, tx *store.Tx) error {
	now := r.s.now().UnixMilli()
	if err := changefeed.Append(ctx, tx, changefeed.Change{Kind: changefeed.ScrollStarted, Scroll: r.id}); err != nil {
		return err
	}
	return tx.Ent().Scroll.Create().SetID(r.id).SetAccountID(r.account).SetStatus(Running).SetStage(r.state.step).
		SetProgress(noProgress).SetTemplate(importTemplate).SetSubject(r.state.subject).SetRulesVersion(r.state.rulesVersion).
		SetAttempt(r.attempt).SetHeartbeatAt(now).SetCheckpoint(r.state.checkpoint).
		SetCreatedAt(now).SetUpdatedAt(now).SetStartedAt(now).Exec(ctx)
}

// runningImports are the tenant's imports that have not ended.
func (s importers) runningImports(ctx context.Context) ([]*ent.Scroll, error) {
	return s.db.Ent().Scroll.Query().
		Where(scroll.Status(Running), scroll.TemplateEQ(importTemplate)).
		Order(ent.Asc(scroll.FieldID)).Limit(maxEarlier).
		Select(scroll.FieldID, scroll.FieldHeartbeatAt, scroll.FieldAttempt).All(ctx)
}

// importPulse reads the heartbeat of one of them; nil once it has ended.
func (s importers) importPulse(ctx context.Context, id int64) (*ent.Scroll, error) {
	row, err := s.db.Ent().Scroll.Query().
		Where(scroll.ID(id), scroll.Status(Running)).
		Select(scroll.FieldID, scroll.FieldHeartbeatAt).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	return row, err
}

// coverageBefore is the coverage of the last completed scrolls of the same subject
// and template, see [coverage.Latest]. An import has none: its source is not asked
// for the same again.
func (r *run) coverageBefore(ctx context.Context, scrolls int) ([]coverage.Entry, error) {
	if r.name == importTemplate {
		return nil, nil
	}
	return r.s.coverageOf(ctx, r.snapshot().subject, r.name, scrolls)
}

func (s *Service) coverageOf(ctx context.Context, subject, template string, scrolls int) ([]coverage.Entry, error) {
	rows, err := s.db.Ent().Scroll.Query().
		Where(scroll.Status(Completed), scroll.Subject(subject), ofTemplate(template)).
		Order(ent.Desc(scroll.FieldID)).Limit(scrolls).
		Select(scroll.FieldProgress).All(ctx)
	if err != nil {
		return nil, err
	}
	parts := make([][]coverage.Entry, len(rows))
	for i, row := range rows {
		progress, err := parseProgress(row.Progress)
		if err != nil {
			return nil, fmt.Errorf("scroll %s: %w", publicid.Format(publicid.Scroll, row.ID), err)
		}
		parts[i] = progress.Coverage
	}
	return coverage.Latest(parts...), nil
}

// ofTemplate selects the scrolls of a template.
func ofTemplate(name string) predicate.Scroll {
	if name == defaultTemplate {
		return scroll.Or(scroll.TemplateEQ(name), scroll.TemplateIsNil())
	}
	return scroll.TemplateEQ(name)
}

// activeOf returns the active scrolls of a subject, of any if it is empty.
func activeOf(ctx context.Context, tx *store.Tx, subject string) ([]int64, error) {
	found := tx.Ent().Scroll.Query().Where(active())
	if subject != "" {
		found.Where(scroll.Subject(subject))
	}
	return found.Order(ent.Asc(scroll.FieldStatus, scroll.FieldID)).IDs(ctx)
}

// cancelRow cancels a scroll; done is false if it had ended.
func (h *hot) cancelRow(ctx context.Context, tx *store.Tx, id, now int64) (done bool, err error) {
	n, err := tx.Ent().Scroll.Update().Where(scroll.ID(id), active()).
		SetStatus(Cancelled).ClearStage().SetUpdatedAt(now).SetCompletedAt(now).Save(ctx)
	if err != nil || n == 0 {
		return false, err
	}
	if err := changefeed.Append(ctx, tx, ending(id, Cancelled, "")); err != nil {
		return false, err
	}
	return true, h.forget(ctx, tx, id)
}
