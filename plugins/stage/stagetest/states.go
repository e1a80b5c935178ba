package stagetest

import (
	"context"
	"sync"

	"github.com/scrollery/scrollery/plugins/stage"
)

// States are what a source keeps of its seeds, for Call.States: use one in several calls to see
// what the next run gets. The zero value is ready. It is safe for concurrent use.
type States struct {
	mu   sync.Mutex
	kept map[stage.Seed][]byte
}

// State returns what was kept of a seed; nil for nothing.
func (s *States) State(seed stage.Seed) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[seed.Place()]
}

// Keep replaces it; an empty state drops it.
func (s *States) Keep(_ context.Context, seed stage.Seed, state []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[stage.Seed][]byte{}
	}
	if len(state) == 0 {
		delete(s.kept, seed.Place())
		return nil
	}
	s.kept[seed.Place()] = append([]byte(nil), state...)
	return nil
}
