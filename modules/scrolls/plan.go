package scrolls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// prepare finds out what every start has to know again: the brief and the rules
// are as they are by then. Where to look is settled once, by plan.
func (r *run) prepare(ctx context.Context) error {
	brief, subject, ok, err := r.s.needs.Workspaces.Brief(ctx)
	if err != nil {
		return fmt.Errorf("brief: %w", err)
	}
	if !ok {
		return errors.New("the workspace is gone")
	}
	version, rules, err := r.s.needs.Rules.Active(ctx)
	if err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	r.call.Brief, r.call.Rules = brief, rules
	if r.call.Number, err = r.s.runNumber(ctx); err != nil {
		return fmt.Errorf("count runs: %w", err)
	}
	if planned := r.state.progress.Plan; planned != nil {
		r.seeds = planned.Seeds
	}
	if r.imported { // its files may hold what the brief's competitors posted
		r.seeds = seeds(brief, rules, "", r.template, 0)
	}
	if r.state.checkpoint == "" {
		r.state.subject, r.state.rulesVersion = subject, version
	}
	return nil
}

// plan makes sure that there is somebody to ask, settles where to look, and writes
// down for which brief and rules the scroll runs.
func (r *run) plan(ctx context.Context) error {
	usable := func(id string) bool {
		_, _, ok := r.s.needs.Sources.Source(id)
		return ok
	}
	if !r.imported && !slices.ContainsFunc(r.template.Sources, usable) {
		return &stage.CallError{Stage: Plan, Failure: stage.NoSources, Cause: fmt.Errorf("template %q has no usable source", r.name)}
	}
	if r.imported {
		return r.finish(ctx, Plan, nil)
	}
	planned, err := r.workOut(ctx)
	if err != nil {
		return err
	}
	r.seeds = planned.Seeds
	return r.finish(ctx, Plan, func(_ context.Context, _ *store.Tx, next *state) error {
		next.progress.Plan = planned
		return nil
	})
}

// known asks the library for some videos, in portions.
func (r *run) known(ctx context.Context, items []item) (map[stage.Ref]bool, error) {
	known := make(map[stage.Ref]bool)
	for part := range slices.Chunk(items, 500) {
		refs := make([]stage.Ref, len(part))
		for i := range part {
			refs[i] = part[i].record.Ref
		}
		some, err := r.s.needs.Library.Known(ctx, refs)
		if err != nil {
			return nil, fmt.Errorf("ask library: %w", err)
		}
		for ref, evidence := range some {
			known[ref] = evidence
		}
	}
	return known, nil
}

// score has the library rate what is new, and ends the scroll.
func (r *run) score(ctx context.Context) error {
	if err := r.s.needs.Archiver.Score(ctx, r.id); err != nil {
		return fmt.Errorf("rate videos: %w", err)
	}
	r.pause(ctx, Score, "end")
	return r.end(ctx, Completed, "")
}

// batches calls do with the items of ids, BatchSize at a time, until do says stop.
func (r *run) batches(ctx context.Context, ids []int64, do func(items []item) (goOn bool, err error)) error {
	for part := range slices.Chunk(ids, r.s.cfg.BatchSize) {
		items, err := r.items(ctx, part)
		if err != nil {
			return err
		}
		if goOn, err := do(items); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// clear empties the scroll's records for a stage that starts over.
func (r *run) clear(ctx context.Context) error {
	return r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
		next.progress = Progress{Percent: next.progress.Percent, Plan: next.progress.Plan}
		return deleteRecords(ctx, tx, r.account, r.id)
	})
}
