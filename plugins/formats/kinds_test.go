package formats

import "testing"

// TestYesAndNo tells videos from photos by the words that programs and spreadsheets of any language
// write for yes and no, and asks about others.
func TestYesAndNo(t *testing.T) {
	t.Parallel()
	const tiktok = "https://www.tiktok.com/@a.example/video/752190000000000"
	readEach(t, []reads{
		{"Excel in Spanish", "a.csv", "url;isVideo;views\nhttps://www.instagram.com/p/DMETA000001/;VERDADERO;5\nhttps://www.instagram.com/p/DMETA000002/;FALSO;6\n", []string{"DMETA000001 5 - - -"}, "not_a_video"},
		{"Excel in French", "a.csv", "url;is_slideshow;views\n" + tiktok + "0001;FAUX;5\n" + tiktok + "0002;VRAI;6\n", []string{"7521900000000000001 5 - - -"}, "not_a_video"},
		{"Sheets in Russian", "a.csv", "url,isSlideshow,views\n" + tiktok + "0001,ЛОЖЬ,5\n" + tiktok + "0002,ИСТИНА,6\n", []string{"7521900000000000001 5 - - -"}, "not_a_video"},
		{"one row that does not say it", "a.csv", "url,isSlideshow,views\n" + tiktok + "0001,no,5\n" + tiktok + "0002,yes,6\n" + tiktok + "0003,n/a,7\n", []string{"7521900000000000001 5 - - -", "7521900000000000003 7 - - -"}, "not_a_video"},
		{"ten is no yes", "a.csv", "url,isSlideshow,views\n" + tiktok + "0001,0,5\n" + tiktok + "0002,10,6\n" + tiktok + "0003,0,7\n", []string{"7521900000000000001 5 - - -", "7521900000000000002 6 - - -", "7521900000000000003 7 - - -"}, ""},
		{"words that are not known", "a.csv", "url,is_video,views\nhttps://www.instagram.com/p/DMETA000001/,wakker,5\nhttps://www.instagram.com/p/DMETA000002/,slaap,6\n", nil, "in words that are not known"},
	})
}

// TestWhatLooksLikeAVideo takes no sound for a video, and no several ones for one; and the platform from
// a column under any name.
func TestWhatLooksLikeAVideo(t *testing.T) {
	t.Parallel()
	const tiktok = "https://www.tiktok.com/@a.example/video/752190000000000"
	readEach(t, []reads{
		{"sounds", "a.csv", "id,title,author,duration,user_count\n7215400000000000001,original sound,a.example,31,412\n7215400000000000002,remix,b.example,15,12\n", nil, "nothing says that the ids"},
		{"ids of videos, by their name", "a.csv", "video_id,title\n7215400000000000001,pour\n7215400000000000002,cut\n", []string{"7215400000000000001 - - - -", "7215400000000000002 - - - -"}, ""},
		{"several addresses in a cell", "a.csv", "Creator,Video URLs,Views\n@a.example,\"" + tiktok + "0001\n" + tiktok + "0002\",4195\n@a.example," + tiktok + "0003|" + tiktok + "0004,77\n@a.example," + tiktok + "0005,5\n", []string{"7521900000000000005 5 - - -"}, "two addresses of videos"},
		{"an address and its text", "a.csv", "Link,Views\n\"=HYPERLINK(\"\"" + tiktok + "0001\"\";\"\"" + tiktok + "0001\"\")\",5\n", []string{"7521900000000000001 5 - - -"}, ""},
		{"platforms under a name of their own", "a.csv", "Net,ID,Views\nTT,7521900000000000001,5\nYT,AAAAAAAAS01,6\nIG,DMETA000001,7\n", []string{"7521900000000000001 5 - - -", "AAAAAAAAS01 6 - - -", "DMETA000001 7 - - -"}, "Net Field:platform"},
		{"a count below zero", "a.csv", "url,views,likes\n" + tiktok + "0001,-500,4\n" + tiktok + "0002,60,1\n", []string{"7521900000000000001 - 4 - -", "7521900000000000002 60 1 - -"}, "-500"},
		{"hashtags", "a.csv", "id,hashtag,views,posts\n7551234567890123456,latte,884412000,22000\n7551234567890123999,pour,4412000,200\n", nil, "a sound or a hashtag"},
		{"addresses of another site", "a.csv", "aweme_id,digg_count,share_url\n7521900000000000001,5,https://www.video.example/video/7521900000000000001\n", nil, "those of another site"},
		{"files of the videos", "a.csv", "video_id,views,video_url\n7521900000000000001,5,https://files.example/7521900000000000001.mp4\n", []string{"7521900000000000001 5 - - -"}, ""},
		{"a history of counts", "a.json", `[{"url":"` + tiktok + `0001","views":[100,400,900],"likes":[4]}]`, []string{"7521900000000000001 - 4 - -"}, "none of views"},
		{"marked rows", "a.csv", "url,views,Liked,Favorite\n" + tiktok + "0001,500,1,0\n" + tiktok + "0002,60,0,1\n", []string{"7521900000000000001 500 - - -", "7521900000000000002 60 - - -"}, "none of likes"},
		{"no views", "a.csv", "url,viewCountText\n" + tiktok + "0001,1.2M views\n" + tiktok + "0002,No views\n", []string{"7521900000000000001 1200000 - - -", "7521900000000000002 - - - -"}, ""},
		{"photos that yt-dlp took the sound of", "a.json", `{"id":"7521900000000000001","extractor_key":"TikTok","webpage_url":"https://www.tiktok.com/@a.example/photo/7521900000000000001","title":"x","view_count":5}`, nil, "not_a_video"},
		{"other videos in the captions", "a.csv", "id,caption,views\n7521900000000000001,as " + tiktok + "0008,5\n7521900000000000002,as " + tiktok + "0009,6\n", []string{"7521900000000000001 5 - - -", "7521900000000000002 6 - - -"}, "caption Field:caption"},
		{"thousands above the header", "a.csv", "All figures in thousands\n\nurl,views\n" + tiktok + "0001,12.5\n" + tiktok + "0002,3\n", nil, "above the header"},
		{"a title above the header", "a.csv", "Videos with all data in one place\n\nurl,views\n" + tiktok + "0001,12\n" + tiktok + "0002,3\n", []string{"7521900000000000001 12 - - -", "7521900000000000002 3 - - -"}, ""},
		{"views by country", "a.csv", "url,region,views\n" + tiktok + "0001,DE,500\n" + tiktok + "0001,US,900\n" + tiktok + "0002,DE,6\n" + tiktok + "0002,US,9\n", nil, "each row may be a part"},
		{"views by hour", "a.csv", "video_id,hour,views\n7521900000000000001,0,50\n7521900000000000001,1,90\n7521900000000000002,0,5\n", nil, "each row may be a part"},
		{"the same views by account", "a.csv", "Account,Link,Views\n@a.example," + tiktok + "0001,500\n@b.example," + tiktok + "0001,500\n", []string{"7521900000000000001 500 - - -", "7521900000000000001 500 - - -"}, ""},
		{"ids of several platforms in a row", "a.csv", "title,tiktok_id,youtube_id,views\npour,7521900000000000001,AAAAAAAAS01,900\n", nil, "several platforms"},
		{"a running stream by a flag", "a.csv", "url,is_live,views\nhttps://youtu.be/AAAAAAAAS01,TRUE,900\nhttps://youtu.be/AAAAAAAAS02,FALSE,60\n", []string{"AAAAAAAAS01 - - - -", "AAAAAAAAS02 60 - - -"}, ""},
		{"a flag of one and nought", "a.csv", "url,is_live,views\nhttps://www.instagram.com/reel/DMETA000001/,1,900\nhttps://www.instagram.com/reel/DMETA000002/,0,60\n", []string{"DMETA000001 - - - -", "DMETA000002 60 - - -"}, ""},
		{"ids of several platforms", "a.csv", "ID,Views\nAAAAAAAAS01,6\nDMETA000001,7\nDMETA000002,7\n", nil, "no column says which platform"},
		{"ids of several platforms with TikTok's", "a.csv", "ID,Views\n7521900000000000001,5\nAAAAAAAAS01,6\nAAAAAAAAS02,6\nDMETA000001,7\n", nil, "no column says which platform"},
	})
}

// TestMonthsOfTwoLanguages reads the names of months that Croatian has for the month before that of its neighbours.
func TestMonthsOfTwoLanguages(t *testing.T) {
	t.Parallel()
	const link = "https://youtu.be/AAAAAAAAS0"
	readEach(t, []reads{
		{"Croatian", "a.csv", "Link;Pregledi;Datum objave\n" + link + "1;5;12. srp 2025.\n" + link + "2;6;12. listopada 2025.\n", []string{"AAAAAAAAS01 5 - - 20281", "AAAAAAAAS02 6 - - 20373"}, ""},
		{"Polish", "a.csv", "Link;Wyświetlenia;Data publikacji\n" + link + "1;5;12 lip 2025\n" + link + "2;6;12 listopada 2025\n", []string{"AAAAAAAAS01 5 - - 20281", "AAAAAAAAS02 6 - - 20404"}, ""},
		{"no language", "a.csv", "Link;Views;Posted\n" + link + "1;5;12. srp 2025.\n" + link + "2;6;12 srpna 2025\n" + link + "3;7;12. srpnja 2025.\n", []string{"AAAAAAAAS01 5 - - -", "AAAAAAAAS02 6 - - 20312", "AAAAAAAAS03 7 - - 20281"}, "12. srp 2025."},
		{"Finnish November", "a.csv", "Link;Views;Posted\n" + link + "1;5;12. marraskuuta 2025\n" + link + "2;6;12. maaliskuuta 2025\n", []string{"AAAAAAAAS01 5 - - 20404", "AAAAAAAAS02 6 - - 20159"}, ""},
	})
}
