package scrolls

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
)

// archive puts the highest ranked new videos into the library, as many as the plan
// allows, and the evidence that was found of known ones. An item leaves the scroll
// with the transaction that archives it, so none is archived twice.
func (r *run) archive(ctx context.Context) error {
	ids, err := r.itemIDs(ctx, kept())
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	total, done := min(len(ids), r.room()), 0
	for len(ids) > 0 && r.room() > 0 {
		part := ids[:min(len(ids), r.s.cfg.BatchSize, r.room())]
		ids, done = ids[len(part):], done+len(part)
		if err := r.archiveSome(ctx, part, percent(Archive, 0.9*float64(done)/float64(total))); err != nil {
			return err
		}
	}
	if err := r.archiveFindings(ctx); err != nil {
		return err
	}
	return r.finish(ctx, Archive, func(ctx context.Context, tx *store.Tx, _ *state) error {
		return deleteRecords(ctx, tx, r.account, r.id)
	})
}

// room is how many new videos the scroll may still archive.
func (r *run) room() int {
	if r.imported {
		return math.MaxInt
	}
	return max(0, r.limits.MaxFeedSize-r.snapshot().newVideos)
}

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
		next.progress.Reobserved += reobserved // another scroll was quicker
		count(items).into(&next.progress, func(c *Coverage) *int { return &c.New })
		next.progress.raise(reached)
		if err := r.removeItems(ctx, tx, items); err != nil || added == 0 || r.imported {
			return err
		}
		if err := r.s.needs.Charger.Charge(ctx, tx, r.account, added); err != nil {
			return fmt.Errorf("charge: %w", err)
		}
		return nil
	})
	r.pause(ctx, Archive, "batch")
	return err
}

// archiveFindings hands over what the evidence stages found of known videos. The
// room that is left is no bound: it is one for new videos, and these were looked at
// while there was some.
func (r *run) archiveFindings(ctx context.Context) error {
	if len(r.template.Evidence) == 0 {
		return nil
	}
	ids, err := r.itemIDs(ctx, familiar())
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	return r.batches(ctx, ids, func(items []item) (bool, error) {
		items, err := r.bareOf(ctx, slices.DeleteFunc(items, func(i item) bool { return i.record.Evidence == nil && len(i.record.Keys) == 0 }))
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
