package scrolls

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/ent/recurrence"
	"github.com/scrollery/scrollery/ent/scroll"
	entverdict "github.com/scrollery/scrollery/ent/verdict"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// load reads one scroll of the tenant; nil if there is none.
func (s *Service) load(ctx context.Context, id int64) (*Scroll, error) {
	row, found, err := store.One[scrollRow](ctx, s.hot.get, id)
	if err != nil {
		return nil, fmt.Errorf("load scroll %s: %w", publicid.Format(publicid.Scroll, id), err)
	}
	if !found {
		return nil, nil
	}
	return row.scroll()
}

// noProgress is the progress of a new scroll.
const noProgress = `{"percent":0}`

func parseProgress(text string) (p Progress, err error) {
	if text == noProgress {
		return p, nil
	}
	if err = json.Unmarshal([]byte(text), &p); err != nil {
		return p, fmt.Errorf("parse progress: %w", err)
	}
	return p, nil
}

// page reads the tenant's scrolls below an id, newest first; 0 starts with the newest.
func (s *Service) page(ctx context.Context, before int64, limit int) ([]*Scroll, error) {
	query := s.db.Ent().Scroll.Query().Order(ent.Desc(scroll.FieldID)).Limit(limit)
	if before > 0 {
		query.Where(scroll.IDLT(before))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return nil, err
	}
	scrolls := make([]*Scroll, len(rows))
	for i, row := range rows {
		if scrolls[i], err = fromRow(row); err != nil {
			return nil, err
		}
	}
	return scrolls, nil
}

// held reads the newest scrolls that the viewer may see; with a status, those that have it.
func held(ctx context.Context, db *store.DB, status string, limit int) ([]Held, error) {
	query := db.Ent().Scroll.Query().Order(ent.Desc(scroll.FieldID)).Limit(limit)
	if status != "" {
		query.Where(scroll.Status(status))
	}
	rows, err := query.All(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]Held, len(rows))
	for i, row := range rows {
		one, err := fromRow(row)
		if err != nil {
			return nil, err
		}
		found[i] = Held{one, row.AccountID}
	}
	return found, nil
}

// ordered is what a scroll was asked for, and what became of it.
type ordered struct {
	AccountID        int64
	Status           string
	Prompt, Template *string
}

// orderOf reads what a scroll was asked for; nil if there is none.
func orderOf(ctx context.Context, db *store.DB, id int64) (*ordered, error) {
	row, err := db.Ent().Scroll.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &ordered{row.AccountID, row.Status, row.Prompt, row.Template}, nil
}

func fromRow(row *ent.Scroll) (*Scroll, error) {
	return scrollRow{
		row.ID, row.Status, row.Stage, row.Progress, row.Attempt, row.NewVideos, row.FailureCode, row.Schedule, row.Template,
		row.CreatedAt, row.UpdatedAt, row.StartedAt, row.CompletedAt,
	}.scroll()
}

// owner returns the account of a scroll that the viewer may see.
func (s *Service) owner(ctx context.Context, id int64) (account int64, ok bool, err error) {
	row, err := s.db.Ent().Scroll.Get(ctx, id)
	if ent.IsNotFound(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("find scroll %s: %w", publicid.Format(publicid.Scroll, id), err)
	}
	return row.AccountID, true, nil
}

// equal reports whether a watcher would see no difference.
func equal(a, b *Scroll) bool { return reflect.DeepEqual(a, b) }

func subjectOf(ctx context.Context, db *store.DB, id int64) (subject string, found bool, err error) {
	subject, err = db.Ent().Scroll.Query().Where(scroll.ID(id)).Select(scroll.FieldSubject).String(ctx)
	if ent.IsNotFound(err) {
		return "", false, nil
	}
	return subject, err == nil, err
}

// completedOf returns those of the scrolls that are completed.
func completedOf(ctx context.Context, db *store.DB, ids []int64) ([]int64, error) {
	return db.Ent().Scroll.Query().Where(scroll.IDIn(ids...), scroll.Status(Completed)).IDs(ctx)
}

// active selects the scrolls that have not ended.
func active() predicate.Scroll { return scroll.StatusIn(Queued, Running) }

// isPassing reports whether young videos are being read again.
func isPassing(ctx context.Context, tx *store.Tx) (bool, error) {
	return tx.Ent().Scroll.Query().Where(active(), scroll.TemplateEQ(youngTemplate)).Exist(ctx)
}

// dueAt is when a recurrence of the tenant is due; 0 if it is gone.
func dueAt(ctx context.Context, tx *store.Tx, id int64) (int64, error) {
	row, err := tx.Ent().Recurrence.Query().Where(recurrence.ID(id)).Only(ctx)
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return row.NextAt, nil
}

// dueRow is a recurrence whose time has come.
type dueRow struct {
	ID, AccountID    int64
	EveryDays        int
	Prompt, Template *string
	NextAt           int64
}

// replaceRecurrence makes a start the one that repeats.
func (s schedules) replaceRecurrence(ctx context.Context, tx *store.Tx, account int64, start Start, now, next int64) error {
	if _, err := tx.Ent().Recurrence.Delete().Exec(ctx); err != nil {
		return err
	}
	id := s.db.NewID()
	err := tx.Ent().Recurrence.Create().SetID(id).SetAccountID(account).SetEveryDays(*start.Schedule).
		SetNillablePrompt(start.Prompt).SetNillableTemplate(start.Template).SetNextAt(next).SetCreatedAt(now).Exec(ctx)
	if err != nil {
		return err
	}
	return s.enqueuePass(ctx, tx, passArgs{account, id, now, next})
}

// recurrence reads the tenant's recurrence; nil if there is none.
func (s schedules) recurrence(ctx context.Context) (*Recurrence, error) {
	rows, err := s.db.Ent().Recurrence.Query().Limit(1).All(ctx)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	row := rows[0]
	return &Recurrence{EveryDays: row.EveryDays, Prompt: row.Prompt, Template: row.Template, NextAt: row.NextAt, CreatedAt: row.CreatedAt}, nil
}

func (s schedules) deleteRecurrence(ctx context.Context) (bool, error) {
	var deleted int
	err := s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		deleted, err = tx.Ent().Recurrence.Delete().Exec(ctx)
		return err
	})
	return deleted > 0, err
}

// dueBatch is how many due recurrences are read at once.
const dueBatch = 100

// due finds recurrences, of all tenants, whose time has come: the next dueBatch after
// one, in the order of their times.
func (s schedules) due(ctx context.Context, now int64, after dueRow) ([]dueRow, error) {
	rows, err := s.db.Ent().Recurrence.Query().
		Where(recurrence.NextAtLTE(now), recurrence.Or(
			recurrence.NextAtGT(after.NextAt),
			recurrence.And(recurrence.NextAt(after.NextAt), recurrence.IDGT(after.ID)),
		)).
		Order(ent.Asc(recurrence.FieldNextAt, recurrence.FieldID)).Limit(dueBatch).All(ctx)
	due := make([]dueRow, len(rows))
	for i, row := range rows {
		due[i] = dueRow{row.ID, row.AccountID, row.EveryDays, row.Prompt, row.Template, row.NextAt}
	}
	return due, err
}

// advance moves a recurrence on; mine is false if another process did, or if it
// was replaced.
func advance(ctx context.Context, tx *store.Tx, row dueRow, next int64) (mine bool, err error) {
	n, err := tx.Ent().Recurrence.Update().Where(recurrence.NextAt(row.NextAt)).SetNextAt(next).Save(ctx)
	return n == 1, err
}

// pastVerdicts are what screens decided.
type pastVerdicts struct{ *Service }

// pageOfVerdicts reads at most limit verdicts below an id; 0 starts with the newest.
func (s pastVerdicts) pageOfVerdicts(ctx context.Context, scroll int64, filter VerdictFilter, before int64, limit int) ([]Verdict, error) {
	query := s.db.Ent().Verdict.Query()
	if scroll != 0 {
		query.Where(entverdict.ScrollID(scroll))
	}
	if filter.Dropped != nil {
		query.Where(entverdict.Dropped(*filter.Dropped))
	}
	if filter.ExternalID != "" {
		query.Where(entverdict.ExternalID(filter.ExternalID))
	}
	if before != 0 {
		query.Where(entverdict.IDLT(before))
	}
	rows, err := query.Order(ent.Desc(entverdict.FieldID)).Limit(limit).All(ctx)
	verdicts := make([]Verdict, len(rows))
	for i, row := range rows {
		verdicts[i] = Verdict{
			ID: row.ID, ScrollID: row.ScrollID, JudgedAt: row.JudgedAt,
			Verdict: stage.Verdict{
				Ref:       stage.Ref{Platform: row.Platform, ExternalID: row.ExternalID},
				DroppedBy: row.DroppedBy, RuleID: row.RuleID, Rank: row.Rank, Reason: row.Reason,
			},
		}
	}
	return verdicts, err
}

// forgetDrops deletes at most limit old drops, of all tenants.
func (s pastVerdicts) forgetDrops(ctx context.Context, below int64, limit int) (removed int, err error) {
	rows, err := s.db.Ent().Verdict.Query().Where(entverdict.Dropped(true), entverdict.JudgedAtLT(below)).
		Order(ent.Asc(entverdict.FieldJudgedAt, entverdict.FieldID)).Limit(limit).Select(entverdict.FieldID, entverdict.FieldJudgedAt).All(ctx)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	ids := make([]int64, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	last := rows[len(rows)-1].JudgedAt // an index by it finds the rows: that of ids begins with the account
	err = s.db.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		removed, err = tx.Ent().Verdict.Delete().Where(entverdict.Dropped(true), entverdict.JudgedAtLTE(last), entverdict.IDIn(ids...)).Exec(ctx)
		return err
	})
	if err == nil && len(rows) == limit {
		removed = limit // some may have been judged again meanwhile; more may be left
	}
	return removed, err
}
