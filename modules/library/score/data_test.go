package score

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
)

// seen is one reading of one real video.
type seen struct {
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
	all  []seen
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
		return Unknown
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
		if tag := Fold(m[1]); !slices.Contains(tags, tag) {
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
			s.all = append(s.all, seen{
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
			s.all = append(s.all, seen{
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
		one := seen{
			ref: r.VideoID, creator: r.ChannelID, platform: "youtube", posted: moment(t, time.RFC3339, r.PublishedAt), tags: tagsOf(r.Title),
			at: moment(t, time.RFC3339Nano, r.Timestamp), views: Unknown, likes: Unknown, run: days[r.Timestamp],
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
	videos := map[string]seen{}
	for _, r := range linesOf[row](t, "youtube_shorts_series_videos.jsonl.gz") {
		minutes, seconds, _ := strings.Cut(r.Dur, ":")
		videos[r.ID] = seen{
			ref: r.ID, creator: r.Channel, platform: "youtube", posted: moment(t, time.RFC3339, r.PublishedAt),
			duration: (whole64(minutes)*60 + whole64(seconds)) * 1000, tags: tagsOf(r.Title + " " + r.Desc), likes: Unknown,
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
			if tag := Fold(m[1]); !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		s.all = append(s.all, seen{
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
		s.all = append(s.all, seen{
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
	videos := map[string]seen{}
	for _, r := range linesOf[row](t, "instagram_reels_tw_reels.jsonl") {
		videos[r.Shortcode] = seen{ref: r.Shortcode, creator: r.Username, platform: "instagram", posted: moment(t, time.DateTime, r.PostTime), tags: tagsOf(r.Caption)}
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
		posted := Undated
		if text := row["Upload Timestamp"]; text != "" {
			posted = moment(t, "Jan 2, 2006 3:04 pm", text)
		}
		s.all = append(s.all, seen{
			ref: fmt.Sprint(i), creator: "one", platform: "instagram", posted: posted,
			tags: tagsOf(row["Caption"]), at: moment(t, time.DateOnly, "2025-01-31"), views: number(row["InstagramPlays"]), likes: number(row["InstagramLikes"]),
		})
	}
	return s
}

var sets = []func(*testing.T) *set{danish, tech, trendingUS, shortsSeries, creators2020, trending2020, reelsTW, reelsOfOne}

// ids numbers the videos of a set in the order in which they are met.
func (s *set) ids() map[string]int64 {
	ids := map[string]int64{}
	for i := range s.all {
		if _, ok := ids[s.all[i].ref]; !ok {
			ids[s.all[i].ref] = int64(len(ids) + 1)
		}
	}
	return ids
}

// at is the library as it is after a run: every video by its newest usable reading.
func (s *set) at(run int) []*naiveVideo {
	ids := s.ids()
	newest := map[int64]*naiveVideo{}
	for i := range s.all {
		r := &s.all[i]
		if r.run > run {
			continue
		}
		id := ids[r.ref]
		v := &naiveVideo{creator: r.creator, Reading: Reading{
			ID: id, Kind: KindOf(r.platform, r.posted, r.duration, r.tags), PostedAt: r.posted, ObservedAt: r.at, Views: r.views, Likes: r.likes,
		}}
		if old := newest[id]; old == nil || !old.usable() && (v.usable() || v.ObservedAt >= old.ObservedAt) || v.usable() && v.ObservedAt >= old.ObservedAt {
			newest[id] = v
		}
	}
	videos := make([]*naiveVideo, 0, len(newest))
	for _, v := range newest {
		videos = append(videos, v)
	}
	slices.SortFunc(videos, func(a, b *naiveVideo) int { return cmp.Compare(a.ID, b.ID) })
	return videos
}

// window is what trends see of the set after a run.
func (s *set) window(run int) (observations []Observation, carriers []Carrier) {
	ids, creators := s.ids(), map[string]int64{}
	met := map[int64]bool{}
	for i := range s.all {
		r := &s.all[i]
		if creators[r.creator] == 0 {
			creators[r.creator] = int64(len(creators) + 1)
		}
		if r.run > run {
			continue
		}
		id := ids[r.ref]
		observations = append(observations, Observation{Video: id, Scroll: int64(r.run + 1), At: r.at, Views: r.views, Likes: r.likes})
		if met[id] {
			continue
		}
		met[id] = true
		c := Carrier{ID: id, Creator: creators[r.creator], PostedAt: r.posted}
		for _, tag := range r.tags {
			c.Keys = append(c.Keys, Key{"hashtag:" + tag, "#" + tag})
		}
		carriers = append(carriers, c)
	}
	return observations, carriers
}

func TestRealScoresAreThoseOfNaiveCode(t *testing.T) {
	t.Parallel()
	sample := int64(11)
	if long {
		sample = 1
	}
	for _, load := range sets {
		s := load(t)
		runs := []int{s.runs - 1}
		if s.runs == 2 {
			runs = []int{0, 1}
		}
		for _, run := range runs {
			t.Run(fmt.Sprint(s.name, " run ", run+1), func(t *testing.T) {
				started := time.Now()
				all := compareScores(t, s.name, s.at(run), sample)
				listed, doubtful, niche := 0, 0, 0
				for _, o := range all {
					listed += count(o.Listed)
					doubtful += count(o.Doubtful)
					niche += count(o.Basis == NicheBasis)
				}
				t.Logf("%d videos, %d listed, %d doubtful, %d on a niche baseline, in %v", len(all), listed, doubtful, niche, time.Since(started).Round(time.Millisecond))
			})
		}
	}
}

func TestRealTrendsAreThoseOfNaiveCode(t *testing.T) {
	t.Parallel()
	for _, load := range sets {
		s := load(t)
		t.Run(s.name, func(t *testing.T) {
			runs := 1
			if long {
				runs = 3
			}
			for run := max(0, s.runs-runs); run < s.runs; run++ {
				observations, carriers := s.window(run)
				at, got := ranked(observations, carriers, genericWords, false)
				want := naiveTrends(at, observations, carriers, genericWords, false)
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("run %d: trends (-want +got):\n%s", run, diff)
				}
				t.Logf("run %d: %d trends of %d videos", run, len(got), len(carriers))
			}
		})
	}
}

// Every key of the sets, listed or not, is recomputed from its members alone.
func TestRealTrendsRecomputeFromTheirMembers(t *testing.T) {
	t.Parallel()
	for _, load := range sets {
		s := load(t)
		observations, carriers := s.window(s.runs - 1)
		at, _ := Newest(observations)
		w := NewWindow(at, Span(observations, at), observations, carriers, nil)
		listed, dropped := w.Rank(true)
		for i, trend := range slices.Concat(listed, dropped) {
			if !long && i >= len(listed) && i%11 != 0 {
				continue
			}
			recent, earlier := map[int64]bool{}, map[int64]bool{}
			var multiples []*big.Rat
			members := w.Members(trend.Key)
			for _, m := range members {
				switch m.When {
				case Recent:
					recent[m.Creator] = true
				case Earlier:
					earlier[m.Creator] = true
				}
				if m.Growth() == HasMultiple {
					multiples = append(multiples, big.NewRat(m.LastViews, max(100, m.FirstViews)))
				}
			}
			e := new(big.Rat)
			if w.Earlier > 0 {
				e.SetFrac64(int64(len(earlier)*w.Recent), int64(w.Earlier))
			}
			want := line{Key: trend.Key, Videos: len(members), Median: "0", Strength: four(e.Quo(rat(int64(len(recent)*len(recent))), e.Add(e, rat(3))))}
			if len(multiples) > 0 {
				want.Median = four(naiveMedian(multiples))
			}
			got := lines([]Trend{trend})[0]
			got.Examples, got.Drop, got.By = nil, "", ""
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: trend (-of its members +got):\n%s", s.name, diff)
			}
		}
		t.Logf("%s: %d keys, %d listed", s.name, len(listed)+len(dropped), len(listed))
	}
}

func TestRealTranscriptsAreCutAtWords(t *testing.T) {
	t.Parallel()
	type row struct{ Transcript string }
	cut, openings := 0, map[string]bool{}
	rows := linesOf[row](t, "tiktok_transcripts.jsonl")
	for _, r := range rows {
		got := CutSpoken(r.Transcript)
		if n := utf8.RuneCountInString(got); n > 280 || !strings.HasPrefix(r.Transcript, got) {
			t.Errorf("got %d characters, %q; want at most 280, the beginning of %q", n, got, r.Transcript)
		}
		if rest := r.Transcript[len(got):]; rest != "" {
			cut++
			if next, _ := utf8.DecodeRuneInString(rest); !unicode.IsSpace(next) {
				t.Errorf("got %q cut before %q, want white space there", got, rest)
			}
		}
		opening := Opening(got, "")
		if want := Opening(r.Transcript, ""); opening != want {
			t.Errorf("after the cut: got the opening %q, want %q", opening, want)
		}
		if opening != "" {
			openings[opening] = true
		}
	}
	t.Logf("%d of %d cut, %d openings", cut, len(rows), len(openings))
	if cut == 0 || len(openings) == 0 {
		t.Errorf("the test tests little: got %d texts cut and %d openings, want some", cut, len(openings))
	}
}

// genericWords are the shipped ones.
var genericWords = strings.Fields("fyp fy fypシ fypシ゚ fypシ゚viral fypage fyppp foryou foryoupage foru 4u 4you viral virals viralvideo viralvideos " +
	"viralpost trend trends trending trendingnow trendingvideo explore explorepage foryoupageofficial xyzbca capcut " +
	"short shorts shortsvideo shortsfeed shortvideo ytshorts youtubeshorts youtube yt " +
	"reel reels reelsinstagram reelsvideo instareels instagramreels instagram insta tiktok video videos pourtoi pourtoipage parati")
