package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

// TestEventsOfAKilledServerAreKept kills the server right after it answered reads: each
// is among the events once, and its unit in the counters once.
func TestEventsOfAKilledServerAreKept(t *testing.T) {
	t.Parallel()
	s := newServed(t, t.TempDir(), "", "")
	s.start(t)
	key := strings.TrimSpace(s.mustRun(t, exitDone, "keys", "create", "--email", "reader@example.com", "--plan", "pro").stdout)
	get := func(path string, into any) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+path, nil)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+key)
		answer, err := s.client.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", path, answer.Status)
		}
		return json.NewDecoder(answer.Body).Decode(into)
	}
	const kills, callers, calls = 3, 4, 6
	for range kills {
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for range calls {
					if err := get("/v1/rules", new(struct{})); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		s.kill()
		s.start(t)
	}
	var list struct{ Events []struct{ Op, Status string } }
	if err := get("/v1/events?limit=100", &list); err != nil {
		t.Fatal(err)
	}
	reads := 0
	for _, e := range list.Events {
		if e.Op == "getRules" && e.Status == "ok" {
			reads++
		}
	}
	s.kill()
	db := storetest.Open(t, store.Config{DataDir: s.dir})
	units := storetest.Count(t, db, "SELECT sum(units) FROM usage_counters WHERE day % 100 = 0")
	if want := kills * callers * calls; reads != want || units != int64(want) {
		t.Errorf("%d events and %d units after %d kills, want %d of each\n%s", reads, units, kills, want, s.stderr)
	}
	if got := s.command(t, "doctor").stdout; !strings.Contains(got, "ok      journal") {
		t.Errorf("the doctor: got %q, want a journal that is ok", got)
	}
}
