package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/ent"
	enttrend "github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/ent/trendwindow"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
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

// recountAll measures the trends of every subject again, after videos were archived.
func (s *Service) recountAll(ctx context.Context, tx *store.Tx) error {
	windows, err := tx.Ent().TrendWindow.Query().All(ctx)
	if err != nil {
		return fmt.Errorf("read trend windows: %w", err)
	}
	for _, row := range windows {
		w, err := s.gather(ctx, within(tx), row.Subject, 0)
		if err != nil {
			return err
		}
		if w == nil {
			continue
		}
		if err := s.saveTrends(ctx, tx, row.Subject, w.Totals(), trendRows(w)); err != nil {
			return err
		}
	}
	return nil
}

// recountVideo measures the keys of a video again in every window that it is in, after it
// was archived or restored. Nothing else is measured: what the other keys count does not
// change, only which of them overlap with one above them.
func (s *Service) recountVideo(ctx context.Context, tx *store.Tx, id int64, keys []stage.Key, archived bool) error {
	if len(keys) == 0 {
		return nil
	}
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.Key
	}
	windows, err := tx.Ent().TrendWindow.Query().Where(trendwindow.NewestAtGT(0)).All(ctx)
	if err != nil {
		return fmt.Errorf("read trend windows: %w", err)
	}
	for _, w := range windows {
		found, err := tx.Ent().Trend.Query().Where(enttrend.Subject(w.Subject), enttrend.WithArchived(1), enttrend.KeyIn(texts...)).All(ctx)
		if err != nil {
			return fmt.Errorf("read trends: %w", err)
		}
		of := totalsOf(w)
		var changed []score.Trend
		for _, row := range found {
			t, isMember, err := recount(ctx, tx, of, row, id, archived)
			if err != nil {
				return err
			}
			if isMember {
				changed = append(changed, t)
			}
		}
		if len(changed) == 0 {
			continue
		}
		if err := s.relist(ctx, tx, w.Subject, changed); err != nil {
			return err
		}
	}
	return nil
}

// recount measures a key without archived videos, after one of its own was archived or
// restored; isMember is false where the video was not in the window.
func recount(ctx context.Context, tx *store.Tx, of score.Totals, row *ent.Trend, id int64, archived bool) (t score.Trend, isMember bool, err error) {
	if row.Members == nil {
		return t, false, errors.New("a trend has no members")
	}
	members, err := unpackMembers(*row.Members)
	if err != nil {
		return t, false, err
	}
	for i := range members {
		if members[i].ID == id {
			members[i].Archived, isMember = archived, true
		}
	}
	if !isMember {
		return t, false, nil
	}
	if err := tx.Ent().Trend.UpdateOneID(row.ID).SetMembers(packMembers(members)).Exec(ctx); err != nil {
		return t, false, fmt.Errorf("save the members of a trend: %w", err)
	}
	return of.Measure(score.Key{Key: row.Key, Label: row.Label}, members, false), true, nil
}

// relist writes changed keys into the list without archived videos, and decides again
// which of its keys overlap with one above them.
func (s *Service) relist(ctx context.Context, tx *store.Tx, subject string, changed []score.Trend) error {
	account, err := tenant(ctx)
	if err != nil {
		return err
	}
	texts, fit := make([]string, len(changed)), []score.Trend{}
	for i, t := range changed {
		if texts[i] = t.Key; t.Drop == score.Kept {
			fit = append(fit, t)
		}
	}
	others, err := tx.Ent().Trend.Query().Where(enttrend.Subject(subject), enttrend.WithArchived(0), enttrend.KeyNotIn(texts...)).
		Select(enttrend.FieldKey, enttrend.FieldPlace, enttrend.FieldListed, enttrend.FieldRecent).All(ctx)
	if err != nil {
		return fmt.Errorf("read trends: %w", err)
	}
	ids, wasListed := map[string]int64{}, map[string]int{}
	for _, row := range others {
		t, ok := score.TrendOfKey(row.Place)
		if !ok || row.Recent == nil {
			continue
		}
		t.RecentVideos = unpackIDs(*row.Recent)
		fit, ids[row.Key], wasListed[row.Key] = append(fit, t), row.ID, row.Listed
	}
	listed, dropped := score.Distinct(fit)
	now := make([]string, len(listed))
	for i := range listed {
		now[i] = listed[i].Key
	}
	if err := relisted(ctx, tx, subject, now); err != nil {
		return err
	}
	_, err = tx.Ent().Trend.Delete().Where(enttrend.Subject(subject), enttrend.WithArchived(0), enttrend.KeyIn(texts...)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete trends: %w", err)
	}
	var added []trendRow
	change := map[int][]int64{}
	for _, t := range slices.Concat(listed, dropped) {
		id, known := ids[t.Key]
		now := flag(t.Drop == score.Kept)
		switch {
		case !known:
			added = append(added, trendRow{Trend: t})
		case wasListed[t.Key] != now:
			change[now] = append(change[now], id)
		}
	}
	for now, of := range change {
		if err := tx.Ent().Trend.Update().Where(enttrend.IDIn(of...)).SetListed(now).Exec(viewer.ByIDs(ctx)); err != nil {
			return fmt.Errorf("list trends: %w", err)
		}
	}
	return s.addTrends(ctx, tx, account, subject, added)
}
