package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// durable is within which the event of a read is on the disk.
const durable = 250 * time.Millisecond

// TestEventsOfAKilledServerAreKept kills the server: the events of writes are there whenever
// it is, those of reads if they are older than 250 ms. Each is among the events once, and its
// units in the counters once.
func TestEventsOfAKilledServerAreKept(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, address string) {
		s := newServed(t, t.TempDir(), address, "")
		s.start(t)
		key := strings.TrimSpace(s.mustRun(t, exitDone, "keys", "create", "--email", "reader@example.com", "--plan", "pro").stdout)
		s.ask(t, key, http.MethodPost, "/v1/workspace", `{"description":"coffee"}`, new(struct{}))
		const kills, callers, calls = 3, 4, 6
		for round := range kills {
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					for range calls {
						s.ask(t, key, http.MethodGet, "/v1/rules", "", new(struct{}))
					}
				})
			}
			all.Wait()
			time.Sleep(2 * durable) // and as much for a busy machine
			s.ask(t, key, http.MethodPut, "/v1/rules", fmt.Sprintf(`{"text":"Rule %d"}`, round), new(struct{}))
			s.kill() // right after the answer of the write
			s.start(t)
		}
		var list struct{ Events []struct{ Op, Status string } }
		s.ask(t, key, http.MethodGet, "/v1/events?limit=100", "", &list)
		got := map[string]int{}
		for _, e := range list.Events {
			got[e.Op+" "+e.Status]++
		}
		if want := map[string]int{"getRules ok": kills * callers * calls, "putRules ok": kills, "setWorkspace ok": 1}; !maps.Equal(got, want) {
			t.Errorf("after %d kills: got events %v, want %v\n%s", kills, got, want, s.stderr)
		}
		s.kill()
		db := storetest.Open(t, store.Config{DataDir: s.dir, DatabaseURL: address})
		units := storetest.Count(t, db, "SELECT CAST(sum(units) AS BIGINT) FROM usage_counters WHERE day % 100 = 0")
		if want := int64(kills*(callers*calls+2) + 2); units != want {
			t.Errorf("after %d kills: got %d units, want %d", kills, units, want)
		}
	})
}

// ask makes a call that succeeds.
func (s *served) ask(t *testing.T, key, method, path, body string, into any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := s.client.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		t.Errorf("%s %s: got %s, want a success", method, path, answer.Status)
		return
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
}
