package scrolls

import (
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// evidence has the first seconds of videos looked at: of the new ones that will be
// archived, and of known ones that the library has no evidence of. What cannot be
// found out now is absent, with the reason in the log and in the progress; it never
// fails the scroll, and a later one looks again.
func (r *run) evidence(ctx context.Context) error {
	if len(r.template.Evidence) == 0 {
		return r.finish(ctx, Evidence, nil)
	}
	ids, err := r.itemIDs(ctx, kept())
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	room := r.room()
	ids = ids[:min(len(ids), room)]
	bare, err := r.withoutEvidence(ctx, room)
	if err != nil {
		return err
	}
	l := newLooking(r, ctx, append(ids, bare...))
	defer l.cancel()
	for n, id := range l.plain {
		if err := l.pass(id, l.ids, nil, float64(n)/float64(len(l.plain)), 1/float64(len(l.plain))); err != nil {
			return fmt.Errorf("evidence %s: %w", id, err)
		}
	}
	if err := l.write(l.ids); err != nil {
		return err
	}
	if err := l.watch(); err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	return r.finish(ctx, Evidence, func(_ context.Context, _ *store.Tx, next *state) error {
		next.progress.Evidence = l.accounts
		return nil
	})
}

// withoutEvidence returns known items that the library has no evidence of.
func (r *run) withoutEvidence(ctx context.Context, limit int) (ids []int64, err error) {
	all, err := r.itemIDs(ctx, familiar())
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	err = r.batches(ctx, all, func(items []item) (bool, error) {
		items, err := r.bareOf(ctx, items)
		for _, i := range items[:min(len(items), limit-len(ids))] {
			ids = append(ids, i.id)
		}
		return len(ids) < limit, err
	})
	return ids, err
}

// bareOf are those of some items that the library has, but without evidence.
func (r *run) bareOf(ctx context.Context, items []item) ([]item, error) {
	known, err := r.known(ctx, items)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(items, func(i item) bool {
		evidence, ok := known[i.record.Ref]
		return !ok || evidence
	}), nil
}

// apply adds a finding to a record. What the record has already stays: its source
// or an earlier stage knew better.
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
