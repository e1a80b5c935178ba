package store_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestAside: the thread of a job or a periodic for which no one waits comes after others.
func TestAside(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		run := func(to chan int) func(context.Context) error {
			return func(context.Context) error {
				rank, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // of the thread: 20 less its niceness
				select {
				case to <- rank:
				default:
				}
				return err
			}
		}
		job, usual, aside := make(chan int, 1), make(chan int, 1), make(chan int, 1)
		start(t, db, store.Worker{Aside: true, Work: func(ctx context.Context, _ json.RawMessage) error { return run(job)(ctx) }},
			store.Periodic{Kind: "usual", Every: time.Minute, Run: run(usual)},
			store.Periodic{Kind: "aside", Every: time.Minute, Aside: true, Run: run(aside)})
		enqueue(t, db, store.Job{Kind: "test"})
		want := receive(t, usual)
		for name, ranks := range map[string]chan int{"a job aside": job, "a periodic aside": aside} {
			if got := receive(t, ranks); got >= want {
				t.Errorf("rank of %s: got %d, want less than %d", name, got, want)
			}
		}
	})
}
