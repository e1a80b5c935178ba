package scrolls

import (
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/plugins/stage"
)

// archiving stores the videos that are kept, and has them scored.
type archiving struct{ *run }

// archive stores the highest ranked new videos in the library, as many as the plan
// allows, and the evidence that was found for known ones. The transaction that
// archives an item deletes it from the scroll, so none is archived twice.
func (r archiving) archive(ctx context.Context) error {
	whole, err := r.archiveKept(ctx)
	if err != nil {
		return err
	}
	// Now too, for an account whose plan or operator keeps fewer by now.
	if err := r.s.needs.Archiver.KeepFrames(ctx, r.limits.FramedVideos); err != nil {
		return fmt.Errorf("keep frames: %w", err)
	}
	return r.finish(ctx, Archive, func(ctx context.Context, tx *store.Tx, _ *state) error {
		// What is to be archived is: only now may the sources go on from there. What the plan had
		// no room for must come again.
		if whole {
			if err := r.rows.states.settle(ctx, tx, r.account, r.id); err != nil {
				return fmt.Errorf("settle the states of sources: %w", err)
			}
		}
		return r.s.hot.forget(ctx, tx, r.id)
	})
}

// archiveKept reports whether it archived all that the screens kept.
func (r archiving) archiveKept(ctx context.Context) (whole bool, err error) {
	ids, err := r.staged.itemIDs(ctx, kept())
	if err != nil {
		return false, err
	}
	total, done := min(len(ids), r.quota()), 0
	for len(ids) > 0 && r.quota() > 0 {
		part := ids[:min(len(ids), r.atOnce, r.quota())]
		ids, done = ids[len(part):], done+len(part)
		if err := r.archiveSome(ctx, part, r.in.percent(Archive, 0.9*float64(done)/float64(total))); err != nil {
			return false, err
		}
	}
	return len(ids) == 0, r.archiveFindings(ctx)
}

// archiveIn archives items in a transaction.
func (r *run) archiveIn(ctx context.Context, tx *store.Tx, next *state, items []item) (added []stage.Ref, reobserved int, err error) {
	if err := (importing{r}).beginArchive(ctx, tx, next); err != nil {
		return nil, 0, err
	}
	added, reobserved, err = r.s.needs.Archiver.Archive(ctx, tx, r.batch(next, items))
	if err != nil {
		return nil, 0, fmt.Errorf("archive: %w", err)
	}
	return added, reobserved, nil
}

// quota is how many new videos the scroll may still archive.
func (r *run) quota() int { return max(0, r.limits.MaxFeedSize-r.snapshot().newVideos) }

// archiveSome is one batch: videos, budget, counts and progress together.
func (r archiving) archiveSome(ctx context.Context, ids []int64, reached float64) error {
	items, err := r.staged.items(ctx, ids)
	if err != nil || len(items) == 0 {
		return err
	}
	err = r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		next.progress.raise(reached)
		if err := r.addIn(ctx, tx, next, items); err != nil {
			return err
		}
		return r.staged.removeItems(ctx, tx, items)
	})
	if err == nil {
		r.staged.archived(items)
	}
	r.pause(ctx, Archive, "batch")
	return err
}

// addIn archives new videos in a transaction, counts and charges them.
func (r archiving) addIn(ctx context.Context, tx *store.Tx, next *state, items []item) error {
	if len(items) == 0 {
		return nil
	}
	added, reobserved, err := r.archiveIn(ctx, tx, next, items)
	if err != nil {
		return err
	}
	next.newVideos += len(added)
	next.progress.Reobserved += reobserved // another scroll archived them first
	isNew := make(map[stage.Ref]bool, len(added))
	for _, ref := range added {
		isNew[ref] = true
	}
	fresh := slices.DeleteFunc(slices.Clone(items), func(i item) bool { return !isNew[i.record.Ref] })
	again := slices.DeleteFunc(slices.Clone(items), func(i item) bool { return isNew[i.record.Ref] })
	next.progress.count(fresh, func(e *coverage.Entry) *int { return &e.New })
	next.progress.count(again, func(e *coverage.Entry) *int { return &e.Reobserved })
	if len(added) == 0 || r.limits.Unmetered {
		return nil
	}
	if err := r.s.needs.Charger.Charge(ctx, tx, r.account, len(added)); err != nil {
		return fmt.Errorf("charge: %w", err)
	}
	return nil
}

// archiveFindings stores what the evidence stages found for known videos. The quota of
// new videos does not bound it.
func (r archiving) archiveFindings(ctx context.Context) error {
	if len(r.template.Evidence) == 0 {
		return nil
	}
	ids, err := r.staged.itemIDs(ctx, familiar())
	if err != nil {
		return err
	}
	return r.batches(ctx, ids, func(items []item) (bool, error) {
		items, err := r.lacking(ctx, slices.DeleteFunc(items, func(i item) bool { return i.record.Evidence == nil && len(i.record.Keys) == 0 && len(i.frames) == 0 }))
		if err != nil || len(items) == 0 {
			return true, err
		}
		return true, r.commit(ctx, false, func(ctx context.Context, tx *store.Tx, next *state) error {
			if _, _, err := r.archiveIn(ctx, tx, next, items); err != nil {
				return err
			}
			return r.staged.removeItems(ctx, tx, items)
		})
	})
}

// score has the library rate the new videos, and completes the scroll.
func (r archiving) score(ctx context.Context) error {
	if err := r.s.needs.Archiver.Score(ctx, r.id); err != nil {
		return fmt.Errorf("rate videos: %w", err)
	}
	r.pause(ctx, Score, "end")
	return r.end(ctx, Completed, "", nil)
}
