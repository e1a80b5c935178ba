package app_test

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/library/score"
)

// The real scrapes lie outside the repository. These tests hold what the app
// makes of them against the same facts, counted from the files by plain code.

// reading is one row of a scrape.
type reading struct {
	id, creator, caption string
	posted, observed     int64
	duration             int64 // milliseconds; 0 if unknown
	views, likes         int64
}

func (r reading) usable() bool { return r.views > 0 && r.views >= r.likes }

func realData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SCROLLERY_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "tiktok_dk_run1_2026-03-22.csv")); err != nil {
		t.Skip("the real scrapes are not here")
	}
	return dir
}

func rowsOf(t *testing.T, path string) []map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]map[string]string, 0, len(all)-1)
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func count(t *testing.T, text string) int64 {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func moment(t *testing.T, layout, text string) int64 {
	t.Helper()
	at, err := time.Parse(layout, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMilli()
}

// postedByID is the second in which TikTok made an id; the exports have the day alone.
func postedByID(t *testing.T, id string) int64 {
	t.Helper()
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return number >> 32 * 1000
}

func tiktokRun(t *testing.T, path, day string) map[string]reading {
	run := map[string]reading{}
	for _, row := range rowsOf(t, path) {
		run[row["video_id"]] = reading{
			id: row["video_id"], creator: strings.ToLower(row["tiktok_handle"]), caption: row["beskrivelse"],
			posted: postedByID(t, row["video_id"]), observed: moment(t, time.DateOnly, day),
			views: count(t, row["visninger"]), likes: count(t, row["likes"]),
		}
	}
	return run
}

var isoDuration = regexp.MustCompile(`^PT(?:(\d+)M)?(?:(\d+)S)?$`)

func youtubeRun(t *testing.T, path string) map[string]reading {
	run := map[string]reading{}
	for _, row := range rowsOf(t, path) {
		parts := isoDuration.FindStringSubmatch(row["duration_iso8601"])
		if parts == nil || count(t, parts[1])*60+count(t, parts[2]) > 180 {
			continue
		}
		run[row["video_id"]] = reading{
			id: row["video_id"], creator: row["channel_id"], caption: row["title"],
			posted:   moment(t, time.RFC3339, row["published_at"]),
			duration: (count(t, parts[1])*60 + count(t, parts[2])) * 1000,
			observed: moment(t, "2006-01-02T15:04:05.999999-07:00", row["snapshot_utc"]),
			views:    count(t, row["view_count"]), likes: count(t, row["like_count"]),
		}
	}
	return run
}

func TestRealTikTokScrapes(t *testing.T) {
	t.Parallel()
	data := realData(t)
	files := []string{filepath.Join(data, "tiktok_dk_run1_2026-03-22.csv"), filepath.Join(data, "tiktok_dk_run2_2026-03-30.csv")}
	runs := []map[string]reading{tiktokRun(t, files[0], "2026-03-22"), tiktokRun(t, files[1], "2026-03-30")}
	columns := []string{fmt.Sprintf(tiktokMap, "2026-03-22"), fmt.Sprintf(tiktokMap, "2026-03-30")}
	checkRealRuns(t, "tiktok", files, columns, runs)
}

func TestRealYouTubeScrapes(t *testing.T) {
	t.Parallel()
	data := realData(t)
	files := []string{filepath.Join(data, "youtube_tech_run1_2026-01-28.csv"), filepath.Join(data, "youtube_tech_run2_2026-02-04.csv")}
	runs := []map[string]reading{youtubeRun(t, files[0]), youtubeRun(t, files[1])}
	checkRealRuns(t, "youtube", files, []string{youtubeMap, youtubeMap}, runs)
}

// checkRealRuns scrolls twice over the files and compares everything.
func checkRealRuns(t *testing.T, platform string, files, columns []string, runs []map[string]reading) {
	feed := t.TempDir()
	for i, file := range files {
		folder := filepath.Join(feed, strconv.Itoa(i+1))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "videos.csv"), string(text))
		write(t, filepath.Join(folder, "feed.map.json"), columns[i])
	}
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.SetStage("FEED_DIR", feed)
		cfg.Billing.Pro.MaxFeedSize = 10_000
	})
	account := running.Account(t, "pro")
	account.Get(t, `POST /v1/workspace {"description":"videos"}`, &struct{}{})

	first := account.Scroll(t, "{}")
	checkRun(t, first, len(runs[0]), 0)
	again := 0
	for id := range runs[1] {
		if _, known := runs[0][id]; known {
			again++
		}
	}
	second := account.Scroll(t, "{}")
	checkRun(t, second, len(runs[1])-again, again)

	ids := libraryIDs(t, account)
	if want := len(runs[0]) + len(runs[1]) - again; len(ids) != want {
		t.Errorf("the library has %d videos, want %d", len(ids), want)
	}
	latest := map[string]reading{}
	for _, run := range runs {
		for id, r := range run {
			if r.usable() {
				latest[id] = r
			}
		}
	}
	checkOutliers(t, account, platform, latest, ids)
	checkTrends(t, account, runs)
}

func checkRun(t *testing.T, scroll apptest.Scroll, newVideos, again int) {
	t.Helper()
	if scroll.Status != "completed" {
		t.Fatalf(`the scroll ended %s, want "completed": %+v`, scroll.Status, scroll)
	}
	if scroll.ResultCounts.Videos != newVideos || scroll.Progress.Reobserved != again {
		t.Errorf("%d new and %d seen again, want %d and %d", scroll.ResultCounts.Videos, scroll.Progress.Reobserved, newVideos, again)
	}
}

// libraryIDs maps the platform's ids to ours.
func libraryIDs(t *testing.T, account *apptest.Caller) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for cursor := ""; ; {
		var page struct {
			Videos     []struct{ ID, ExternalID string }
			NextCursor *string
		}
		account.Get(t, "GET /v1/library?limit=25"+cursor, &page)
		for _, video := range page.Videos {
			ids[video.ExternalID] = video.ID
		}
		if page.NextCursor == nil {
			return ids
		}
		cursor = "&cursor=" + url.QueryEscape(*page.NextCursor)
	}
}

// checkOutliers holds the list to the definitions, which have tests of their own, over
// what the files say.
func checkOutliers(t *testing.T, account *apptest.Caller, platform string, latest map[string]reading, ids map[string]string) {
	t.Helper()
	creators, kinds := map[string][]score.Reading{}, map[score.Kind][]score.Reading{}
	names := map[int64]string{}
	for id, r := range latest {
		number, ok := publicid.Parse(publicid.Video, ids[id])
		if !ok {
			t.Fatalf("video %s has the id %q, want one", id, ids[id])
		}
		one := score.Reading{
			ID: number, Kind: score.KindOf(platform, r.posted, r.duration, nil), PostedAt: r.posted, ObservedAt: r.observed, Views: r.views, Likes: r.likes,
		}
		names[number] = id
		creators[r.creator], kinds[one.Kind] = append(creators[r.creator], one), append(kinds[one.Kind], one)
	}
	table := score.DefaultTable()
	niches := map[score.Kind]*score.Niche{}
	for kind, readings := range kinds {
		niches[kind] = table.NicheOf(readings)
	}
	var want []score.Outlier
	for _, readings := range creators {
		c := table.Creator(readings)
		for i := range c.Len() {
			if o, err := c.Score(i, niches[c.At(i).Kind], nil); err != nil {
				t.Fatal(err)
			} else if o.Listed {
				want = append(want, o)
			}
		}
	}
	slices.SortFunc(want, func(a, b score.Outlier) int { return score.Compare(&a, &b) })
	var got struct {
		Outliers []struct {
			Video                struct{ ExternalID string }
			Score, BaselineViews float64
			SampleCount          int
		}
	}
	account.Get(t, "GET /v1/outliers?limit=25", &got)
	if len(got.Outliers) != 25 || len(want) < 25 {
		t.Fatalf("%d outliers listed, %d expected", len(got.Outliers), len(want))
	}
	for i, o := range got.Outliers {
		w := want[i]
		baseline := w.Baseline()
		if o.Video.ExternalID != names[w.ID] || o.Score != w.Score.Float64() || o.BaselineViews != baseline.Float64() || o.SampleCount != w.SampleCount {
			t.Errorf("outlier %d is %+v, want %s %s %s %d", i, o, names[w.ID], w.Score, baseline, w.SampleCount)
		}
	}
}

// medianOf sorts the values.
func medianOf[N ~int64 | ~float64](values []N) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return float64(values[middle])
	}
	return (float64(values[middle-1]) + float64(values[middle])) / 2
}

var hashtag = regexp.MustCompile(`#([\p{L}\p{M}\p{N}_]+)`)

func checkTrends(t *testing.T, account *apptest.Caller, runs []map[string]reading) {
	t.Helper()
	carriers := map[string]map[string]bool{}
	newest := maps.Clone(runs[0])
	maps.Copy(newest, runs[1]) // a caption may have changed
	for _, run := range []map[string]reading{newest} {
		for id, r := range run {
			for _, match := range hashtag.FindAllStringSubmatch(r.caption, -1) {
				key := "hashtag:" + strings.ToLower(match[1])
				if carriers[key] == nil {
					carriers[key] = map[string]bool{}
				}
				carriers[key][id] = true
			}
		}
	}
	var got struct {
		Status           string
		CompletedScrolls int
		Trends           []struct {
			Key     string
			Metrics struct {
				VideoCount           int
				MedianGrowthMultiple float64
			}
		}
	}
	account.Get(t, "GET /v1/trends?limit=25", &got)
	if got.Status != "ready" || got.CompletedScrolls != 2 || len(got.Trends) == 0 {
		t.Fatalf(`trends are %s after %d scrolls, %d listed, want Status "ready", CompletedScrolls 2 and some Trends`, got.Status, got.CompletedScrolls, len(got.Trends))
	}
	compared := 0
	for _, trend := range got.Trends {
		ids, known := carriers[trend.Key]
		if !known {
			if strings.HasPrefix(trend.Key, "hashtag:") {
				t.Errorf(`no caption carries %s, want not starting with "hashtag:"`, trend.Key)
			}
			continue
		}
		var multiples []float64
		for id := range ids {
			first, last := runs[0][id], runs[1][id]
			if first.usable() && last.usable() {
				multiples = append(multiples, float64(last.views)/float64(max(first.views, 100)))
			}
		}
		want := math.Round(medianOf(multiples)*10_000) / 10_000
		if trend.Metrics.MedianGrowthMultiple != want || trend.Metrics.VideoCount != len(ids) {
			t.Errorf("%s grew %v over %d videos, want %v over %d", trend.Key, trend.Metrics.MedianGrowthMultiple, trend.Metrics.VideoCount, want, len(ids))
		}
		compared++
	}
	if compared < 5 {
		t.Errorf("only %d hashtags could be compared, want at least 5", compared)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Column maps of the scrapes; the first takes the day on which it was read.
const (
	tiktokMap = `{
		"columns": {
			"externalId": "video_id", "sourceUrl": "video_url", "postedAt": "upload_dato", "handle": "tiktok_handle",
			"caption": "beskrivelse", "views": "visninger", "likes": "likes", "comments": "kommentarer",
			"shares": "shares", "saves": "gemmer"
		},
		"constants": {"platform": "tiktok", "observedAt": %q}
	}`
	youtubeMap = `{
		"columns": {
			"externalId": "video_id", "postedAt": "published_at", "creatorId": "channel_id", "handle": "channel_title",
			"caption": "title", "durationSeconds": "duration_iso8601", "views": "view_count", "likes": "like_count",
			"comments": "comment_count", "observedAt": "snapshot_utc"
		},
		"constants": {"platform": "youtube"},
		"filter": {"maxDurationSeconds": 180}
	}`
)
