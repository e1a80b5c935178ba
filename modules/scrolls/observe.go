package scrolls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/record"
	"github.com/scrollery/scrollery/modules/store"
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

func (r *run) batch(from *state, stage string, items []item) Batch {
	batch := Batch{ScrollID: r.id, Subject: from.subject, Stage: stage, At: r.call.Now, Once: r.imported, Records: make([]record.Record, len(items))}
	for i := range items {
		batch.Records[i] = items[i].record
	}
	return batch
}

// refresh looks up videos of the library that were not collected. That a source
// cannot do so now costs this scroll some observations and nothing else.
func (r *run) refresh(ctx context.Context) error {
	ids, err := r.itemIDs(ctx, familiar())
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	seen := map[record.Ref]bool{}
	err = r.batches(ctx, ids, func(items []item) (bool, error) {
		for _, i := range items {
			seen[i.record.Ref] = true
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	left := r.s.cfg.MaxRefresh
	for _, id := range r.template.Sources {
		serves, refreshes, ok := r.s.needs.Sources.Source(id)
		if !ok || !refreshes {
			continue
		}
		if len(serves) == 0 {
			serves = platforms()
		}
		for _, platform := range serves {
			refs, err := r.tracked(ctx, platform, left, seen)
			if err != nil {
				return err
			}
			if len(refs) == 0 {
				continue
			}
			left -= len(refs)
			if err := r.refreshFrom(ctx, id, refs); err != nil {
				return err
			}
		}
	}
	return nil
}

// tracked picks what of a platform is to be refreshed.
func (r *run) tracked(ctx context.Context, platform string, limit int, seen map[record.Ref]bool) ([]record.Ref, error) {
	var picked []record.Ref
	for after := int64(0); len(picked) < limit; {
		refs, next, err := r.s.needs.Library.Tracked(ctx, platform, after, r.s.cfg.BatchSize)
		if err != nil {
			return nil, fmt.Errorf("ask library: %w", err)
		}
		for _, ref := range refs {
			if !seen[ref] && len(picked) < limit {
				seen[ref] = true
				picked = append(picked, ref)
			}
		}
		if after = next; next == 0 || len(refs) == 0 {
			break
		}
	}
	return picked, nil
}

// refreshFrom asks one source, and takes only what it was asked for.
func (r *run) refreshFrom(ctx context.Context, source string, refs []record.Ref) error {
	var own error
	asked := make(map[record.Ref]bool, len(refs))
	for _, ref := range refs {
		asked[ref] = true
	}
	outcomes, err := r.s.needs.Sources.Refresh(ctx, source, r.call, refs, func(records []record.Record) error {
		var items []item
		for _, rec := range records {
			if asked[rec.Ref] {
				delete(asked, rec.Ref)
				r.attribute(&rec)
				next := item{id: r.s.db.NewID(), record: rec, seed: rec.Seed, known: true, refreshed: true}
				if next.seed == "" {
					next.seed = source
				}
				items = append(items, next)
			}
		}
		for part := range slices.Chunk(items, r.s.cfg.BatchSize) {
			if own = r.shelve(ctx, part, 0, r.insertItems); own != nil {
				return own
			}
		}
		return nil
	})
	switch {
	case own != nil:
		return own
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && errors.Is(err, errLost):
		return err
	case err != nil:
		r.log.Warn("source could not refresh", "source", source, "error", err)
	}
	return r.bury(ctx, asked, outcomes)
}

// bury marks the videos that a source looked for and did not find. asked are those
// that it brought nothing of.
func (r *run) bury(ctx context.Context, asked map[record.Ref]bool, outcomes []record.Outcome) error {
	var gone []record.Ref
	for _, o := range outcomes {
		ref := record.Ref{Platform: o.Platform, ExternalID: o.Seed}
		if o.Status == record.NotFound && asked[ref] {
			gone = append(gone, ref)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	r.log.Info("videos are gone", "videos", len(gone))
	return r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, _ *state) error {
		if _, err := r.s.needs.Archiver.Gone(ctx, tx, gone, r.call.Now); err != nil {
			return fmt.Errorf("mark videos: %w", err)
		}
		return nil
	})
}
