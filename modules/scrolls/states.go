package scrolls

import (
	"context"

	"github.com/scrollery/scrollery/plugins/stage"
)

// seedStates are the states of one call of a source. They are used from the goroutine that takes
// its records, since a state is written with the records before it, or after them.
type seedStates struct {
	before map[string][]byte
	kept   []keptState
	size   int
	// full writes what waits.
	full func() error
}

// State returns what was in force when the call began.
func (s *seedStates) State(seed stage.Seed) []byte { return s.before[placeOf(seed)] }

// Keep takes a state, which is written with what the source delivered before.
func (s *seedStates) Keep(_ context.Context, seed stage.Seed, state []byte) error {
	s.kept, s.size = append(s.kept, keptState{placeOf(seed), state}), s.size+len(state)
	if s.size < statesWritten && len(s.kept) < statesAtOnce {
		return nil
	}
	return s.full()
}

// take returns what waits to be written.
func (s *seedStates) take() []keptState {
	kept := s.kept
	s.kept, s.size = nil, 0
	return kept
}
