package videos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/creator"
	"github.com/scrollery/scrollery/ent/frame"
	"github.com/scrollery/scrollery/ent/libraryrun"
	"github.com/scrollery/scrollery/ent/observation"
	"github.com/scrollery/scrollery/ent/scorepoint"
	"github.com/scrollery/scrollery/ent/uncountedvideo"
	"github.com/scrollery/scrollery/ent/unscoredlibrary"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/ent/videodoc"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// DeletedAtOnce is how many videos one transaction deletes.
const DeletedAtOnce = 100

// Delete deletes all that the library has of videos, at most DeletedAtOnce of them, in a
// transaction that holds the library, and returns how many videos and readings it deleted.
// Videos that the library does not have are left out. What is scored by them is scored again
// in the background.
func (s Deletions) Delete(ctx context.Context, tx *store.Tx, ids []int64, by Removal) (videos, readings int, err error) {
	rows, err := tx.Ent().Video.Query().Where(video.IDIn(ids...)).Order(video.ByID()).All(viewer.ByIDs(ctx))
	if err != nil || len(rows) == 0 {
		return 0, 0, err
	}
	ids = ids[:0:0]
	for _, v := range rows {
		ids = append(ids, v.ID)
	}
	observed, err := tx.Ent().Observation.Query().Where(observation.VideoIDIn(ids...)).Order(observation.ByID()).All(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("read observations: %w", err)
	}
	if err := s.leave(ctx, tx, rows, observed, by); err != nil {
		return 0, 0, err
	}
	if err := s.deleteRows(ctx, tx, rows, ids, observed); err != nil {
		return 0, 0, fmt.Errorf("delete %d videos: %w", len(ids), err)
	}
	if err := s.deleted(ctx, tx, rows, observed); err != nil {
		return 0, 0, err
	}
	return len(rows), len(observed), nil
}

// leave writes what stays of videos that are about to be deleted.
func (s Deletions) leave(ctx context.Context, tx *store.Tx, rows []*ent.Video, observed []*ent.Observation, by Removal) error {
	if by.Deletion == 0 && by.Erasure == 0 {
		return nil
	}
	v, err := s.videos.Vault.open()
	if err != nil {
		return err
	}
	hashes := make([]string, len(rows))
	for i, row := range rows {
		hashes[i] = v.ofVideo(stage.Ref{Platform: row.Platform, ExternalID: row.ExternalID})
	}
	if by.Erasure != 0 {
		return s.videos.Tombstones.suppress(ctx, tx, by.Erasure, hashes)
	}
	if err := s.videos.Tombstones.bury(ctx, tx, by.Deletion, hashes); err != nil || !by.Undo {
		return err
	}
	copies, err := s.copies(ctx, tx, rows, observed)
	if err != nil {
		return err
	}
	account, err := Account(ctx)
	if err != nil {
		return err
	}
	creates := make([]*ent.DeletedVideoCreate, len(copies))
	for i := range copies {
		c := &copies[i]
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		creator, handle := "", ""
		if c.Creator != nil {
			creator = v.ofCreator(c.Video.Platform, c.Creator.Key)
		}
		if c.Video.Handle != "" {
			handle = v.ofCreator(c.Video.Platform, "handle:"+c.Video.Handle)
		}
		creates[i] = tx.Ent().DeletedVideo.Create().SetID(c.Video.ID).SetAccountID(account).SetDeletionID(by.Deletion).
			SetCreator(creator).SetHandle(handle).SetSealed(v.sealer.Seal(text, place(account, c.Video.ID)))
	}
	if err := tx.Ent().DeletedVideo.CreateBulk(creates...).Exec(ctx); err != nil {
		return fmt.Errorf("keep deleted videos: %w", err)
	}
	return nil
}

// copies are videos with all that is needed to bring them back.
func (s Deletions) copies(ctx context.Context, tx *store.Tx, rows []*ent.Video, observed []*ent.Observation) ([]copied, error) {
	ids, creators := make([]int64, len(rows)), map[int64]*ent.Creator{}
	all, at := make([]copied, len(rows)), map[int64]*copied{}
	for i, row := range rows {
		ids[i], all[i].Video, at[row.ID] = row.ID, row, &all[i]
		if row.CreatorID != nil {
			creators[*row.CreatorID] = nil
		}
	}
	docs, err := tx.Ent().VideoDoc.Query().Where(videodoc.IDIn(ids...)).All(viewer.ByIDs(ctx))
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	for _, doc := range docs {
		at[doc.ID].Doc = doc
	}
	made, err := tx.Ent().Creator.Query().Where(creator.IDIn(slices.Sorted(maps.Keys(creators))...)).All(viewer.ByIDs(ctx))
	if err != nil {
		return nil, fmt.Errorf("read creators: %w", err)
	}
	for _, one := range made {
		creators[one.ID] = one
	}
	points, err := tx.Ent().ScorePoint.Query().Where(scorepoint.VideoIDIn(ids...)).Order(scorepoint.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read scores: %w", err)
	}
	for _, p := range points {
		at[p.VideoID].Points = append(at[p.VideoID].Points, p)
	}
	frames, err := tx.Ent().Frame.Query().Where(frame.VideoIDIn(ids...)).Order(frame.ByVideoID(), frame.ByPlace()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read frames: %w", err)
	}
	for _, f := range frames {
		at[f.VideoID].Frames = append(at[f.VideoID].Frames, f)
	}
	for _, o := range observed {
		at[o.VideoID].Readings = append(at[o.VideoID].Readings, o)
	}
	beside, err := s.videos.dependants.Copy(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		all[i].Beside = beside[row.ID]
		if row.CreatorID != nil {
			all[i].Creator = creators[*row.CreatorID]
		}
	}
	return all, nil
}

// deleteRows deletes all rows of videos. A test in the app holds it against the tables.
func (s Deletions) deleteRows(ctx context.Context, tx *store.Tx, rows []*ent.Video, ids []int64, observed []*ent.Observation) error {
	for _, text := range []string{
		`DELETE FROM observations WHERE {tenant} AND video_id IN ({list:1})`,
		`DELETE FROM score_points WHERE {tenant} AND video_id IN ({list:1})`,
		`DELETE FROM frames WHERE {tenant} AND video_id IN ({list:1})`,
		`DELETE FROM video_terms WHERE +{tenant} AND id IN ({list:1})`,
		`DELETE FROM video_docs WHERE +{tenant} AND id IN ({list:1})`,
		`DELETE FROM videos WHERE +{tenant} AND id IN ({list:1})`,
	} {
		if _, err := s.videos.db.Hot(text).ExecIn(ctx, tx, ids); err != nil {
			return err
		}
	}
	if err := s.videos.uncountReadings(ctx, tx, observed); err != nil {
		return err
	}
	if _, err := tx.Ent().UncountedVideo.Delete().Where(uncountedvideo.VideoIDIn(ids...)).Exec(ctx); err != nil {
		return err
	}
	if err := s.videos.dependants.Forget(ctx, tx, ids); err != nil {
		return err
	}
	refs := make([]stage.Ref, len(rows))
	for i, row := range rows {
		refs[i] = stage.Ref{Platform: row.Platform, ExternalID: row.ExternalID}
	}
	return s.videos.scrolls.DeleteVideos(ctx, tx, refs)
}

// deleted notes all that follows from the deletion of videos: their creators, who may be gone
// too, what is scored by them, and the feed.
func (s Deletions) deleted(ctx context.Context, tx *store.Tx, rows []*ent.Video, observed []*ent.Observation) error {
	changes := make([]feed.Change, len(rows))
	of := map[int64]bool{}
	handles := map[named]bool{}
	var groups []hookGroup
	for i, v := range rows {
		changes[i] = feed.Change{Kind: feed.VideoDeleted, Video: v.ID}
		if v.CreatorID == nil {
			continue
		}
		of[*v.CreatorID] = true
		groups = append(groups, hookGroup{*v.CreatorID, v.Opening})
		if v.Handle != "" && v.HandleOnly == 0 {
			handles[named{v.Platform, v.Handle}] = true
		}
	}
	if err := feed.Append(ctx, tx, changes...); err != nil {
		return err
	}
	// Videos with a handle alone may have followed an id that is gone.
	moved, err := s.videos.creators.settle(ctx, tx, slices.SortedFunc(maps.Keys(handles), named.compare))
	if err != nil {
		return err
	}
	if err := s.videos.rankHooks(ctx, tx, append(groups, moved...)); err != nil {
		return err
	}
	for _, g := range moved {
		of[g.creator] = true
	}
	if err := s.deleteCreators(ctx, tx, slices.Sorted(maps.Keys(of))); err != nil {
		return err
	}
	if err := s.videos.MarkNiches(ctx, tx, touched(rows)); err != nil {
		return err
	}
	if err := tx.Ent().Library.Update().AddVideos(-int64(len(rows))).Exec(ctx); err != nil {
		return fmt.Errorf("count videos: %w", err)
	}
	return s.unscored(ctx, tx, observed)
}

// DropCreators deletes the rows of a creator that have no video, in a transaction that holds the
// library: an earlier version left some whose videos it moved to others.
func (s Deletions) DropCreators(ctx context.Context, tx *store.Tx, c CreatorName) error {
	rows, err := rowsOf(ctx, tx.Ent(), c)
	if err != nil {
		return err
	}
	return s.deleteCreators(ctx, tx, rows)
}

// deleteCreators deletes those of some creators that have no video any more, and marks the
// others for the next scoring.
func (s Deletions) deleteCreators(ctx context.Context, tx *store.Tx, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	values := make([][]any, len(ids))
	for i, id := range ids {
		values[i] = []any{id}
	}
	left, err := store.QueryIn[int64](ctx, tx, s.videos.db.Hot(`SELECT n.column1 FROM (VALUES {values:1 BIGINT}) AS n
WHERE EXISTS (SELECT 1 FROM videos v WHERE {tenant:v} AND v.creator_id = n.column1)`), values)
	if err != nil {
		return fmt.Errorf("find creators with videos: %w", err)
	}
	gone := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return slices.Contains(left, id) })
	stood, err := tx.Ent().Creator.Query().Where(creator.IDIn(gone...), creator.StandingsNEQ("")).Select(creator.FieldStandings).Strings(viewer.ByIDs(ctx))
	if err != nil {
		return fmt.Errorf("read where creators stand: %w", err)
	}
	if err := s.videos.uncountStandings(ctx, tx, stood); err != nil {
		return err
	}
	if _, err := tx.Ent().Creator.Delete().Where(creator.IDIn(gone...)).Exec(viewer.ByIDs(ctx)); err != nil {
		return fmt.Errorf("delete creators: %w", err)
	}
	return s.videos.creators.markCreators(ctx, tx, left)
}

// unscored notes that readings came or went that scores and trends are made of: they are made
// again in the background, and the runs of their scrolls are read again, whose repeats are
// unknown until then.
func (s Deletions) unscored(ctx context.Context, tx *store.Tx, observed []*ent.Observation) error {
	scrolls := map[int64]bool{}
	for _, o := range observed {
		scrolls[o.ScrollID] = true
	}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(scrolls)), videosAtOnce) {
		if err := tx.Ent().LibraryRun.Update().Where(libraryrun.ScrollIDIn(part...)).ClearRepeats().Exec(ctx); err != nil {
			return fmt.Errorf("mark runs: %w", err)
		}
	}
	until := int64(0)
	if more, _ := ctx.Value(moreKey{}).(bool); more {
		until = time.Now().Add(longestWait).UnixMilli()
	}
	_, err := s.videos.db.Hot(`INSERT INTO unscored_libraries (id, {owner}, changes, wait_until) VALUES ($1, {account}, 1, $2)
ON CONFLICT ({owner}) DO UPDATE SET changes = unscored_libraries.changes + 1, wait_until = excluded.wait_until`).ExecIn(ctx, tx, s.videos.db.NewID(), until)
	if err != nil {
		return fmt.Errorf("mark the library as unscored: %w", err)
	}
	return nil
}

type moreKey struct{}

// longestWait is how long scores wait for the next transaction of a deletion or a sweep, which may
// have been stopped.
const longestWait = 5 * time.Minute

// WithMore is the context of a transaction of a deletion or a sweep with more to come: scores are
// made again once, after the last one.
func WithMore(ctx context.Context, more bool) context.Context {
	return context.WithValue(ctx, moreKey{}, more)
}

// ScoreNow ends the waiting of scores for more of a sweep.
func (s Deletions) ScoreNow(ctx context.Context) error {
	waits, err := s.videos.db.Ent().UnscoredLibrary.Query().Where(unscoredlibrary.WaitUntilGT(0)).Exist(ctx)
	if err == nil && waits {
		err = s.videos.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Ent().UnscoredLibrary.Update().SetWaitUntil(0).Exec(ctx)
		})
	}
	if err != nil {
		return fmt.Errorf("let scores be made: %w", err)
	}
	return nil
}

// ScoresPending reports whether videos were deleted or brought back since the library was
// scored.
func (s Deletions) ScoresPending(ctx context.Context) (bool, error) {
	pending, err := s.videos.db.Ent().UnscoredLibrary.Query().Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for scores to come: %w", err)
	}
	return pending, nil
}
