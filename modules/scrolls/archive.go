package scrolls

import (
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
)

// archive stores the highest ranked new videos in the library, as many as the plan
// allows, and the evidence that was found for known ones. The transaction that
// archives an item deletes it from the scroll, so none is archived twice.
func (r *run) archive(ctx context.Context) error {
	ids, err := r.itemIDs(ctx, kept())
	if err != nil {
		return err
	}
	total, done := min(len(ids), r.quota()), 0
	for len(ids) > 0 && r.quota() > 0 {
		part := ids[:min(len(ids), r.s.cfg.BatchSize, r.quota())]
		ids, done = ids[len(part):], done+len(part)
		if err := r.archiveSome(ctx, part, percent(Archive, 0.9*float64(done)/float64(total))); err != nil {
			return err
		}
	}
	if err := r.archiveFindings(ctx); err != nil {
		return err
	}
	return r.finish(ctx, Archive, func(ctx context.Context, tx *store.Tx, _ *state) error {
		return deleteRecords(ctx, tx, r.id)
	})
}

// quota is how many new videos the scroll may still archive.
func (r *run) quota() int { return max(0, r.limits.MaxFeedSize-r.snapshot().newVideos) }

// archiveSome is one batch: videos, budget, counts and progress together.
func (r *run) archiveSome(ctx context.Context, ids []int64, reached float64) error {
	items, err := r.items(ctx, ids)
	if err != nil || len(items) == 0 {
		return err
	}
	err = r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		added, reobserved, err := r.s.needs.Archiver.Archive(ctx, tx, r.batch(next, Archive, items))
		if err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		next.newVideos += added
		next.progress.Reobserved += reobserved // another scroll archived them first
		next.progress.count(items, func(e *coverage.Entry) *int { return &e.New })
		next.progress.raise(reached)
		if err := r.removeItems(ctx, tx, items); err != nil || added == 0 || r.limits.Unmetered {
			return err
		}
		if err := r.s.needs.Charger.Charge(ctx, tx, r.account, added); err != nil {
			return fmt.Errorf("charge: %w", err)
		}
		return nil
	})
	if err == nil {
		r.recent.forget(items)
	}
	r.pause(ctx, Archive, "batch")
	return err
}

// archiveFindings stores what the evidence stages found for known videos. The quota of
// new videos does not bound it.
func (r *run) archiveFindings(ctx context.Context) error {
	if len(r.template.Evidence) == 0 {
		return nil
	}
	ids, err := r.itemIDs(ctx, familiar())
	if err != nil {
		return err
	}
	return r.batches(ctx, ids, func(items []item) (bool, error) {
		items, err := r.lacking(ctx, slices.DeleteFunc(items, func(i item) bool { return i.record.Evidence == nil && len(i.record.Keys) == 0 }))
		if err != nil || len(items) == 0 {
			return true, err
		}
		return true, r.commit(ctx, false, func(ctx context.Context, tx *store.Tx, next *state) error {
			if _, _, err := r.s.needs.Archiver.Archive(ctx, tx, r.batch(next, Archive, items)); err != nil {
				return fmt.Errorf("archive: %w", err)
			}
			return r.removeItems(ctx, tx, items)
		})
	})
}

// score has the library rate the new videos, and completes the scroll.
func (r *run) score(ctx context.Context) error {
	if err := r.s.needs.Archiver.Score(ctx, r.id); err != nil {
		return fmt.Errorf("rate videos: %w", err)
	}
	r.pause(ctx, Score, "end")
	return r.end(ctx, Completed, "", nil)
}
