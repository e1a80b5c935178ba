package app_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/ent/usageevent"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// twoServers are two servers on one PostgreSQL with the library of the caller there. All
// jobs run there, so here, by db, are the statements of calls alone.
func twoServers(t *testing.T) (db *store.DB, here, there *apptest.Caller) {
	t.Helper()
	address := apptest.ScratchPostgres(t)
	configure := func(cfg *app.Config) {
		sampleFeed(cfg)
		cfg.DatabaseURL, cfg.DatabasePool = address, 4
		cfg.RateLimit = false
	}
	there = apptest.Start(t, configure).Account(t, "pro")
	there.Get(t, `POST /v1/workspace {"description":"coffee"}`, &struct{}{})
	if scroll := there.Scroll(t, "{}"); scroll.Status != "completed" {
		t.Fatalf(`the scroll ended %+v, want "completed"`, scroll)
	}
	running := apptest.StartBy(t, app.StartWithStore(&db), configure, func(cfg *app.Config) { cfg.Roles = []string{"api"} })
	here = running.Anonymous().WithKey(there.Key)
	here.Email = there.Email
	return db, here, there
}

// settled returns what count finds once the events of all calls before are stored. Those of one
// server are stored in their order: a refused read of hooks by each caller is the last of them.
func settled[T any](t *testing.T, db *store.DB, count func() T, callers ...*apptest.Caller) T {
	t.Helper()
	account := viewer.As(t.Context(), accountOf(t, db, callers[0]))
	refused := func() int {
		return db.Ent().UsageEvent.Query().Where(usageevent.Op("getHooks"), usageevent.Status("error")).CountX(account)
	}
	want := refused() + len(callers)
	for _, caller := range callers {
		caller.Do(t, "GET /v1/hooks?limit=0", "")
	}
	for end := time.Now().Add(time.Minute); refused() < want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the events of %d refused calls are not stored after a minute", len(callers))
		}
	}
	return count()
}

// ofReads finds the statements of reads. Events are stored beside them, many at once.
var ofReads = regexp.MustCompile(`\b(libraries|video_docs)\b`)

// TestStatementsOfReads counts what a read of a list sends to PostgreSQL, but for the
// admission of its key, which is kept for a second; and that each read is one event.
func TestStatementsOfReads(t *testing.T) {
	t.Parallel()
	db, here, there := twoServers(t)
	var mu sync.Mutex
	var sent []string
	db.Watch(func(query string) {
		if ofReads.MatchString(query) && !strings.Contains(query, "FROM keys k") {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, query)
		}
	})
	defer db.Watch(nil)
	since := func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { sent = nil }()
		return sent
	}
	count := func() (found [2]int64) { // events, units
		account := viewer.As(t.Context(), accountOf(t, db, there))
		for _, row := range db.Ent().UsageEvent.Query().AllX(account) {
			if row.Status == "ok" {
				found[0]++
			}
		}
		for _, row := range db.Ent().UsageCounter.Query().AllX(account) {
			if row.Day%100 == 0 {
				found[1] += row.Units
			}
		}
		return found
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
			want   int
		}{
			{"first", func() {}, func(i int) { read(1+i, http.StatusOK, "") }, 2},
			{"repeated", func() {}, func(i int) { read(1+i, http.StatusOK, "") }, 1},
			{"after a change of this process", func() { here.Get(t, change, &struct{}{}) }, func(i int) { read(1+i, http.StatusOK, "") }, 2},
		} {
			t.Run(list+", "+c.name, func(t *testing.T) {
				c.before()
				was := settled(t, db, count, here)
				since()
				for i := range 20 {
					c.read(i)
				}
				if got := since(); len(got) != 20*c.want {
					t.Errorf("%d statements for 20 reads, want %d:\n%s", len(got), 20*c.want, strings.Join(got, "\n"))
				}
				if now := settled(t, db, count, here); now != [2]int64{was[0] + 20, was[1] + 20} {
					t.Errorf("20 reads: events and units were %v and are %v, want 20 more", was, now)
				}
			})
		}
		t.Run(list+", changed by another process", func(t *testing.T) {
			there.Get(t, change, &struct{}{})
			since()
			for i := range 20 {
				read(1+i, http.StatusOK, "")
			}
			if got := since(); len(got) != 40 {
				t.Errorf("%d statements for 20 reads, want 40:\n%s", len(got), strings.Join(got, "\n"))
			}
		})
	}
}

// TestRepeatedReadsAreOneEventOnEveryWay repeats a read whose page is in memory on every way
// there is: each is one event of its key, a success with its units, and a refusal has none.
func TestRepeatedReadsAreOneEventOnEveryWay(t *testing.T) {
	t.Parallel()
	db, here, there := twoServers(t)
	tag := here.Do(t, "GET /v1/outliers?limit=5", "").Header.Get("Etag")
	rest := func(call, header string, status int) func(t *testing.T) {
		return func(t *testing.T) {
			t.Helper()
			if got := here.Do(t, call, header); got.Status != status {
				t.Errorf("got status %d, want %d: %s", got.Status, status, got.Body)
			}
		}
	}
	type way struct {
		name string
		read func(t *testing.T)
		want map[string]int64 // events by status, and units, of 10 reads
	}
	const call = "GET /v1/outliers?limit=5"
	counted := map[string]int64{"ok": 10, "units": 10}
	ways := []way{
		{"REST", rest(call, "", http.StatusOK), counted},
		{"REST, filtered", rest("GET /v1/outliers/list?q=a&limit=5", "", http.StatusOK), counted},
		{"REST, trends", rest("GET /v1/trends", "", http.StatusOK), counted},
		{"REST, as a table", rest(call, "Accept: text/csv", http.StatusOK), counted},
		{"REST, unchanged", rest(call, "If-None-Match: "+tag, http.StatusNotModified), counted},
		{"REST, headers alone", rest("HEAD /v1/outliers?limit=5", "", http.StatusOK), counted},
		{"REST, refused", rest("GET /v1/outliers?limit=0", "", http.StatusBadRequest), map[string]int64{"error": 10}},
		{"agents", rest(`POST /mcp {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getOutliers","arguments":{"limit":5}}}`, accepting, http.StatusOK), counted},
	}
	for _, protocol := range apptest.Protocols() {
		services := here.RPC(protocol)
		ways = append(ways, way{protocol.Name, func(t *testing.T) {
			t.Helper()
			if _, err := services.Library.GetOutliers(t.Context(), &pb.GetOutliersRequest{Limit: proto.Int32(5)}); err != nil {
				t.Error(err)
			}
		}, counted})
	}
	account := accountOf(t, db, there)
	state := func() map[string]int64 {
		found := map[string]int64{}
		for _, row := range db.Ent().UsageEvent.Query().AllX(viewer.As(t.Context(), account)) {
			if row.KeyID == nil {
				t.Errorf("got the event %v without a key, want that of the call", row)
			}
			if row.Op != "getHooks" { // by which settled knows
				found[row.Status]++
			}
		}
		for _, row := range db.Ent().UsageCounter.Query().AllX(viewer.As(t.Context(), account)) {
			if row.Day%100 == 0 {
				found["units"] += row.Units
			}
		}
		return found
	}
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			w.read(t)
			before := settled(t, db, state, here)
			var reads sync.WaitGroup
			for range 5 { // alone, then beside another one
				w.read(t)
			}
			for range 5 {
				reads.Go(func() { w.read(t) })
			}
			reads.Wait()
			got := map[string]int64{}
			for name, n := range settled(t, db, state, here) {
				if n -= before[name]; n > 0 {
					got[name] = n
				}
			}
			if diff := cmp.Diff(w.want, got); diff != "" {
				t.Errorf("events and units of 10 reads (-want +got):\n%s", diff)
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
	events := settled(t, db, func() int64 {
		events := int64(-1) // the read of the id
		for _, row := range db.Ent().UsageEvent.Query().AllX(viewer.As(t.Context(), accountOf(t, db, there))) {
			if row.Op == "getLibrary" && row.Status == "ok" {
				events++
			}
		}
		return events
	}, here, there)
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
