package videos

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/library/score"
)

// Touch notes that a video of the kind, posted then, changed. score.Undated is the least
// number, as an unknown time can be near any other.
func Touch(niches map[score.Kind]int64, kind score.Kind, posted int64) {
	if from, known := niches[kind]; !known || posted < from {
		niches[kind] = posted
	}
}

// MarkNiches marks kinds for the next scoring, from a posting time on.
func (s *Service) MarkNiches(ctx context.Context, tx *store.Tx, niches map[score.Kind]int64) error {
	if len(niches) == 0 {
		return nil
	}
	var values [][]any
	for _, kind := range slices.Sorted(maps.Keys(niches)) {
		values = append(values, []any{s.db.NewID(), string(kind), 1, niches[kind]})
	}
	if _, err := s.hot.markNiches.ExecIn(ctx, tx, values); err != nil {
		return fmt.Errorf("mark niches: %w", err)
	}
	return nil
}
