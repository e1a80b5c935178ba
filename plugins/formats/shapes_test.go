package formats

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
)

// TestRecordedAnswers reads answers as the real services gave them.
func TestRecordedAnswers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(shared(t), "api-shapes")
	for name, want := range map[string]string{
		"youtube_videos_list_single.json":            "youtube-api 1, doubtful 0\n",
		"youtube_videos_list_chart_p1.json":          "youtube-api 5, doubtful 0\n",
		"youtube_search_list_p1.json":                "youtube-api 25, doubtful 0\n",
		"youtube_search_list_by_channel.json":        "youtube-api 5, doubtful 0\n",
		"youtube_playlist_items_list_p1.json":        "youtube-api 10, doubtful 0\n",
		"youtube_playlist_items_list_p2.json":        "youtube-api 3, doubtful 0\n",
		"youtube_channels_list_single.json":          ", doubtful 0\nnot_a_video 1 at 9\n",
		"youtube_captions_list.json":                 ", doubtful 0\nnot_a_video 2 at 5\n",
		"youtube_error_403_quotaExceeded.json":       ", doubtful 0\nerror_answer 1 at 1\n",
		"youtube_error_400_keyInvalid.json":          ", doubtful 0\nerror_answer 1 at 1\n",
		"tiktok_research_video_query_p1.json":        "tiktok-research 26, doubtful 0\n",
		"tiktok_research_video_query_p2.json":        "tiktok-research 26, doubtful 0\n",
		"tiktok_scraper_items_bookmarks.json":        "tiktok-posts 10, doubtful 0\n",
		"tiktok_error_400_invalid_params.json":       ", doubtful 0\nerror_answer 1 at 1\n",
		"instagram_business_discovery_media_p1.json": ", doubtful 0\nnot_a_video 2 at 1\n",
		"instagram_business_discovery_media_p2.json": "instagram-graph 1, doubtful 0\nnot_a_video 1 at 1\n",
		"instagram_business_discovery_user.json":     ", doubtful 0\nnot_a_video 1 at 1\n",
		"instagram_hashtag_recent_media_p1.json":     ", doubtful 0\nnot_a_video 5 at 1\n",
		"instagram_hashtag_search.json":              ", doubtful 0\nunknown_format 1 at 1\n",
		"instagram_media_single.json":                ", doubtful 0\nnot_a_video 1 at 1\n",
		"meta_error_190_expired_token.json":          ", doubtful 0\nerror_answer 1 at 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, report := readFS(t, os.DirFS(dir), name)
			if got := summary(report); got != want {
				t.Errorf("got %swant %s", got, want)
			}
		})
	}
}

// TestResearchAnswerToTheDigit holds the records against the answer as a plain
// reader with exact numbers has it.
func TestResearchAnswerToTheDigit(t *testing.T) {
	t.Parallel()
	name := filepath.Join(shared(t), "api-shapes", "tiktok_research_video_query_p1.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Data struct{ Videos []map[string]any }
	}
	plain := json.NewDecoder(strings.NewReader(string(text)))
	plain.UseNumber()
	if err := plain.Decode(&answer); err != nil {
		t.Fatal(err)
	}
	got, report := readAll(t, name, nil)
	if report.Videos != len(answer.Data.Videos) {
		t.Fatalf("%d videos, want %d", report.Videos, len(answer.Data.Videos))
	}
	above := 0
	for _, v := range answer.Data.Videos {
		rec, ok := got[string(v["id"].(json.Number))]
		if !ok {
			t.Errorf("%v is not there, want one", v["id"])
			continue
		}
		sameNumber(t, v, "view_count", rec.Metrics.Views)
		sameNumber(t, v, "like_count", rec.Metrics.Likes)
		sameNumber(t, v, "share_count", rec.Metrics.Shares)
		sameNumber(t, v, "comment_count", rec.Metrics.Comments)
		if rec.Metrics.Views != nil && rec.Metrics.Likes != nil && *rec.Metrics.Likes > *rec.Metrics.Views {
			above++
		}
		var meta struct{ Caption, SoundID string }
		if err := json.Unmarshal(rec.Metadata, &meta); err != nil || meta.SoundID != string(v["music_id"].(json.Number)) || meta.Caption != v["video_description"] {
			t.Errorf("%v: got %s, %v, want the sound %v and %v", v["id"], rec.Metadata, err, v["music_id"], v["video_description"])
		}
		if rec.Metrics.Semantics != "lagged" || rec.Source.Handle != v["username"] {
			t.Errorf(`%v, want Semantics "lagged" and Handle %v: %+v`, v["id"], v["username"], rec)
		}
	}
	if above != 12 {
		t.Errorf("%d videos have more likes than views, want 12", above)
	}
}

func sameNumber(t *testing.T, row map[string]any, name string, got *int64) {
	t.Helper()
	want, have := "", ""
	if n, ok := row[name].(json.Number); ok {
		want = string(n)
	}
	if got != nil {
		have = strconv.FormatInt(*got, 10)
	}
	if have != want {
		t.Errorf("%v: %s is %q, want %q", row["id"], name, have, want)
	}
}

// TestTrendingScrape reads the well-known scrape of December 2020 whole.
func TestTrendingScrape(t *testing.T) {
	t.Parallel()
	name := filepath.Join(shared(t), "tiktok_trending_2020-12.jsonl.gz")
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]map[string]any{}
	plain := json.NewDecoder(packed)
	plain.UseNumber()
	for plain.More() {
		row := map[string]any{}
		if err := plain.Decode(&row); err != nil {
			t.Fatal(err)
		}
		rows[row["id"].(string)] = row
	}
	at := time.Date(2020, 12, 21, 0, 0, 0, 0, time.UTC).UnixMilli()
	got := map[string]stage.Record{}
	report, err := readFile(context.Background(), name, Options{Now: now, ObservedAt: &at}, func(rec stage.Record) error {
		got[rec.ExternalID] = rec
		return nil
	})
	if err != nil || summary(report) != "tiktok-scraper 599, doubtful 0\n" || len(got) != len(rows) {
		t.Fatalf("got %d videos, %+v, %v, want all %d, none doubtful", len(got), report, err, len(rows))
	}
	for id, row := range rows {
		t.Run(id, func(t *testing.T) {
			rec := got[id]
			sameNumber(t, row, "playCount", rec.Metrics.Views)
			sameNumber(t, row, "diggCount", rec.Metrics.Likes)
			sameNumber(t, row, "commentCount", rec.Metrics.Comments)
			sameNumber(t, row, "shareCount", rec.Metrics.Shares)
			posted, _ := row["createTime"].(json.Number).Int64()
			if *rec.PostedAt != posted*1000 || *rec.Metrics.ObservedAt != at || rec.Metrics.Saves != nil {
				t.Errorf("%s: want it posted at %v, read at %v, without saves; got %+v", id, posted*1000, at, rec)
			}
			if rec.Source.Handle != row["authorMeta"].(map[string]any)["name"] || rec.SourceURL != row["webVideoUrl"] {
				t.Errorf("%s: got %q at %q, want %v at %v", id, rec.Source.Handle, rec.SourceURL, row["authorMeta"], row["webVideoUrl"])
			}
		})
	}
}
