package pluginhost

import (
	"context"
	"sync"
)

// maxTurns is the most calls at once that a stage can ask to be held to.
const maxTurns = 1000

// turns hold back calls of a stage that wants only so many at once. Waiting calls are let
// in by order of arrival.
type turns struct {
	once sync.Once
	free chan struct{}
}

// enter waits for a turn among at most calls; 0 is any number. The caller leaves.
func (t *turns) enter(ctx context.Context, calls int) (leave func(), err error) {
	if calls <= 0 {
		return func() {}, nil
	}
	t.once.Do(func() { t.free = make(chan struct{}, calls) })
	select {
	case t.free <- struct{}{}:
		return func() { <-t.free }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
