package scrolls

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/scroll"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// columns are what a Scroll is read from.
const columns = `id, status, stage, progress, attempt, new_videos, failure_code, schedule, template,
	created_at, updated_at, started_at, completed_at`

func prepareGet(db *store.DB) *store.Statement {
	return db.Prepare("SELECT " + columns + " FROM scrolls WHERE account_id = $1 AND id = $2")
}

// load reads one scroll of the tenant; nil where there is none.
func (s *Service) load(ctx context.Context, id int64) (*Scroll, error) {
	rows, err := s.get.Query(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("load scroll %d: %w", id, err)
	}
	scroll, err := s.scanOne(rows)
	if err != nil {
		return nil, fmt.Errorf("load scroll %d: %w", id, err)
	}
	return scroll, nil
}

// scanOne reads the only row, or nil, and closes rows.
func (s *Service) scanOne(rows *sql.Rows) (*Scroll, error) {
	defer rows.Close()
	if !rows.Next() {
		return nil, rows.Err()
	}
	var row Scroll
	var progress sql.RawBytes
	err := rows.Scan(&row.ID, &row.Status, &row.Stage, &progress, &row.Attempts, &row.NewVideos, &row.FailureCode, &row.Schedule,
		&row.Template, &row.CreatedAt, &row.UpdatedAt, &row.StartedAt, &row.CompletedAt)
	if err != nil {
		return nil, err
	}
	if row.Progress, err = s.parsed.parse(row.ID, progress); err != nil {
		return nil, err
	}
	return &row, rows.Close()
}

func parseProgress(text []byte) (p Progress, err error) {
	if string(text) == noProgress {
		return p, nil
	}
	if err = json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("parse progress: %w", err)
	}
	return p, nil
}

// noProgress is what a fresh scroll has.
const noProgress = `{"percent":0}`

// page reads the tenant's scrolls below an id, newest first; 0 starts at the top.
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

func fromRow(row *ent.Scroll) (*Scroll, error) {
	progress, err := parseProgress([]byte(row.Progress))
	if err != nil {
		return nil, fmt.Errorf("scroll %d: %w", row.ID, err)
	}
	return &Scroll{
		ID: row.ID, Status: row.Status, Stage: row.Stage, Progress: progress, Attempts: row.Attempt,
		NewVideos: row.NewVideos, FailureCode: row.FailureCode, Schedule: row.Schedule, Template: row.Template,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, StartedAt: row.StartedAt, CompletedAt: row.CompletedAt,
	}, nil
}

// owner finds whose scroll it is, among those that the viewer may see.
func (s *Service) owner(ctx context.Context, id int64) (account int64, ok bool, err error) {
	row, err := s.db.Ent().Scroll.Query().Where(scroll.ID(id)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("find scroll %d: %w", id, err)
	}
	return row.AccountID, true, nil
}

// equal tells whether a watcher would see no difference.
func equal(a, b *Scroll) bool { return reflect.DeepEqual(a, b) }
