package stage

import (
	"context"
	"fmt"
	"strings"
	"sync"

	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// MaxState bounds what a source keeps of a seed, in bytes.
const MaxState = 64 << 10

// SeedStates are what a source keeps of its seeds from one run to the next: a cursor, an ETag.
// They are of one tenant and one plugin.
type SeedStates interface {
	// State returns what was kept of a seed, nil for nothing.
	State(seed Seed) []byte
	// Keep replaces it; an empty state drops it.
	Keep(ctx context.Context, seed Seed, state []byte) error
}

// State returns what the source kept of a seed at the last run for the same tenant whose videos
// are archived; nil if there is none. Treat one that cannot be read as none: an older version
// may have written it.
func (c *Call) State(seed Seed) []byte {
	if c.States == nil {
		return nil
	}
	return c.States.State(seed)
}

// KeepState has the host give a state of at most [MaxState] bytes back at the next run for the
// same tenant; an empty one drops what was kept. Only Collect keeps states.
//
// Call it after emit returned for all videos that the state says were seen. The host stores the
// state in the transaction that ends the archive of the scroll: a scroll that fails, is
// cancelled, starts over or finds more than the tenant's plan keeps leaves the state of before
// for the next one, so that no video is lost because the state ran ahead. Videos may come
// twice, which changes nothing. What a screen drops counts as seen: it does not come back.
//
// The host keeps the newest 2,000 states of a tenant and plugin, and those of calls with an
// account's own secrets apart. A tenant who deletes the account deletes them. Keep no texts of
// creators in a state, and no secrets. KeepState is safe for concurrent use.
func (c *Call) KeepState(ctx context.Context, seed Seed, state []byte) error {
	if len(state) > MaxState {
		return fmt.Errorf("keep state: %d bytes are more than the %d that one may have", len(state), MaxState)
	}
	if c.States == nil {
		return nil
	}
	return c.States.Keep(ctx, seed, state)
}

// Place is what a state is kept by: the seed without its limit, its text in lower case.
func (s Seed) Place() Seed {
	return Seed{Kind: s.Kind, Platform: s.Platform, Handle: strings.ToLower(s.Handle), Term: strings.ToLower(s.Term)}
}

// hostStates are the states of a call at the host's end of the stream.
type hostStates struct {
	work *work
	mu   sync.Mutex
	of   map[Seed][]byte
}

func (s *hostStates) State(seed Seed) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[seed.Place()]
}

// Keep sends the records before it, which the state is about.
func (s *hostStates) Keep(ctx context.Context, seed Seed, state []byte) error {
	if err := s.work.records.flush(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sender := s.work.sender
	sender.mu.Lock()
	err := sender.send(&stagev1.CallResponse{Message: &stagev1.CallResponse_Keep{Keep: &stagev1.Keep{Seed: EncodeSeed(seed), State: state}}})
	sender.mu.Unlock()
	if err != nil {
		return fmt.Errorf("keep state of %q: %w", seed.Text(), err)
	}
	if s.of == nil {
		s.of = map[Seed][]byte{}
	}
	s.of[seed.Place()] = state
	return ctx.Err()
}
