package formats

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/scrollery/scrollery/plugins/stage"
)

// brief is what matters of a record in one line: id, views, likes, followers, day of the post.
func brief(rec stage.Record) string {
	count := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	day := "-"
	if rec.PostedAt != nil {
		day = fmt.Sprint(*rec.PostedAt / (24 * 3600 * 1000))
	}
	return strings.Join([]string{rec.ExternalID, count(rec.Metrics.Views), count(rec.Metrics.Likes), count(rec.Metrics.Followers), day}, " ")
}

// reads is a file, the videos in it as [brief] has them, and what the report says.
type reads struct {
	name, file, text string
	want             []string
	said             string
}

func readEach(t *testing.T, cases []reads) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, c.file, c.text)
			var got []string
			for _, rec := range recs {
				if rec.Platform == "tiktok" {
					rec.PostedAt = nil // that of the id
				}
				got = append(got, brief(rec))
			}
			said := fmt.Sprintf("%+v %+v %v", report.Sorted(), report.Columns, report.Misread)
			if diff := cmp.Diff(c.want, got); diff != "" || !strings.Contains(said, c.said) {
				t.Errorf("said %s, want %q; -want +got:\n%s", said, c.said, diff)
			}
		})
	}
}

func encoded(t *testing.T, by encoding.Encoding, text string) string {
	t.Helper()
	out, err := by.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTablesThatPeopleHave reads invented tables in the ways of tools and spreadsheets. What
// is not read is named: a row by a skip, a table by its doubt, a column as not used.
func TestTablesThatPeopleHave(t *testing.T) {
	t.Parallel()
	const tiktok = "https://www.tiktok.com/@a.example/video/752190000000000"
	readEach(t, []reads{
		{
			"YouTube Studio in German", "a.csv",
			"Inhalt,Videotitel,Veröffentlichungszeitpunkt des Videos,Dauer,Aufrufe,Abonnenten,Impressionen\nGesamt,,,,61685,10,1000\nAAAAAAAAS01,A pour,29. Apr. 2025,29,58005,9,900\nAAAAAAAAS02,B pour,17. Juni 2025,37,395,1,100\n",
			[]string{"AAAAAAAAS01 58005 - - 20207", "AAAAAAAAS02 395 - - 20256"},
			"a row of totals",
		},
		{
			"YouTube Studio in Spanish: subscribers are those that a video brought", "a.csv",
			"Contenido,Título del vídeo,Hora de publicación del vídeo,Visualizaciones,Suscriptores\nTotal,,,61685,10\nAAAAAAAAS01,A pour,29 abr 2025,58005,9\nAAAAAAAAS02,B pour,17 jun 2025,395,1\n",
			[]string{"AAAAAAAAS01 58005 - - 20207", "AAAAAAAAS02 395 - - 20256"},
			"no column says whose followers",
		},
		{
			"followers beside a creator", "a.csv",
			"Creator,Link,Views,Followers\n@a.example," + tiktok + "0001,500,1000\n",
			[]string{"7521900000000000001 500 - 1000 -"},
			"",
		},
		{
			"bookmarks: the row was created, not the video", "a.csv",
			"title,url,created,tags\nA pour,https://www.youtube.com/shorts/AAAAAAAAS01,2026-03-01T10:00:00Z,coffee\nB pour,https://www.youtube.com/shorts/AAAAAAAAS02,2026-03-02T10:00:00Z,coffee\n",
			[]string{"AAAAAAAAS01 - - - -", "AAAAAAAAS02 - - - -"},
			"may be when the address was saved",
		},
		{
			"a row that was created after the video", "a.csv",
			"link,views,created\n" + tiktok + "0001,500,2026-03-01\nhttps://www.tiktok.com/@a.example/video/7521990000000000002,600,2026-03-02\n",
			[]string{"7521900000000000001 500 - - -", "7521990000000000002 600 - - -"},
			"later than the times in the ids",
		},
		{
			"a list without counts whose ids have the same times", "a.csv",
			"link,created\n" + tiktok + "0001,2025-07-01T00:30:00Z\n" + tiktok + "0002,2025-07-01T00:40:00Z\n",
			[]string{"7521900000000000001 - - - -", "7521900000000000002 - - - -"}, // the id says it
			`named "created"`,
		},
		{
			"a video that was created", "a.csv",
			"link,views,created\nhttps://www.youtube.com/shorts/AAAAAAAAS01,500,2026-03-01\nhttps://www.youtube.com/shorts/AAAAAAAAS02,600,2026-03-02\n",
			[]string{"AAAAAAAAS01 500 - - 20513", "AAAAAAAAS02 600 - - 20514"},
			"",
		},
		{"every id rounded", "a.csv", "id,views\n7.5219E+18,5\n7.5219E+18,6\n", nil, "a spreadsheet has rounded the ids"},
		{"some ids rounded", "a.csv", "video_id,video_playcount\n7521900000000000008,5\n7.5219E+18,6\n7521900000000000009,7\n", []string{"7521900000000000008 5 - - -", "7521900000000000009 7 - - -"}, "7.5219E+18"},
		{"a comma is decimal before K", "a.csv", "video_id;video_playcount;video_diggcount\n7521900000000000002;12,3K;1,2K\n7521900000000000003;987;45\n", []string{"7521900000000000002 12300 1200 - -", "7521900000000000003 987 45 - -"}, ""},
		{"ten thousands", "a.csv", "链接,播放量,点赞\n" + tiktok + "0005,1.2万,345\n" + tiktok + "0006,3.4万,1万\n", []string{"7521900000000000005 12000 345 - -", "7521900000000000006 34000 10000 - -"}, ""},
		{"digits of Arabic", "a.csv", "الرابط,المشاهدات\n" + tiktok + "0007,١٢٣٤\n", []string{"7521900000000000007 1234 - - -"}, ""},
		{"days of a spreadsheet", "a.csv", "url,views,posted\nhttps://youtu.be/AAAAAAAAS03,5,45839\nhttps://youtu.be/AAAAAAAAS04,6,45839.5\n", []string{"AAAAAAAAS03 5 - - 20270", "AAAAAAAAS04 6 - - 20270"}, ""},
		{"day and month told apart by the column", "a.csv", "url,views,posted on\nhttps://youtu.be/AAAAAAAAS03,5,3/4/2025\nhttps://youtu.be/AAAAAAAAS04,6,13/4/2025\n", []string{"AAAAAAAAS03 5 - - 20181", "AAAAAAAAS04 6 - - 20191"}, ""},
		{"a preamble and a total", "a.csv", "Report: top\n\nRank,Video URL,Plays,Hearts\n1," + tiktok + "0014,\"53,300\",900\n2," + tiktok + "0015,\"5,300\",90\nTotal,,\"58,600\",990\n", []string{"7521900000000000014 53300 900 - -", "7521900000000000015 5300 90 - -"}, "a row of totals"},
		{"hidden counts", "a.csv", "url,views,likes\n" + tiktok + "0029,N/A,5\n" + tiktok + "0030,-1,6\n" + tiktok + "0031,7,--\n", []string{"7521900000000000029 - 5 - -", "7521900000000000030 - 6 - -", "7521900000000000031 7 - - -"}, ""},
		{"counts of single days", "a.csv", "date,video_id,views\n2025-07-01,7521900000000000018,100\n2025-07-02,7521900000000000018,40\n2025-07-03,7521900000000000018,60\n2025-07-04,7521900000000000018,20\n", nil, "often fall where a video recurs"},
		{"the views in thousands, and in full", "a.csv", "video_id,Views (K),Views\n7521900000000000036,12,12345\n7521900000000000037,0.9,987\n", []string{"7521900000000000036 12345 - - -", "7521900000000000037 987 - - -"}, ""},
		{"a zone in the name of a column", "a.csv", "link,views,Posted (UTC+9)\nhttps://youtu.be/AAAAAAAAS03,5,2025-07-01 08:00\n", []string{"AAAAAAAAS03 5 - - 20269"}, ""},
		{"devices of one video", "a.csv", "video_id,device,views\nAAAAAAAAS03,mobile,40\nAAAAAAAAS03,tv,60\n", nil, `another "device"`},
		{"decimals behind ids", "a.csv", "video_id,views\n7521900000000000036.00,5\n7521900000000000037.00,6\n", []string{"7521900000000000036 5 - - -", "7521900000000000037 6 - - -"}, ""},
		{"comments", "a.csv", "video_id,comment_id,comment_text,likes\n7521900000000000019,1,nice,5\n7521900000000000019,2,good,7\n", nil, "a column of comments"},
		{"a kind of post", "a.csv", "Permalink,Post type,Views\nhttps://www.instagram.com/reel/DMETA000001/,IG reel,88000\nhttps://www.instagram.com/p/DMETA000002/,IG image,500\n", []string{"DMETA000001 88000 - - -"}, "not_a_video"},
		{"a second column says that it is a photo", "a.csv", "Link,Post type,Content type,Views\nhttps://www.instagram.com/reel/DMETA000001/,Post,Reel,88000\nhttps://www.instagram.com/p/DMETA000002/,Post,Photo,500\n", []string{"DMETA000001 88000 - - -"}, "not_a_video"},
		{"Instagram's numbers of photos and albums", "a.csv", "code,media_type,taken_at,play_count\nDMETA000001,2,1754384400,88000\nDMETA000002,1,1754384400,5\nDMETA000003,8,1754384400,6\n", []string{"DMETA000001 88000 - - 20305"}, "Instagram's number of its kind"},
		{"a post that is no reel", "a.csv", "url,isReel,views\nhttps://www.instagram.com/p/DMETA000001/,true,5\nhttps://www.instagram.com/p/DMETA000002/,false,6\n", []string{"DMETA000001 5 - - -"}, "not_a_video"},
		{"counts of several platforms in a row", "a.csv", "Title,TikTok link,TikTok views,YouTube link,YouTube views\npour," + tiktok + "0032,100,https://youtu.be/AAAAAAAAS03,300\n", nil, "several platforms"},
		{"the platform in the names of all columns", "a.csv", "TikTok link,TikTok views\n" + tiktok + "0032,100\n", []string{"7521900000000000032 100 - - -"}, ""},
		{"one video of each account", "a.csv", "username,likes,last_video_url\na.example,99999," + tiktok + "0033\n", nil, "one video of each account"},
		{"a sign in one large count beside plain ones", "a.csv", "url,views,likes\n" + tiktok + "0036,\"88,210\",\"1,400\"\n" + tiktok + "0037,4800,20\n", []string{"7521900000000000036 88210 1400 - -", "7521900000000000037 4800 20 - -"}, ""},
		{"a round count that may be a fraction beside plain ones", "a.csv", "url,views\n" + tiktok + "0036,1.000\n" + tiktok + "0037,4800\n", []string{"7521900000000000036 - - - -", "7521900000000000037 4800 - - -"}, "1.000"},
		{"a scheduler's own ids beside addresses", "a.csv", "Post ID,Network,Link,Views\n17890000000000003,TikTok," + tiktok + "0036,5\n17890000000000004,TikTok," + tiktok + "0037,6\n", []string{"7521900000000000036 5 - - -", "7521900000000000037 6 - - -"}, ""},
		{"targets beside what was reached", "a.csv", "Link,Target views,Actual views,Added to favorites\n" + tiktok + "0036,9000,5,1\n", []string{"7521900000000000036 5 - - -"}, "Name:Added to favorites Field:saves"},
		{"links in Markdown", "a.md.csv", "| Video | Views |\n|---|---:|\n| [pour](" + tiktok + "0036) | 5 |\n", []string{"7521900000000000036 5 - - -"}, ""},
		{"YouTube Studio in Swedish", "a.csv", "Innehåll,Videotitel,Publiceringstid för video,Visningar\nTotalt,,,9\nAAAAAAAAS03,Kaffe,29 apr. 2025,5\n", []string{"AAAAAAAAS03 5 - - 20207"}, ""},
		{"Persian", "a.csv", "لینک,کاربر,بازدید,لایک\n" + tiktok + "0036,a.example,۱۱۹۵۰,۸۰۰\n", []string{"7521900000000000036 11950 800 - -"}, ""},
		{"rows of Airtable", "a.json", `{"records":[{"id":"recAbCdEfGhIjKlMn","createdTime":"2026-04-01T00:00:00.000Z","fields":{"Link":"https://youtu.be/AAAAAAAAS03","Views":5,"Posted":"2025-07-01"}}]}`, []string{"AAAAAAAAS03 5 - - 20270"}, ""},
		{"a result of a search", "a.json", `{"result":[{"type":"video","id":"AAAAAAAAS03","title":"pour","viewCount":{"text":"1,234 views","short":"1.2K views"},"channel":{"id":"UCaaaaaaaaaaaaaaaaaaaaaa"},"link":"https://www.youtube.com/watch?v=AAAAAAAAS03"}]}`, []string{"AAAAAAAAS03 1234 - - -"}, ""},
		{"a reel that only a flag calls a video", "a.json", `{"items":[{"code":"DMETA000001","is_video":true,"taken_at":1751328000,"play_count":5,"like_count":2,"share_count":1},{"code":"DMETA000002","is_video":false,"taken_at":1751328000,"like_count":2}]}`, []string{"DMETA000001 5 2 - 20270"}, "nothing says that it is a video"},
		{"a date and the time at which it was read", "a.csv", "link,date,timestamp,views\nhttps://youtu.be/AAAAAAAAS03,2025-07-01,1754384400,5\nhttps://youtu.be/AAAAAAAAS04,2025-08-05,1754350000,6\n", []string{"AAAAAAAAS03 5 - - 20270", "AAAAAAAAS04 6 - - 20305"}, "Name:timestamp Field:observedAt"},
		{"a time and the date on which it was read", "a.csv", "link,timestamp,date,views\nhttps://youtu.be/AAAAAAAAS03,1751350000,2025-08-05,5\n", []string{"AAAAAAAAS03 5 - - 20270"}, "Name:date Field:observedAt"},
		{"a date and the time of the same moment", "a.csv", "link,date,timestamp,views\nhttps://youtu.be/AAAAAAAAS03,2025-07-01,1751350000,5\n", []string{"AAAAAAAAS03 5 - - 20270"}, "Name:timestamp Field:postedAt"},
		{"likes of the account beside those of the video", "a.csv", "like_count,follower_count,video_url,video_details_info.diggCount,video_details_info.playCount\n487800,1000," + tiktok + "0036,3,50\n", []string{"7521900000000000036 50 3 1000 -"}, ""},
		{"an account's numbers beside an address", "a.json", `[{"follower_count":1000,"like_count":487800,"video_url":"` + tiktok + `0036","video_info":{"diggCount":3,"playCount":50}}]`, []string{"7521900000000000036 50 3 1000 -"}, ""},
		{"more likes than views", "a.csv", "link,views,likes\n" + tiktok + "0036,50,487800\n" + tiktok + "0037,60,4\n", nil, "more likes than"},
		{"posts, each with a comment", "a.csv", "text,postUrl,commentTimeStamp,postTimeStamp,isComment\nnice,https://www.instagram.com/p/DMETA000001/,2025-07-02,2025-07-01,yes\n", nil, "a column of comments"},
		{"a hidden count with a fraction", "a.csv", "link,views,likes\n" + tiktok + "0036,5,-1.0\n", []string{"7521900000000000036 5 - - -"}, ""},
		{"addresses of channels beside their names", "a.csv", "Channel Name,Views,Video URL,Channel URL\nOat,5,https://youtu.be/AAAAAAAAS03,https://www.youtube.com/channel/UCaaaaaaaaaaaaaaaaaaaaaa\n", []string{"AAAAAAAAS03 5 - - -"}, "Name:Channel Name Field:handle"},
		{"static posts", "a.csv", "url,post_type,likes,Date Live\nhttps://www.instagram.com/p/DMETA000001/,reels,5,01-Jul-25\nhttps://www.instagram.com/p/DMETA000002/,static,6,02-Jul-25\n", []string{"DMETA000001 - 5 - 20270"}, "not_a_video"},
		{"a title that was edited once", "a.csv", "video_id,title,view_count,published_at\nAAAAAAAAS03,a,5,2025-07-01\nAAAAAAAAS03,a b,6,2025-07-01\nAAAAAAAAS03,a c,7,2025-07-01\n", []string{"AAAAAAAAS03 5 - - 20270", "AAAAAAAAS03 6 - - 20270", "AAAAAAAAS03 7 - - 20270"}, ""},
		{"counts out of 65.1K times 1000", "a.csv", "link,views,likes\n" + tiktok + "0036,515200.00000000006,65099.99999999999\n" + tiktok + "0037,10,1.5\n", []string{"7521900000000000036 515200 65100 - -", "7521900000000000037 10 - - -"}, "1.5"},
		{"a comment in each row", "a.csv", "video_id,text\nAAAAAAAAS03,a\nAAAAAAAAS03,b\nAAAAAAAAS03,c\nAAAAAAAAS03,a\n", nil, "they may be comments"},
		{"addresses without a host", "a.csv", "title,href,views\na,/watch?v=AAAAAAAAS03&pp=x,5 views\nb,/shorts/AAAAAAAAS04,6 views\n", []string{"AAAAAAAAS03 5 - - -", "AAAAAAAAS04 6 - - -"}, ""},
		{"streams of a proxy of YouTube", "a.json", `{"relatedStreams":[{"url":"/watch?v=AAAAAAAAS03","type":"stream","title":"a","uploaderName":"Oat","uploadedDate":"7 months ago","views":5,"uploaded":1751328000000}]}`, []string{"AAAAAAAAS03 5 - - 20270"}, ""},
		{"who posted it", "a.csv", "Link,Posted by,Views\nhttps://youtu.be/AAAAAAAAS03,a.example,5\n", []string{"AAAAAAAAS03 5 - - -"}, "Name:Posted by Field:handle"},
		{"two tables that were merged", "a.csv", "id_x,n_plays_x,n_likes_x,n_likes_y\n7521900000000000036,50,3,3\n", []string{"7521900000000000036 50 3 - -"}, ""},
		{"two tables that were merged, with other views", "a.csv", "link,views_x,views_y\n" + tiktok + "0036,50,90\n" + tiktok + "0037,5,20\n", nil, "may be in"},
		{"two columns of views", "a.csv", "url,Views,Total views\n" + tiktok + "0034,100,5000\n" + tiktok + "0035,90,4000\n", nil, "may be in"},
		{"two columns of views that agree", "a.csv", "url,Views,Total views\n" + tiktok + "0034,5000,5K\n" + tiktok + "0035,90,90\n", []string{"7521900000000000034 5000 - - -", "7521900000000000035 90 - - -"}, ""},
		{"counts under emojis", "a.csv", "url,\U0001f440\n" + tiktok + "0036,399\n", nil, "may have them"},
		{"ids that end in zeros, twice", "a.csv", "video_id,views\n7521900000000001000,5\n7521900000000012000,6\n", nil, "a spreadsheet has rounded the ids"},
		{"ids of all videos between rows of totals", "a.csv", "Video,Aufrufe\n" + tiktok + "0037,1000\nZwischensumme,1000\nDurchschnitt,900\nGesamtergebnis,1900\n", []string{"7521900000000000037 1000 - - -"}, "a row of totals"},
		{"rows of other widths do not decide", "a.csv", "video_id,caption,views\n7521900000000000038,a, b,5\n7521900000000000039,c,6\n\nSource: a tool\nExported by a.example\n", []string{"7521900000000000039 6 - - -"}, "malformed"},
		{"counts in thousands", "a.csv", "url,Views (K)\n" + tiktok + "0040,12.5\n" + tiktok + "0041,3\n", []string{"7521900000000000040 12500 - - -", "7521900000000000041 3000 - - -"}, ""},
		{"thousands in words", "a.csv", "url,Views in thousands,likes_in_k\n" + tiktok + "0040,12.5,1\n" + tiktok + "0041,3,2\n", []string{"7521900000000000040 12500 1000 - -", "7521900000000000041 3000 2000 - -"}, ""},
		{"a unit under a unit", "a.csv", "url,Views (K)\n" + tiktok + "0040,12.5\n" + tiktok + "0041,1.2M\n", []string{"7521900000000000040 12500 - - -", "7521900000000000041 - - - -"}, "1.2M"},
		{"a zone in the name of the column", "a.csv", "url,views,Posted (EST)\nhttps://youtu.be/AAAAAAAAS03,5,2025-01-01 22:00\n", []string{"AAAAAAAAS03 5 - - 20090"}, ""},
		{"names with the numbers of a codebook", "a.csv", "V1_platform,V2_video_id,V3_creator,V4_views,q5. Likes,V6_hook\ntiktok,7521900000000000047,a.example,5,2,1\ntiktok,7521900000000000048,a.example,6,3,2\n", []string{"7521900000000000047 5 2 - -", "7521900000000000048 6 3 - -"}, "Name:V3_creator Field:handle"},
		{"names with seconds, which are no views", "a.csv", "platform,video_id,3-sec views,10_sec_views,2) likes\ntiktok,7521900000000000047,5,2,1\ntiktok,7521900000000000048,6,3,2\n", nil, `"3-sec views" may have them`},
		{"days of a spreadsheet with a decimal comma", "a.csv", "url;views;posted\nhttps://youtu.be/AAAAAAAAS03;5;45839,5\n", []string{"AAAAAAAAS03 5 - - 20270"}, ""},
		{"soft hyphens of a web page", "a.csv", "Video,Video title,Video pub\u00adlish time,Dis\u00adlikes,Likes,Views\nAAAAAAAAS03,x,\"Apr 29, 2025\",3,4,5\nBAAAAAAAS04,x,\"Apr 29, 2025\",3,4,6\n", []string{"AAAAAAAAS03 5 4 - 20207", "BAAAAAAAS04 6 4 - 20207"}, ""},
		{"thousands by the other columns", "a.csv", "Link,Views,Likes\n" + tiktok + "0042,\"88,000\",12\n", []string{"7521900000000000042 88000 12 - -"}, ""},
		{"accounts with ids of as many digits", "a.csv", "id,unique_id,follower_count,heart_count,video_count\n6800000000000000001,a.example,1000,9999,80\n", nil, "may be an account"},
		{"comments by their times", "a.csv", "aweme_id,nickname,text,likes,create_time\n7521900000000000019,A,nice,5,1761335371\n7521900000000000020,B,wow,1,1761335372\n", nil, "may be a comment"},
		{"when a row was written, beside ids that tell the time", "a.csv", "Date,link,views\n2026-03-01 10:00," + tiktok + "0001,500\n2026-03-02 11:00,https://www.tiktok.com/@a.example/video/7521990000000000002,600\n", []string{"7521900000000000001 500 - - -", "7521990000000000002 600 - - -"}, "not that of the post"},
		{"comments of one word", "a.csv", "videoId,author,comment,likes\nAAAAAAAAS03,a,nice,5\nAAAAAAAAS04,b,wow,1\n", nil, "a column of comments"},
		{"rounded ids beside addresses are not the same video", "a.csv", "video_id,url,caption,collected,views\n7.5219E+18," + tiktok + "0043,a,2025-07-01,50\n7.5219E+18," + tiktok + "0044,b,2025-07-02,40\n7.5219E+18," + tiktok + "0045,c,2025-07-03,30\n7.5219E+18," + tiktok + "0046,d,2025-07-04,20\n", []string{"7521900000000000043 50 - - -", "7521900000000000044 40 - - -", "7521900000000000045 30 - - -", "7521900000000000046 20 - - -"}, ""},
		{"two addresses in a cell", "a.csv", "url,views\n" + tiktok + "0047 " + tiktok + "0048,5\n" + tiktok + "0049,6\n", []string{"7521900000000000049 6 - - -"}, "two addresses"},
		{"posts of another site that share videos", "a.csv", "id,author,created_utc,subreddit,title,url,score,num_comments\n1a2b3c,mod.example,1761335371,coffee,look," + tiktok + "0047,310,41\n1a2b3d,mod.example,1761335372,coffee,this,https://youtu.be/AAAAAAAAS03,15,702\n", []string{"7521900000000000047 - - - -", "AAAAAAAAS03 - - - -"}, "of the post that shares the video"},
		{"a column of other sites that is mostly empty", "a.csv", "url,views,comments,subreddit\n" + tiktok + "0047,5,2,\n" + tiktok + "0048,6,3,\n", []string{"7521900000000000047 5 - - -", "7521900000000000048 6 - - -"}, "Name:comments Field:comments"},
		{"who found the videos", "a.csv", "user,link,views\nada," + tiktok + "0047,5\nada,https://www.tiktok.com/@b.example/video/7521900000000000048,6\n", []string{"7521900000000000047 5 - - -", "7521900000000000048 6 - - -"}, "other names than those in the addresses"},
		{"the number of, in German", "a.csv", "Video-URL;Anzahl Aufrufe;Anzahl der Likes\n" + tiktok + "0001;1.234.567;12.345\n", []string{"7521900000000000001 1234567 12345 - -"}, ""},
		{"the total, in German", "a.csv", "Videolink;Aufrufe gesamt;Likes insgesamt;Upload-Datum\n" + tiktok + "0001;1.234.567;12.345;23.02.2024\n", []string{"7521900000000000001 1234567 12345 - -"}, "Upload-Datum Field:postedAt"},
		{"the total, in French", "a.csv", "Lien vidéo;Vues totales;J’aime\n" + tiktok + "0001;1 234 567;12 345\n", []string{"7521900000000000001 1234567 12345 - -"}, ""},
		{"the number of, in Spanish", "a.csv", "URL del video;Número de vistas;Número de likes\n" + tiktok + "0001;1.234.567;12.345\n", []string{"7521900000000000001 1234567 12345 - -"}, ""},
		{"the number of, in Portuguese", "a.csv", "URL do vídeo;Número de visualizações;Quantidade de curtidas\n" + tiktok + "0001;1.234.567;12.345\n", []string{"7521900000000000001 1234567 12345 - -"}, ""},
		{"the number of, in Russian", "a.csv", "Ссылка;Количество просмотров;Количество лайков\n" + tiktok + "0001;1 234 567;12 345\n", []string{"7521900000000000001 1234567 12345 - -"}, ""},
		{"half of the ids rounded", "a.csv", "id;views\n7,29E+18;5\n7521900000000000050;6\n", []string{"7521900000000000050 6 - - -"}, "7,29E+18"},
		{"a web page", "a.csv", "<!DOCTYPE html><html><body>Sign in</body></html>", nil, "a web page"},
		{"a PDF", "a.csv", "%PDF-1.7\n1 0 obj", nil, "a PDF"},
		{"a history of TikTok alone", "a.json", `{"Activity":{"Video Browsing History":{"VideoList":[{"Date":"2025-07-01 00:00:00","Link":"` + tiktok + `0050"}]}}}`, nil, "own_archive"},
		{"two columns of addresses", "a.csv", "first clip,second clip,views\n" + tiktok + "0047," + tiktok + "0048,5\n", nil, "and, other ones, in"},
		{"blanks before quotes", "a.csv", "id, \"caption\", views\n7521900000000000050, \"a, b\", 5\n", []string{"7521900000000000050 5 - - -"}, ""},
		{"a blank before a quote in a quoted field", "a.csv", "id,caption,views\n7521900000000000050,\"so, \"\"slow\"\", and\",5\n", []string{"7521900000000000050 5 - - -"}, ""},
		{"ids with groups of digits", "a.csv", "platform,video_id,views\ntiktok,\"7,521,900,000,000,000,053\",5\n", []string{"7521900000000000053 5 - - -"}, ""},
		{"profiles among addresses of videos", "a.csv", "link,views\nhttps://www.tiktok.com/@a.example,10\nhttps://vimeo.com/1,20\n" + tiktok + "0054,30\n", []string{"7521900000000000054 30 - - -"}, "no_id"},
		{"mil is a thousand beside M", "a.csv", "url;views\n" + tiktok + "0055;12,3 mil\n" + tiktok + "0056;1,2 M\n", []string{"7521900000000000055 12300 - - -", "7521900000000000056 1200000 - - -"}, ""},
		{"mil alone stays open", "a.csv", "url;views\n" + tiktok + "0055;12,3 mil\n" + tiktok + "0056;987\n", []string{"7521900000000000055 - - - -", "7521900000000000056 987 - - -"}, "12,3 mil"},
		{"B is a thousand beside Mn", "a.csv", "url;views\n" + tiktok + "0057;12,3 B\n" + tiktok + "0058;1,2 Mn\n", []string{"7521900000000000057 12300 - - -", "7521900000000000058 1200000 - - -"}, ""},
		{"B behind a decimal comma stays open", "a.csv", "url;views\n" + tiktok + "0057;12,3 B\n" + tiktok + "0058;987\n", []string{"7521900000000000057 - - - -", "7521900000000000058 987 - - -"}, "12,3 B"},
		{"comments that are off", "a.csv", "url,views,comments\n" + tiktok + "0059,5,12\n" + tiktok + "0060,6,Off\n", []string{"7521900000000000059 5 - - -", "7521900000000000060 6 - - -"}, "comments Field:comments"},
		{"a table in Markdown", "a.csv", "| platform | video_id | views |\n|---|---|---|\n| tiktok | 7521900000000000061 | 5 |\n", []string{"7521900000000000061 5 - - -"}, ""},
		{"times of day in signs", "a.csv", "url,views,投稿日時\nhttps://youtu.be/AAAAAAAAS05,5,2025年07月13日 15時05分\n", []string{"AAAAAAAAS05 5 - - 20282"}, ""},
		{"ISO 8601 without signs", "a.csv", "url,views,posted\nhttps://youtu.be/AAAAAAAAS05,5,20250713T150509Z\n", []string{"AAAAAAAAS05 5 - - 20282"}, ""},
		{"ids under a name in an unknown language", "a.csv", "Saturs,Views\nAAAAAAAAS05,5\nAAAAAAAAS06,6\n", []string{"AAAAAAAAS05 5 - - -", "AAAAAAAAS06 6 - - -"}, "have the form of ids"},
		{"words of eleven letters are no ids", "a.csv", "Saturs,Views\ninformation,5\npersonality,6\n", nil, "no column has ids"},
		{"YouTube Studio in Italian", "a.csv", "Contenuti,Titolo del video,Data e ora di pubblicazione del video,Durata,Visualizzazioni\nTotale,,,,405\nAAAAAAAAS01,A,29 apr 2025,29,395\nAAAAAAAAS02,B,17 giu 2025,37,10\n", []string{"AAAAAAAAS01 395 - - 20207", "AAAAAAAAS02 10 - - 20256"}, "a row of totals"},
		{"Meta Business Suite in German", "a.csv", "Beitrags-ID,Benutzername des Kontos,Veröffentlichungszeit,Permalink,Aufrufe,Gespeicherte Inhalte\n18012345678901234,oat.example,07/13/2025 08:05,https://www.instagram.com/reel/DMetaDE0001/,88000,5\n", []string{"DMetaDE0001 88000 - - 20282"}, "Gespeicherte Inhalte Field:saves"},
		{"lists under the names of columns", "a.json", `{"columns":["platform","video_id","views"],"data":[["tiktok","7521900000000000062",5],["tiktok","7521900000000000063",6]]}`, []string{"7521900000000000062 5 - - -", "7521900000000000063 6 - - -"}, ""},
		{"lists under a first list of names", "a.json", `{"range":"A1:B3","values":[["Video URL","Views","Likes"],["` + tiktok + `0064","1.2M",7],["` + tiktok + `0065","5"]]}`, []string{"7521900000000000064 1200000 7 - -", "7521900000000000065 5 - - -"}, ""},
		{"one list a line", "a.jsonl", `["video_id","views"]` + "\n" + `["7521900000000000066",5]` + "\n", []string{"7521900000000000066 5 - - -"}, ""},
		{"lists without names", "a.json", `[["7521900000000000062",5],["7521900000000000063",6]]`, nil, "no names for them"},
		{"two words for a list that is too long", "a.json", `[["video_id","views"],["7521900000000000062",5,6]]`, nil, "3 values under 2 names"},
		{"lists by column", "a.json", `{"video_id":["7521900000000000067","7521900000000000068"],"views":[5,6]}`, []string{"7521900000000000067 5 - - -", "7521900000000000068 6 - - -"}, ""},
		{"a report of YouTube Analytics", "a.json", `{"columnHeaders":[{"name":"video"},{"name":"views"}],"rows":[["AAAAAAAAS05",5],["AAAAAAAAS06",6]]}`, []string{"AAAAAAAAS05 5 - - -", "AAAAAAAAS06 6 - - -"}, ""},
		{"an eye before the count", "a.csv", "url,views\n" + tiktok + "0069,👁 987\n" + tiktok + "0070,Views: 88\n", []string{"7521900000000000069 987 - - -", "7521900000000000070 88 - - -"}, ""},
		{"a footer under one address", "a.csv", "Video,Aufrufe\n" + tiktok + "0071,5\nStand: 01.07.2025,\n", []string{"7521900000000000071 5 - - -"}, "no_id"},
		{"ids in quotes", "a.csv", "video_id,views\n'7521900000000000072',5\n7521900000000000073,6\n", []string{"7521900000000000072 5 - - -", "7521900000000000073 6 - - -"}, ""},
		{"days of the week behind dates", "a.csv", "url,views,发布时间\nhttps://youtu.be/AAAAAAAAS05,5,2025年7月13日 星期日\n", []string{"AAAAAAAAS05 5 - - 20282"}, ""},
		{"a row of types below the header", "a.csv", "platform,video_id,creator,views\nstring,string,string,int\ntiktok,7521900000000000047,a.example,5\n", []string{"7521900000000000047 5 - - -"}, "a row of the types"},
		{"a row of types in brackets", "a.csv", "platform,video_id,creator,views\n(text),(text),,(number)\ntiktok,7521900000000000047,a.example,5\n", []string{"7521900000000000047 5 - - -"}, "a row of the types"},
		{"a handle under other names of the creator", "a.csv", "platform,video_id,user handle,views\ntiktok,7521900000000000047,a.example,5\n", []string{"7521900000000000047 5 - - -"}, "Name:user handle Field:handle"},
		{"the creator in an object of an envelope", "a.csv", "item_id,data.author.uniqueId,data.author.id,data.stats.playCount\n7521900000000000047,a.example,680,5\n", []string{"7521900000000000047 5 - - -"}, "Name:data.author.uniqueId Field:handle Reason:named \"data.author.uniqueId\"} {Name:data.author.id Field:creatorId"},
		{"the videos of an album by yt-dlp", "a.json", `{"_type":"playlist","id":"DMETA000001","extractor":"Instagram","extractor_key":"Instagram","like_count":9,"entries":[{"id":"DMETA000002","title":"Video 1","duration":3},{"id":"DMETA000003","title":"Video 2","duration":4}]}`, nil, "a part of an Instagram post"},
		{"one video of an album by yt-dlp", "a.jsonl", `{"id":"DMETA000002","title":"Video 1","extractor":"Instagram","extractor_key":"Instagram","webpage_url":"https://www.instagram.com/p/DMETA000001/","playlist_id":"DMETA000001"}`, nil, "a part of an Instagram post"},
		{"a reel that another tool names as Instagram's older pages do", "a.json", `[{"shortcode":"DMETA000001","url":"https://www.instagram.com/reel/DMETA000001/","account":"a.example","video_view_count":30,"likes":2}]`, []string{"DMETA000001 30 2 - -"}, ""},
		{"objects as Python prints them", "a.json", "[{'video_id': '7521900000000000047', 'desc': \"it's\", 'stats': {'playCount': 5, 'isAd': None}}]", []string{"7521900000000000047 5 - - -"}, ""},
		{"lines as Python prints them", "a.txt", "{'video_id': '7521900000000000047', 'views': 5}\n{'video_id': '7521900000000000048', 'views': 6}\n", []string{"7521900000000000047 5 - - -", "7521900000000000048 6 - - -"}, ""},
		{"objects of a program that has names of its own", "a.json", "[{'video_id': '7521900000000000047', 'at': datetime.datetime(2025, 7, 1)}]", nil, "by json.dump"},
		{"objects in texts", "a.json", `{"results":["{\"video_id\":\"7521900000000000047\",\"views\":5}"]}`, []string{"7521900000000000047 5 - - -"}, ""},
		{"lines in texts", "a.jsonl", `"{\"video_id\":\"7521900000000000047\",\"views\":5}"` + "\n" + `"{\"video_id\":\"7521900000000000048\",\"views\":6}"` + "\n", []string{"7521900000000000047 5 - - -", "7521900000000000048 6 - - -"}, ""},
		{"a total below the addresses", "a.csv", "Link,Views\n" + tiktok + "0047,5\nTotal,5\n", []string{"7521900000000000047 5 - - -"}, "a row of totals"},
		{"yt-dlp's form with counts as text", "a.json", `[{"id":"AAAAAAAAS03","title":"x","extractor_key":"Youtube","view_count":"54,321","like_count":"1.2K","comment_count":"few"}]`, []string{"AAAAAAAAS03 54321 1200 - -"}, "few"},
		{"a running stream of an older yt-dlp", "a.json", `[{"id":"AAAAAAAAS03","title":"x","extractor_key":"Youtube","is_live":true,"view_count":400,"like_count":3},{"id":"AAAAAAAAS04","title":"x","extractor_key":"Youtube","is_live":false,"is_upcoming":true,"view_count":0}]`, []string{"AAAAAAAAS03 - 3 - -"}, "not published yet"},
		{"ids that JavaScript has rounded", "a.json", `[{"id":7521900000000000000,"createTime":1751328000,"stats":{"playCount":5}},{"id":7521900000000001000,"createTime":1751328000,"stats":{"playCount":6}}]`, nil, "has rounded the ids"},
		{"an id in the notation of a float", "a.json", `[{"id":7.5219e+18,"createTime":1751328000,"stats":{"playCount":5}}]`, nil, "has rounded the id to 7.5219e+18"},
		{"one id that ends in zeros by itself", "a.json", `[{"id":"7521900000000000100","createTime":1751328000,"stats":{"playCount":5}},{"id":"7521900000000000147","createTime":1751328000,"stats":{"playCount":6}}]`, []string{"7521900000000000100 5 - - -", "7521900000000000147 6 - - -"}, ""},
		{"a list in an answer without entries", "a.json", `{"items":[],"cursor":0}`, nil, "a list without entries"},
		{"a known form with a time as people write it", "a.json", `[{"id":"AAAAAAAAS03","url":"https://youtu.be/AAAAAAAAS03","viewCount":5,"channelName":"Slow","date":"Jul 1, 2025"}]`, []string{"AAAAAAAAS03 5 - - 20270"}, ""},
		{"a known form with words for a time", "a.json", `[{"id":"AAAAAAAAS03","url":"https://youtu.be/AAAAAAAAS03","viewCount":5,"channelName":"Slow","date":"3 months ago"}]`, []string{"AAAAAAAAS03 5 - - -"}, "3 months ago"},
		{"one time among words for some", "a.csv", "link,posted at,views\nhttps://youtu.be/AAAAAAAAS03,2025-07-01,5\nhttps://youtu.be/AAAAAAAAS04,soon,5\nhttps://youtu.be/AAAAAAAAS05,TBD,5\nhttps://youtu.be/AAAAAAAAS06,1y ago,5\nhttps://youtu.be/AAAAAAAAS07,last week,5\n", []string{"AAAAAAAAS03 5 - - 20270", "AAAAAAAAS04 5 - - -", "AAAAAAAAS05 5 - - -", "AAAAAAAAS06 5 - - -", "AAAAAAAAS07 5 - - -"}, "last week"},
		{"words for times alone", "a.csv", "link,posted at,views\nhttps://youtu.be/AAAAAAAAS03,soon,5\nhttps://youtu.be/AAAAAAAAS04,TBD,5\n", []string{"AAAAAAAAS03 5 - - -", "AAAAAAAAS04 5 - - -"}, `such as "soon", "TBD"`},
		{"a quote that is never closed", "a.csv", "platform,video_id,caption,views\ntiktok,7521900000000000074,\"open,5\n", nil, "never closed"},
		{"days of YouTube Studio in Portuguese", "a.csv", "Data,Conteúdo,Título do vídeo,Horário de publicação do vídeo,Visualizações\n2025-07-01,AAAAAAAAS05,A,1 de jul. de 2025,111\n2025-07-02,AAAAAAAAS05,A,1 de jul. de 2025,222\n", nil, "views of single days"},
		{"a carousel in German", "a.csv", "Permalink,Beitragstyp,Aufrufe\nhttps://www.instagram.com/reel/DMETA000001/,IG Reel,88000\nhttps://www.instagram.com/p/DMETA000002/,IG Karussell,500\nhttps://www.instagram.com/p/DMETA000003/,Carrusel de IG,500\n", []string{"DMETA000001 88000 - - -"}, "not_a_video Count:2"},
		{"a format that is told as a story", "a.csv", "Link,Format,Views\nhttps://www.instagram.com/reel/DMETA000001/,Story time,5\n", []string{"DMETA000001 5 - - -"}, ""},
		{"hits of a search", "a.json", `{"hits":{"total":{"value":1},"hits":[{"_index":"posts","_id":"a1","_source":{"url":"` + tiktok + `0075","views":5}}]}}`, []string{"7521900000000000075 5 - - -"}, ""},
		{"edges without views may be anything", "a.json", `{"q":{"edges":[{"node":{"id":"7521900000000000076","text":"nice"}}]}}`, nil, "unknown_format"},
		{"Chinese of Excel", "a.csv", encoded(t, simplifiedchinese.GB18030, "视频链接,播放量,点赞数\n"+tiktok+"0077,1.2万,5\n"), []string{"7521900000000000077 12000 5 - -"}, ""},
		{"Japanese of Excel", "a.csv", encoded(t, japanese.ShiftJIS, "リンク,再生数,いいね\n"+tiktok+"0077,1.2万,5\n"), []string{"7521900000000000077 12000 5 - -"}, ""},
		{"Polish of Excel", "a.csv", encoded(t, charmap.Windows1250, "Link;Wyświetlenia;Polubienia\n"+tiktok+"0077;12;5\n"), []string{"7521900000000000077 12 5 - -"}, ""},
		{"Russian of Excel", "a.csv", encoded(t, charmap.Windows1251, "Ссылка;Просмотры;Лайки\n"+tiktok+"0077;12;5\n"), []string{"7521900000000000077 12 5 - -"}, ""},
		{"Windows-1252 behind UTF-8", "a.csv", "Link;Gefällt mir;Über\n" + tiktok + "0077;5;früh\n" + encoded(t, charmap.Windows1252, tiktok+"0078;6;Müsli über Äpfel\n"), []string{"7521900000000000077 - 5 - -", "7521900000000000078 - 6 - -"}, "Gefällt mir Field:likes"},
		{"a sheet's word for a date beside a known one", "a.csv", "Link,Weergaven,Datum geplaatst\nhttps://youtu.be/AAAAAAAAS05,5,13-7-2025\n", []string{"AAAAAAAAS05 5 - - 20282"}, ""},
		{"values that are none are named", "a.csv", "Link,Views,Posted\nhttps://youtu.be/AAAAAAAAS05,5,Q3 2025\n", []string{"AAAAAAAAS05 5 - - -"}, `such as "Q3 2025"`},
		{"Apify's older time", "a.csv", "authorMeta/name,text,diggCount,playCount,createTime,webVideoUrl\na.example,x,2,5,1751328000," + tiktok + "0078\n", []string{"7521900000000000078 5 2 - -"}, "createTime Field:postedAt"},
		{"results of a search", "a.json", `{"video_results":[{"title":"pour","link":"https://www.youtube.com/watch?v=AAAAAAAAS05","published_date":"2 years ago","views":5,"length":"0:31"}]}`, []string{"AAAAAAAAS05 5 - - -"}, "2 years ago"},
		{"half of a form", "a.json", `[{"id":"7521900000000000079","authorUsername":"a.example","authorFollowers":10,"playCount":5,"diggCount":2,"durationSeconds":14}]`, []string{"7521900000000000079 5 2 10 -"}, "authorUsername Field:handle"},
		{"counts where the form has none", "a.json", `[{"aweme_id":"7521900000000000080","desc":"x","create_time":1751328000,"liked_count":"2345","comment_count":"67"}]`, []string{"7521900000000000080 - 2345 - -"}, "liked_count Field:likes"},
		{"counts as text in the feed's own form", "a.jsonl", `{"platform":"tiktok","externalId":"7521900000000000081","metrics":{"views":"1.2M","likes":"many"}}` + "\n", []string{"7521900000000000081 1200000 - - -"}, "metrics.likes"},
		{"views under a remark, some of them unknown", "a.csv", "Link,Views (checked 8 July),Likes\n" + tiktok + "0082,\"12,300\",1200\n" + tiktok + "0083,n/a,\n", nil, "may have them"},
		{"followers that a video brought", "a.csv", "Konto,Link,Aufrufe,Follower\na.example," + tiktok + "0084,500,6\na.example," + tiktok + "0085,50,1\n", []string{"7521900000000000084 500 - - -", "7521900000000000085 50 - - -"}, "differs among the videos of a creator"},
		{"profiles among videos", "a.json", `[{"id":"7521900000000000086","url":"` + tiktok + `0086","views":5},{"id":"680","url":"https://www.tiktok.com/@a.example","views":9}]`, []string{"7521900000000000086 5 - - -"}, "a profile"},
		{"an export that says how long in Italian", "a.csv", "Link,Durata (secondi),Data di publishing,Visualizzazioni\nhttps://youtu.be/AAAAAAAAS05,11,2025-07-13,5\n", []string{"AAAAAAAAS05 5 - - 20282"}, "Durata (secondi) Field:durationSeconds"},
		{"a second header in another order", "a.csv", "Link,Views,Likes\n" + tiktok + "0087,100,5\nLink,Likes,Views\n" + tiktok + "0088,3,50\nLink,Views,Likes\n" + tiktok + "0089,7,1\n", []string{"7521900000000000087 100 5 - -", "7521900000000000089 7 1 - -"}, "below another header"},
		{"remarks under Comments", "a.csv", "Link,Views,Comments\n" + tiktok + "0090,5,great hook\n" + tiktok + "0091,6,too slow\n", []string{"7521900000000000090 5 - - -", "7521900000000000091 6 - - -"}, "none of comments"},
		{"comments beside the views of their video", "a.csv", "Link,Views,Comment\n" + tiktok + "0090,5,nice pour\n" + tiktok + "0090,5,so slow\n", nil, "a column of comments"},
		{"the day on which all was counted", "a.csv", "date,video_id,channel,views\n2025-07-02,AAAAAAAAS01,x,1\n2025-07-02,AAAAAAAAS02,x,2\n2025-07-02,AAAAAAAAS03,x,3\n2025-07-02,AAAAAAAAS04,x,4\n2025-07-02,AAAAAAAAS05,x,5\n", []string{"AAAAAAAAS01 1 - - -", "AAAAAAAAS02 2 - - -", "AAAAAAAAS03 3 - - -", "AAAAAAAAS04 4 - - -", "AAAAAAAAS05 5 - - -"}, "the same for all videos"},
		{"another encoding under English names", "a.csv", encoded(t, simplifiedchinese.GB18030, "url,note,views\n"+tiktok+"0077,拿铁拉花真好看,5\n"), nil, "in no other encoding"},
		{"accounts", "a.csv", "Rank,Username,Followers\n1,a.example,1000\n", nil, "no column has ids or addresses of videos"},
	})
}

func TestOwnPostsOfADataDownload(t *testing.T) {
	t.Parallel()
	recs, report := readText(t, "a.json", `{"Profile":{"Profile Information":{"ProfileMap":{"userName":"brewfox.example"}}},"Post":{"Posts":{"VideoList":[
		{"Date":"2025-07-01 00:00:00","Link":"https://www.tiktokv.com/share/video/7290000000000005401/","Likes":"22600","Title":"Pour slower"},
		{"Date":"2025-07-01 00:00:00","Link":"https://v16.tiktokcdn.example/x","Likes":"5"}]}}}`)
	if len(recs) != 1 || brief(recs[0]) != "7290000000000005401 - 22600 - 20270" || recs[0].Source.Handle != "brewfox.example" {
		t.Errorf("got %+v, want the post with an id", recs)
	}
	if report.Count(OwnArchive) != 1 {
		t.Errorf("got the skips %+v, want the download named", report.Skips)
	}
}

// TestCreatorsAndTextsOfTables reads who made a video, and leaves what only looks like a field.
func TestCreatorsAndTextsOfTables(t *testing.T) {
	t.Parallel()
	const tiktok = "https://www.tiktok.com/@a.example/video/7521900000000000051"
	for _, c := range []struct{ name, file, text, want string }{
		{
			"tags as R prints a list", "a.csv", "link,hashtag_names,views\n" + tiktok + ",\"c(\"\"pour\"\", \"\"latte\"\")\",5\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","source":{"handle":"a.example"},"metadata":{"hashtags":["pour","latte"]},"metrics":{"views":5}}`,
		},
		{
			"no tags as R prints them", "a.csv", "link,hashtag_names,views\n" + tiktok + ",character(0),5\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","source":{"handle":"a.example"},"metrics":{"views":5}}`,
		},
		{
			"no tags as pandas writes them", "a.csv", "link,hashtags,views\n" + tiktok + ",nan,5\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","source":{"handle":"a.example"},"metrics":{"views":5}}`,
		},
		{
			"a reel whose user has a number alone", "a.json", `{"items":[{"code":"DMETA000001","media_type":2,"user":{"pk":"77"},"play_count":5}]}`,
			`{"platform":"instagram","externalId":"DMETA000001","creatorId":"77","metrics":{"views":5}}`,
		},
		{
			"a length that is -1 for a stream", "a.csv", "link,views,duration\n" + tiktok + ",5,31\n,,-1\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","source":{"handle":"a.example"},"metadata":{"durationSeconds":31},"metrics":{"views":5}}`,
		},
		{
			"the sound of TikTok's app in a table", "a.csv", "aweme_id,statistics.play_count,music.id_str\n7521900000000000051,5,7100000000000000001\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","metadata":{"soundId":"7100000000000000001"},"metrics":{"views":5}}`,
		},
		{
			"shares in Spanish", "a.csv", "link,Visualizaciones,Veces que se ha compartido\n" + tiktok + ",5,2\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","source":{"handle":"a.example"},"metrics":{"views":5,"shares":2}}`,
		},
		{
			"letters that cannot be seen", "a.csv", "link,handle,views,likes,date\n\u200b" + tiktok + "\ufeff,\u200e@a.example\u202c,\u200e1\u2060234,5\u200b,2022-07-01\u200b\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","postedAt":1656633600000,"source":{"handle":"@a.example"},"metrics":{"views":1234,"likes":5}}`,
		},
		{
			"ids with letters that cannot be seen", "a.csv", "video_id,views\n\u200b7521900000000000051,5\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","metrics":{"views":5}}`,
		},
		{
			"the handle of the address before a display name", "a.csv", "videoLink,authorName,authorId,views\n" + tiktok + ",An Example,a.example,5\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","source":{"handle":"a.example"},"metrics":{"views":5}}`,
		},
		{
			"a handle that is called an id", "a.csv", "video_id,uploader_id,channel,views\nAAAAAAAAS03,@slow.example,Slow,5\n",
			`{"platform":"youtube","externalId":"AAAAAAAAS03","source":{"handle":"@slow.example"},"metrics":{"views":5}}`,
		},
		{
			"YouTube's favorites are always 0", "a.csv", "videoId,channelId,viewCount,favoriteCount\nAAAAAAAAS03,UCaaaaaaaaaaaaaaaaaaaaaa,5,0\n",
			`{"platform":"youtube","externalId":"AAAAAAAAS03","creatorId":"UCaaaaaaaaaaaaaaaaaaaaaa","metrics":{"views":5}}`,
		},
		{
			"a column Content of texts", "a.csv", "Content,URL,Views\npour," + tiktok + ",5\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","source":{"handle":"a.example"},"metadata":{"caption":"pour"},"metrics":{"views":5}}`,
		},
		{
			"flat objects in the field's own names", "a.json", `[{"platform":"tiktok","externalId":"7521900000000000051","views":5,"likes":2}]`,
			`{"platform":"tiktok","externalId":"7521900000000000051","metrics":{"views":5,"likes":2}}`,
		},
		{
			"columns as pandas writes them", "a.json", `{"id":{"0":"7521900000000000051"},"views":{"0":5}}`,
			`{"platform":"tiktok","externalId":"7521900000000000051","metrics":{"views":5}}`,
		},
		{
			"flat objects by their ids", "a.json", `{"7521900000000000051":{"views":5}}`,
			`{"platform":"tiktok","externalId":"7521900000000000051","metrics":{"views":5}}`,
		},
		{
			"flat objects in a list of each account", "a.json", `{"a.example":{"followers":1000,"videos":[{"video_id":"7521900000000000051","views":5}]}}`,
			`{"platform":"tiktok","externalId":"7521900000000000051","metrics":{"views":5}}`,
		},
		{
			"types of MongoDB", "a.json", `[{"_id":{"$oid":"64"},"videoId":"7521900000000000051","views":{"$numberLong":"5"}}]`,
			`{"platform":"tiktok","externalId":"7521900000000000051","metrics":{"views":5}}`,
		},
		{
			"JSON in a text", "a.json", `{"log":{"entries":[{"response":{"content":{"text":"{\"itemList\":[{\"id\":\"7521900000000000051\",\"desc\":\"pour\",\"createTime\":1751328000,\"author\":{\"uniqueId\":\"a.example\"},\"stats\":{\"playCount\":5}}]}"}}}]}}`,
			`{"platform":"tiktok","externalId":"7521900000000000051","postedAt":1751328000000,"source":{"handle":"a.example"},"metadata":{"caption":"pour"},"metrics":{"views":5}}`,
		},
		{
			"numbers of accounts are no handles", "a.csv", "アカウント,アカウントのユーザーネーム,リンク,再生数\n17841400000000000,oat.example,https://www.instagram.com/reel/DMETA000001/,5\n",
			`{"platform":"instagram","externalId":"DMETA000001","sourceUrl":"https://www.instagram.com/reel/DMETA000001/","source":{"handle":"oat.example"},"metrics":{"views":5}}`,
		},
		{
			"yt-dlp's reel without a channel has no handle", "a.json", `{"id":"DMETA000001","extractor_key":"Instagram","webpage_url":"https://www.instagram.com/reel/DMETA000001/","uploader":"Oat Full Name","uploader_id":"77","like_count":4}`,
			`{"platform":"instagram","externalId":"DMETA000001","sourceUrl":"https://www.instagram.com/reel/DMETA000001/","creatorId":"77","metrics":{"likes":4}}`,
		},
		{
			"Bright Data's name that is shown is no handle", "a.json", `[{"url":"` + tiktok + `","post_id":"7521900000000000051","profile_username":"An Example","play_count":5,"digg_count":2}]`,
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","source":{"handle":"a.example"},"metrics":{"views":5,"likes":2}}`,
		},
		{
			"a date that is not that of an invented id", "a.csv", "link,views,Created at\n" + tiktok + ",5,2022-07-01\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","postedAt":1656633600000,"source":{"handle":"a.example"},"metrics":{"views":5}}`,
		},
		{
			"the handle of Bright Data's channel", "a.json", `[{"url":"https://www.youtube.com/watch?v=AAAAAAAAS03","video_id":"AAAAAAAAS03","date_posted":"2025-07-01T00:00:00Z","youtuber":"@slow.example","handle_name":"Slow Bar","video_length":31,"views":5}]`,
			`{"platform":"youtube","externalId":"AAAAAAAAS03","sourceUrl":"https://www.youtube.com/watch?v=AAAAAAAAS03","postedAt":1751328000000,"source":{"handle":"slow.example"},"metadata":{"durationSeconds":31},"metrics":{"views":5}}`,
		},
		{
			"milliseconds of short videos, one of them under a second", "a.csv", "link,views,duration\n" + tiktok + ",5,14966\nhttps://www.tiktok.com/@a.example/photo/7521900000000000052,5,900\nhttps://www.tiktok.com/@a.example/photo/7521900000000000053,5,31000\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"` + tiktok + `","source":{"handle":"a.example"},"metadata":{"durationSeconds":14.966},"metrics":{"views":5}}`,
		},
		{
			"milliseconds in a table of ids alone", "a.csv", "video_id,play_count,video_duration\n7521900000000000051,5,14966\n",
			`{"platform":"tiktok","externalId":"7521900000000000051","metadata":{"durationSeconds":14.966},"metrics":{"views":5}}`,
		},
		{
			"insights of the Graph API", "a.json", `{"data":[{"id":"1801","media_type":"VIDEO","media_product_type":"REELS","permalink":"https://www.instagram.com/reel/DMETA000001/","like_count":4,"insights":{"data":[{"name":"views","values":[{"value":88}]},{"name":"saved","values":[{"value":3}]},{"name":"reach","values":[{"value":70}]}]}}]}`,
			`{"platform":"instagram","externalId":"DMETA000001","sourceUrl":"https://www.instagram.com/reel/DMETA000001/","metadata":{"mediaType":"reels"},"metrics":{"views":88,"likes":4,"saves":3,"semantics":"paid_and_organic"}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, c.file, c.text)
			if len(recs) != 1 {
				t.Fatalf("got %d records and %q, want 1", len(recs), report.Notes)
			}
			if diff := cmp.Diff(c.want, asJSON(t, recs[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMapsAreTakenAtTheirWord keeps what a map says is the creator, whatever its form.
func TestMapsAreTakenAtTheirWord(t *testing.T) {
	t.Parallel()
	recs, _ := readFS(t, fstest.MapFS{
		"a.csv":          {Data: []byte("link,who,key,views\nhttps://www.tiktok.com/@a.example/video/7521900000000000051,An Example,maker-1,5\n")},
		"a.csv.map.json": {Data: []byte(`{"columns":{"sourceUrl":"link","handle":"who","creatorId":"key","views":"views"}}`)},
	}, "a.csv")
	if len(recs) != 1 || recs[0].Source.Handle != "An Example" || recs[0].CreatorID != "maker-1" {
		t.Errorf("got %+v, want the creator as the map says", recs)
	}
}

// TestTwoEncodingsInOneTable keeps the lines of UTF-8 where others are in Windows-1252, and takes a
// text that was cut off in the middle of a letter for damage.
func TestTwoEncodingsInOneTable(t *testing.T) {
	t.Parallel()
	const tiktok = "https://www.tiktok.com/@a.example/video/752190000000000"
	for _, c := range []struct{ name, text, want string }{
		{"before UTF-8", encoded(t, charmap.Windows1252, "link,views,caption\n"+tiktok+"0001,5,Café olé\n") + tiktok + "0002,6,Crème brûlée ☕\n", `"Café olé" "Crème brûlée ☕"`},
		{"a line longer than 4096 bytes", encoded(t, charmap.Windows1252, "link,views,caption\n"+tiktok+"0001,5,Café olé\n") + tiktok + "0002,6," + strings.Repeat("é", 3001) + "\n", fmt.Sprintf("%q %q", "Café olé", strings.Repeat("é", 3001))},
		{"a text that was cut off", "link,views,caption\n" + tiktok + "0001,5,caf\xc3\n" + tiktok + "0002,6,Crème brûlée\n", `"caf�" "Crème brûlée"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "a.csv", c.text)
			if len(recs) != 2 {
				t.Fatalf("got %d records, want 2: %+v", len(recs), report)
			}
			var got []string
			for _, rec := range recs {
				var meta struct{ Caption string }
				if err := json.Unmarshal(rec.Metadata, &meta); err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%q", meta.Caption))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("captions (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDamageInPartOfATable reads what is whole of a table, and names the rest.
func TestDamageInPartOfATable(t *testing.T) {
	t.Parallel()
	const tiktok = "https://www.tiktok.com/@a.example/video/752190000000000"
	readEach(t, []reads{
		{"two of three ids rounded", "a.csv", "video_id,username,views\n7521900000040000000,a,5\n7521900000050000000,b,6\n7521900000000000031,c,7\n", []string{"7521900000000000031 7 - - -"}, "has rounded it"},
		{"one of many ids that ends in zeros by chance", "a.csv", "video_id,username,views\n7521900000000010000,a,5\n" + manyRows(200), append([]string{"7521900000000010000 5 - - -"}, manyBriefs(200)...), ""},
		{"times of which a spreadsheet shows five decimals", "a.csv", "url,create_time,views\nhttps://youtu.be/AAAAAAAAS03,1.75133E+12,5\n", []string{"AAAAAAAAS03 5 - - -"}, "none of postedAt"},
		{"a time that a program writes short", "a.csv", "url,create_time,views\nhttps://youtu.be/AAAAAAAAS03,1.751328e+09,5\n", []string{"AAAAAAAAS03 5 - - 20270"}, ""},
		{"errors of a spreadsheet among the counts", "a.csv", "url,views,likes\n" + tiktok + "0036,#REF!,5\n" + tiktok + "0037,Loading...,6\n" + tiktok + "0038,9,#N/A\n", []string{"7521900000000000036 - 5 - -", "7521900000000000037 - 6 - -", "7521900000000000038 9 - - -"}, "#REF!"},
		{"the header again in another order", "a.csv", "url,views,likes\n" + tiktok + "0036,50,5\nurl,likes,views\n" + tiktok + "0037,6,60\n" + tiktok + "0038,7,70\n", []string{"7521900000000000036 50 5 - -"}, "below another header"},
		{"addresses that lead on", "a.csv", "url,views\nhttps://www.google.com/url?q=https%3A%2F%2Fyoutu.be%2FAAAAAAAAS03&sa=D,5\nhttps://web.archive.org/web/2025/" + tiktok + "0036,6\nhttps://example.com/r?url=" + tiktok + "0037,7\n" + tiktok + "0038,8\n", []string{"AAAAAAAAS03 5 - - -", "7521900000000000036 6 - - -", "7521900000000000038 8 - - -"}, "no_id"},
		{"views that fall twice of twice", "a.csv", "date,video_id,views\n2025-07-01,7521900000000000018,100\n2025-07-02,7521900000000000018,80\n2025-07-03,7521900000000000018,60\n", nil, "often fall where a video recurs"},
		{"a network by its kind of account", "a.csv", "Network,Permalink,Views\nINSTAGRAM_BUSINESS,https://www.instagram.com/reel/DMETA000001/,5\n", []string{"DMETA000001 5 - - -"}, ""},
		{"a day in the names of the counts", "a.csv", "Link,Views (as of 14.07.2025),Likes (as of 14.07.2025)\n" + tiktok + "0036,50,5\n", []string{"7521900000000000036 50 5 - -"}, ""},
		{"views of two days", "a.csv", "Link,Views 2025-07-01,Views 2025-07-14\n" + tiktok + "0036,50,500\n", nil, "may be in"},
		{"the handle of an account, in German", "a.csv", "Permalink,Name des Kontos,Nutzername des Kontos,Aufrufe\nhttps://www.instagram.com/reel/DMETA000001/,Oat,oat.example,5\n", []string{"DMETA000001 5 - - -"}, "Name:Nutzername des Kontos Field:handle"},
		{"when it was counted, in German", "a.csv", "Stand;Link;Veröffentlicht;Aufrufe\n14.07.2025;https://youtu.be/AAAAAAAAS03;01.07.2025;5\n", []string{"AAAAAAAAS03 5 - - 20270"}, "Name:Stand Field:observedAt"},
		{"a column of objects beside a number and a time of the row", "a.csv", "id,created_at,payload\n17,2026-03-01T00:00:00Z,\"{\"\"id\"\":\"\"7521900000000000036\"\",\"\"createTime\"\":1751328000,\"\"author\"\":{\"\"uniqueId\"\":\"\"a.example\"\"},\"\"stats\"\":{\"\"playCount\"\":50,\"\"diggCount\"\":5}}\"\n", []string{"7521900000000000036 50 5 - -"}, "Name:payload.createTime Field:postedAt"},
		{"objects of channels beside the videos", "a.csv", "video_id,channel.id,channel.viewCount\nAAAAAAAAS03,UCaaaaaaaaaaaaaaaaaaaaaa,999\n", []string{"AAAAAAAAS03 - - - -"}, ""},
		{"columns divided by blanks", "a.txt", "Link                                                               Views   Likes\n" + tiktok + "0036     50      5\n", nil, "divided by blanks"},
		{"sums of a pivot table", "a.csv", "Row Labels,Sum of Views,Count of Likes\n" + tiktok + "0036,50,1\nGrand Total,50,1\n", []string{"7521900000000000036 50 - - -"}, "how many values a pivot table found"},
		{"the number of views, in no pivot table", "a.csv", "Link,Count of Views\n" + tiktok + "0036,50\n", []string{"7521900000000000036 50 - - -"}, ""},
		{"units below the names", "a.csv", "Link,Posted,Views,Likes\n,(UTC),(count),(count)\n" + tiktok + "0036,2025-07-01,50,5\n", []string{"7521900000000000036 50 5 - -"}, "types of the columns"},
		{"lengths that a spreadsheet took for hours", "a.csv", "Link,Duration,Views\n" + tiktok + "0036,0:31:00,5\n" + tiktok + "0037,0:14:00,6\n" + tiktok + "0038,1:02:00,7\n", []string{"7521900000000000036 5 - - -", "7521900000000000037 6 - - -", "7521900000000000038 7 - - -"}, "took them for hours"},
		{"totals in Japanese, as TikTok's studio has them", "a.csv", "動画リンク,投稿時間,総いいね数,総視聴回数,総再生時間\n" + tiktok + "0036,7月1日,5,50,900\n", []string{"7521900000000000036 50 5 - -"}, ""},
		{"a name of a time that is also one of a count, with times", "a.csv", "Link,Collected,Views\n" + tiktok + "0036,2025-08-01,50\n", []string{"7521900000000000036 50 - - -"}, "Name:Collected Field:observedAt"},
		{"a name of a time that is also one of a count, with counts", "a.csv", "Link,Collected,Views\n" + tiktok + "0036,45839,500000\n", []string{"7521900000000000036 500000 - - -"}, "Name:Collected Field:saves"},
		{"followers in one word", "a.csv", "video_id,author_name,author_followercount,video_playcount\n7521900000000000036,a.example,1000,5\n", []string{"7521900000000000036 5 - 1000 -"}, ""},
		{"numbers as MongoDB exports them", "a.json", `{"_id":{"$oid":"64b7"},"id":"7521900000000000036","createTime":{"$date":{"$numberLong":"1751328000000"}},"author":{"uniqueId":"a.example"},"stats":{"playCount":{"$numberInt":"50"},"diggCount":{"$numberLong":"5"},"commentCount":1},"video":{"duration":14},"desc":"x"}`, []string{"7521900000000000036 50 5 - -"}, ""},
		{"videos under their ids, with their addresses", "a.json", `{"7521900000000000036":{"url":"` + tiktok + `0036","views":50,"likes":5},"7521900000000000037":{"url":"` + tiktok + `0037","views":60,"likes":6}}`, []string{"7521900000000000036 50 5 - -", "7521900000000000037 60 6 - -"}, ""},
		{"objects behind numbers", "a.json", `[[2,{"id":"7521900000000000036","createTime":1751328000,"desc":"x","author":{"uniqueId":"a.example"},"stats":{"playCount":50,"diggCount":5}}]]`, []string{"7521900000000000036 50 5 - -"}, ""},
		{"a history of YouTube as a page", "a.html", `<html><body><div class="content-cell mdl-cell">Watched <a href="https://www.youtube.com/watch?v=AAAAAAAAS03">x</a></div></body></html>`, nil, "Google Takeout"},
		{"minutes, seconds and their name", "a.csv", "id,view_count,duration_string,channel_id\nAAAAAAAAS03,5,0:31,UCaaaaaaaaaaaaaaaaaaaaaa\n", []string{"AAAAAAAAS03 5 - - -"}, "Name:duration_string Field:durationSeconds"},
	})
}

func manyRows(n int) string {
	var rows strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "%d,a,5\n", 7521900000000000101+2*i)
	}
	return rows.String()
}

func manyBriefs(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%d 5 - - -", 7521900000000000101+2*i))
	}
	return all
}

// TestLengthsThatASpreadsheetShifted reads 1:02:00 as a minute and two seconds where all end in no seconds.
func TestLengthsThatASpreadsheetShifted(t *testing.T) {
	t.Parallel()
	const tiktok = "https://www.tiktok.com/@a.example/video/752190000000000"
	recs, report := readText(t, "a.csv", "Link,Duration,Views\n"+tiktok+"0036,0:31:00,5\n"+tiktok+"0037,0:14:00,6\n"+tiktok+"0038,1:02:00,7\n")
	if len(recs) != 3 || !strings.Contains(string(recs[2].Metadata), `"durationSeconds":62`) {
		t.Errorf("got %+v, want 62 seconds of the last: %+v", recs, report)
	}
}
