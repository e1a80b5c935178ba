package library

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/library/score"
)

// realReading is one reading of one real video.
type realReading struct {
	ref, creator string
	platform     string
	posted       int64
	duration     int64
	tags         []string
	at           int64
	views, likes int64
	run          int
}

// set is a set of real files as readings of successive runs.
type set struct {
	name string
	runs int
	all  []realReading
}

func dataFile(t *testing.T, name string) io.Reader {
	t.Helper()
	dir := os.Getenv("SCROLLERY_TEST_DATA")
	if dir == "" {
		t.Skip("SCROLLERY_TEST_DATA names no folder of real data")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("no such data set: %v", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// table reads a CSV file as maps by column.
func tableOf(t *testing.T, name string) (rows []map[string]string) {
	t.Helper()
	r := csv.NewReader(dataFile(t, name))
	all, err := r.ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, fields := range all[1:] {
		row := map[string]string{}
		for i, column := range all[0] {
			row[column] = fields[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func linesOf[T any](t *testing.T, name string) (rows []T) {
	t.Helper()
	s := bufio.NewScanner(dataFile(t, name))
	s.Buffer(nil, 4<<20)
	for s.Scan() {
		var row T
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows = append(rows, row)
	}
	return rows
}

func number(text string) int64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return score.Unknown
	}
	return int64(n)
}

func moment(t *testing.T, layout, text string) int64 {
	t.Helper()
	at, err := time.Parse(layout, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMilli()
}

// tiktokPosted is the posting time that a TikTok id holds.
func tiktokPosted(id string) int64 { return (whole64(id) >> 32) * 1000 }

func whole64(text string) int64 { n, _ := strconv.ParseInt(text, 10, 64); return n }

var (
	tagForm      = regexp.MustCompile(`[#＃]([\pL\pN\pM_]+)`)
	durationForm = regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)
)

func tagsOf(text string) (tags []string) {
	for _, m := range tagForm.FindAllStringSubmatch(text, -1) {
		if tag := score.Fold(m[1]); !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}

func isoDuration(text string) (millis int64) {
	if m := durationForm.FindStringSubmatch(text); m != nil {
		for i, unit := range []int64{86400, 3600, 60, 1} {
			millis += whole64(m[i+1]) * unit * 1000
		}
	}
	return millis
}

func danish(t *testing.T) *set {
	s := &set{name: "Danish TikTok", runs: 2}
	for run, name := range []string{"tiktok_dk_run1_2026-03-22.csv", "tiktok_dk_run2_2026-03-30.csv"} {
		for _, row := range tableOf(t, name) {
			at := moment(t, time.DateOnly, "2026-03-22") // a date, so the end of that day
			if id := row["run_id"]; id != "" {
				at = moment(t, "20060102_150405", id[:15])
			}
			s.all = append(s.all, realReading{
				ref: row["video_id"], creator: row["tiktok_handle"], platform: "tiktok", posted: tiktokPosted(row["video_id"]),
				tags: tagsOf(row["beskrivelse"]), at: at, views: number(row["visninger"]), likes: number(row["likes"]), run: run,
			})
		}
	}
	return s
}

func tech(t *testing.T) *set {
	s := &set{name: "YouTube tech", runs: 2}
	for run, name := range []string{"youtube_tech_run1_2026-01-28.csv", "youtube_tech_run2_2026-02-04.csv"} {
		for _, row := range tableOf(t, name) {
			s.all = append(s.all, realReading{
				ref: row["video_id"], creator: row["channel_id"], platform: "youtube", posted: moment(t, time.RFC3339, row["published_at"]),
				duration: isoDuration(row["duration_iso8601"]), tags: tagsOf(row["title"]), at: moment(t, time.RFC3339Nano, row["snapshot_utc"]),
				views: number(row["view_count"]), likes: number(row["like_count"]), run: run,
			})
		}
	}
	return s
}

func trendingUS(t *testing.T) *set {
	type row struct {
		Timestamp, VideoID, Title, ChannelID, PublishedAt string
		ViewCount, LikeCount                              *int64
	}
	s := &set{name: "YouTube trending US"}
	days := map[string]int{}
	for _, r := range linesOf[row](t, "youtube_trending_US_daily.jsonl.gz") {
		if _, ok := days[r.Timestamp]; !ok {
			days[r.Timestamp] = len(days)
		}
		one := realReading{
			ref: r.VideoID, creator: r.ChannelID, platform: "youtube", posted: moment(t, time.RFC3339, r.PublishedAt), tags: tagsOf(r.Title),
			at: moment(t, time.RFC3339Nano, r.Timestamp), views: score.Unknown, likes: score.Unknown, run: days[r.Timestamp],
		}
		if r.ViewCount != nil {
			one.views = *r.ViewCount
		}
		if r.LikeCount != nil {
			one.likes = *r.LikeCount
		}
		s.all = append(s.all, one)
	}
	s.runs = len(days)
	return s
}

func shortsSeries(t *testing.T) *set {
	type row struct{ ID, Title, Channel, PublishedAt, Dur, Desc string }
	s := &set{name: "Shorts series"}
	videos := map[string]realReading{}
	for _, r := range linesOf[row](t, "youtube_shorts_series_videos.jsonl.gz") {
		minutes, seconds, _ := strings.Cut(r.Dur, ":")
		videos[r.ID] = realReading{
			ref: r.ID, creator: r.Channel, platform: "youtube", posted: moment(t, time.RFC3339, r.PublishedAt),
			duration: (whole64(minutes)*60 + whole64(seconds)) * 1000, tags: tagsOf(r.Title + " " + r.Desc), likes: score.Unknown,
		}
	}
	runs := map[string]int{}
	for _, row := range tableOf(t, "youtube_shorts_series_views.csv.gz") {
		one, ok := videos[row["id"]]
		if !ok {
			continue
		}
		if _, ok := runs[row["ts"]]; !ok {
			runs[row["ts"]] = len(runs)
		}
		one.at, one.views, one.run = moment(t, time.RFC3339Nano, row["ts"]), number(row["views"]), runs[row["ts"]]
		s.all = append(s.all, one)
	}
	s.runs = len(runs)
	return s
}

func creators2020(t *testing.T) *set {
	s := &set{name: "TikTok creators 2020", runs: 1}
	at := moment(t, time.DateOnly, "2020-11-10")
	quoted := regexp.MustCompile(`'([^']+)'`)
	for _, row := range tableOf(t, "tiktok_creators_2020.csv.gz") {
		var tags []string
		for _, m := range quoted.FindAllStringSubmatch(row["hashtags"], -1) {
			if tag := score.Fold(m[1]); !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		s.all = append(s.all, realReading{
			ref: row["id"], creator: row["user_name"], platform: "tiktok", posted: whole64(row["create_time"]) * 1000,
			tags: tags, at: at, views: number(row["n_plays"]), likes: number(row["n_likes"]),
		})
	}
	return s
}

func trending2020(t *testing.T) *set {
	type row struct {
		ID         string
		Text       string
		CreateTime int64
		AuthorMeta struct{ Name string }
		DiggCount  int64
		PlayCount  int64
	}
	s := &set{name: "TikTok trending 2020", runs: 1}
	for _, r := range linesOf[row](t, "tiktok_trending_2020-12.jsonl.gz") {
		s.all = append(s.all, realReading{
			ref: r.ID, creator: r.AuthorMeta.Name, platform: "tiktok", posted: r.CreateTime * 1000, at: moment(t, time.DateOnly, "2020-12-21"),
			tags: tagsOf(r.Text), views: r.PlayCount, likes: r.DiggCount,
		})
	}
	return s
}

func reelsTW(t *testing.T) *set {
	type row struct {
		Username, Shortcode, Caption string
		PostTime                     string `json:"post_time"`
	}
	s := &set{name: "Instagram Reels hourly"}
	videos := map[string]realReading{}
	for _, r := range linesOf[row](t, "instagram_reels_tw_reels.jsonl") {
		videos[r.Shortcode] = realReading{ref: r.Shortcode, creator: r.Username, platform: "instagram", posted: moment(t, time.DateTime, r.PostTime), tags: tagsOf(r.Caption)}
	}
	runs := map[string]int{}
	for _, row := range tableOf(t, "instagram_reels_tw_hourly.csv") {
		one, ok := videos[row["shortcode"]]
		if !ok {
			continue
		}
		if _, ok := runs[row["recorded_at"]]; !ok {
			runs[row["recorded_at"]] = len(runs)
		}
		one.at, one.views, one.likes = moment(t, "2006-01-02 15:04", row["recorded_at"][:16]), number(row["plays"]), number(row["likes"])
		one.run = runs[row["recorded_at"]]
		s.all = append(s.all, one)
	}
	s.runs = len(runs)
	return s
}

func reelsOfOne(t *testing.T) *set {
	s := &set{name: "Instagram Reels of one", runs: 1}
	for i, row := range tableOf(t, "instagram_reels_one_creator.csv") {
		posted := score.Undated
		if text := row["Upload Timestamp"]; text != "" {
			posted = moment(t, "Jan 2, 2006 3:04 pm", text)
		}
		s.all = append(s.all, realReading{
			ref: fmt.Sprint(i), creator: "one", platform: "instagram", posted: posted,
			tags: tagsOf(row["Caption"]), at: moment(t, time.DateOnly, "2025-01-31"), views: number(row["InstagramPlays"]), likes: number(row["InstagramLikes"]),
		})
	}
	return s
}

var sets = []func(*testing.T) *set{danish, tech, trendingUS, shortsSeries, creators2020, trending2020, reelsTW, reelsOfOne}
