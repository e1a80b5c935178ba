package scrolls

import (
	"context"
	"fmt"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/predicate"
	"github.com/scrollery/scrollery/ent/scroll"
)

// lookBack is how many completed scrolls a seed's past is looked for in.
const lookBack = 5

// runNumber counts the workspace's runs from 1. Imports replay nothing, so they do not count.
func (s *Service) runNumber(ctx context.Context) (int, error) {
	completed, err := s.db.Ent().Scroll.Query().
		Where(scroll.Status(Completed), scroll.Or(scroll.TemplateIsNil(), scroll.TemplateNEQ(importTemplate))).
		Count(ctx)
	return completed + 1, err
}

// coverageBefore is what the seeds of this subject and template brought in completed
// scrolls, an entry a seed and platform; the newest that brought something counts.
func (s *Service) coverageBefore(ctx context.Context, r *run) ([]Coverage, error) {
	rows, err := s.db.Ent().Scroll.Query().
		Where(scroll.Status(Completed), scroll.Subject(r.snapshot().subject), sameTemplate(r.name)).
		Order(ent.Desc(scroll.FieldID)).Limit(lookBack).
		Select(scroll.FieldProgress).All(ctx)
	if err != nil {
		return nil, err
	}
	var all []Coverage
	at := map[coverageKey]int{}
	for _, row := range rows {
		progress, err := parseProgress([]byte(row.Progress))
		if err != nil {
			return nil, fmt.Errorf("scroll %d: %w", row.ID, err)
		}
		for _, c := range progress.Coverage {
			key := coverageKey{c.Seed, c.Platform}
			switch i, ok := at[key]; {
			case !ok:
				at[key] = len(all)
				all = append(all, c)
			case all[i].Returned == 0:
				all[i] = c
			}
		}
	}
	return all, nil
}

// last is what the seeds of this subject and template brought in the scroll that
// was completed last.
func (s *Service) last(ctx context.Context, r *run) (waits, error) {
	row, err := s.db.Ent().Scroll.Query().
		Where(scroll.Status(Completed), scroll.Subject(r.snapshot().subject), sameTemplate(r.name)).
		Order(ent.Desc(scroll.FieldID)).
		Select(scroll.FieldProgress).First(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	progress, err := parseProgress([]byte(row.Progress))
	if err != nil {
		return nil, err
	}
	all := waits{}
	for _, c := range progress.Coverage {
		all[keyOf(c.Seed, c.Platform)] = c
	}
	return all, nil
}

// sameTemplate finds scrolls of a template by its name.
func sameTemplate(name string) predicate.Scroll {
	if name == defaultTemplate {
		return scroll.Or(scroll.TemplateEQ(name), scroll.TemplateIsNil())
	}
	return scroll.TemplateEQ(name)
}
