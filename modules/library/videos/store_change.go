package videos

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// setArchived hides or shows a video or its hook. It returns false for a video
// that the tenant does not have.
func (e Edits) setArchived(ctx context.Context, tx *store.Tx, id int64, hookOnly, archived bool) (found bool, err error) {
	now, found, err := store.OneIn[struct{ Archived, HookArchived int64 }](ctx, tx, e.hot.archived, id)
	if err != nil {
		return false, fmt.Errorf("load video %d: %w", id, err)
	}
	flag, changed := int64(0), &now.Archived
	if archived {
		flag = 1
	}
	if hookOnly {
		changed = &now.HookArchived
	}
	if !found || *changed == flag {
		return found, nil
	}
	*changed = flag
	if _, err := e.hot.archive.ExecIn(ctx, tx, id, now.Archived, now.HookArchived, max(now.Archived, now.HookArchived)); err != nil {
		return false, fmt.Errorf("archive video %d: %w", id, err)
	}
	if err := feed.Append(ctx, tx, archiving(id, hookOnly, archived)); err != nil || hookOnly {
		return true, err
	}
	return true, e.addUncounted(ctx, tx, id)
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
	if err := s.Raise(ctx, tx); err != nil {
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
	return count, s.addUncounted(ctx, tx, AllTrends)
}

// annotate replaces the caller's annotations and returns the Video's JSON, nil
// for a video that the tenant does not have. Nothing else of the video changes: it is
// neither scored again nor counted.
func (e Edits) annotate(ctx context.Context, tx *store.Tx, id int64, metadata json.RawMessage) (doc []byte, err error) {
	stored, found, err := store.OneIn[struct {
		Handle, Doc    string
		Hook, Language *string
	}](ctx, tx, e.hot.annotated, id)
	if err != nil {
		return nil, fmt.Errorf("load video %d: %w", id, err)
	}
	if !found {
		return nil, nil
	}
	v := &Video{id: id}
	v.identity.handle = stored.Handle
	if err := v.parse(texts{doc: stored.Doc, hook: stored.Hook, language: stored.Language}); err != nil {
		return nil, err
	}
	v.Annotations = value(metadata)
	changed := v.Render().doc
	if _, err := e.hot.annotate.ExecIn(ctx, tx, id, changed); err != nil {
		return nil, fmt.Errorf("save document %d: %w", id, err)
	}
	if err := Save(ctx, tx, e.db, []Terms{{Video: id, Terms: v.terms()}}); err != nil {
		return nil, err
	}
	return []byte(changed), feed.Append(ctx, tx, feed.Change{Kind: feed.VideoAnnotated, Video: id})
}

// AllTrends stands among the uncounted videos for more than are worth counting one by one.
const AllTrends = 0

// addUncounted notes a video that was archived or restored. Counting reads all videos of
// its keys: that is done before trends are shown, or a second later, once for all that
// changed until then.
func (s *Service) addUncounted(ctx context.Context, tx *store.Tx, id int64) error {
	if _, err := s.hot.addUncounted.ExecIn(ctx, tx, s.db.NewID(), id); err != nil {
		return fmt.Errorf("note that video %d is to be counted: %w", id, err)
	}
	return nil
}
