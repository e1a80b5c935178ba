package api_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/modules/kernel/api/limit"
)

// leases grants what a test sets, and counts how often it was asked.
type leases struct {
	mu    sync.Mutex
	asked int
	lease limit.Lease
	wait  time.Duration
	fail  error
}

func (l *leases) Lease(context.Context, string, time.Duration, int, int) (limit.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return l.lease, l.fail
}

func (l *leases) Minute(context.Context, string, int) (int, time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return 0, l.wait, l.fail
}

func TestSharedRates(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, l *leases) (statuses func(n int, path, key string) map[int]int) {
		b := setup(t, func(c *api.Config) { c.RateLimit, c.Leases, c.AccountRate = true, l, 0.01 })
		return func(n int, path, key string) map[int]int {
			got := map[int]int{}
			for range n {
				got[b.call(t, "GET", path, key, "").status]++
			}
			return got
		}
	}
	t.Run("a block is spent without asking again", func(t *testing.T) {
		t.Parallel()
		l := &leases{lease: limit.Lease{Granted: 10}}
		check(t, "statuses", map[int]int{200: 20}, start(t, l)(20, "/v1/workspace", "good"))
		check(t, "leases", 2, l.asked)
	})
	t.Run("a refusal asks once", func(t *testing.T) {
		t.Parallel()
		l := &leases{lease: limit.Lease{Spent: 50 * 100 * time.Second}} // burst 50 at 0.01 a second: empty
		check(t, "statuses", map[int]int{429: 20}, start(t, l)(20, "/v1/workspace", "good"))
		check(t, "leases", 1, l.asked)
	})
	t.Run("without leases the process goes by its own count", func(t *testing.T) {
		t.Parallel()
		l := &leases{fail: errors.New("the database is away")}
		began := time.Now()
		check(t, "statuses", map[int]int{200: 50, 429: 10}, start(t, l)(60, "/v1/workspace", "good"))
		if took := time.Since(began); l.asked > 2+int(took/time.Second) {
			t.Errorf("asked %d times in %v, want about once a second", l.asked, took)
		}
	})
	t.Run("addresses lease as accounts do", func(t *testing.T) {
		t.Parallel()
		l := &leases{lease: limit.Lease{Granted: 10}}
		check(t, "statuses", map[int]int{200: 20}, start(t, l)(20, "/v1/health", ""))
		check(t, "leases", 2, l.asked)
	})
}
