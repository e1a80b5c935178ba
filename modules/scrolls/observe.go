package scrolls

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// observe writes a fresh observation of every video that the library already has:
// first of those that were collected again, then of others that a source can look
// up. A rule never stops it, since growth that is not measured is lost.
func (r *run) observe(ctx context.Context) error {
	ids, err := r.itemIDs(ctx, unobserved())
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	done := 0
	err = r.batches(ctx, ids, func(items []item) (bool, error) {
		done += len(items)
		return true, r.shelve(ctx, items, percent(Observe, 0.5*float64(done)/float64(len(ids))), r.markRefreshed)
	})
	if err != nil {
		return err
	}
	if !r.imported {
		if err := r.refresh(ctx); err != nil {
			return err
		}
	}
	return r.finish(ctx, Observe, nil)
}

// shelve archives items that the library knows, and marks them with the same commit.
func (r *run) shelve(ctx context.Context, items []item, reached float64, mark func(context.Context, *store.Tx, []item) error) error {
	if len(items) == 0 {
		return nil
	}
	err := r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		if _, _, err := r.s.needs.Archiver.Archive(ctx, tx, r.batch(next, Observe, items)); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
		next.progress.Reobserved += len(items)
		count(items).into(&next.progress, func(c *Coverage) *int { return &c.Reobserved })
		next.progress.raise(reached)
		return mark(ctx, tx, items)
	})
	r.pause(ctx, Observe, "batch")
	return err
}

func (r *run) batch(from *state, step string, items []item) Batch {
	batch := Batch{ScrollID: r.id, Subject: from.subject, Stage: step, At: r.call.Now, Once: r.imported, Records: make([]stage.Record, len(items))}
	for i := range items {
		batch.Records[i] = items[i].record
	}
	return batch
}
