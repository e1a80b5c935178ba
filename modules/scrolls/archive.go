package scrolls

import (
	"context"
	"fmt"
	"slices"

	changefeed "github.com/scrollery/scrollery/modules/kernel/feed"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/plugins/stage"
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
		return r.s.hot.forget(ctx, tx, r.id)
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
		next.progress.raise(reached)
		if err := r.addIn(ctx, tx, next, items); err != nil {
			return err
		}
		return r.removeItems(ctx, tx, items)
	})
	if err == nil {
		r.recent.forget(items)
	}
	r.pause(ctx, Archive, "batch")
	return err
}

// addIn archives new videos in a transaction, counts and charges them.
func (r *run) addIn(ctx context.Context, tx *store.Tx, next *state, items []item) error {
	if len(items) == 0 {
		return nil
	}
	added, reobserved, err := r.s.needs.Archiver.Archive(ctx, tx, r.batch(next, Archive, items))
	if err != nil {
		return fmt.Errorf("archive: %w", err)
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

// archiveBatch is one batch: its videos, observations, counts and progress together. The
// first one lets a later start end the import: there is something to score.
func (r *run) archiveBatch(ctx context.Context, batch []fresh, looked []Looked) error {
	var added, again []item
	returned, trimmed := coverage.Tally{}, coverage.Tally{}
	for i := range batch {
		one := item{record: batch[i].Record, known: batch[i].known, said: batch[i].said}
		if returned[one.key()]++; one.record.Trimmed || one.record.Unread {
			trimmed[one.key()]++
		}
		if one.known {
			again = append(again, one)
		} else {
			added = append(added, one)
		}
	}
	covered := coverage.Fold(coverage.Input{
		Answers:  []*coverage.Answer{{Source: importTemplate, Records: len(batch)}},
		Returned: returned, Trimmed: trimmed, Now: r.call.Now,
	})
	err := r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		next.progress.Collected += len(batch)
		next.progress.Coverage = coverage.Add(next.progress.Coverage, covered)
		next.progress.Evidence = looked
		n := float64(next.progress.Collected)
		next.progress.raise(percent(Archive, 0.9*n/(n+5000))) // how much there is is not known
		if next.checkpoint == Plan {
			next.checkpoint, next.step = Evidence, Archive
			if err := changefeed.Append(ctx, tx, changefeed.Change{Kind: changefeed.ScrollStage, Scroll: r.id, Word: Archive}); err != nil {
				return err
			}
		}
		if err := r.reobserveIn(ctx, tx, next, again); err != nil {
			return err
		}
		return r.addIn(ctx, tx, next, added)
	})
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
