package gather_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/gather"
)

// TestCallersShareQueries has callers come while a query runs: they share the next one,
// which begins after they came.
func TestCallersShareQueries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, callersShareQueries)
}

func callersShareQueries(t *testing.T) {
	begun, release := make(chan []int, 10), make(chan error)
	lookups := gather.New(func(_ context.Context, keys []int) (map[int]int, error) {
		begun <- keys
		found := map[int]int{}
		for _, key := range keys {
			if key > 0 {
				found[key] = 10 * key
			}
		}
		return found, <-release
	})
	var all sync.WaitGroup
	get := func(ctx context.Context, key, want int, wantErr error) {
		all.Go(func() {
			if got, err := lookups.Get(ctx, key); got != want || !errors.Is(err, wantErr) {
				t.Errorf("key %d: got %d, error %v, want %d, error %v", key, got, err, want, wantErr)
			}
		})
	}
	get(t.Context(), 1, 10, nil)
	if got := <-begun; !cmp.Equal(got, []int{1}) {
		t.Fatalf("got a query for %v, want one for the first caller's key", got)
	}
	leaves, leave := context.WithCancel(t.Context())
	for range 20 {
		get(t.Context(), 2, 20, nil)
	}
	get(t.Context(), -3, 0, nil)
	get(leaves, 4, 0, context.Canceled)
	synctest.Wait() // until they wait
	leave()
	synctest.Wait()
	select {
	case keys := <-begun:
		t.Fatalf("a query for %v runs beside another one, want one at a time", keys)
	default:
	}
	release <- nil
	if got := <-begun; len(got) < 2 || len(got) > 3 {
		t.Errorf("got a query for %v, want one with each key of those who wait once", got)
	}
	release <- nil
	all.Wait()
	get(t.Context(), 5, 50, errQuery)
	<-begun
	release <- errQuery
	all.Wait()
	get(t.Context(), 5, 50, nil)
	<-begun
	release <- nil
	all.Wait()
}

var errQuery = errors.New("the query failed")

// TestCallersSeeWhatWasThereBefore changes a value before each call: no caller gets an
// older one.
func TestCallersSeeWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	var value atomic.Int64
	lookups := gather.New(func(_ context.Context, keys []string) (map[string]int64, error) {
		found := map[string]int64{}
		for _, key := range keys {
			found[key] = value.Load()
		}
		time.Sleep(time.Millisecond)
		return found, nil
	})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				before := value.Add(1)
				if got, err := lookups.Get(t.Context(), "a"); got < before || err != nil {
					t.Errorf("got %d, error %v, want at least %d", got, err, before)
				}
			}
		})
	}
	all.Wait()
}
