package scrolls

import (
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// evidence has evidence stages examine the first seconds of videos: of the new ones
// that will be archived, and of known ones that the library has no evidence of. What
// cannot be found now is absent, and the log and the progress say why; it never fails
// the scroll, and a later one tries again. Then screens judge what was found, if any look
// at evidence; another start does not seek it again.
func (r *run) evidence(ctx context.Context) error {
	if !r.snapshot().progress.Examined {
		results, err := r.examine(ctx, nil, map[string]int{})
		if err != nil {
			return err
		}
		err = r.commit(ctx, true, func(_ context.Context, _ *store.Tx, next *state) error {
			next.progress.Evidence, next.progress.Examined = results, true
			return nil
		})
		if err != nil {
			return err
		}
		r.pause(ctx, Evidence, "examined")
	}
	judged, err := secondPass{r}.judge(ctx)
	if err != nil {
		return err
	}
	return r.finish(ctx, Evidence, func(_ context.Context, _ *store.Tx, next *state) error {
		judged.remark(&next.progress)
		return nil
	})
}

// examine asks the evidence stages, and adds up their results. faults counts their failures.
func (r *run) examine(ctx context.Context, results []Looked, faults map[string]int) ([]Looked, error) {
	if err := (secondPass{r}).limit(ctx); err != nil {
		return results, err
	}
	if len(r.template.Evidence) == 0 {
		return results, nil
	}
	ids, err := r.staged.itemIDs(ctx, kept())
	if err != nil {
		return results, err
	}
	quota := r.quota()
	ids = ids[:min(len(ids), quota)]
	more, err := r.withoutEvidence(ctx, quota)
	if err != nil {
		return results, err
	}
	x := newExamination(r, ctx, append(ids, more...))
	defer x.cancel()
	x.results, x.faults = results, faults
	for n, id := range x.plain {
		if err := x.pass(id, x.ids, nil, float64(n)/float64(len(x.plain)), 1/float64(len(x.plain))); err != nil {
			return x.results, fmt.Errorf("evidence %s: %w", id, err)
		}
	}
	if err := x.write(x.ids); err != nil {
		return x.results, err
	}
	if err := x.media(); err != nil {
		return x.results, fmt.Errorf("evidence: %w", err)
	}
	return x.results, nil
}

// withoutEvidence returns known items that the library has no evidence of.
func (r *run) withoutEvidence(ctx context.Context, limit int) (ids []int64, err error) {
	all, err := r.staged.itemIDs(ctx, familiar())
	if err != nil {
		return nil, err
	}
	err = r.batches(ctx, all, func(items []item) (bool, error) {
		items, err := r.lacking(ctx, items)
		for _, i := range items[:min(len(items), limit-len(ids))] {
			ids = append(ids, i.id)
		}
		return len(ids) < limit, err
	})
	return ids, err
}

// lacking returns those of some items that the library has without evidence.
func (r *run) lacking(ctx context.Context, items []item) ([]item, error) {
	known, err := r.known(ctx, items)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(items, func(i item) bool {
		evidence, ok := known[i.record.Ref]
		return !ok || evidence
	}), nil
}

// apply adds a finding to a record. What the record has already stays: its source or
// an earlier stage is more reliable.
func apply(rec *stage.Record, f *stage.Finding) {
	if f == nil {
		return
	}
	var e stage.Evidence
	if rec.Evidence != nil {
		e = *rec.Evidence
	}
	if len(e.Visual) == 0 {
		e.Visual = f.Evidence.Visual
	}
	if e.Spoken == nil {
		e.Spoken = f.Evidence.Spoken
	}
	if e.Language == "" {
		e.Language = f.Evidence.Language
	}
	if e.OnScreenText == nil {
		e.OnScreenText = f.Evidence.OnScreenText
	}
	rec.Evidence = &e
	for _, key := range f.Keys {
		if !slices.ContainsFunc(rec.Keys, func(k stage.Key) bool { return k.Key == key.Key }) {
			rec.Keys = append(slices.Clip(rec.Keys), key)
		}
	}
}
