package scrolls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/modules/scrolls/plan"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// observe writes a new observation of the videos that the library already has: first
// of those that were collected again, then of others that a source can refresh. No
// rule applies, since growth that is not measured is lost.
func (r *run) observe(ctx context.Context) error {
	if err := r.observeCollected(ctx); err != nil {
		return err
	}
	if err := (refreshing{r}).refresh(ctx); err != nil {
		return err
	}
	return r.finish(ctx, Observe, nil)
}

// observeCollected observes the known videos that were collected again.
func (r *run) observeCollected(ctx context.Context) error {
	ids, err := r.staged.itemIDs(ctx, unobserved())
	if err != nil {
		return err
	}
	done := 0
	return r.batches(ctx, ids, func(items []item) (bool, error) {
		done += len(items)
		return true, r.reobserve(ctx, items, r.in.percent(Observe, 0.5*float64(done)/float64(len(ids))), r.staged.markRefreshed)
	})
}

// reobserve archives items that the library knows, and marks them in the same commit.
func (r *run) reobserve(ctx context.Context, items []item, reached float64, mark func(context.Context, *store.Tx, []item) error) error {
	if len(items) == 0 {
		return nil
	}
	err := r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		next.progress.raise(reached)
		if err := r.reobserveIn(ctx, tx, next, items); err != nil {
			return err
		}
		return mark(ctx, tx, items)
	})
	r.pause(ctx, Observe, "batch")
	return err
}

// reobserveIn archives known videos in a transaction, and counts them.
func (r *run) reobserveIn(ctx context.Context, tx *store.Tx, next *state, items []item) error {
	if len(items) == 0 {
		return nil
	}
	if _, _, err := r.archiveIn(ctx, tx, next, items); err != nil {
		return err
	}
	observed := slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.record.Unread })
	next.progress.Reobserved += len(observed)
	next.progress.count(observed, func(e *coverage.Entry) *int { return &e.Reobserved })
	return nil
}

// batch is what one transaction archives of some items.
func (r *run) batch(from *state, items []item) Batch {
	batch := Batch{
		ScrollID: r.id, Subject: from.subject, At: r.call.Now, Once: r.name == importTemplate, Bulk: r.alone,
		Records: make([]stage.Record, len(items)), Stage: items[0].source, FramedVideos: r.limits.FramedVideos,
	}
	for i := range items {
		batch.Records[i] = items[i].record
		if source := items[i].source; source != batch.Stage {
			if batch.Stages == nil {
				batch.Stages = make(map[stage.Ref]string, len(items))
			}
			batch.Stages[items[i].record.Ref] = source
		}
		if said := items[i].said; said != nil {
			if batch.Said == nil {
				batch.Said = make(map[stage.Ref]stage.Record, len(items))
			}
			batch.Said[said.Ref] = *said
		}
		if frames := items[i].frames; len(frames) > 0 {
			if batch.Frames == nil {
				batch.Frames = make(map[stage.Ref][]stage.Frame, len(items))
			}
			batch.Frames[items[i].record.Ref] = frames
		}
	}
	return batch
}

// refresher is a source that can refresh known videos.
type refresher struct {
	id     string
	serves []string
}

// refreshing has sources read known videos again.
type refreshing struct{ *run }

// refresh observes videos of the library that were not collected. The next source is
// asked for those that one neither finds nor reports as gone. Where all sources fail,
// the scroll has fewer observations, and goes on.
func (r refreshing) refresh(ctx context.Context) error {
	sources := r.refreshers()
	if len(sources) == 0 || r.s.cfg.MaxRefresh == 0 {
		return nil
	}
	open, err := r.unseen(ctx, sources)
	if err != nil {
		return err
	}
	for _, source := range sources {
		for _, platform := range source.serves {
			if len(open[platform]) == 0 {
				continue
			}
			if open[platform], err = r.refreshFrom(ctx, source.id, open[platform]); err != nil {
				return err
			}
		}
	}
	return nil
}

// refreshers are the sources in the order of the template, those that search first:
// the others have just delivered what they hold.
func (r refreshing) refreshers() (sources []refresher) {
	var folders []refresher
	for _, id := range r.template.Sources {
		source := r.stages.Find(id)
		if !source.Usable || !source.Refreshes {
			continue
		}
		next := refresher{id, source.Platforms}
		if len(next.serves) == 0 {
			next.serves = platforms.IDs()
		}
		if source.Searches {
			sources = append(sources, next)
		} else {
			folders = append(folders, next)
		}
	}
	return append(sources, folders...)
}

// unseen returns what to refresh, at most MaxRefresh videos: known ones that this
// scroll has not observed, by platform.
func (r refreshing) unseen(ctx context.Context, sources []refresher) (map[string][]stage.Ref, error) {
	ids, err := r.staged.itemIDs(ctx, familiar())
	if err != nil {
		return nil, err
	}
	seen := make(map[stage.Ref]bool, len(ids))
	err = r.batches(ctx, ids, func(items []item) (bool, error) {
		for _, i := range items {
			seen[i.record.Ref] = true
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	open := map[string][]stage.Ref{}
	for _, source := range sources {
		for _, platform := range source.serves {
			if _, picked := open[platform]; picked {
				continue
			}
			if open[platform], err = r.tracked(ctx, platform, r.s.cfg.MaxRefresh, seen); err != nil {
				return nil, err
			}
		}
	}
	share(open, r.s.cfg.MaxRefresh)
	return open, nil
}

// share cuts the lists of the platforms down to limit videos in all. Each platform
// gets the same share; the others share what one does not need.
func share(open map[string][]stage.Ref, limit int) {
	names := slices.SortedFunc(maps.Keys(open), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(open[a]), len(open[b])), cmp.Compare(a, b))
	})
	for n, name := range names {
		open[name] = open[name][:min(len(open[name]), limit/(len(names)-n))]
		limit -= len(open[name])
	}
}

// youngAge is up to when a video is young: by then it has its 7-day views.
const youngAge = 7 * day

// mostYoung bounds the young videos of a platform that are looked at.
const mostYoung = 5000

// tracked returns videos of a platform that the scroll has not seen: first those that the
// policy deletes soon unless they are read again; then young ones, the newest first, whose growth
// cannot be read later; then those that were first seen last. A pass over young videos leaves
// out the last ones.
func (r refreshing) tracked(ctx context.Context, platform string, limit int, seen map[stage.Ref]bool) ([]stage.Ref, error) {
	var picked []stage.Ref
	pick := func(refs []stage.Ref) {
		for _, ref := range refs {
			if !seen[ref] && len(picked) < limit {
				seen[ref] = true
				picked = append(picked, ref)
			}
		}
	}
	refs, err := r.s.needs.Library.Due(ctx, platform, time.UnixMilli(r.call.Now), limit)
	if err != nil {
		return nil, fmt.Errorf("ask library: %w", err)
	}
	pick(refs)
	// What the scroll saw is among the young ones, so that as many more are asked for.
	refs, err = r.s.needs.Library.Young(ctx, platform, time.UnixMilli(r.call.Now).Add(-youngAge).UnixMilli(), min(limit+len(seen), mostYoung))
	if err != nil {
		return nil, fmt.Errorf("ask library: %w", err)
	}
	if pick(refs); r.name == youngTemplate {
		return picked, nil
	}
	for after := int64(0); len(picked) < limit; {
		refs, next, err := r.s.needs.Library.Tracked(ctx, platform, after, r.s.cfg.BatchSize)
		if err != nil {
			return nil, fmt.Errorf("ask library: %w", err)
		}
		pick(refs)
		if after = next; next == 0 || len(refs) == 0 {
			break
		}
	}
	return picked, nil
}

// refreshFrom asks one source, and takes only what it was asked for. open is what is
// left for the next source.
func (r refreshing) refreshFrom(ctx context.Context, source string, refs []stage.Ref) (open []stage.Ref, err error) {
	var own error
	asked := make(map[stage.Ref]bool, len(refs))
	for _, ref := range refs {
		asked[ref] = true
	}
	r.place.rest() // the platform decides how long it takes
	outcomes, err := r.stages.Refresh(ctx, source, r.call, refs, func(records []stage.Record) error {
		var items []item
		for _, rec := range records {
			refuseFuture(&rec, r.s.now())
			if asked[rec.Ref] && !rec.Unread {
				delete(asked, rec.Ref)
				plan.Attribute(&rec, r.seeds)
				lead := coverage.Lead(rec, source, r.stages.Find(source).Searches, r.seeds)
				items = append(items, item{id: r.s.db.NewID(), record: rec, source: source, seed: lead, known: true, refreshed: true})
			}
		}
		return r.place.busy(ctx, func() error {
			for part := range slices.Chunk(items, r.s.cfg.BatchSize) {
				if own = r.reobserve(ctx, part, 0, r.rows.writeItems); own != nil {
					return own
				}
			}
			return nil
		})
	})
	if failed := r.place.enter(ctx); failed != nil {
		return nil, failed
	}
	switch {
	case own != nil:
		return nil, own
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && errors.Is(err, errLost):
		return nil, err
	case err != nil:
		r.log.Warn("source could not refresh", "source", source, "error", err)
	}
	if err := r.markGone(ctx, asked, outcomes); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(refs, func(ref stage.Ref) bool { return !asked[ref] }), nil
}

// markGone marks the videos that a source reports as not found, and takes them out of
// asked, which holds those that it delivered nothing of.
func (r refreshing) markGone(ctx context.Context, asked map[stage.Ref]bool, outcomes []stage.Outcome) error {
	var gone []stage.Ref
	for _, o := range outcomes {
		ref := stage.Ref{Platform: o.Platform, ExternalID: o.Seed}
		if o.Status == stage.NotFound && asked[ref] {
			delete(asked, ref)
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
