package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/operator"
)

// importConfig leaves a busy machine time for a heartbeat: a command that works is not
// taken for a lost one.
const importConfig = `
scrolls: {heartbeat: 100ms, stale: 2s, rescue_every: 500ms, retry_after: 100ms}
billing: {pro: {daily_units: 100000000, monthly_units: 100000000}}
`

// eachDatabase runs the test with a server on each kind of database.
func eachDatabase(t *testing.T, test func(t *testing.T, c *chaos, db func(t *testing.T) *store.DB)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		c := newChaosWith(t, "", importConfig)
		test(t, c, func(t *testing.T) *store.DB { return storetest.Open(t, store.Config{DataDir: c.dir}) })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := apptest.ScratchPostgres(t)
		c := newChaosWith(t, url, importConfig)
		test(t, c, func(t *testing.T) *store.DB { return storetest.Open(t, store.Config{DatabaseURL: url}) })
	})
}

func numberOf(t *testing.T, db *store.DB, query string) int {
	t.Helper()
	return int(storetest.Count(t, db, query))
}

// TestImportWholeFiles imports real exports of hundreds of videos, twice.
func TestImportWholeFiles(t *testing.T) {
	t.Parallel()
	data := os.Getenv("SCROLLERY_TEST_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(data); err != nil {
		t.Skip("the shared exports are not on this machine")
	}
	scrape := filepath.Join(data, "tiktok_trending_2020-12.jsonl.gz")
	table := filepath.Join(data, "tiktok_dk_run1_2026-03-22.csv")
	columns := filepath.Join("..", "..", "plugins", "feed", "formats", "testdata", "tiktok_dk.map.json")
	eachDatabase(t, func(t *testing.T, c *chaos, open func(t *testing.T) *store.DB) {
		load := func(want operator.ImportedFile, args ...string) {
			t.Helper()
			got := c.command(t, append([]string{"import", "--email", "chaos@example.com", "--json"}, args...)...)
			var report operator.ImportReport
			if err := json.Unmarshal([]byte(got.stdout), &report); err != nil || got.code != exitDone {
				t.Fatalf("exit %d: %v: %s%s", got.code, err, got.stdout, got.stderr)
			}
			r := report.Total
			if r.Read != want.Read || r.New != want.New || r.SeenAgain != want.SeenAgain || r.AlreadyThere != want.AlreadyThere || len(r.Skipped) != 0 {
				t.Errorf("%v: %+v", args, r)
			}
			if (report.ScrollID != "") != (want.New+want.SeenAgain > 0) {
				t.Errorf("%v: scroll %q", args, report.ScrollID)
			}
		}
		load(operator.ImportedFile{Read: 599, New: 599}, "--observed-at", "2020-12-21", scrape)
		load(operator.ImportedFile{Read: 2625, New: 2625}, "--map", columns, "--observed-at", "2026-03-22", table)
		load(operator.ImportedFile{Read: 3224, AlreadyThere: 2625, SeenAgain: 599}, "--map", columns, "--observed-at", "2026-03-22", table, scrape)
		load(operator.ImportedFile{Read: 599, AlreadyThere: 599}, "--observed-at", "2020-12-21", scrape) // older than the last
		db := open(t)
		if videos, observations := numberOf(t, db, "SELECT count(*) FROM videos"), numberOf(t, db, "SELECT count(*) FROM observations"); videos != 3224 || observations != 3823 {
			t.Errorf("%d videos and %d observations, want 3224 and 3823", videos, observations)
		}
	})
}

// TestImportKilled kills the command again and again, and lets it end at last: the
// library is as if it had never been killed.
func TestImportKilled(t *testing.T) {
	t.Parallel()
	const videos = 12_000
	var lines strings.Builder
	for i := range videos {
		fmt.Fprintf(&lines, `{"id":"%d","desc":"slow bar #moka","createTime":1704499196,"author":{"uniqueId":"maker%d"},"stats":{"playCount":%d,"diggCount":3}}`+"\n",
			7_320_768_196_569_599_275+i, i%40, 1000+i)
	}
	file := filepath.Join(t.TempDir(), "items.ndjson")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	eachDatabase(t, func(t *testing.T, c *chaos, open func(t *testing.T) *store.DB) {
		if strings.HasSuffix(t.Name(), "sqlite") {
			c.kill() // nobody but the command itself is left to pick it up
		}
		db := open(t)
		args := []string{"import", "--email", "chaos@example.com", file}
		kills := 0
		for _, imported := range []int{1, videos / 6, videos / 3, videos / 2} {
			command := program(t.Context(), c.dir, args...)
			command.Env = append(command.Env, c.env...)
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(time.Minute); numberOf(t, db, "SELECT count(*) FROM observations") < imported; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(end) {
					_ = command.Process.Kill()
					t.Fatalf("%d videos are not imported within a minute", imported)
				}
			}
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if command.Wait() != nil {
				kills++
			}
		}
		// On PostgreSQL the server may import the rest while the command ends.
		if kills == 0 || kills < 4 && strings.HasSuffix(t.Name(), "sqlite") {
			t.Errorf("got %d kills, want 4", kills)
		}
		if got := c.command(t, args...); got.code != exitDone {
			t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
		}
		// On PostgreSQL the server may have been first to take the cut-off import up,
		// and be about to end it.
		for end := time.Now().Add(30 * time.Second); numberOf(t, db, "SELECT count(*) FROM scrolls WHERE status = 'running'") > 0 && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
		for query, want := range map[string]int{
			"SELECT count(*) FROM videos":                           videos,
			"SELECT count(*) FROM observations":                     videos,
			"SELECT count(DISTINCT video_id) FROM observations":     videos,
			"SELECT count(*) FROM scrolls WHERE status = 'running'": 0,
			"SELECT count(*) FROM scroll_records":                   0,
			"SELECT count(*) FROM observations o JOIN scrolls s ON s.id = o.scroll_id WHERE s.status = 'completed'": videos,
		} {
			t.Run(query, func(t *testing.T) {
				if got := numberOf(t, db, query); got != want {
					t.Errorf("%s: %d, want %d", query, got, want)
				}
			})
		}
	})
}
