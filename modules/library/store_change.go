package library

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// archiveVideo hides or shows a video or its hook. It returns false for a video
// that the tenant does not have.
func (s *Service) archiveVideo(ctx context.Context, tx *store.Tx, id int64, hookOnly, archived bool) (found bool, err error) {
	row, err := tx.Ent().Video.Get(ctx, id)
	if ent.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("load video %d: %w", id, err)
	}
	flag := 0
	if archived {
		flag = 1
	}
	if hookOnly && row.HookArchived == flag || !hookOnly && row.Archived == flag {
		return true, nil
	}
	change := tx.Ent().Video.UpdateOneID(id)
	if hookOnly {
		change.SetHookArchived(flag).SetHookHidden(max(flag, row.Archived))
	} else {
		change.SetArchived(flag).SetHookHidden(max(flag, row.HookArchived))
	}
	if err := change.Exec(ctx); err != nil {
		return false, fmt.Errorf("archive video %d: %w", id, err)
	}
	if err := feed.Append(ctx, tx, archiving(id, hookOnly, archived)); err != nil {
		return false, err
	}
	if hookOnly {
		return true, nil
	}
	docs, err := tx.Ent().VideoDoc.Get(ctx, id)
	if err != nil {
		return false, fmt.Errorf("load document %d: %w", id, err)
	}
	return true, s.recountVideo(ctx, tx, id, unpackKeys(docs.Keys), archived)
}

// archiving is the entry in the feed. A hidden hook is a change of the hook: the video stays.
func archiving(id int64, hookOnly, archived bool) feed.Change {
	switch {
	case hookOnly:
		return feed.Change{Kind: feed.HookChanged, Video: id}
	case archived:
		return feed.Change{Kind: feed.VideoArchived, Video: id}
	default:
		return feed.Change{Kind: feed.VideoRestored, Video: id}
	}
}

// ArchiveSubject archives the videos that were gathered for a subject, in the
// caller's transaction, and returns how many were not archived before.
func (s *Service) ArchiveSubject(ctx context.Context, tx *store.Tx, subject string) (int, error) {
	if err := s.raise(ctx, tx); err != nil {
		return 0, err
	}
	ids, err := tx.Ent().Video.Query().Where(video.Archived(0), video.Subject(subject)).Order(video.ByID()).IDs(ctx)
	if err != nil {
		return 0, fmt.Errorf("find videos of a subject: %w", err)
	}
	count, err := tx.Ent().Video.Update().Where(video.Archived(0), video.Subject(subject)).SetArchived(1).SetHookHidden(1).Save(ctx)
	if err != nil {
		return 0, fmt.Errorf("archive videos of a subject: %w", err)
	}
	if count == 0 {
		return 0, nil
	}
	changes := make([]feed.Change, len(ids))
	for i, id := range ids {
		changes[i] = archiving(id, false, true)
	}
	if err := feed.Append(ctx, tx, changes...); err != nil {
		return 0, err
	}
	return count, s.recountAll(ctx, tx)
}

// annotate replaces the caller's annotations and returns the Video's JSON, nil
// for a video that the tenant does not have.
func (s *Service) annotate(ctx context.Context, tx *store.Tx, id int64, metadata json.RawMessage) (doc []byte, err error) {
	row, err := tx.Ent().Video.Get(ctx, id)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load video %d: %w", id, err)
	}
	ref := stage.Ref{Platform: row.Platform, ExternalID: row.ExternalID}
	known, err := s.load(ctx, tx, 0, []stage.Ref{ref})
	if err != nil {
		return nil, err
	}
	v := known[ref]
	v.Annotations, v.hasNewWords = value(metadata), true
	t := v.Render()
	if err := feed.Append(ctx, tx, feed.Change{Kind: feed.VideoAnnotated, Video: id}); err != nil {
		return nil, err
	}
	return []byte(t.doc), s.save(ctx, tx, Batch{}, []*Video{v})
}
