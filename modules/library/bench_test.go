package library

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/library/lists"
	"github.com/scrollery/scrollery/modules/library/videos"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Benchmarks stand beside their floor: the same answer by the least work there
// is. Larger libraries are built on demand: SCROLLERY_BENCH=1M.

// sizes of the libraries that reads are measured in.
func sizes() []int {
	switch os.Getenv("SCROLLERY_BENCH") {
	case "1M":
		return []int{10_000, 100_000, 1_000_000}
	case "100k":
		return []int{10_000, 100_000}
	default:
		return []int{2_000, 10_000}
	}
}

// sampleRecords are like what sources bring: 2 KB as a document, 20 a creator.
func sampleRecords(from, n int) []stage.Record {
	r := rand.New(rand.NewPCG(uint64(from), 1))
	records := make([]stage.Record, n)
	for i := range records {
		id := from + i
		tags := make([]string, 8)
		for j := range tags {
			tags[j] = fmt.Sprintf(`"tag%d"`, r.IntN(2000)*(j+1))
		}
		at := now + int64(id)
		records[i] = stage.Record{
			Ref:      stage.Ref{Platform: []string{"tiktok", "youtube", "instagram"}[id/20%3], ExternalID: fmt.Sprint("video", id)},
			PostedAt: ptr(at - int64(r.IntN(400))*day),
			Source:   &stage.Source{Kind: []string{videos.Own, videos.Competitor, videos.Niche}[id/20%3], Handle: fmt.Sprint("creator", id/20), SeededBy: "coffee"},
			Metadata: json.RawMessage(`{"caption":"` + strings.Repeat("How to pull a shot. ", 50) + `","hashtags":[` + strings.Join(tags, ",") +
				`],"soundId":"` + fmt.Sprint(r.IntN(5000)) + `","durationSeconds":31}`),
			Metrics: stage.Metrics{
				Views: ptr(int64(1000 + r.IntN(100_000))), Likes: ptr(int64(r.IntN(1000))), Comments: ptr(int64(r.IntN(100))),
				Shares: ptr(int64(r.IntN(100))), Saves: ptr(int64(r.IntN(100))), ObservedAt: &at,
			},
			Evidence: &stage.Evidence{Spoken: ptr(strings.Repeat("So today we are pulling a shot. ", 8)), OnScreenText: ptr("WAIT FOR IT")},
		}
	}
	return records
}

// grown is a library of n videos, the last 2,000 of which two scrolls saw.
func grown(t testing.TB, n int) *bundle {
	t.Helper()
	b := setup(t, storetest.SQLite(t))
	began := time.Now()
	for from := 0; from < n; from += 2000 {
		b.archive(1, now+int64(from), sampleRecords(from, 2000)...)
	}
	t.Logf("%d videos archived in %v", n, time.Since(began).Round(time.Millisecond))
	began = time.Now()
	if err := b.Score(b.ctx, 1); err != nil {
		t.Fatal(err)
	}
	t.Logf("scored in %v", time.Since(began).Round(time.Millisecond))
	// Trends come from two scrolls of a usual size.
	for scroll := int64(2); scroll < 4; scroll++ {
		records := sampleRecords(n-2000, 2000)
		for i := range records {
			*records[i].Metrics.Views *= scroll
		}
		began = time.Now()
		b.archive(scroll, now+day*scroll, records...)
		seen := time.Since(began)
		b.complete(scroll)
		t.Logf("2000 seen again in %v, scored in %v", seen.Round(time.Millisecond), (time.Since(began) - seen).Round(time.Millisecond))
	}
	return b
}

// floor answers with documents that lie ready in one table.
func floor(t testing.TB, b *bundle, p lists.Page) func() int {
	t.Helper()
	var documents []string
	for p.Limit = 25; len(documents) < 100; {
		made, err := b.reader.Read(b.ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		var lists map[string]json.RawMessage
		if err := json.Unmarshal(made.Body, &lists); err != nil {
			t.Fatal(err)
		}
		var items []json.RawMessage
		for _, name := range []string{"hooks", "outliers", "trends", "videos"} {
			if lists[name] != nil {
				if err := json.Unmarshal(lists[name], &items); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, item := range items {
			documents = append(documents, string(item))
		}
		if p.Token = made.NextPageToken; p.Token == "" {
			break
		}
	}
	table := "ready_" + string(rune(p.List))
	err := b.db.Write(b.ctx, func(ctx context.Context, tx *store.Tx) error {
		if _, err := tx.Exec(ctx, "CREATE TABLE "+table+" (account_id INTEGER, place INTEGER, body TEXT)"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE INDEX "+table+"_place ON "+table+" (account_id, place)"); err != nil {
			return err
		}
		for i, document := range documents {
			if _, err := tx.Exec(ctx, "INSERT INTO "+table+" VALUES ($1, $2, $3)", account, i, document); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	statement := b.db.Hot("SELECT body FROM " + table + " WHERE {tenant} ORDER BY place LIMIT 25")
	buffer := make([]byte, 0, 1<<20)
	return func() int {
		rows, err := statement.Query(b.ctx)
		if err != nil {
			t.Fatal(err)
		}
		buffer = append(buffer[:0], '[')
		var body sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&body); err != nil {
				t.Fatal(err)
			}
			buffer = append(append(buffer, body...), ',')
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		return len(buffer)
	}
}

func BenchmarkRead(bench *testing.B) {
	for _, n := range sizes() {
		b := grown(bench, n)
		uncached, err := New(Config{}, b.db, b.runs, b.runs, b.runs, b.runs, b.kept(), nil, videos.Thinning{})
		if err != nil {
			bench.Fatal(err)
		}
		for _, list := range []struct {
			name string
			page lists.Page
		}{
			{"hooks", lists.Page{List: lists.Hooks, Limit: 25}},
			{"hooks_all", lists.Page{List: lists.Hooks, Limit: 25, WithArchived: true}},
			{"outliers", lists.Page{List: lists.Outliers, Limit: 25}},
			{"outliers_kind", lists.Page{List: lists.Outliers, Limit: 25, Kind: videos.Niche}},
			{"outliers_all", lists.Page{List: lists.Outliers, Limit: 25, WithArchived: true}},
			{"library", lists.Page{List: lists.Videos, Limit: 25}},
			{"trends", lists.Page{List: lists.Trends, Limit: 25}},
		} {
			run := func(s *lists.Service) func(*testing.B) {
				return func(bench *testing.B) {
					defer cpu(bench)()
					for bench.Loop() {
						made, err := s.Read(b.ctx, list.page)
						if err != nil {
							bench.Fatal(err)
						}
						if made.Done != nil {
							made.Done()
						}
						bench.ReportMetric(float64(len(made.Body)), "bytes")
					}
				}
			}
			name := fmt.Sprintf("%s/%d/", list.name, n)
			if !strings.Contains(list.name, "_") {
				ready := floor(bench, b, list.page)
				bench.Run(name+"floor", func(bench *testing.B) {
					defer cpu(bench)()
					for bench.Loop() {
						bench.ReportMetric(float64(ready()), "bytes")
					}
				})
			}
			bench.Run(name+"query", run(uncached.Lists))
			bench.Run(name+"unchanged", run(b.reader))
		}
	}
}

// cpu reports the processor time of an iteration, which counts where others share
// the machine.
func cpu(bench *testing.B) func() {
	used := func() int64 {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			bench.Fatal(err)
		}
		return usage.Utime.Nano() + usage.Stime.Nano()
	}
	before := used()
	return func() { bench.ReportMetric(float64(used()-before)/float64(bench.N), "cpu-ns/op") }
}
