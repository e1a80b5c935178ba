package videos

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/deletedvideo"
	entdeletion "github.com/scrollery/scrollery/ent/deletion"
	"github.com/scrollery/scrollery/ent/libraryrun"
	"github.com/scrollery/scrollery/ent/tombstone"
	"github.com/scrollery/scrollery/ent/video"
	"github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// RestoreSome brings back some of the videos of a deletion as they were, in a transaction of its
// own. It returns how many; none at the end.
func (s Deletions) RestoreSome(ctx context.Context, deletion int64) (restored int, err error) {
	account, err := Account(ctx)
	if err != nil {
		return 0, err
	}
	rows, err := s.videos.db.Ent().DeletedVideo.Query().Where(deletedvideo.DeletionID(deletion)).Order(deletedvideo.ByID()).Limit(DeletedAtOnce).All(ctx)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	copies, ids := make([]copied, len(rows)), make([]int64, len(rows))
	subjects := map[int64]string{} // of their scrolls: a run whose last video was deleted is gone
	for i, row := range rows {
		text, err := s.videos.Vault.Unseal(account, row.ID, row.Sealed)
		if err != nil {
			return 0, fmt.Errorf("open deleted video %d: %w", row.ID, err)
		}
		if err := json.Unmarshal(text, &copies[i]); err != nil {
			return 0, fmt.Errorf("read deleted video %d: %w", row.ID, err)
		}
		ids[i] = row.ID
		for _, o := range copies[i].Readings {
			subjects[o.ScrollID] = ""
		}
	}
	for scroll := range subjects {
		subject, found, err := s.videos.scrolls.SubjectOf(ctx, scroll)
		if err != nil {
			return 0, err
		}
		if subjects[scroll] = subject; !found {
			delete(subjects, scroll)
		}
	}
	err = s.videos.Hold(ctx, func(ctx context.Context, tx *store.Tx) error {
		welcome, later, err := s.keptOut(ctx, tx, deletion, copies)
		if err != nil {
			return err
		}
		if err := s.videos.Tombstones.liftVideos(ctx, tx, deletion, copies); err != nil {
			return err
		}
		left := len(ids)
		for _, to := range slices.Sorted(maps.Keys(later)) {
			n, err := s.videos.Tombstones.handOver(ctx, tx, to, later[to])
			if err != nil {
				return err
			}
			left -= n
		}
		n, err := tx.Ent().DeletedVideo.Delete().Where(deletedvideo.IDIn(ids...), deletedvideo.DeletionID(deletion)).Exec(viewer.ByIDs(ctx))
		if err != nil {
			return err
		}
		if n != left {
			return ErrChanged // another process brings them back, or an erasure took some
		}
		if len(welcome) == 0 {
			return nil
		}
		if err := s.restore(ctx, tx, welcome, subjects); err != nil {
			return err
		}
		return s.reread(ctx, tx, fewerOf(welcome))
	})
	if err != nil {
		return 0, fmt.Errorf("bring back %d videos: %w", len(ids), err)
	}
	return len(ids), nil
}

// keptOut sorts out copies of a deletion's videos that are kept out by something else: those of
// erased creators go for good, and those of a later deletion, say of their creator, are that one's,
// which can bring them back as long as it can be undone itself. Readings of an import that is undone
// or deleted stay out; a video without any other is kept out with them.
func (s Deletions) keptOut(ctx context.Context, tx *store.Tx, deletion int64, copies []copied) (welcome []copied, later map[int64][]copied, err error) {
	if err := keepErasures(ctx, tx); err != nil {
		return nil, nil, err
	}
	v, err := s.videos.Vault.open()
	if err != nil {
		return nil, nil, err
	}
	of, all, scrolls := make([][]string, len(copies)), []string(nil), map[int64][]string{}
	for i := range copies {
		video, key := copies[i].Video, ""
		if copies[i].Creator != nil {
			key = copies[i].Creator.Key
		}
		of[i] = v.ofStored(stage.Ref{Platform: video.Platform, ExternalID: video.ExternalID}, video.Handle, video.HandleOnly != 0, key)
		all = append(all, of[i]...)
		for _, o := range copies[i].Readings {
			if scrolls[o.ScrollID] == nil {
				scrolls[o.ScrollID] = []string{v.ofScroll(o.ScrollID, false), v.ofScroll(o.ScrollID, true)}
				all = append(all, scrolls[o.ScrollID]...)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	erased := map[string]bool{}
	if err := s.videos.Tombstones.suppressed(ctx, tx, all, erased); err != nil {
		return nil, nil, err
	}
	by, undoable, err := s.videos.Tombstones.others(ctx, tx, deletion, all)
	if err != nil {
		return nil, nil, err
	}
	keeper := func(hashes []string) (id int64, kept bool) {
		for _, hash := range hashes {
			if id, kept = by[hash]; kept {
				return id, true
			}
		}
		return 0, false
	}
	later = map[int64][]copied{}
	for i := range copies {
		if slices.ContainsFunc(of[i], func(hash string) bool { return erased[hash] }) {
			continue
		}
		id, kept := keeper(of[i])
		if !kept {
			id, kept = copies[i].leaveOut(func(scroll int64) (int64, bool) { return keeper(scrolls[scroll]) }, undoable)
		}
		switch {
		case !kept:
			welcome = append(welcome, copies[i])
		case undoable[id]:
			later[id] = append(later[id], copies[i])
		}
	}
	return welcome, later, nil
}

// leaveOut takes the readings out of a copy that a deletion, or 0, keeps out by their scroll. Where
// that would be all of them it changes nothing, and returns what keeps the copy out with them: a
// deletion that can be undone, if there is one.
func (c *copied) leaveOut(keeper func(scroll int64) (id int64, kept bool), undoable map[int64]bool) (id int64, all bool) {
	out := func(scroll int64) bool { _, kept := keeper(scroll); return kept }
	left := slices.DeleteFunc(slices.Clone(c.Readings), func(o *ent.Observation) bool { return out(o.ScrollID) })
	if len(left) == len(c.Readings) {
		return 0, false
	}
	if len(left) == 0 {
		for _, o := range c.Readings {
			if by, _ := keeper(o.ScrollID); undoable[by] {
				return by, true
			}
		}
		return 0, true
	}
	c.Readings, c.fewer = left, true
	c.Points = slices.DeleteFunc(c.Points, func(p *ent.ScorePoint) bool { return out(p.ScrollID) })
	return 0, false
}

// fewerOf are the readings of those copies that come back without some, in the order of their times.
func fewerOf(copies []copied) map[int64][]*ent.Observation {
	of := map[int64][]*ent.Observation{}
	for i := range copies {
		if copies[i].fewer {
			of[copies[i].Video.ID] = slices.SortedFunc(slices.Values(copies[i].Readings), func(a, b *ent.Observation) int {
				return cmp.Or(cmp.Compare(a.ObservedAt, b.ObservedAt), cmp.Compare(a.ID, b.ID))
			})
		}
	}
	return of
}

// The states of a deletion that is not undone.
const (
	DeletionRuns  = "running"
	DeletionEnded = "deleted"
)

// others are the deletions, but for one, that keep some of the hashes out, by hash, and which of
// them can be undone. Those that are being undone keep nothing out any more. An import that is undone
// is of no deletion, 0.
func (s Tombstones) others(ctx context.Context, tx *store.Tx, deletion int64, hashes []string) (by map[string]int64, undoable map[int64]bool, err error) {
	by, undoable = map[string]int64{}, map[int64]bool{}
	for part := range slices.Chunk(hashes, videosAtOnce) {
		rows, err := tx.Ent().Tombstone.Query().Where(tombstone.HashIn(part...), tombstone.DeletionIDNEQ(deletion)).All(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("look for tombstones: %w", err)
		}
		for _, row := range rows {
			by[row.Hash] = row.DeletionID
		}
	}
	if len(by) == 0 {
		return by, undoable, nil
	}
	rows, err := tx.Ent().Deletion.Query().
		Where(entdeletion.IDIn(slices.Sorted(maps.Values(by))...), entdeletion.StatusIn(DeletionRuns, DeletionEnded)).All(viewer.ByIDs(ctx))
	if err != nil {
		return nil, nil, fmt.Errorf("read deletions: %w", err)
	}
	stands := map[int64]bool{0: true}
	for _, row := range rows {
		stands[row.ID], undoable[row.ID] = true, row.Status == DeletionRuns || row.UndoUntil > 0
	}
	maps.DeleteFunc(by, func(_ string, id int64) bool { return !stands[id] })
	return by, undoable, nil
}

// handOver makes copies those of another deletion, which keeps their videos out from then on, and
// returns how many there still were.
func (s Tombstones) handOver(ctx context.Context, tx *store.Tx, to int64, copies []copied) (moved int, err error) {
	v, err := s.vault.open()
	if err != nil {
		return 0, err
	}
	ids, hashes := make([]int64, len(copies)), make([]string, len(copies))
	for i := range copies {
		video := copies[i].Video
		ids[i], hashes[i] = video.ID, v.ofVideo(stage.Ref{Platform: video.Platform, ExternalID: video.ExternalID})
	}
	if err := s.bury(ctx, tx, to, hashes); err != nil {
		return 0, err
	}
	n, err := s.db.Hot(`UPDATE deleted_videos SET deletion_id = $1 WHERE +{tenant} AND id IN ({list:2})`).ExecIn(ctx, tx, to, ids)
	if err != nil {
		return 0, fmt.Errorf("hand deleted videos to deletion %d: %w", to, err)
	}
	return int(n), nil
}

// liftVideos removes the tombstones of videos that come back.
func (s Tombstones) liftVideos(ctx context.Context, tx *store.Tx, deletion int64, copies []copied) error {
	v, err := s.vault.open()
	if err != nil {
		return err
	}
	hashes := make([]string, len(copies))
	for i := range copies {
		hashes[i] = v.ofVideo(stage.Ref{Platform: copies[i].Video.Platform, ExternalID: copies[i].Video.ExternalID})
	}
	_, err = tx.Ent().Tombstone.Delete().Where(tombstone.DeletionID(deletion), tombstone.HashIn(hashes...)).Exec(ctx)
	return err
}

// Lift removes some of the tombstones of a deletion, in the transaction; more is false if there was
// none. Others may lift the same ones at once, and leave the rest.
func (s Tombstones) Lift(ctx context.Context, tx *store.Tx, deletion int64) (more bool, err error) {
	ids, err := tx.Ent().Tombstone.Query().Where(tombstone.DeletionID(deletion)).Order(tombstone.ByID()).Limit(videosAtOnce).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	_, err = tx.Ent().Tombstone.Delete().Where(tombstone.IDIn(ids...)).Exec(viewer.ByIDs(ctx))
	return true, err
}

// restore writes the rows of copies, and marks what is scored by them.
func (s Deletions) restore(ctx context.Context, tx *store.Tx, copies []copied, subjects map[int64]string) error {
	creators, err := s.restoreCreators(ctx, tx, copies)
	if err != nil {
		return err
	}
	var videos, docs, readings [][]any
	var observed []*ent.Observation
	var points []*ent.ScorePointCreate
	var frames []*ent.FrameCreate
	beside := map[int64]json.RawMessage{}
	rows := make([]*ent.Video, len(copies))
	var changes []feed.Change
	for i := range copies {
		c := &copies[i]
		rows[i] = c.Video
		videos = append(videos, c.row(creators[c.Video.ID]))
		docs = append(docs, []any{c.Doc.ID, c.Doc.Doc, c.Doc.Hook, c.Doc.HookText, c.Doc.Language, c.Doc.Keys})
		changes = append(changes, feed.Change{Kind: feed.VideoRestored, Video: c.Video.ID})
		observed = append(observed, c.Readings...)
		for _, o := range c.Readings {
			readings = append(readings, []any{o.ID, o.VideoID, o.ScrollID, o.Stage, o.Views, o.Likes, o.Comments, o.Shares, o.Saves, o.ObservedAt, o.Semantics})
		}
		for _, p := range c.Points {
			points = append(points, pointAgain(tx, p))
		}
		for _, f := range c.Frames {
			frames = append(frames, tx.Ent().Frame.Create().SetID(f.ID).SetAccountID(f.AccountID).SetVideoID(f.VideoID).SetPlace(f.Place).SetAt(f.At).SetWebp(f.Webp))
		}
		if c.Beside != nil {
			beside[c.Video.ID] = c.Beside
		}
	}
	if _, err := s.videos.hot.saveVideos.ExecIn(ctx, tx, videos); err != nil {
		return err
	}
	if _, err := s.videos.hot.saveDocs.ExecIn(ctx, tx, docs); err != nil {
		return err
	}
	if err := s.videos.addReadings(ctx, tx, readings); err != nil {
		return err
	}
	for part := range slices.Chunk(points, DeletedAtOnce) {
		if err := tx.Ent().ScorePoint.CreateBulk(part...).Exec(ctx); err != nil {
			return err
		}
	}
	if err := tx.Ent().Frame.CreateBulk(frames...).Exec(ctx); err != nil {
		return err
	}
	for _, v := range rows {
		if v.OutlierSince == nil {
			continue
		}
		err := tx.Ent().Video.Update().Where(video.ID(v.ID)).SetOutlierSince(*v.OutlierSince).SetOutlierWeek(v.OutlierWeek).Exec(viewer.ByIDs(ctx))
		if err != nil {
			return err
		}
	}
	if len(beside) > 0 {
		if err := s.videos.dependants.Restore(ctx, tx, beside); err != nil {
			return err
		}
	}
	if err := feed.Append(ctx, tx, changes...); err != nil {
		return err
	}
	return s.restored(ctx, tx, rows, creators, observed, subjects)
}

// restored notes all that follows from videos that are back.
func (s Deletions) restored(ctx context.Context, tx *store.Tx, rows []*ent.Video, creators map[int64]*int64, observed []*ent.Observation, subjects map[int64]string) error {
	refs := make([]stage.Ref, len(rows))
	handles := map[named]bool{}
	var groups []hookGroup
	for i, v := range rows {
		refs[i] = stage.Ref{Platform: v.Platform, ExternalID: v.ExternalID}
		if v.Handle != "" {
			handles[named{v.Platform, v.Handle}] = true
		}
		if creator := creators[v.ID]; creator != nil {
			groups = append(groups, hookGroup{*creator, v.Opening})
		}
	}
	known, err := s.videos.load(ctx, tx, 0, refs)
	if err != nil {
		return err
	}
	var terms []Terms
	for _, v := range known {
		terms = append(terms, Terms{Video: v.id, Terms: v.terms()})
	}
	if err := Save(ctx, tx, s.videos.db, terms); err != nil {
		return err
	}
	moved, err := s.videos.creators.settle(ctx, tx, slices.SortedFunc(maps.Keys(handles), named.compare))
	if err != nil {
		return err
	}
	if err := s.deleteCreators(ctx, tx, leftCreators(nil, moved)); err != nil {
		return err
	}
	if err := s.videos.rankHooks(ctx, tx, append(groups, moved...)); err != nil {
		return err
	}
	if err := s.videos.MarkNiches(ctx, tx, touched(rows)); err != nil {
		return err
	}
	// Their readings may be older than those that a sweep has looked at: it begins again.
	if err := tx.Ent().Library.Update().AddVideos(int64(len(rows))).SetSwept("").Exec(ctx); err != nil {
		return err
	}
	if err := s.restoreRuns(ctx, tx, observed, subjects); err != nil {
		return err
	}
	return s.unscored(ctx, tx, observed)
}

// restoreCreators finds or adds the creators of copies, and returns their rows by video. A
// video whose creator follows from the handle is settled afterwards.
func (s Deletions) restoreCreators(ctx context.Context, tx *store.Tx, copies []copied) (map[int64]*int64, error) {
	handles := map[name]string{}
	for i := range copies {
		if c := copies[i].Creator; c != nil {
			handles[name{c.Platform, c.Key}] = c.Handle
		}
	}
	ids, err := s.videos.creators.addCreators(ctx, tx, handles, map[int64]bool{})
	if err != nil {
		return nil, err
	}
	rows := make(map[int64]*int64, len(copies))
	var read []*Video
	for i := range copies {
		c := copies[i].Creator
		if c == nil {
			continue
		}
		id := ids[name{c.Platform, c.Key}]
		rows[copies[i].Video.ID] = &id
		if c.Followers != nil && c.FollowersAt != nil {
			read = append(read, &Video{identity: identity{creatorID: &id}, followers: &followers{*c.Followers, *c.FollowersAt}})
		}
	}
	return rows, s.videos.saveFollowers(ctx, tx, read)
}

// restoreRuns adds the runs of scrolls that nothing was left of, but of those that are gone. They
// are read again before trends are made of them.
func (s Deletions) restoreRuns(ctx context.Context, tx *store.Tx, observed []*ent.Observation, subjects map[int64]string) error {
	account, err := Account(ctx)
	if err != nil {
		return err
	}
	runs, err := tx.Ent().LibraryRun.Query().Where(libraryrun.ScrollIDIn(slices.Sorted(maps.Keys(subjects))...)).All(ctx)
	if err != nil {
		return err
	}
	made := map[int64]bool{}
	for _, run := range runs {
		made[run.ScrollID] = true
	}
	var creates []*ent.LibraryRunCreate
	for _, o := range observed {
		if subject, found := subjects[o.ScrollID]; found && !made[o.ScrollID] {
			made[o.ScrollID] = true
			creates = append(creates, tx.Ent().LibraryRun.Create().SetID(s.videos.db.NewID()).SetAccountID(account).SetSubject(subject).
				SetScrollID(o.ScrollID).SetFirstAt(o.ObservedAt).SetLastAt(o.ObservedAt))
		}
	}
	return tx.Ent().LibraryRun.CreateBulk(creates...).Exec(ctx)
}

// pointAgain is a score point as it was.
func pointAgain(tx *store.Tx, p *ent.ScorePoint) *ent.ScorePointCreate {
	return tx.Ent().ScorePoint.Create().SetID(p.ID).SetAccountID(p.AccountID).SetScrollID(p.ScrollID).SetVideoID(p.VideoID).SetMethod(p.Method).
		SetGrowthKind(p.GrowthKind).SetNillablePostedAt(p.PostedAt).SetObservedAt(p.ObservedAt).SetViews(p.Views).SetTwiceBaseline(p.TwiceBaseline).
		SetSampleCount(p.SampleCount).SetPeers(p.Peers).SetByNiche(p.ByNiche).SetDoubtful(p.Doubtful).SetListed(p.Listed).SetFlag(p.Flag).SetEarly(p.Early)
}
