package scrolls

import (
	"cmp"
	"context"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// staging holds the videos of a running scroll between its steps. Those of a scroll are
// rows; an import holds one batch in memory, since its readings can be read again.
type staging interface {
	// itemIDs returns the ids of a selection, the highest ranked first, ties in the
	// order of their arrival.
	itemIDs(ctx context.Context, which selection) ([]int64, error)
	// items returns some of them, in the order of ids; missing ones are left out.
	items(ctx context.Context, ids []int64) ([]item, error)
	// found stores items with what evidence stages found.
	found(ctx context.Context, items []item) error
	// judge stores the results of the screens.
	judge(ctx context.Context, tx *store.Tx, verdicts []*verdict) error
	// markRefreshed notes that items have their observation.
	markRefreshed(ctx context.Context, tx *store.Tx, items []item) error
	// removeItems deletes items that the library has; archived follows its commit.
	removeItems(ctx context.Context, tx *store.Tx, items []item) error
	archived(items []item)
}

// selection says which of a scroll's items are meant: known or new ones, and of these
// only those that no screen dropped, or that have no observation yet.
type selection struct{ known, kept, unobserved bool }

func newcomers() selection  { return selection{} }
func kept() selection       { return selection{kept: true} }
func familiar() selection   { return selection{known: true} }
func unobserved() selection { return selection{known: true, unobserved: true} }

// stagedBatch is the batch of an import that is in the steps.
type stagedBatch struct{ held []*heldItem }

type heldItem struct {
	item
	droppedBy string
	rank      float64
}

func newStagedBatch(items []item) *stagedBatch {
	b := &stagedBatch{held: make([]*heldItem, len(items))}
	for i := range items {
		b.held[i] = &heldItem{item: items[i]}
	}
	return b
}

func (b *stagedBatch) itemIDs(_ context.Context, which selection) ([]int64, error) {
	var chosen []*heldItem
	for _, h := range b.held {
		if h.known == which.known && (!which.kept || h.droppedBy == "") && (!which.unobserved || !h.refreshed) {
			chosen = append(chosen, h)
		}
	}
	slices.SortStableFunc(chosen, func(a, b *heldItem) int { return cmp.Compare(b.rank, a.rank) })
	ids := make([]int64, len(chosen))
	for i, h := range chosen {
		ids[i] = h.id
	}
	return ids, nil
}

func (b *stagedBatch) items(_ context.Context, ids []int64) ([]item, error) {
	byID := b.byID()
	items := make([]item, 0, len(ids))
	for _, id := range ids {
		if h := byID[id]; h != nil {
			items = append(items, h.item)
		}
	}
	return items, nil
}

func (b *stagedBatch) byID() map[int64]*heldItem {
	all := make(map[int64]*heldItem, len(b.held))
	for _, h := range b.held {
		all[h.id] = h
	}
	return all
}

// found also keeps what was read, by which the library knows the next import of it.
func (b *stagedBatch) found(_ context.Context, items []item) error {
	byID := b.byID()
	for _, one := range items {
		if h := byID[one.id]; h != nil {
			said := h.record
			h.record, h.frames, h.said = one.record, one.frames, cmp.Or(h.said, &said)
		}
	}
	return nil
}

func (b *stagedBatch) judge(_ context.Context, _ *store.Tx, verdicts []*verdict) error {
	byID := b.byID()
	for _, v := range verdicts {
		if h := byID[v.id]; h != nil {
			h.droppedBy, h.rank = v.DroppedBy, v.Rank
		}
	}
	return nil
}

func (b *stagedBatch) markRefreshed(_ context.Context, _ *store.Tx, items []item) error {
	byID := b.byID()
	for _, one := range items {
		if h := byID[one.id]; h != nil {
			h.refreshed = true
		}
	}
	return nil
}

// removeItems does nothing before the commit.
func (*stagedBatch) removeItems(context.Context, *store.Tx, []item) error { return nil }

func (b *stagedBatch) archived(items []item) {
	gone := make(map[stage.Ref]bool, len(items))
	for i := range items {
		gone[items[i].record.Ref] = true
	}
	b.held = slices.DeleteFunc(b.held, func(h *heldItem) bool { return gone[h.record.Ref] })
}
