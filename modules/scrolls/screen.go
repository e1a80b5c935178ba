package scrolls

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/plugins/stage"
)

// verdict is what all screens together say of one item.
type verdict struct {
	key               coverageKey
	ref               stage.Ref
	droppedBy, ruleID string
	rank              float64
	reasons           []string
}

// take adds what one screen says; a drop is the last word.
func (v *verdict) take(said stage.Verdict) {
	v.droppedBy, v.ruleID, v.rank = said.DroppedBy, said.RuleID, v.rank+said.Rank
	if said.DroppedBy != "" {
		v.reasons = nil
	}
	if said.Reason != "" {
		v.reasons = append(v.reasons, said.Reason)
	}
}

// screening gathers verdicts. They are written when all screens are through, so a
// stage that is cut off leaves none.
type screening struct {
	r        *run
	ids      []int64
	verdicts map[int64]*verdict
	byRef    map[stage.Ref]int64
	unclear  []string
	notes    []string
}

// screen has new videos judged by each screen in turn; what one dropped the next
// does not see, and ranks add up. Known videos are not judged: the library has them.
func (r *run) screen(ctx context.Context) error {
	ids, err := r.itemIDs(ctx, newcomers())
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	slices.Sort(ids) // in the order of their arrival
	s := &screening{r: r, ids: ids, verdicts: make(map[int64]*verdict, len(ids)), byRef: make(map[stage.Ref]int64, len(ids))}
	for n, id := range r.template.Screens {
		if err := s.pass(ctx, id, n); err != nil {
			return err
		}
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	return r.finish(ctx, Screen, s.sum)
}

// pass streams what is left through one screen. One that is off is left out, and
// the scroll says so: rules that it would have kept are not kept.
func (s *screening) pass(ctx context.Context, id string, number int) error {
	if why := s.r.s.needs.Filters.Off(id); why != "" {
		s.r.log.Warn("screen left out", "stage", id, "reason", why)
		s.notes = union(s.notes, []string{fmt.Sprintf("%s is left out, nothing is dropped by it: %s", id, why)})
		return nil
	}
	next := s.r.stream(ctx, slices.DeleteFunc(slices.Clone(s.ids), func(id int64) bool {
		v := s.verdicts[id]
		return v != nil && v.droppedBy != ""
	}), func(items []item, done float64) ([]stage.Record, error) {
		records := make([]stage.Record, len(items))
		for n, i := range items {
			s.byRef[i.record.Ref] = i.id
			if s.verdicts[i.id] == nil {
				s.verdicts[i.id] = &verdict{key: i.key(), ref: i.record.Ref}
			}
			records[n] = i.record
		}
		fraction := (float64(number) + done) / float64(len(s.r.template.Screens))
		return records, s.r.note(ctx, func(next *state) { next.progress.raise(percent(Screen, 0.9*fraction)) })
	})
	summary, err := s.r.s.needs.Filters.Screen(ctx, id, s.r.call, next, func(verdicts []stage.Verdict) error {
		for _, said := range verdicts {
			if v := s.verdicts[s.byRef[said.Ref]]; v != nil {
				v.take(said)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("screen %s: %w", id, err)
	}
	s.unclear, s.notes = union(s.unclear, summary.Unclear), union(s.notes, summary.Notes)
	return nil
}

// union adds what is not there yet.
func union(all, more []string) []string {
	for _, one := range more {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// write commits the verdicts in batches; doing it twice changes nothing.
func (s *screening) write(ctx context.Context) error {
	judged := slices.DeleteFunc(slices.Clone(s.ids), func(id int64) bool { return s.verdicts[id] == nil })
	for part := range slices.Chunk(judged, s.r.s.cfg.BatchSize) {
		err := s.r.commit(ctx, false, func(ctx context.Context, tx *store.Tx, _ *state) error {
			if err := s.r.updateVerdicts(ctx, tx, part, s.verdicts); err != nil {
				return err
			}
			return s.r.keepVerdicts(ctx, tx, part, s.verdicts)
		})
		if err != nil {
			return err
		}
		s.r.pause(ctx, Screen, "batch")
	}
	return nil
}

// sum writes what was dropped, and by which rule.
func (s *screening) sum(_ context.Context, _ *store.Tx, next *state) error {
	rules, seeds := map[string]int{}, tally{}
	next.progress.Dropped = 0
	for _, v := range s.verdicts {
		if v.droppedBy == "" {
			continue
		}
		next.progress.Dropped++
		rules[v.droppedBy]++
		seeds[v.key]++
	}
	seeds.into(&next.progress, func(c *Coverage) *int { return &c.Dropped })
	next.progress.DroppedByRule = nil
	for rule, videos := range rules {
		next.progress.DroppedByRule = append(next.progress.DroppedByRule, RuleDrops{rule, videos})
	}
	slices.SortFunc(next.progress.DroppedByRule, func(a, b RuleDrops) int {
		return cmp.Or(cmp.Compare(b.Videos, a.Videos), cmp.Compare(a.Rule, b.Rule))
	})
	next.progress.UnclearRules, next.progress.ScreenNotes = s.unclear, s.notes
	return nil
}

// stream returns a reader of items in batches; take turns each into what a plugin gets.
func (r *run) stream(ctx context.Context, ids []int64, take func(items []item, done float64) ([]stage.Record, error)) func() ([]stage.Record, error) {
	at := 0
	return func() ([]stage.Record, error) {
		for at < len(ids) {
			part := ids[at:min(len(ids), at+r.s.cfg.BatchSize)]
			at += len(part)
			items, err := r.items(ctx, part)
			if err != nil {
				return nil, err
			}
			if records, err := take(items, float64(at)/float64(len(ids))); err != nil || len(records) > 0 {
				return records, err
			}
		}
		return nil, io.EOF
	}
}
