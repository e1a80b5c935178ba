package formats

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// shared is the folder of real exports that is beside the repository on some
// machines; they may not be published, so they are not in it.
func shared(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("SCROLLERY_TEST_DATA"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			data := filepath.Join(dir, "..", "shared", "data")
			if _, err := os.Stat(data); err != nil {
				t.Skip("the shared exports are not on this machine")
			}
			return data
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("got no go.mod above the test, want one")
		}
		dir = filepath.Dir(dir)
	}
}

func mapOf(t testing.TB, name string) *Map {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseMap(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// plainRows reads a whole file with the standard library: the independent path.
func plainRows(t *testing.T, name string) []map[string]string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	all, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, row := range all[1:] {
		named := map[string]string{}
		for i, column := range all[0] {
			named[column] = row[i]
		}
		rows = append(rows, named)
	}
	return rows
}

// readFile reads one file.
func readFile(ctx context.Context, name string, options Options, emit func(stage.Record) error) (Report, error) {
	dir, file := filepath.Split(name)
	return Read(ctx, os.DirFS(dir), []string{file}, options, emit)
}

func readAll(t *testing.T, name string, m *Map) (map[string]stage.Record, Report) {
	t.Helper()
	got := map[string]stage.Record{}
	report, err := readFile(context.Background(), name, Options{Map: m, Now: now}, func(rec stage.Record) error {
		got[rec.ExternalID] = rec
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if report.Skipped() != 0 || report.Doubtful != 0 {
		t.Errorf("%s, want Skipped 0 and Doubtful 0: %+v", filepath.Base(name), report)
	}
	return got, report
}

type described struct {
	Caption         string
	Title           string
	Hashtags        []string
	DurationSeconds float64
}

func metadataOf(t *testing.T, rec stage.Record) described {
	t.Helper()
	var d described
	if err := json.Unmarshal(rec.Metadata, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func sameCount(t *testing.T, id, column, want string, got *int64) {
	t.Helper()
	have := ""
	if got != nil {
		have = strconv.FormatInt(*got, 10)
	}
	if have != want {
		t.Errorf("%s: %s is %q, want %q", id, column, have, want)
	}
}

func TestDanishTikTokExports(t *testing.T) {
	t.Parallel()
	dir := shared(t)
	runs := make([]map[string]stage.Record, 2)
	for i, c := range []struct {
		file        string
		rows, empty int
	}{{"tiktok_dk_run1_2026-03-22.csv", 2625, 137}, {"tiktok_dk_run2_2026-03-30.csv", 2933, 143}} {
		t.Run(c.file, func(t *testing.T) {
			got, report := readAll(t, filepath.Join(dir, c.file), mapOf(t, "tiktok_dk.map.json"))
			runs[i] = got
			if report.Videos != c.rows || len(got) != c.rows {
				t.Errorf("%s: %d videos, %d of them different, want %d", c.file, report.Videos, len(got), c.rows)
			}
			empty := 0
			for _, row := range plainRows(t, filepath.Join(dir, c.file)) {
				rec := got[row["video_id"]]
				sameCount(t, rec.ExternalID, "views", row["visninger"], rec.Metrics.Views)
				sameCount(t, rec.ExternalID, "saves", row["gemmer"], rec.Metrics.Saves)
				sameCount(t, rec.ExternalID, "comments", row["kommentarer"], rec.Metrics.Comments)
				d := metadataOf(t, rec)
				if d.Caption != row["beskrivelse"] || rec.Source.Handle != row["tiktok_handle"] || rec.SourceURL != row["video_url"] {
					t.Errorf("%s: %q by %q, want Caption %v, Handle %v and SourceURL %v", rec.ExternalID, d.Caption, rec.Source.Handle, row["beskrivelse"], row["tiktok_handle"], row["video_url"])
				}
				id, err := strconv.ParseInt(rec.ExternalID, 10, 64)
				if posted := id >> 32 * 1000; err != nil || *rec.PostedAt != posted {
					t.Errorf("%s: got posted %d, want %d of the id", rec.ExternalID, *rec.PostedAt, posted)
				}
				if d.Caption == "" {
					empty++
				}
				if strings.Contains(d.Caption, " #dkpol ") && !strings.Contains(strings.Join(d.Hashtags, " "), "dkpol") {
					t.Errorf("%s: got the tags %v of %q, want dkpol among them", rec.ExternalID, d.Hashtags, d.Caption)
				}
			}
			if empty != c.empty {
				t.Errorf("%s: %d empty captions, want %d", c.file, empty, c.empty)
			}
		})
	}
	both, grew := 0, 0
	for id, rec := range runs[0] {
		if later, ok := runs[1][id]; ok {
			both++
			if *later.Metrics.Views > *rec.Metrics.Views {
				grew++
			}
		}
	}
	if both != 2462 || grew != 2277 {
		t.Errorf("%d videos in both, %d grew; want 2462 and 2277", both, grew)
	}
}

func TestYouTubeTechExports(t *testing.T) {
	t.Parallel()
	dir := shared(t)
	runs := make([]map[string]stage.Record, 2)
	for i, file := range []string{"youtube_tech_run1_2026-01-28.csv", "youtube_tech_run2_2026-02-04.csv"} {
		t.Run(file, func(t *testing.T) {
			got, report := readAll(t, filepath.Join(dir, file), mapOf(t, "youtube_tech.map.json"))
			runs[i] = got
			want := 0
			rows := plainRows(t, filepath.Join(dir, file))
			for _, row := range rows {
				rest, minutes := strings.TrimPrefix(row["duration_iso8601"], "PT"), 0
				if at := strings.Index(rest, "M"); at >= 0 && !strings.Contains(rest, "H") {
					minutes, _ = strconv.Atoi(rest[:at])
					rest = rest[at+1:]
				}
				seconds, _ := strconv.Atoi(strings.TrimSuffix(rest, "S"))
				short := !strings.ContainsAny(row["duration_iso8601"], "HD") && minutes*60+seconds <= 180
				rec, have := got[row["video_id"]]
				if have != short {
					t.Errorf("%s: %s is read: %v, want %v", row["video_id"], row["duration_iso8601"], have, short)
				}
				if !short {
					continue
				}
				want++
				sameCount(t, rec.ExternalID, "views", row["view_count"], rec.Metrics.Views)
				sameCount(t, rec.ExternalID, "likes", row["like_count"], rec.Metrics.Likes)
				sameCount(t, rec.ExternalID, "comments", row["comment_count"], rec.Metrics.Comments)
				d := metadataOf(t, rec)
				if d.Title != row["title"] || d.DurationSeconds != float64(minutes*60+seconds) || rec.CreatorID != row["channel_id"] {
					t.Errorf("%s: got %+v by %q, want %v, %d:%02d, by %v", rec.ExternalID, d, rec.CreatorID, row["title"], minutes, seconds, row["channel_id"])
				}
				posted, err := time.Parse(time.RFC3339, row["published_at"])
				if err != nil || *rec.PostedAt != posted.UnixMilli() {
					t.Errorf("%s: posted %d, want %s", rec.ExternalID, *rec.PostedAt, row["published_at"])
				}
				read, err := time.Parse(time.RFC3339, row["snapshot_utc"])
				if err != nil || *rec.Metrics.ObservedAt != read.UnixMilli() {
					t.Errorf("%s: observed %d, want %s", rec.ExternalID, *rec.Metrics.ObservedAt, row["snapshot_utc"])
				}
			}
			if len(got) != want || report.Count(Filtered) != len(rows)-want {
				t.Errorf("%s: %d shorts and %d others, want %d and %d", file, len(got), report.Count(Filtered), want, len(rows)-want)
			}
		})
	}
	both := 0
	for id := range runs[0] {
		if _, ok := runs[1][id]; ok {
			both++
		}
	}
	if len(runs[1]) != 1865 || both != 992 {
		t.Errorf("%d shorts in run 2, %d in both; want 1865 and 992", len(runs[1]), both)
	}
}

func BenchmarkCSV(b *testing.B) {
	name := filepath.Join(shared(b), "youtube_tech_run2_2026-02-04.csv")
	info, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	m := mapOf(b, "youtube_tech.map.json")
	m.Filter = Filter{}
	b.SetBytes(info.Size())
	for b.Loop() {
		if _, err := readFile(context.Background(), name, Options{Map: m}, func(stage.Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
