package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/operator"
)

const (
	// wholeImports are of a customer with units enough. No worker is killed, so none is missed
	// before its time: a heartbeat may be late on a busy machine.
	wholeImports = `
billing: {pro: {daily_units: 100000000, monthly_units: 100000000}}
`
	// lostImports are missed soon.
	lostImports = `
scrolls: {heartbeat: 100ms, stale: 2s, rescue_every: 500ms, retry_after: 100ms}
` + wholeImports
)

// eachDatabase runs the test with a server on each kind of database.
func eachDatabase(t *testing.T, config string, test func(t *testing.T, c *chaos, db func(t *testing.T) *store.DB)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		c := newChaosWith(t, "", config)
		test(t, c, func(t *testing.T) *store.DB { return storetest.Open(t, store.Config{DataDir: c.dir}) })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := apptest.ScratchPostgres(t)
		c := newChaosWith(t, url, config)
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
	columns := filepath.Join("..", "..", "plugins", "formats", "testdata", "tiktok_dk.map.json")
	eachDatabase(t, wholeImports, func(t *testing.T, c *chaos, open func(t *testing.T) *store.DB) {
		load := func(want operator.ImportedFile, args ...string) {
			t.Helper()
			got := c.command(t, append([]string{"admin", "import", "--email", "chaos@example.com", "--json"}, args...)...)
			var report operator.ImportReport
			if err := json.Unmarshal([]byte(got.stdout), &report); err != nil || got.code != exitDone {
				t.Fatalf("got exit code %d, error %v: %s%s; want %d", got.code, err, got.stdout, got.stderr, exitDone)
			}
			r := report.Total
			if r.Read != want.Read || r.New != want.New || r.SeenAgain != want.SeenAgain || r.AlreadyThere != want.AlreadyThere || len(r.Skipped) != 0 {
				t.Errorf("%v: want %v read, %v new, %v seen again, %v already there and none skipped; got %+v", args, want.Read, want.New, want.SeenAgain, want.AlreadyThere, r)
			}
			if (report.ScrollID != "") != (want.New+want.SeenAgain > 0) {
				t.Errorf("%v: got the scroll %q, want one exactly where a video is new or seen again", args, report.ScrollID)
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

// TestImportKilled kills the command twice or five times at random, by what it has imported or by
// the clock, and lets it end at last: the library equals one that was imported in one go.
func TestImportKilled(t *testing.T) {
	t.Parallel()
	const tags = 7
	videos, kills := 4000, 2
	if storetest.Long() {
		videos, kills = 12_000, 5
	}
	var lines strings.Builder
	for i := range videos {
		fmt.Fprintf(&lines, `{"id":"%d","desc":"slow bar #moka #tag%d","createTime":%d,"author":{"uniqueId":"maker%d"},"stats":{"playCount":%d,"diggCount":3}}`+"\n",
			7_320_768_196_569_599_275+i, i%tags, 1_704_499_196+i*60, i%40, 1000+i*i%977)
	}
	file := filepath.Join(t.TempDir(), "items.ndjson")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	eachDatabase(t, lostImports, func(t *testing.T, c *chaos, open func(t *testing.T) *store.DB) {
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		if strings.HasSuffix(t.Name(), "sqlite") {
			c.kill() // no one but the command itself is left to pick it up
		}
		args := []string{"admin", "import", "--email", "chaos@example.com", file}
		inOneGo := newChaosWith(t, "", lostImports)
		inOneGo.kill()
		began := time.Now()
		if got := inOneGo.command(t, args...); got.code != exitDone {
			t.Fatalf("in one go: exit %d: %s%s, want %v", got.code, got.stdout, got.stderr, exitDone)
		}
		whole := time.Since(began)
		db := open(t)
		killed := 0
		for range kills {
			imported := numberOf(t, db, "SELECT count(*) FROM observations") + random.IntN(videos/8)
			command := program(t.Context(), c.dir, args...)
			command.Env = append(command.Env, c.env...)
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			// A look can wait as long as a small import takes: the clock kills in its place.
			late := time.AfterFunc(whole/3, func() { _ = command.Process.Kill() })
			for end := time.Now().Add(whole / 3); time.Now().Before(end) && numberOf(t, db, "SELECT count(*) FROM observations") < imported; {
				time.Sleep(5 * time.Millisecond)
			}
			_ = command.Process.Kill() // of one that the clock has killed says that it has ended
			if command.Wait() != nil {
				killed++
			}
			late.Stop()
		}
		// On PostgreSQL the server may import the rest while the command ends.
		if killed == 0 || killed < kills && strings.HasSuffix(t.Name(), "sqlite") {
			t.Errorf("got %d kills, want %d", killed, kills)
		}
		got := c.command(t, args...)
		for range 3 {
			// On a busy machine a command may rest for longer than its lease, so that the server on
			// PostgreSQL ends the scroll with what it has: the command says that it goes on from there.
			if !strings.HasSuffix(t.Name(), "postgres") || !strings.Contains(got.stderr, "the same command continues from there") {
				break
			}
			got = c.command(t, args...)
		}
		if got.code != exitDone {
			t.Errorf("exit %d: %s%s, want %v", got.code, got.stdout, got.stderr, exitDone)
		}
		// On PostgreSQL the server may have been first to take the cut-off import up,
		// and be about to end it.
		for end := time.Now().Add(2 * time.Minute); numberOf(t, db, "SELECT count(*) FROM scrolls WHERE status = 'running'") > 0 && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
		for query, want := range map[string]int{
			"SELECT count(*) FROM scrolls WHERE status = 'running'":                                                 0,
			"SELECT count(*) FROM scroll_records":                                                                   0,
			"SELECT count(*) FROM observations o JOIN scrolls s ON s.id = o.scroll_id WHERE s.status = 'completed'": videos,
		} {
			t.Run(query, func(t *testing.T) {
				if got := numberOf(t, db, query); got != want {
					t.Errorf("%s: %d, want %d", query, got, want)
				}
			})
		}
		want := contentOf(t, storetest.Open(t, store.Config{DataDir: inOneGo.dir}))
		continued := contentOf(t, db)
		if len(want["videos"]) != videos {
			t.Errorf("%d videos in one go, want %d", len(want["videos"]), videos)
		}
		if diff := cmp.Diff(want, continued); diff != "" {
			t.Errorf("killed and continued, against in one go (-want +got):\n%.4000s", diff)
		}
	})
}

// contentOf returns what a library has, without ids and the time of the import.
func contentOf(t *testing.T, db *store.DB) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for table, query := range map[string]string{
		"videos": `SELECT v.platform, v.external_id, c.key, v.kind, v.growth_kind, v.handle, v.posted_at, v.observed_at, v.usable_views, v.usable_likes,
			v.by_niche, v.digest, v.peers, v.own_views, v.twice_baseline, v.sample_count, v.doubtful, v.score, v.outlier_order IS NULL, d.keys, t.terms
			FROM videos v JOIN video_docs d ON d.id = v.id JOIN video_terms t ON t.id = v.id JOIN creators c ON c.id = v.creator_id ORDER BY v.external_id`,
		"observations": `SELECT v.external_id, o.stage, o.views, o.likes, o.observed_at, o.semantics FROM observations o JOIN videos v ON v.id = o.video_id
			ORDER BY v.external_id, o.observed_at`,
		"creators":  "SELECT platform, key, handle, dirty FROM creators ORDER BY platform, key",
		"niches":    "SELECT kind, dirty FROM niches ORDER BY kind",
		"libraries": "SELECT videos FROM libraries",
		"words":     "SELECT COUNT(*) FROM video_terms WHERE terms LIKE '%moka%'",
	} {
		err := db.Write(t.Context(), func(ctx context.Context, tx *store.Tx) error {
			rows, err := tx.Query(ctx, query)
			if err != nil {
				return err
			}
			defer rows.Close()
			columns, err := rows.Columns()
			if err != nil {
				return err
			}
			row, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				into[i] = &row[i]
			}
			for rows.Next() {
				if err := rows.Scan(into...); err != nil {
					return err
				}
				texts := make([]string, len(row))
				for i, value := range row {
					switch v := value.(type) {
					case []byte:
						texts[i] = string(v)
					case bool:
						texts[i] = map[bool]string{true: "1", false: "0"}[v]
					default:
						texts[i] = fmt.Sprint(v)
					}
				}
				found[table] = append(found[table], strings.Join(texts, "|"))
			}
			return rows.Err()
		})
		if err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
	return found
}
