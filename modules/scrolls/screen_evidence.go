package scrolls

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// secondPass are the screens that look at evidence. They come after the evidence stages,
// within their step, and judge what the others kept. What they drop is dropped as by any
// other screen. It is not replaced by videos that no evidence was sought for, since those
// would be archived unjudged.
//
// A video that they dropped for its evidence is dropped without another look by the next
// scrolls that would judge it by the same: its evidence is not paid for again, and others
// come to be looked at.
type secondPass struct{ *run }

// screens are those of the template.
func (r secondPass) screens() []string { return screensOf(r.stages, r.template, true) }

// screensOf are the screens of a template that look at evidence, or the others.
func screensOf(stages Stages, template Template, afterEvidence bool) (ids []string) {
	for _, id := range template.Screens {
		if stages.Find(id).AfterEvidence == afterEvidence {
			ids = append(ids, id)
		}
	}
	return ids
}

// limit removes the kept videos that the plan does not archive, where a screen looks
// at evidence: a place that it makes free stays free.
func (r secondPass) limit(ctx context.Context) error {
	if len(r.screens()) == 0 {
		return nil
	}
	ids, err := r.staged.itemIDs(ctx, kept())
	if err != nil {
		return err
	}
	return r.batches(ctx, ids[min(len(ids), r.quota()):], func(items []item) (bool, error) {
		err := r.commit(ctx, false, func(ctx context.Context, tx *store.Tx, next *state) error {
			if r.in != nil {
				next.progress.drop(LibraryFull, len(items))
			}
			// What the plan had no room for must come again.
			if err := r.rows.states.forget(ctx, tx, r.id); err != nil {
				return err
			}
			return r.staged.removeItems(ctx, tx, items)
		})
		if err == nil {
			r.staged.archived(items)
		}
		return true, err
	})
}

// judge has them judge what is left, and writes what they drop. A scroll counts each batch
// of drops with its commit, so that another start neither judges nor counts it again; an
// import counts all that it judged.
func (r secondPass) judge(ctx context.Context) (*screening, error) {
	screens := r.screens()
	if len(screens) == 0 {
		return newScreening(r.run, Evidence, nil, nil), nil
	}
	ids, err := r.staged.itemIDs(ctx, kept())
	if err != nil {
		return nil, err
	}
	s := newScreening(r.run, Evidence, screens, ids)
	for n, id := range screens {
		if err := s.pass(ctx, id, n); err != nil {
			return nil, err
		}
	}
	drops, basis := s.dropped(), r.basis()
	for _, v := range drops {
		if v.evident {
			v.basis = &basis
		}
	}
	for part := range slices.Chunk(drops, r.atOnce) {
		err := r.commit(ctx, true, func(ctx context.Context, tx *store.Tx, next *state) error {
			if r.in == nil {
				next.progress.countDrops(part)
			}
			return s.writeVerdicts(ctx, tx, part)
		})
		if err != nil {
			return nil, err
		}
		r.pause(ctx, Evidence, "dropped")
	}
	return s, nil
}

// remembered is how long a drop counts. Settings of the operator may change meanwhile, and
// a stage that hears better may come.
const remembered = 14 * day

// recall has the first pass drop what is remembered.
func (r secondPass) recall(ctx context.Context, s *screening) error {
	if len(r.screens()) == 0 {
		return nil
	}
	var kept []*verdict
	for _, id := range s.ids {
		if v := s.byID[id]; v != nil && v.DroppedBy == "" {
			kept = append(kept, v)
		}
	}
	return r.recallDrops(ctx, kept, r.basis(), r.s.now().Add(-remembered).UnixMilli())
}

// basis is a hash of all that the screens judge by besides the videos.
func (r secondPass) basis() string {
	type used struct{ ID, Version string }
	var by struct {
		Screens, Evidence []used
		Settings          map[string]map[string]string
		Rules             []stage.Rule
		Prompt            string
		Brief             stage.Brief
	}
	for _, id := range r.screens() {
		by.Screens = append(by.Screens, used{id, r.stages.Find(id).Version})
	}
	for _, id := range r.template.Evidence {
		if found := r.stages.Find(id); found.Usable {
			by.Evidence = append(by.Evidence, used{id, found.Version})
		}
	}
	by.Settings, by.Rules, by.Prompt, by.Brief = r.template.Settings, r.call.Rules, r.call.Prompt, r.call.Brief
	text, _ := json.Marshal(by) // it has nothing that JSON cannot have
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
