package scrolls

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/scroll"
	"github.com/scrollery/scrollery/ent/scrollrecord"
	entverdict "github.com/scrollery/scrollery/ent/verdict"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/scrolls/coverage"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/platforms"
)

// DeleteVideos deletes what the tenant's scrolls keep of videos, in the transaction: their
// verdicts, and their records on the way through scrolls that have not ended.
func (h *History) DeleteVideos(ctx context.Context, tx *store.Tx, refs []stage.Ref) error {
	byPlatform := map[string][]string{}
	for _, ref := range refs {
		byPlatform[ref.Platform] = append(byPlatform[ref.Platform], ref.ExternalID)
	}
	active, err := tx.Ent().Scroll.Query().Where(scroll.StatusIn(Queued, Running)).IDs(ctx)
	if err != nil {
		return fmt.Errorf("find active scrolls: %w", err)
	}
	// In the order in which a scroll writes them, or the two wait for each other.
	if len(active) > 0 {
		for _, platform := range slices.Sorted(maps.Keys(byPlatform)) {
			_, err := tx.Ent().ScrollRecord.Delete().
				Where(scrollrecord.ScrollIDIn(active...), scrollrecord.Platform(platform), scrollrecord.ExternalIDIn(byPlatform[platform]...)).Exec(ctx)
			if err != nil {
				return fmt.Errorf("delete records of scrolls: %w", err)
			}
		}
	}
	for _, platform := range slices.Sorted(maps.Keys(byPlatform)) {
		_, err := tx.Ent().Verdict.Delete().Where(entverdict.Platform(platform), entverdict.ExternalIDIn(byPlatform[platform]...)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete verdicts: %w", err)
		}
	}
	return nil
}

// progressAtOnce is how many scrolls are looked through for a handle at once.
const progressAtOnce = 50

// EraseHandle takes a creator out of the progress of the tenant's scrolls: the entries of its
// handle in their coverage, the seeds of their plans, and what sources keep of them. is tells a handle, in whatever case and
// with or without its sign. A worker that has the scroll in its hands leaves out of its progress
// what is erased by then.
func (h *History) EraseHandle(ctx context.Context, platform string, is func(handle string) bool) error {
	if err := (sourceStates{h.db}).eraseHandle(ctx, platform, is); err != nil {
		return err
	}
	for after := int64(0); ; {
		rows, err := h.db.Ent().Scroll.Query().Where(scroll.IDGT(after), scroll.ProgressNEQ(noProgress)).Order(ent.Asc(scroll.FieldID)).
			Limit(progressAtOnce).Select(scroll.FieldID, scroll.FieldProgress).All(ctx)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			after = row.ID
			p, err := parseProgress(row.Progress)
			if err != nil {
				return fmt.Errorf("scroll %d: %w", row.ID, err)
			}
			if !p.erase(platform, is) {
				continue
			}
			text, err := json.Marshal(p)
			if err != nil {
				return err
			}
			err = h.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.Ent().Scroll.Update().Where(scroll.ID(row.ID), scroll.Progress(row.Progress)).SetProgress(string(text)).Exec(ctx)
			})
			if err != nil {
				return fmt.Errorf("erase a handle from scroll %d: %w", row.ID, err)
			}
		}
	}
}

// withoutErased takes the creators out of a progress that the operator erased from all libraries,
// before it is written in the transaction.
func (s *Service) withoutErased(ctx context.Context, tx *store.Tx, p *Progress) error {
	handles := map[string][]string{}
	for _, name := range platforms.IDs() {
		handles[name] = nil
	}
	for _, e := range p.Coverage {
		handles[e.Platform] = append(handles[e.Platform], e.Seed)
	}
	whole := *p
	if whole.Coverage = slices.Clone(p.Coverage); p.Plan != nil { // the run has them in its hands
		plan := *p.Plan
		plan.Seeds, whole.Plan = slices.Clone(plan.Seeds), &plan
		for _, seed := range plan.Seeds {
			for platform := range handles {
				if seed.Handle != "" && (seed.Platform == "" || seed.Platform == platform) {
					handles[platform] = append(handles[platform], seed.Handle)
				}
			}
		}
	}
	for platform, named := range handles {
		if len(named) == 0 {
			continue
		}
		erased, err := s.needs.Archiver.Erased(ctx, tx, platform, named)
		if err != nil {
			return err
		}
		if len(erased) > 0 && whole.erase(platform, func(handle string) bool { return erased[handle] }) {
			*p = whole
		}
	}
	return nil
}

// erase takes out what names a creator, and reports whether there was any.
func (p *Progress) erase(platform string, is func(handle string) bool) bool {
	before := len(p.Coverage)
	p.Coverage = slices.DeleteFunc(p.Coverage, func(e coverage.Entry) bool { return e.Platform == platform && is(e.Seed) })
	erased := len(p.Coverage) < before
	if p.Plan != nil {
		before = len(p.Plan.Seeds)
		p.Plan.Seeds = slices.DeleteFunc(p.Plan.Seeds, func(s stage.Seed) bool {
			return (s.Platform == "" || s.Platform == platform) && s.Handle != "" && is(s.Handle)
		})
		erased = erased || len(p.Plan.Seeds) < before
	}
	return erased
}
