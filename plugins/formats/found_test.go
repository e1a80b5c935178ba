package formats

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// TestTablesOfPublicProjects reads invented tables in the ways of those that students, journalists and
// researchers publish.
func TestTablesOfPublicProjects(t *testing.T) {
	t.Parallel()
	const tiktok = "https://www.tiktok.com/@a.example/video/752190000000000"
	const reel = "https://www.instagram.com/p/DFOUND000"
	crawled, posts, days := "video_id,time,views_count\n", "video_id,time,views_count\n", "video_id,time,views_count\n"
	var read []string
	for i := range 30 {
		id := fmt.Sprintf("AAAAAAAAS%02d", i)
		crawled += fmt.Sprintf("%s,2022-11-20 10:0%d:38.667384,5\n", id, i/15)
		posts += fmt.Sprintf("%s,2022-11-20 10:%02d:38,5\n", id, i)
		days += fmt.Sprintf("%s,2022-11-%02dT18:30:00Z,5\n", id, 19+i/10)
		read = append(read, id+" 5 - - -")
	}
	posted := strings.Split(strings.ReplaceAll(strings.Join(read, "\n"), "- -\n", "- 19316\n")+"\x00", "\n")
	posted[29] = strings.TrimSuffix(posted[29], "-\x00") + "19316"
	var dates []string
	for i := range 30 {
		dates = append(dates, fmt.Sprintf("AAAAAAAAS%02d 5 - - %d", i, 19315+i/10))
	}
	readEach(t, []reads{
		{"a time that many videos share is when a program counted them", "a.csv", crawled, read, `many videos share the times in "time"`},
		{"the same under a name of the post", "a.csv", strings.Replace(crawled, "time", "published_at", 1), read, "those of a program, not of the posts"},
		{"times of a busy day", "a.csv", posts, posted, ""},
		{"midnight in India", "a.csv", days, dates, `named "time"`},
		{
			"likes of accounts", "a.csv",
			"Video URL,Author Username,Follower Count,Following Count,Like Count\n" + tiktok + "0001,a.example,20,4,330\n" + tiktok + "0002,a.example,20,4,330\n",
			[]string{"7521900000000000001 - - 20 -", "7521900000000000002 - - 20 -"},
			"all its likes",
		},
		{
			"likes that are the same for all videos of an account", "a.csv",
			"username,likes,video_url,views\na.example,4500," + tiktok + "0001,9000\na.example,4500," + tiktok + "0002,8000\na.example,4500," + tiktok + "0003,7000\na.example,4500," + tiktok + "0004,6000\n",
			[]string{"7521900000000000001 9000 - - -", "7521900000000000002 8000 - - -", "7521900000000000003 7000 - - -", "7521900000000000004 6000 - - -"},
			"the same for all videos of an account",
		},
		{
			"likes of videos beside accounts", "a.csv",
			"Video URL,Author Username,Follower Count,Following Count,Like Count\n" + tiktok + "0001,a.example,20,4,330\n" + tiktok + "0002,a.example,20,4,30\n",
			[]string{"7521900000000000001 - 330 20 -", "7521900000000000002 - 30 20 -"},
			"",
		},
		{"lists of the best videos of accounts", "a.csv", "username,followers,likes,id,videos_count,top_videos\na.example,5,7,6800000000000000001,9,\"[\"\"" + tiktok + "0001\"\",\"\"" + tiktok + "0002\"\"]\"\nb.example,6,8,6800000000000000002,9,\"[\"\"" + tiktok + "0003\"\",\"\"" + tiktok + "0004\"\"]\"\n", nil, "lists of addresses"},
		{
			"names of a codebook under other letters", "a.csv",
			"V1_coder,V2_video_link,V8d_music,V9_topic,M5_view_count,M4_like_count\n1," + tiktok + "0001,1.0,tax,680,38\n0," + tiktok + "0002,0.0,art,521,12\n",
			[]string{"7521900000000000001 680 38 - -", "7521900000000000002 521 12 - -"},
			"its values are none of soundTitle",
		},
		{"views of seven days are none", "a.csv", "link,d7_views,d30_views\n" + tiktok + "0001,5,6\n", nil, `"d7_views" may have them`},
		{
			"trends of countries at about the same time", "a.csv",
			"id,country,views\n7521900000000000001,PK,4737564\n7521900000000000001,OM,4739496\n7521900000000000002,PK,12\n7521900000000000002,OM,12\n",
			[]string{"7521900000000000001 4737564 - - -", "7521900000000000001 4739496 - - -", "7521900000000000002 12 - - -", "7521900000000000002 12 - - -"},
			"",
		},
		{
			"views that nobody counted", "a.csv",
			"type,post_url,views,likes\nReel," + reel + "01/,0,431\nReel," + reel + "02/,0,18\nPost," + reel + "03/,0,10\n",
			[]string{"DFOUND00001 - 431 - -", "DFOUND00002 - 18 - -"},
			"it was not counted",
		},
		{"no names above the rows", "a.csv", "7521900000000000001,a.example,\"cat, dog\",a caption\n7521900000000000002,b.example,cow,another\n", nil, "add a row of names above it"},
		{"comments with their times", "a.csv", "video_url,username,text,likes,date\n" + tiktok + "0001,a,nice,5,2025-07-01\n" + tiktok + "0001,b,wow,1,2025-07-02\n" + tiktok + "0002,c,hm,2,2025-07-02\n", nil, "they may be comments"},
		{"weeks as numbers are no views", "a.csv", "url,weekstart\n" + tiktok + "0001,1649030400000\n" + tiktok + "0002,1649635200000\n", []string{"7521900000000000001 - - - -", "7521900000000000002 - - - -"}, ""},
		{"a date and its time of day", "a.csv", "Link,Post Date,Post Time,Views\nhttps://youtu.be/AAAAAAAAS01,2025-07-13,23:05:09,77\nhttps://youtu.be/AAAAAAAAS02,2025-07-14,,78\n", []string{"AAAAAAAAS01 77 - - 20282", "AAAAAAAAS02 78 - - 20283"}, "the times of day beside the dates"},
		{"errors of a spreadsheet among ids", "a.csv", "Video ID,Views\n#NAME?,5\nAAAAAAAAF01,6\n'-AAAAAAAF02,7\n#N/A,8\n", []string{"AAAAAAAAF01 6 - - -", "-AAAAAAAF02 7 - - -"}, "an error of a spreadsheet"},
		{"reels of a scraper without their kind", "a.json", `[{"shortCode":"DFOUND00001","likesCount":5,"videoViewCount":9,"publishDate":"2024-02-09 16:22:13"},{"url":"` + reel + `02/","ownerUsername":"a.example","likesCount":6},{"url":"` + reel + `03/","ownerUsername":"a.example","likesCount":7,"type":"Image"}]`, []string{"DFOUND00001 9 5 - 19762", "DFOUND00002 - 6 - -"}, "a photo or an album"},
		{"a name with another word between the others", "a.csv", "Link do vídeo,Nome do vídeo,Data da postagem,Views\nhttps://youtu.be/AAAAAAAAS01,a,14 de jul. de 2025,5\n", []string{"AAAAAAAAS01 5 - - 20283"}, "Name:Nome do vídeo Field:title"},
		{"an error of an API by its name", "a.json", `{"error":{"code":403,"message":"a token may stand here","errors":[{"reason":"quotaExceeded"}]}}`, nil, "an error instead of a video: quotaExceeded"},
	})
}

// TestPostsWithoutAKindAreSaid says of posts of Instagram that they may be photos, where nothing else says it.
func TestPostsWithoutAKindAreSaid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"url,likes\nhttps://www.instagram.com/p/DFOUND00001/,5\n":                                                true,
		"url,likes\nhttps://www.instagram.com/reel/DFOUND00001/,5\n":                                             false,
		"url,likes,views\nhttps://www.instagram.com/p/DFOUND00001/,5,9\n":                                        false,
		"url,likes,type\nhttps://www.instagram.com/p/DFOUND00001/,5,Reel\n":                                      false,
		`[{"url":"https://www.instagram.com/p/DFOUND00001/","ownerUsername":"a","likesCount":5}]`:                true,
		`[{"url":"https://www.instagram.com/reel/DFOUND00001/","ownerUsername":"a","likesCount":5}]`:             false,
		`[{"url":"https://www.instagram.com/p/DFOUND00001/","ownerUsername":"a","likesCount":5,"type":"Video"}]`: false,
	} {
		name := "a.csv"
		if text[0] == '[' {
			name = "a.json"
		}
		recs, report := readText(t, name, text)
		if said := strings.Contains(fmt.Sprint(report.Form), "photos may be among them"); len(recs) != 1 || said != want {
			t.Errorf("%s: %d read, %q; want one, and that it may be a photo: %t", text, len(recs), report.Form, want)
		}
	}
}

// TestListsOfTheSameVideos reads counts that stand in another list than the videos.
func TestListsOfTheSameVideos(t *testing.T) {
	t.Parallel()
	const items = `"items":[{"id":"AAAAAAAAI11","title":"a","publishedAt":"2025-07-01T00:00:00Z"},{"id":"AAAAAAAAI12","title":"b","publishedAt":"2025-07-01T00:00:00Z"}]`
	const counts = `[{"id":"AAAAAAAAI12","viewCount":"20","likeCount":"2"},{"id":"AAAAAAAAI11","viewCount":"10","likeCount":"1"}]`
	both := []string{"AAAAAAAAI11 10 1 - 20270", "AAAAAAAAI12 20 2 - 20270"}
	none := []string{"AAAAAAAAI11 - - - 20270", "AAAAAAAAI12 - - - 20270"}
	readEach(t, []reads{
		{"on one line", "a.json", `{` + items + `,"statistics":` + counts + `}`, both, ""},
		{"on several lines", "a.json", "{\n" + items + ",\n\"statistics\":" + counts + "\n}", both, ""},
		{"in another object", "a.json", "{\n\"ok\":true,\"page\":{" + items + ",\"stats\":" + counts + "}\n}", both, ""},
		{"of other videos", "a.json", `{` + items + `,"related":[{"id":"AAAAAAAAI13","viewCount":"20"}]}`, none, ""},
		{"by day", "a.json", `{` + items + `,"daily":[{"id":"AAAAAAAAI11","viewCount":"20"},{"id":"AAAAAAAAI11","viewCount":"21"}]}`, none, ""},
	})
	long := "{\n" + items + ",\n\"x\":\"" + strings.Repeat("x", sniffed) + "\",\"statistics\":" + counts + "\n}"
	if _, report := readText(t, "a.json", long); !strings.Contains(fmt.Sprint(report.Form), `counts views and was not read: "statistics"`) {
		t.Errorf("said %q, want that the list statistics was not read", report.Form)
	}
	recs, _ := readText(t, "a.json", "{\n\"_type\":\"playlist\",\n\"extractor_key\":\"YoutubeTab\",\"entries\":[{\"_type\":\"url\",\"ie_key\":\"Youtube\",\"id\":\"AAAAAAAAI11\",\"view_count\":5}],\n\"epoch\":1751414400}")
	if len(recs) != 1 || recs[0].Metrics.ObservedAt == nil || *recs[0].Metrics.ObservedAt != 1751414400000 {
		t.Errorf("got %v, want one video, observed when the playlist was", recs)
	}
}

// TestTablesWithFieldsAsRows reads tables whose columns are videos, and no dictionary of columns.
func TestTablesWithFieldsAsRows(t *testing.T) {
	t.Parallel()
	const tiktok = "https://www.tiktok.com/@a.example/video/752190000000000"
	both := []string{"7521900000000000001 1200 10 - -", "7521900000000000002 3400 20 - -"}
	readEach(t, []reads{
		{"as pandas writes them", "a.csv", ",0,1\nvideo_id,7521900000000000001,7521900000000000002\nplatform,tiktok,tiktok\nviews,1200,3400\nlikes,10,20\n", both, ""},
		{"as people compare videos", "a.csv", "Metric;Video 1;Video 2\nLink;" + tiktok + "0001;" + tiktok + "0002\nViews;1.2K;3.4K\nLikes;10;20\n", both, ""},
		{"a dictionary of columns", "a.csv", "Column,Type,Description\nvideo_id,int,a number\nvideo_view_count,float,views\nvideo_like_count,float,likes\nplatform,text,x\ncomments,int,x\nshares,int,x\n", nil, "the columns are Column, Type"},
	})
	book := excelize.NewFile()
	for i, row := range [][]any{{"Metric", "Video 1", "Video 2"}, {"Link", tiktok + "0001", tiktok + "0002"}, {"Views", 1200, 3400}, {"Likes", 10, 20}} {
		if err := book.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.xlsx")
	if err := book.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	recs, report := readPath(t, path, Options{})
	if len(recs) != 2 || *recs[1].Metrics.Views != 3400 || !strings.Contains(fmt.Sprint(report.Form), "fields as rows") {
		t.Errorf("got %v, %q, want two videos of fields as rows", recs, report.Form)
	}
}

// TestDurationsInMinutes takes seconds that were divided by 60 for minutes, and fractions of seconds for none.
func TestDurationsInMinutes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ durations, want string }{
		{"3.25,14.366666666666667,11.75", "195 862 705"},
		{"3.25,14.966,11.75", "3.25 14.966 11.75"},
		{"3.5,11.2,10", "3.5 11.2 10"},
	} {
		text := "video_id,views,duration\n"
		for i, duration := range strings.Split(c.durations, ",") {
			text += fmt.Sprintf("AAAAAAAAS%02d,5,%s\n", i, duration)
		}
		recs, _ := readText(t, "a.csv", text)
		var got []string
		for _, rec := range recs {
			_, rest, _ := strings.Cut(string(rec.Metadata), `"durationSeconds":`)
			got = append(got, strings.TrimRight(rest, "}"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.durations, got, c.want)
		}
	}
}
