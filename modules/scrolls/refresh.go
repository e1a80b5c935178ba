package scrolls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// refresher is a source that can look up known videos.
type refresher struct {
	id     string
	serves []string
}

// refresh looks up videos of the library that were not collected. What one source
// neither finds nor calls gone the next is asked for. That none can do so now costs
// this scroll some observations and nothing else.
func (r *run) refresh(ctx context.Context) error {
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

// refreshers are the sources in the order of the template, but for those that take
// what lies there: they come last, since they have just been emptied, and have more
// to give only where the scroll could not take it all.
func (r *run) refreshers() (sources []refresher) {
	var there []refresher
	for _, id := range r.template.Sources {
		serves, refreshes, ok := r.s.needs.Sources.Source(id)
		if !ok || !refreshes {
			continue
		}
		if len(serves) == 0 {
			serves = platforms()
		}
		if r.s.needs.Planners.Searches(id) {
			sources = append(sources, refresher{id, serves})
		} else {
			there = append(there, refresher{id, serves})
		}
	}
	return append(sources, there...)
}

// unseen picks what is to be looked up, at most MaxRefresh videos: known ones that
// this scroll has not observed, by platform.
func (r *run) unseen(ctx context.Context, sources []refresher) (map[string][]stage.Ref, error) {
	ids, err := r.itemIDs(ctx, familiar())
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
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
// has the same part, and what one does not need is the others'.
func share(open map[string][]stage.Ref, limit int) {
	names := make([]string, 0, len(open))
	for name := range open {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(open[a]), len(open[b])), cmp.Compare(a, b))
	})
	for n, name := range names {
		open[name] = open[name][:min(len(open[name]), limit/(len(names)-n))]
		limit -= len(open[name])
	}
}

// tracked picks what of a platform the scroll has not seen, the most worthwhile first.
func (r *run) tracked(ctx context.Context, platform string, limit int, seen map[stage.Ref]bool) ([]stage.Ref, error) {
	var picked []stage.Ref
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

// refreshFrom asks one source, and takes only what it was asked for. open is what
// another source may still know of.
func (r *run) refreshFrom(ctx context.Context, source string, refs []stage.Ref) (open []stage.Ref, err error) {
	var own error
	asked := make(map[stage.Ref]bool, len(refs))
	for _, ref := range refs {
		asked[ref] = true
	}
	outcomes, err := r.s.needs.Sources.Refresh(ctx, source, r.call, refs, func(records []stage.Record) error {
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
		return nil, own
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && errors.Is(err, errLost):
		return nil, err
	case err != nil:
		r.log.Warn("source could not refresh", "source", source, "error", err)
	}
	if err := r.bury(ctx, asked, outcomes); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(refs, func(ref stage.Ref) bool { return !asked[ref] }), nil
}

// bury marks the videos that a source looked for and did not find, and takes them
// out of asked: those that no source brought anything of.
func (r *run) bury(ctx context.Context, asked map[stage.Ref]bool, outcomes []stage.Outcome) error {
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
