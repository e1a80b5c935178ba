package app_test

import (
	"database/sql"
	"fmt"
	"io"
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
)

// The bars of a whole request, key looked up and usage event recorded, in CPU
// time against the floor of the same run: a bare handler that reads ready
// documents with one prepared SELECT and writes one row durably.
const (
	freshBar    = 1.4
	repeatedBar = 0.6
	benchVideos = 2_000
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

// cost is the median CPU time of a call, over rounds of n.
func cost(t testing.TB, rounds, n int, call func()) time.Duration {
	t.Helper()
	for range n / 4 {
		call()
	}
	best := time.Duration(0)
	for range rounds {
		runtime.GC()
		before := cpu()
		for range n {
			call()
		}
		if spent := (cpu() - before) / time.Duration(n); best == 0 || spent < best {
			best = spent
		}
	}
	return best
}

// TestWholeRequestAgainstItsFloor holds the bars of a list of 25.
func TestWholeRequestAgainstItsFloor(t *testing.T) {
	if os.Getenv("SCROLLERY_BENCH") == "" {
		t.Skip("a measurement: set SCROLLERY_BENCH=1, with nothing else running")
	}
	running, account := benchLibrary(t)
	request := func(path string) func() {
		return func() {
			r := httptest.NewRequest("GET", path, nil)
			r.Header.Set("Authorization", "Bearer "+account.Key)
			w := &discard{header: http.Header{}}
			running.Handler.ServeHTTP(w, r)
			if w.status != 0 && w.status != http.StatusOK {
				t.Fatalf("%s answered %d", path, w.status)
			}
		}
	}
	floor := benchFloor(t, account)
	base := cost(t, 5, 400, floor)
	t.Logf("floor: %v", base)
	var page struct{ Videos []struct{ ID string } }
	account.Get(t, "GET /v1/library?limit=1", &page)
	for _, list := range []string{"hooks", "outliers"} {
		flip := 0
		stale := func() { // a changed library: nothing kept can be served
			flip++
			account.Get(t, fmt.Sprintf(`POST /v1/library/archive {"videoId":%q,"archived":%t}`, page.Videos[0].ID, flip%2 == 0), &struct{}{})
		}
		changes := cost(t, 5, 100, stale)
		fresh := cost(t, 5, 100, func() { stale(); request("/v1/" + list)() }) - changes
		repeated := cost(t, 5, 400, request("/v1/"+list))
		report(t, list+" of a changed library", fresh, base, freshBar)
		report(t, list+" of an unchanged library", repeated, base, repeatedBar)
	}
}

func report(t *testing.T, name string, got, floor time.Duration, bar float64) {
	t.Helper()
	ratio := float64(got) / float64(floor)
	t.Logf("%-36s %8v  %.2f of the floor, bar %.2f", name, got, ratio, bar)
	if ratio > bar {
		t.Errorf("%s costs %.2f of the floor, more than %.2f", name, ratio, bar)
	}
}

// benchLibrary runs one scroll over a feed of invented videos.
func benchLibrary(t *testing.T) (*apptest.Running, *apptest.Caller) {
	t.Helper()
	feed := t.TempDir()
	var lines strings.Builder
	for i := range benchVideos {
		fmt.Fprintf(&lines, `{"platform":"tiktok","externalId":"b%d","postedAt":1700000000000,"source":{"kind":"competitor","handle":"maker%d"},"metadata":{"caption":%q,"hashtags":["espresso"]},"metrics":{"views":%d,"likes":3},"evidence":{"spoken":"hello %d"}}`+"\n",
			i, i%50, strings.Repeat("a caption of some length ", 60), 1000+(i*7919)%90_000, i)
	}
	write(t, filepath.Join(feed, "videos.jsonl"), lines.String())
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.FeedDir = feed
		cfg.Billing.Pro.MaxFeedSize = benchVideos
		cfg.Billing.Pro.DailyUnits, cfg.Billing.Pro.MonthlyUnits = 1<<40, 1<<40
	})
	account := running.Account(t, "pro")
	account.Get(t, `POST /v1/workspace {"description":"coffee"}`, &struct{}{})
	if scroll := account.Scroll(t, "{}"); scroll.Status != "completed" || scroll.ResultCounts.Videos != benchVideos {
		t.Fatalf("the scroll ended %+v", scroll)
	}
	return running, account
}

// benchFloor is a bare handler over the same page's bytes.
func benchFloor(t *testing.T, account *apptest.Caller) func() {
	t.Helper()
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
	exec(`CREATE TABLE docs (id INTEGER PRIMARY KEY, account INTEGER, doc TEXT)`)
	exec(`CREATE INDEX docs_account ON docs (account, id)`)
	exec(`CREATE TABLE events (id INTEGER PRIMARY KEY, account INTEGER, op TEXT, ts INTEGER)`)
	body := account.Do(t, "GET /v1/hooks?limit=25", "").Body
	for i := range benchVideos {
		exec(`INSERT INTO docs VALUES (?, 1, ?)`, i+1, string(body[:len(body)/25]))
	}
	list, err := db.Prepare(`SELECT doc FROM docs WHERE account = ? ORDER BY id DESC LIMIT 25`)
	if err != nil {
		t.Fatal(err)
	}
	event, err := db.Prepare(`INSERT INTO events (account, op, ts) VALUES (?, 'getHooks', ?)`)
	if err != nil {
		t.Fatal(err)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		rows, err := list.Query(1)
		if err != nil {
			t.Fatal(err)
		}
		page := make([]byte, 0, 64<<10)
		var doc sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&doc); err != nil {
				t.Fatal(err)
			}
			page = append(append(page, doc...), ',')
		}
		rows.Close()
		if _, err := event.Exec(1, time.Now().UnixMilli()); err != nil {
			t.Fatal(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(page)
	})
	return func() {
		w := &discard{header: http.Header{}}
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/v1/hooks", io.NopCloser(strings.NewReader(""))))
	}
}
