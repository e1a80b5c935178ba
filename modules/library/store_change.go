package library

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// archiveVideo hides or shows a video or its hook; found is false for a video
// that the tenant does not have.
func (s *Service) archiveVideo(ctx context.Context, tx *store.Tx, id int64, hookOnly, archived bool) (found bool, err error) {
	account, err := tenant(ctx)
	if err != nil {
		return false, err
	}
	if err := s.raise(ctx, tx, account, 0); err != nil {
		return false, err
	}
	var video, hook bool
	var keys string
	err = s.write("SELECT v.archived, v.hook_archived, d.keys FROM videos v JOIN video_docs d ON d.id = v.id WHERE v.account_id = ", arg{account}, " AND v.id = ", arg{id}).
		query(ctx, tx, func(rows *sql.Rows) error {
			found = true
			return rows.Scan(&video, &hook, &keys)
		})
	if err != nil || !found {
		return false, err
	}
	if hookOnly && hook == archived || !hookOnly && video == archived {
		return true, nil
	}
	if hookOnly {
		hook = archived
	} else {
		video = archived
	}
	err = s.write("UPDATE videos SET archived = ", arg{flag(video)}, ", hook_archived = ", arg{flag(hook)}, ", hook_hidden = ", arg{flag(video || hook)},
		" WHERE account_id = ", arg{account}, " AND id = ", arg{id}).exec(ctx, tx)
	if err != nil || hookOnly {
		return true, err
	}
	return true, s.retrend(ctx, tx, account, id, keys, archived)
}

func flag(on bool) int {
	if on {
		return 1
	}
	return 0
}

// ArchiveSubject archives the videos that were gathered for a subject, in the
// caller's transaction, and returns how many were not archived before.
func (s *Service) ArchiveSubject(ctx context.Context, tx *store.Tx, subject string) (int, error) {
	account, err := tenant(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.raise(ctx, tx, account, 0); err != nil {
		return 0, err
	}
	result, err := tx.Exec(ctx, "UPDATE videos SET archived = 1, hook_hidden = 1 WHERE account_id = $1 AND archived = 0 AND subject = $2", account, subject)
	if err != nil {
		return 0, fmt.Errorf("archive videos of a subject: %w", err)
	}
	count, err := result.RowsAffected()
	if err != nil || count == 0 {
		return 0, err
	}
	windows, err := s.windows(ctx, tx, account)
	if err != nil {
		return 0, err
	}
	for _, w := range windows {
		if err := s.measureWindow(ctx, within(tx, account), w); err != nil {
			return 0, err
		}
		if err := s.replaceTrends(ctx, tx, account, w); err != nil {
			return 0, err
		}
	}
	return int(count), nil
}

// annotate replaces the caller's annotations and returns the Video's JSON, nil
// for a video that the tenant does not have.
func (s *Service) annotate(ctx context.Context, tx *store.Tx, id int64, metadata json.RawMessage) (video []byte, err error) {
	account, err := tenant(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.raise(ctx, tx, account, 0); err != nil {
		return nil, err
	}
	var doc string
	err = s.write("SELECT doc FROM video_docs WHERE account_id = ", arg{account}, " AND id = ", arg{id}).
		query(ctx, tx, func(rows *sql.Rows) error { return rows.Scan(&doc) })
	if err != nil || doc == "" {
		return nil, err
	}
	slow, facts := halves(doc)
	d, err := readDocument(slow)
	if err != nil {
		return nil, err
	}
	d.AgentMetadata = value(metadata)
	doc = d.render() + facts
	err = s.write("UPDATE video_docs SET doc = ", arg{doc}, " WHERE account_id = ", arg{account}, " AND id = ", arg{id}).exec(ctx, tx)
	return []byte(doc), err
}
