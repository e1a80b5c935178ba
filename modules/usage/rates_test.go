package usage

import (
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// TestProcessesShareRates: three processes that ask at once are granted one allowance together, of
// each subject its own. An allowance grows by a call an hour here, so that none does in the test.
func TestProcessesShareRates(t *testing.T) {
	t.Parallel()
	db := storetest.Postgres(t)
	const burst, most, quota = 50, 7, 5
	var mu sync.Mutex
	granted := map[string]int{}
	var asking sync.WaitGroup
	for range 3 {
		process := NewRates(db)
		for range 10 {
			asking.Go(func() {
				for _, subject := range []string{"a1", "a2"} {
					lease, err := process.Lease(viewer.System(t.Context()), subject, time.Hour, burst, most)
					if err != nil || lease.Granted > most {
						t.Errorf("%s: got %+v, error %v, want at most %d", subject, lease, err, most)
					}
					left, wait, err := process.Minute(viewer.System(t.Context()), "m"+subject, quota)
					if err != nil || left < 0 || left >= quota {
						t.Errorf("%s: got %d left, error %v", subject, left, err)
					}
					mu.Lock()
					granted[subject] += lease.Granted
					if wait == 0 {
						granted["m"+subject]++
					}
					mu.Unlock()
				}
			})
		}
	}
	asking.Wait()
	for subject, want := range map[string]int{"a1": burst, "a2": burst, "ma1": quota, "ma2": quota} {
		if granted[subject] != want {
			t.Errorf("%s: got %d granted, want %d", subject, granted[subject], want)
		}
	}
	if lease, err := NewRates(db).Lease(viewer.System(t.Context()), "a1", time.Hour, burst, most); err != nil || lease.Granted != 0 || lease.Spent < (burst-1)*time.Hour {
		t.Errorf("when all is spent: got %+v, error %v, want none, and nearly %d h to wait", lease, err, burst)
	}
	if NewRates(storetest.SQLite(t)) != nil {
		t.Error("on SQLite: got shared rates, want none: one process has all")
	}
}
