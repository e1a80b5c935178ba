package operator_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/operator"
)

// threeDays are files of three invented days. Ada has four grown videos of 1,000 views. Her
// new one has 3,000 and goes on to 9,000; Bo's new one has 3,000 and stays, while his others
// go to 5,000. Three creators use #moka from the first day on, and two more on the third.
func threeDays(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	const head = "platform,externalId,handle,postedAt,hashtags,views,likes,observedAt\n"
	old := func(views map[string]int, at string) string {
		var b strings.Builder
		for _, handle := range []string{"ada", "bo"} {
			for i := range 4 {
				fmt.Fprintf(&b, "instagram,%s%d,%s,2026-02-1%dT12:00:00Z,,%d,50,%s\n", handle, i, handle, i, views[handle], at)
			}
		}
		return b.String()
	}
	moka := func(day, at string, views int, handles ...string) string {
		var b strings.Builder
		for _, handle := range handles {
			fmt.Fprintf(&b, "instagram,m-%s,%s,2026-03-%sT08:00:00Z,#moka,%d,50,%s\n", handle, handle, day, views, at)
		}
		return b.String()
	}
	days := []string{
		old(map[string]int{"ada": 1000, "bo": 1000}, "2026-03-01T12:00:00Z") +
			"instagram,new-a,ada,2026-02-28T12:00:00Z,,3000,90,2026-03-01T12:00:00Z\n" +
			"instagram,new-b,bo,2026-02-28T12:00:00Z,,3000,90,2026-03-01T12:30:00Z\n" +
			moka("01", "2026-03-01T12:00:00Z", 200, "cy", "di", "ed"),
		old(map[string]int{"ada": 1000, "bo": 1000}, "2026-03-02T12:00:00Z") +
			"instagram,new-a,ada,2026-02-28T12:00:00Z,,6000,180,2026-03-02T12:00:00Z\n" +
			moka("01", "2026-03-02T12:00:00Z", 400, "cy", "di", "ed"),
		old(map[string]int{"ada": 1000, "bo": 5000}, "2026-03-03T12:00:00Z") +
			"instagram,new-a,ada,2026-02-28T12:00:00Z,,9000,270,2026-03-03T12:00:00Z\n" +
			"instagram,new-b,bo,2026-02-28T12:00:00Z,,3000,90,2026-03-03T12:00:00Z\n" +
			moka("03", "2026-03-03T12:00:00Z", 100, "flo", "gus"),
	}
	for i, rows := range days {
		path := filepath.Join(dir, fmt.Sprintf("day%d.csv", 3-i)) // the times decide, not the names
		if err := os.WriteFile(path, []byte(head+rows), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append([]string{path}, paths...)
	}
	return paths
}

func TestBacktestOfThreeDays(t *testing.T) {
	t.Parallel()
	report, err := operator.Backtest(t.Context(), operator.BacktestOrder{InputFiles: operator.InputFiles{Paths: threeDays(t)}, Days: 1})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := report.WriteTables(&got); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "backtest.txt")
	if os.Getenv("SCROLLERY_TEST_GOLDEN") != "" {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("tables differ (-want +got):\n%s", diff)
	}
}

func TestBacktestNeedsTwoRuns(t *testing.T) {
	t.Parallel()
	report, err := operator.Backtest(t.Context(), operator.BacktestOrder{InputFiles: operator.InputFiles{Paths: threeDays(t)[:1]}, Days: 1})
	if err == nil || !strings.Contains(err.Error(), "at least two") {
		t.Errorf("one day: got error %v, want one that asks for at least two", err)
	}
	if len(report.Files) != 1 || report.Files[0].Read != 12 {
		t.Errorf("got files %+v, want one with 12 readings", report.Files)
	}
}

// Six creators of 1,000 followers have four grown videos of 1,000 views. Eve of as many followers
// has one such video and one of 990: more than the 969 that early views say, and no outlier of
// the niche. Two more of 900 make both outliers among her own a day later.
func TestBacktestOfEarlyViews(t *testing.T) {
	t.Parallel()
	orders := func(followers string) map[string]operator.OutlierRow {
		var days [2]string
		add := func(day int, handle string, video, views int) {
			days[day] += fmt.Sprintf("instagram,%s%d,%s,2026-01-0%dT12:00:00Z,%d,9,%s,2026-03-0%dT12:00:00Z\n", handle, video, handle, video, views, followers, day+1)
		}
		for day := range days {
			for _, handle := range strings.Fields("ada bo cy di ed flo") {
				for video := range 4 {
					add(day, handle, video+1, 1000)
				}
			}
			add(day, "eve", 1, 1000)
			add(day, "eve", 2, 990)
		}
		add(1, "eve", 3, 900)
		add(1, "eve", 4, 900)
		var paths []string
		for i, rows := range days {
			path := filepath.Join(t.TempDir(), fmt.Sprintf("day%d.csv", i))
			if err := os.WriteFile(path, []byte("platform,externalId,handle,postedAt,views,likes,followers,observedAt\n"+rows), 0o600); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
		found := map[string]operator.OutlierRow{}
		for _, row := range backtestOf(t, paths...).Outliers {
			if row.By == "order" {
				found[row.Of] = row
			}
		}
		return found
	}
	none, all := 0.0, 1.0
	want := map[string]operator.OutlierRow{
		"new":            {By: "order", Of: "new", Later: 1, Scored: 26, Above: 2, BaseRate: ptr(0.0769), Recall: &none},
		"early":          {By: "order", Of: "early", Later: 1, Scored: 2, Above: 2, Flagged: 2, Still: 2, BaseRate: &all, Precision: &all, Recall: &all},
		"early_baseline": {By: "order", Of: "early_baseline", Later: 1, Scored: 2, Above: 2, BaseRate: &all, Recall: &none},
	}
	if diff := cmp.Diff(want, orders("1000")); diff != "" {
		t.Errorf("rows by order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]operator.OutlierRow{"new": want["new"]}, orders("")); diff != "" {
		t.Errorf("rows by order without followers (-want +got):\n%s", diff)
	}
}

func ptr[T any](v T) *T { return &v }

// realFile returns the path of a file of real data.
func realFile(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("SCROLLERY_TEST_DATA")
	if dir == "" {
		t.Skip("SCROLLERY_TEST_DATA names no folder of real data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no such data set: %v", err)
	}
	return path
}

// mapped copies a file, and puts a column map beside it.
func mapped(t *testing.T, name, columns string) string {
	t.Helper()
	text, err := os.ReadFile(realFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".map.json", []byte(columns), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func backtestOf(t *testing.T, paths ...string) operator.BacktestReport {
	t.Helper()
	generic := strings.Fields("fyp foryou foryoupage viral trending trend short shorts shortsvideo shortsfeed shortvideo ytshorts youtubeshorts youtube yt viralvideo viralshorts video videos explore")
	report, err := operator.Backtest(t.Context(), operator.BacktestOrder{InputFiles: operator.InputFiles{Paths: paths}, Days: 4, Generic: generic})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// sumOf adds the rows of some values of a slice, one run later.
func sumOf(report operator.BacktestReport, by string, of ...string) (sum operator.OutlierRow) {
	for _, row := range report.Outliers {
		for _, value := range of {
			if row.By == by && row.Of == value && row.Later == 1 {
				sum.Scored += row.Scored
				sum.Above += row.Above
				sum.Flagged += row.Flagged
				sum.Still += row.Still
			}
		}
	}
	return sum
}

// Of the Danish videos of at most a day, at least 0.65 of those that end above 1 × were
// flagged, and at least 0.65 of those flagged end so.
func TestBacktestOfDanishVideos(t *testing.T) {
	t.Parallel()
	columns := func(at string) string {
		return `{"columns": {"externalId": "video_id", "handle": "tiktok_handle", "postedAt": "upload_dato", "caption": "beskrivelse", "views": "visninger", "likes": "likes"},
			"constants": {"platform": "tiktok", "observedAt": "` + at + `"}}`
	}
	report := backtestOf(t, mapped(t, "tiktok_dk_run1_2026-03-22.csv", columns("2026-03-22")), mapped(t, "tiktok_dk_run2_2026-03-30.csv", columns("2026-03-30T19:35:50Z")))
	if len(report.Runs) != 2 {
		t.Fatalf("got %d runs, want 2", len(report.Runs))
	}
	young := sumOf(report, "age", "0 days", "1 day")
	t.Logf("at most 1 day: %+v", young)
	if 100*young.Still < 65*young.Above || young.Above == 0 {
		t.Errorf("got %d flagged of %d that end above, want at least 0.65 of them", young.Still, young.Above)
	}
	if 100*young.Still < 65*young.Flagged || young.Flagged == 0 {
		t.Errorf("got %d that end above of %d flagged, want at least 0.65 of them", young.Still, young.Flagged)
	}
}

// Flagged videos of the tech channels beat their baseline a week later far above the base rate.
func TestBacktestOfTechVideos(t *testing.T) {
	t.Parallel()
	const columns = `{"columns": {"externalId": "video_id", "handle": "channel_title", "creatorId": "channel_id", "postedAt": "published_at", "title": "title",
		"durationSeconds": "duration_iso8601", "views": "view_count", "likes": "like_count", "observedAt": "snapshot_utc"}, "constants": {"platform": "youtube"}}`
	report := backtestOf(t, mapped(t, "youtube_tech_run1_2026-01-28.csv", columns), mapped(t, "youtube_tech_run2_2026-02-04.csv", columns))
	if len(report.Runs) != 2 {
		t.Fatalf("got %d runs, want 2", len(report.Runs))
	}
	all := sumOf(report, "all", "")
	t.Logf("all: %+v", all)
	if 100*all.Still < 90*all.Flagged || all.Flagged == 0 {
		t.Errorf("got %d still above of %d flagged, want at least 0.90 of them", all.Still, all.Flagged)
	}
	if kinds := sumOf(report, "kind", "youtube_short", "youtube_long"); kinds.Scored != all.Scored || kinds.Still != all.Still {
		t.Errorf("the sum of the kinds: got %+v, want %+v", kinds, all)
	}
}

// At least 0.55 of the first 25 trends of a day are taken up by two new creators within four
// days. The file is flat JSON Lines, which no format reads, so that it is written as CSV.
func TestBacktestOfTrendingVideos(t *testing.T) {
	t.Parallel()
	file, err := os.Open(realFile(t, "youtube_trending_US_daily.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trending.csv")
	writeTrending(t, unpacked, path)
	report := backtestOf(t, path)
	if len(report.Runs) != 13 {
		t.Fatalf("got %d runs, want 13", len(report.Runs))
	}
	all := report.Trends.All
	t.Logf("first %d, taken %d; others %d, taken %d", all.First, all.Taken, all.Others, all.OthersTaken)
	for _, d := range all.Directions {
		t.Logf("%s: %d of %d got more new creators", d.Direction, d.More, d.Keys)
	}
	if 100*all.Taken < 55*all.First || all.First == 0 {
		t.Errorf("got %d of the first %d taken up, want at least 0.55 of them", all.Taken, all.First)
	}
}

func writeTrending(t *testing.T, from io.Reader, path string) {
	t.Helper()
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"platform", "externalId", "creatorId", "postedAt", "title", "views", "likes", "observedAt"})
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var row struct {
			Timestamp, VideoID, Title, ChannelID, PublishedAt string
			ViewCount, LikeCount                              *int64
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		_ = w.Write([]string{"youtube", row.VideoID, row.ChannelID, row.PublishedAt, row.Title, number(row.ViewCount), number(row.LikeCount), row.Timestamp})
	}
	w.Flush()
	if err := errors.Join(lines.Err(), w.Error()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}
