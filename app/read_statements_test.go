package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// twoServers are two servers on one PostgreSQL with a library, of which the first runs its
// scrolls.
func twoServers(t *testing.T) (db *store.DB, here, there *apptest.Caller) {
	t.Helper()
	address := apptest.ScratchPostgres(t)
	configure := func(cfg *app.Config) {
		sampleFeed(cfg)
		cfg.DatabaseURL, cfg.DatabasePool = address, 4
		cfg.RateLimit = false
	}
	running := apptest.StartBy(t, app.StartWithStore(&db), configure)
	second := apptest.Start(t, configure, func(cfg *app.Config) { cfg.Roles = []string{"api"} })
	owner := running.Account(t, "pro")
	owner.Get(t, `POST /v1/workspace {"description":"coffee"}`, &struct{}{})
	if scroll := owner.Scroll(t, "{}"); scroll.Status != "completed" {
		t.Fatalf(`the scroll ended %+v, want "completed"`, scroll)
	}
	return db, owner, second.Anonymous().WithKey(owner.Key)
}

// TestStatementsOfReads counts what a read of a list sends to PostgreSQL, but for the
// admission of its key, which is kept for a second; and that each read is one event.
func TestStatementsOfReads(t *testing.T) {
	t.Parallel()
	db, here, there := twoServers(t)
	var sent atomic.Int64
	db.Watch(func(query string) {
		for _, of := range []string{"usage_events", "libraries", "video_docs"} {
			if strings.Contains(query, of) && !strings.Contains(query, "FROM keys k") {
				sent.Add(1)
				return
			}
		}
	})
	defer db.Watch(nil)
	events := func() (ok, units int64) {
		account := viewer.As(t.Context(), accountOf(t, db, here))
		for _, row := range db.Ent().UsageEvent.Query().AllX(account) {
			if row.Status == "ok" {
				ok++
			}
		}
		for _, row := range db.Ent().UsageCounter.Query().AllX(account) {
			if row.Day%100 == 0 {
				units += row.Units
			}
		}
		return ok, units
	}
	ids := idsIn(t, here, here.Read(t, "GET /v1/library?limit=25"))["vid_"]
	change := fmt.Sprintf(`POST /v1/library/annotate {"videoId":%q,"agentMetadata":{"mine":"yes"}}`, ids[0])
	for _, list := range []string{"outliers", "hooks", "library"} {
		read := func(limit int, status int, header string) {
			t.Helper()
			if got := here.Do(t, fmt.Sprintf("GET /v1/%s?limit=%d", list, limit), header); got.Status != status {
				t.Fatalf("got status %d, want %d: %s", got.Status, status, got.Body)
			}
		}
		for _, c := range []struct {
			name   string
			before func()
			read   func(i int)
			want   int64
		}{
			{"first", func() {}, func(i int) { read(1+i, http.StatusOK, "") }, 2},
			{"repeated", func() {}, func(i int) { read(1+i, http.StatusOK, "") }, 1},
			{"after a change of this process", func() { here.Get(t, change, &struct{}{}) }, func(i int) { read(1+i, http.StatusOK, "") }, 2},
		} {
			t.Run(list+", "+c.name, func(t *testing.T) {
				c.before()
				wasOK, wasUnits := events()
				sent.Store(0)
				for i := range 20 {
					c.read(i)
				}
				if got := sent.Load(); got != 20*c.want {
					t.Errorf("%d statements for 20 reads, want %d", got, 20*c.want)
				}
				if ok, units := events(); ok-wasOK != 20 || units-wasUnits != 20 {
					t.Errorf("20 reads are %d events and cost %d units, want 20 and 20", ok-wasOK, units-wasUnits)
				}
			})
		}
		t.Run(list+", changed by another process", func(t *testing.T) {
			there.Get(t, change, &struct{}{})
			sent.Store(0)
			for i := range 20 {
				read(1+i, http.StatusOK, "")
			}
			if got := sent.Load(); got < 40 || got > 41 { // the first one learns of it
				t.Errorf("%d statements for 20 reads, want 41", got)
			}
		})
	}
}

// TestReadsSeeWritesThatAnswered changes a video by either of two servers while readers
// repeat their reads there: each read after the answer shows the change, and there are as
// many events as calls.
func TestReadsSeeWritesThatAnswered(t *testing.T) {
	t.Parallel()
	db, here, there := twoServers(t)
	servers := []*apptest.Caller{here, there}
	id := idsIn(t, here, here.Read(t, "GET /v1/library?limit=25"))["vid_"][0]
	const list = "GET /v1/library?limit=25"
	var written, read atomic.Int64
	done := make(chan struct{})
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				least := written.Load()
				answer := servers[i%2].Do(t, list, "")
				read.Add(1)
				if seen := numberIn(t, answer); seen < least {
					t.Errorf("a read shows change %d, after change %d was answered", seen, least)
				}
			}
		})
	}
	for n := int64(1); n <= 40; n++ {
		servers[n%2].Get(t, fmt.Sprintf(`POST /v1/library/annotate {"videoId":%q,"agentMetadata":{"change":"%d."}}`, id, n), &struct{}{})
		written.Store(n)
		for i, server := range servers {
			for range 2 {
				answer := server.Do(t, list, "")
				read.Add(1)
				if seen := numberIn(t, answer); seen != n {
					t.Errorf("server %d shows change %d, want %d", i, seen, n)
				}
			}
		}
	}
	close(done)
	readers.Wait()
	events := int64(-1) // the read of the id
	for _, row := range db.Ent().UsageEvent.Query().AllX(viewer.As(t.Context(), accountOf(t, db, here))) {
		if row.Op == "getLibrary" && row.Status == "ok" {
			events++
		}
	}
	if want := read.Load(); events != want {
		t.Errorf("%d events of %d reads, want as many", events, want)
	}
}

// numberIn returns the number of the last change that a list shows, 0 for none.
func numberIn(t *testing.T, answer *apptest.Answer) (n int64) {
	t.Helper()
	_, after, found := strings.Cut(string(answer.Body), `"change":"`)
	if !found {
		return 0
	}
	if _, err := fmt.Sscanf(after, "%d.", &n); err != nil {
		t.Error(err)
	}
	return n
}
