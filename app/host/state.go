package host

import (
	"context"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// statedInput are seeds with what the source kept of them.
func statedInput(seeds []stage.Seed, states stage.SeedStates) []*stagev1.Input {
	input := make([]*stagev1.Seed, 0, len(seeds))
	for _, seed := range seeds {
		message := stage.EncodeSeed(seed)
		if states != nil {
			message.State = states.State(seed)
		}
		input = append(input, message)
	}
	// A message may have 8 MiB.
	const most = stage.MaxMessage / (2 * stage.MaxState)
	return chunksOf(input, most, func(batch []*stagev1.Seed, last bool) *stagev1.Input {
		return &stagev1.Input{Seeds: batch, Last: last}
	})
}

// keepIn hands the states of some seeds to states, which may be nil.
func keepIn(seeds []stage.Seed, states stage.SeedStates) func(context.Context, stage.Seed, []byte) error {
	asked := make(map[stage.Seed]stage.Seed, len(seeds))
	for _, seed := range seeds {
		asked[seed.Place()] = seed
	}
	return func(ctx context.Context, seed stage.Seed, state []byte) error {
		known, ok := asked[seed.Place()]
		switch {
		case !ok:
			return protocol("keeps a state of a seed that it was not asked for")
		case len(state) > stage.MaxState:
			return protocol("keeps a state of %d bytes, want at most %d", len(state), stage.MaxState)
		case states == nil:
			return nil
		}
		if err := states.Keep(ctx, known, state); err != nil {
			return &callerError{err}
		}
		return nil
	}
}

// keep takes a state of the stage.
func (t *talk) keep(ctx context.Context, m *stagev1.Keep) error {
	if t.verb.keep == nil {
		return protocol("keeps a state, which only Collect does")
	}
	return t.verb.keep(ctx, stage.DecodeSeed(m.GetSeed()), m.GetState())
}
