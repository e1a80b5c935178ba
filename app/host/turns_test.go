package host_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// TestCallsWaitTheirTurn: a stage that wants one call at a time gets one, and who
// gives up waiting is gone.
func TestCallsWaitTheirTurn(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	var mu sync.Mutex
	at, most, done := 0, 0, 0
	collect := func(ctx context.Context) error {
		inside := false
		_, err := b.Collect(ctx, "shy", stage.Run{}, []stage.Seed{{Kind: "niche", Term: "linger"}}, func([]stage.Record) error {
			mu.Lock()
			defer mu.Unlock()
			if !inside {
				inside = true
				at++
				most = max(most, at)
			}
			return nil
		})
		mu.Lock()
		defer mu.Unlock()
		if inside {
			at--
			done++
		}
		return err
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := collect(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	await(t, func() bool { // one has its turn, and the others wait
		mu.Lock()
		defer mu.Unlock()
		return most > 0
	})
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := collect(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that gives up: got %v, want %v", err, context.DeadlineExceeded)
	}
	all.Wait()
	if most != 1 || done != 4 {
		t.Errorf("got %d at once, %d done, want 1 and 4", most, done)
	}
}
