package scrolls

import (
	"context"
	"fmt"
	"slices"

	"github.com/scrollery/scrollery/modules/record"
	"github.com/scrollery/scrollery/modules/store"
)

// evidence has the first seconds of videos looked at: of the new ones that will be
// archived, and of known ones that the library has no evidence of.
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
	ids = append(ids, bare...)
	found := map[record.Ref]*record.Finding{}
	for n, id := range r.template.Evidence {
		if err := r.look(ctx, id, n, ids, found); err != nil {
			return fmt.Errorf("evidence %s: %w", id, err)
		}
	}
	if err := r.writeFindings(ctx, ids, found); err != nil {
		return err
	}
	return r.finish(ctx, Evidence, nil)
}

// withoutEvidence returns known items that the library has no evidence of.
func (r *run) withoutEvidence(ctx context.Context, limit int) (ids []int64, err error) {
	all, err := r.itemIDs(ctx, familiar())
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	err = r.batches(ctx, all, func(items []item) (bool, error) {
		known, err := r.known(ctx, items)
		if err != nil {
			return false, err
		}
		for _, i := range items {
			if evidence, ok := known[i.record.Ref]; ok && !evidence && len(ids) < limit {
				ids = append(ids, i.id)
			}
		}
		return len(ids) < limit, nil
	})
	return ids, err
}

// look streams items through one stage; a later stage sees what those before found.
func (r *run) look(ctx context.Context, id string, number int, ids []int64, found map[record.Ref]*record.Finding) error {
	asked := make(map[record.Ref]bool, len(ids))
	next := r.stream(ctx, ids, func(items []item, done float64) ([]record.Record, error) {
		records := make([]record.Record, len(items))
		for n, i := range items {
			asked[i.record.Ref] = true
			apply(&i.record, found[i.record.Ref])
			records[n] = i.record
		}
		fraction := (float64(number) + done) / float64(len(r.template.Evidence))
		return records, r.note(ctx, func(next *state) { next.progress.raise(percent(Evidence, 0.9*fraction)) })
	})
	fresh := map[record.Ref]*record.Finding{}
	err := r.s.needs.Filters.Evidence(ctx, id, r.call, next, func(findings []record.Finding) error {
		for _, f := range findings {
			if asked[f.Ref] {
				fresh[f.Ref] = &f
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for ref, f := range fresh {
		if found[ref] == nil {
			found[ref] = f
			continue
		}
		var whole record.Record
		apply(&whole, found[ref])
		apply(&whole, f)
		found[ref] = &record.Finding{Ref: ref, Evidence: *whole.Evidence, Keys: whole.Keys}
	}
	return nil
}

// apply adds a finding to a record. What the record has already stays: its source
// or an earlier stage knew better.
func apply(rec *record.Record, f *record.Finding) {
	if f == nil {
		return
	}
	var e record.Evidence
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
		if !slices.ContainsFunc(rec.Keys, func(k record.Key) bool { return k.Key == key.Key }) {
			rec.Keys = append(slices.Clip(rec.Keys), key)
		}
	}
}

// writeFindings commits findings in batches; doing it twice changes nothing.
func (r *run) writeFindings(ctx context.Context, ids []int64, found map[record.Ref]*record.Finding) error {
	return r.batches(ctx, ids, func(items []item) (bool, error) {
		items = slices.DeleteFunc(items, func(i item) bool { return found[i.record.Ref] == nil })
		for n := range items {
			apply(&items[n].record, found[items[n].record.Ref])
		}
		err := r.commit(ctx, false, func(ctx context.Context, tx *store.Tx, _ *state) error {
			return r.updateRecords(ctx, tx, items)
		})
		r.pause(ctx, Evidence, "batch")
		return true, err
	})
}
