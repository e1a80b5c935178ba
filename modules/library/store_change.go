package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	enttrend "github.com/scrollery/scrollery/ent/trend"
	"github.com/scrollery/scrollery/ent/trendwindow"
	"github.com/scrollery/scrollery/ent/uncountedvideo"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/modules/library/score"
	"github.com/scrollery/scrollery/modules/library/search"
)

// archiveVideo hides or shows a video or its hook. It returns false for a video
// that the tenant does not have.
func (s *Service) archiveVideo(ctx context.Context, tx *store.Tx, id int64, hookOnly, archived bool) (found bool, err error) {
	var video, hook int64
	err = s.hot.archived.EachIn(ctx, tx, func(row store.Row) (bool, error) {
		found, video, hook = true, intOf(row[0], 0), intOf(row[1], 0)
		return false, nil
	}, id)
	if err != nil {
		return false, fmt.Errorf("load video %d: %w", id, err)
	}
	flag, changed := int64(0), &video
	if archived {
		flag = 1
	}
	if hookOnly {
		changed = &hook
	}
	if !found || *changed == flag {
		return found, nil
	}
	*changed = flag
	if _, err := s.hot.archive.ExecIn(ctx, tx, id, video, hook, max(video, hook)); err != nil {
		return false, fmt.Errorf("archive video %d: %w", id, err)
	}
	if err := feed.Append(ctx, tx, archiving(id, hookOnly, archived)); err != nil || hookOnly {
		return true, err
	}
	return true, s.addUncounted(ctx, tx, id)
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
	return count, s.addUncounted(ctx, tx, allTrends)
}

// annotate replaces the caller's annotations and returns the Video's JSON, nil
// for a video that the tenant does not have. Nothing else of the video changes: it is
// neither scored again nor counted.
func (s *Service) annotate(ctx context.Context, tx *store.Tx, id int64, metadata json.RawMessage) (doc []byte, err error) {
	var v *Video
	stored := texts{}
	err = s.hot.annotated.EachIn(ctx, tx, func(row store.Row) (bool, error) {
		v = &Video{id: id}
		v.identity.handle, _ = row[0].(string)
		stored.doc, _ = row[1].(string)
		if hook, ok := row[2].(string); ok {
			stored.hook = &hook
		}
		return false, nil
	}, id)
	if err != nil {
		return nil, fmt.Errorf("load video %d: %w", id, err)
	}
	if v == nil {
		return nil, nil
	}
	if err := v.parse(stored); err != nil {
		return nil, err
	}
	v.Annotations = value(metadata)
	changed := v.Render().doc
	if _, err := s.hot.annotate.ExecIn(ctx, tx, id, changed); err != nil {
		return nil, fmt.Errorf("save document %d: %w", id, err)
	}
	if err := search.Save(ctx, tx, s.db, []search.Terms{{Video: id, Terms: v.terms()}}); err != nil {
		return nil, err
	}
	return []byte(changed), feed.Append(ctx, tx, feed.Change{Kind: feed.VideoAnnotated, Video: id})
}

// allTrends stands among the uncounted videos for more than are worth counting one by one.
const allTrends = 0

// addUncounted notes a video that was archived or restored. Counting reads all videos of
// its keys: that is done before trends are shown, or a second later, once for all that
// changed until then.
func (s *Service) addUncounted(ctx context.Context, tx *store.Tx, id int64) error {
	if _, err := s.hot.addUncounted.ExecIn(ctx, tx, s.db.NewID(), id); err != nil {
		return fmt.Errorf("note that video %d is to be counted: %w", id, err)
	}
	return nil
}

// CountTrends counts in the tenant's trends what was archived or restored before the call
// and is not counted yet. Two may do so at once: what one has counted, the other finds done.
func (s *Service) CountTrends(ctx context.Context) error {
	last, err := s.db.Ent().UncountedVideo.Query().Order(uncountedvideo.ByID(entsql.OrderDesc())).FirstID(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	for try := 1; err == nil; {
		var found bool
		found, err = s.countSome(ctx, last)
		if errors.Is(err, errChanged) && try < countTries {
			try, err = try+1, nil
			continue
		}
		if !found {
			break
		}
	}
	return err
}

// countSome counts some of the videos up to the last one. found is false where there are none.
func (s *Service) countSome(ctx context.Context, last int64) (found bool, err error) {
	rows, err := s.db.Ent().UncountedVideo.Query().Where(uncountedvideo.IDLTE(last)).Order(uncountedvideo.ByID()).Limit(uncountedAtOnce).All(ctx)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	parts, err := s.countParts(ctx, rows)
	if err != nil {
		return false, err
	}
	return true, s.writeParts(ctx, parts)
}

// countParts are the parts of counting the videos; the last one ends it.
func (s *Service) countParts(ctx context.Context, rows []*ent.UncountedVideo) (parts []countPart, err error) {
	ids, videos := make([]int64, len(rows)), make([]int64, len(rows))
	for i, row := range rows {
		ids[i], videos[i] = row.ID, row.VideoID
	}
	slices.Sort(videos)
	carriers, err := s.carriersOf(ctx, s.outside(), slices.Compact(videos))
	if err != nil {
		return nil, err
	}
	windows, err := s.db.Ent().TrendWindow.Query().Where(trendwindow.NewestAtGT(0)).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read trend windows: %w", err)
	}
	for _, w := range windows {
		if videos[0] == allTrends {
			if err := s.measureTrends(ctx, w.Subject, 0); err != nil {
				return nil, err
			}
			continue
		}
		of, err := s.countIn(ctx, w, carriers)
		if err != nil {
			return nil, err
		}
		parts = append(parts, of...)
	}
	return append(parts, countPart{write: func(ctx context.Context, tx *store.Tx) error {
		n, err := tx.Ent().UncountedVideo.Delete().Where(uncountedvideo.IDIn(ids...)).Exec(ctx)
		if err == nil && n != len(ids) {
			return errChanged // others have counted meanwhile
		}
		return err
	}}), nil
}

// countIn are the parts of counting videos again in a window. Only their own keys are
// measured: what the other keys count does not change, only which of them overlap with one
// above them.
func (s *Service) countIn(ctx context.Context, window *ent.TrendWindow, videos []score.Carrier) (parts []countPart, err error) {
	archived, keys := map[int64]bool{}, map[string]bool{}
	for i := range videos {
		archived[videos[i].ID] = videos[i].Archived
		for _, key := range videos[i].Keys {
			keys[key.Key] = true
		}
	}
	rows, err := s.db.Ent().Trend.Query().Where(enttrend.Subject(window.Subject), enttrend.WithArchived(1), enttrend.KeyIn(sortedKeys(keys)...)).
		Select(enttrend.FieldVideoCount).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read trends: %w", err)
	}
	var ids []int64
	var changed []score.Trend
	for _, row := range rows {
		parts = append(parts, countPart{bytes: memberSize * row.VideoCount, write: func(ctx context.Context, tx *store.Tx) error {
			t, isMember, err := recount(ctx, tx, totalsOf(window), row.ID, archived)
			if err == nil && isMember {
				ids, changed = append(ids, row.ID), append(changed, t)
			}
			return err
		}})
	}
	return append(parts, countPart{write: func(ctx context.Context, tx *store.Tx) error {
		if len(ids) == 0 {
			return nil
		}
		n, err := tx.Ent().Trend.Query().Where(enttrend.IDIn(ids...)).Count(viewer.ByIDs(ctx))
		if err == nil && n != len(ids) {
			return errChanged // a scroll was scored meanwhile
		}
		if err != nil {
			return fmt.Errorf("read trends: %w", err)
		}
		return s.relist(ctx, tx, window.Subject, changed)
	}}), nil
}

// recount measures a key without archived videos, after some were archived or restored;
// isMember is false where none of them is in the window with it.
func recount(ctx context.Context, tx *store.Tx, of score.Totals, id int64, archived map[int64]bool) (t score.Trend, isMember bool, err error) {
	row, err := tx.Ent().Trend.Get(ctx, id)
	if ent.IsNotFound(err) {
		return t, false, errChanged
	}
	if err != nil {
		return t, false, fmt.Errorf("read a trend: %w", err)
	}
	if row.Members == nil {
		return t, false, errors.New("a trend has no members")
	}
	members, err := unpackMembers(*row.Members)
	if err != nil {
		return t, false, err
	}
	for i := range members {
		if now, ok := archived[members[i].ID]; ok {
			members[i].Archived, isMember = now, true
		}
	}
	if !isMember {
		return t, false, nil
	}
	saved, err := tx.Ent().Trend.Update().Where(enttrend.ID(id)).SetMembers(packMembers(members)).Save(ctx)
	if err != nil {
		return t, false, fmt.Errorf("save the members of a trend: %w", err)
	}
	if saved == 0 {
		return t, false, errChanged
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
