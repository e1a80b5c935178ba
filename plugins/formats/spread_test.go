package formats

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

// TestObjectsInCells reads tables whose cells are objects, as pandas and others write them.
func TestObjectsInCells(t *testing.T) {
	t.Parallel()
	const want = `{"platform":"tiktok","externalId":"7521900000000000051","postedAt":1751328000000,"source":{"handle":"a.example"},"metadata":{"caption":"it's pour"},"metrics":{"views":5,"likes":2}}`
	for _, c := range []struct {
		name, text string
		want       []string
		said       []string
	}{
		{
			"dicts of Python", "id,desc,createTime,author,statsV2\n" +
				`7521900000000000051,it's pour,1751328000,"{'uniqueId': 'a.example', 'nickname': ""A's"", 'verified': False, 'sign': None, 'x': (1, 2,), 'y': '\u0041\x41\n'}","{'playCount': '5', 'diggCount': '2'}"` + "\n",
			[]string{want},
			nil,
		},
		{
			"JSON", "id,desc,createTime,author,stats\n" +
				`7521900000000000051,it's pour,1751328000,"{""uniqueId"":""a.example"",""verified"":false}","{""playCount"":5,""diggCount"":2}"` + "\n",
			[]string{want},
			nil,
		},
		{
			"an object that was cut off is named", "id,desc,createTime,author,stats\n" +
				`7521900000000000051,it's pour,1751328000,{'uniqueId': 'a.example'},"{'playCount': 5, 'diggCount': 2}"` + "\n" +
				`7521900000000000052,b,1751328001,{'uniqueId': 'a.example'},"{'playCount': 5, 'digg"` + "\n",
			[]string{want, `{"platform":"tiktok","externalId":"7521900000000000052","postedAt":1751328001000,"source":{"handle":"a.example"},"metadata":{"caption":"b"},"metrics":{}}`},
			[]string{"stats 3 {'playCount': 5, 'digg"},
		},
		{
			"plays that differ are asked about", "video_id,stats,statsV2\n" + `7521900000000000051,{'playCount': 5},{'playCount': 9}` + "\n" + `7521900000000000052,{'playCount': 6},{'playCount': 10}` + "\n",
			nil, nil,
		},
		{
			"objects in a list of tags", "video_id,views,hashtags\n" + `7521900000000000051,5,"[{'id': '1', 'name': 'v60'}, {'id': '2', 'name': 'moka'}]"` + "\n",
			[]string{`{"platform":"tiktok","externalId":"7521900000000000051","metadata":{"hashtags":["v60","moka"]},"metrics":{"views":5}}`},
			nil,
		},
		{
			"no objects, but texts in braces", "video_id,views,caption\n7521900000000000051,5,{smile} and 'so\n",
			[]string{`{"platform":"tiktok","externalId":"7521900000000000051","metadata":{"caption":"{smile} and 'so"},"metrics":{"views":5}}`},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "a.csv", c.text)
			var got, said []string
			for _, rec := range recs {
				got = append(got, asJSON(t, rec))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("records, -want +got:\n%s\n%v", diff, report)
			}
			for _, m := range report.Misread {
				said = append(said, strings.TrimSpace(m.Column+" "+string(rune('0'+m.Line))+" "+m.Text))
			}
			if diff := cmp.Diff(c.said, said); diff != "" {
				t.Errorf("not understood, -want +got:\n%s", diff)
			}
		})
	}
}

// TestJSONInTextsOfObjects reads objects in no known form whose members are JSON in a text.
func TestJSONInTextsOfObjects(t *testing.T) {
	t.Parallel()
	recs, report := readText(t, "a.jsonl", `{"tiktok_id":"7521900000000000051","stats":"{\"playCount\":5}"}`+"\n"+`{"tiktok_id":"7521900000000000052","stats":"{\"playC"}`+"\n")
	var got []string
	for _, rec := range recs {
		got = append(got, brief(rec))
	}
	if diff := cmp.Diff([]string{"7521900000000000051 5 - - -", "7521900000000000052 - - - -"}, got); diff != "" {
		t.Errorf("records, -want +got:\n%s", diff)
	}
	if len(report.Misread) != 1 || report.Misread[0].Line != 2 {
		t.Errorf("got %+v, want line 2 not understood", report.Misread)
	}
}

// TestSavedPages reads the state that a saved page of a platform has in its scripts.
func TestSavedPages(t *testing.T) {
	t.Parallel()
	const item = `{"id":"7521900000000000051","desc":"pour","createTime":1751328000,"author":{"uniqueId":"a.example"},"stats":{"playCount":5}}`
	const want = "7521900000000000051 5 - - 20270"
	page := func(script string) string {
		return "<!DOCTYPE html>\n<html><head><script>var a = {b: 1}; function x() { return {} }</script></head>\n<body>" + script + "</body></html>"
	}
	for _, c := range []struct{ name, text, want, said string }{
		{"TikTok's video", page(`<script id="__UNIVERSAL_DATA_FOR_REHYDRATION__" type="application/json">{"s":{"itemInfo":{"itemStruct":` + item + `}}}</script>`), want, `the state "__UNIVERSAL_DATA_FOR_REHYDRATION__" of a saved web page`},
		{"TikTok before", "<!-- saved from url=(0022)https://www.tiktok.com/ -->\n" + page(`<script id="SIGI_STATE">{"ItemModule":{"1":`+item+`}}</script>`), want, `the state "SIGI_STATE"`},
		{"YouTube's list", page(`<script nonce="x">var ytInitialData = {"a":[{"videoRenderer":{"videoId":"AAAAAAAAS03","title":{"runs":[{"text":"</b> {"}]},"viewCountText":{"simpleText":"1,234 views"}}}]};</script>`), "AAAAAAAAS03 1234 - - -", `the state "ytInitialData"`},
		{"YouTube's player", page(`<script>window["ytInitialPlayerResponse"] = {"videoDetails":{"videoId":"AAAAAAAAS03","title":"t","lengthSeconds":"41","shortDescription":"d","viewCount":"777"}};var meta = {};</script>`), "AAAAAAAAS03 777 - - -", `the state "ytInitialPlayerResponse"`},
		{"Instagram, behind texts in lists", page(`<script type="application/json" data-sjs>{"require":[["a","b",null,[{"c":{"items":[{"code":"DMETA000001","media_type":2,"taken_at":1751328000,"user":{"username":"oat"},"play_count":5}]}}]]]}</script>`), "DMETA000001 5 - - 20270", "a saved web page"},
		{"the time and the likes beside YouTube's player", page(`<script>var ytInitialPlayerResponse = {"responseContext":{},"videoDetails":{"videoId":"AAAAAAAAS03","title":"t","lengthSeconds":"41","shortDescription":"d","viewCount":"777"},"microformat":{"playerMicroformatRenderer":{"externalVideoId":"AAAAAAAAS03","publishDate":"2025-06-30T17:00:00-07:00","likeCount":"9"}}};</script>`), "AAAAAAAAS03 777 9 - 20270", "a saved web page"},
		{"the time of another video beside YouTube's player", page(`<script>var ytInitialPlayerResponse = {"videoDetails":{"videoId":"AAAAAAAAS03","title":"t","lengthSeconds":"41","shortDescription":"d","viewCount":"777"},"microformat":{"playerMicroformatRenderer":{"externalVideoId":"AAAAAAAAS04","publishDate":"2025-06-30T17:00:00-07:00","likeCount":"9"}}};</script>`), "AAAAAAAAS03 777 - - -", "a saved web page"},
		{"YouTube's player of a live stream", page(`<script>var ytInitialPlayerResponse = {"videoDetails":{"videoId":"AAAAAAAAS03","title":"t","lengthSeconds":"0","shortDescription":"d","viewCount":"777","isLive":true}};</script>`), "AAAAAAAAS03 - - - -", "a saved web page"},
		{"none", page(`<script>var a = {"b":1};</script>Sign in`), "", "perhaps one to sign in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "a.html", c.text)
			var got []string
			for _, rec := range recs {
				got = append(got, brief(rec))
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("got %q and %v, want %q", got, report.Sorted(), c.want)
			}
			said := strings.Join(report.Form, "; ")
			for _, skip := range report.Sorted() {
				said += skip.Detail
			}
			if !strings.Contains(said, c.said) {
				t.Errorf("got %q, want it to say %q", said, c.said)
			}
			if c.want == "" { // named, it is a fault; found in a folder, it is another file
				report, err := Read(t.Context(), fstest.MapFS{"a.html": {Data: []byte(c.text)}}, []string{"a.html"}, Options{Now: now, Found: true}, func(stage.Record) error { return nil })
				if err != nil || report.Skipped() > 0 || report.Count(OtherFile) != 1 {
					t.Errorf("found in a folder: got %v and %+v, want one other file", err, report.Skips)
				}
			}
		})
	}
}

// TestAMapOfObjectsIsCheckedFirst refuses a map that names what no object has, before any is read.
func TestAMapOfObjectsIsCheckedFirst(t *testing.T) {
	t.Parallel()
	const text = `{"video":{"ref":"7301"},"stats":{"plays":5,"hearts":null}}` + "\n" + `{"video":{"ref":"7302"},"stats":{"plays":6,"saved":2}}` + "\n"
	for path, fault := range map[string]string{
		"stats.plays": "", "stats.hearts": "", "stats.saved": "", "stats.playz": `the map names "stats.playz", which no object has`, "plays": `the map names "plays", which no object has`,
	} {
		m, err := ParseMap([]byte(`{"columns":{"externalId":"video.ref","views":"` + path + `"},"constants":{"platform":"tiktok"}}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{text, "[" + strings.ReplaceAll(strings.TrimSpace(text), "\n", ",") + "]"} {
			files := fstest.MapFS{"a.json": {Data: []byte(text)}}
			n, want := 0, 2
			report, err := Read(t.Context(), files, []string{"a.json"}, Options{Map: m, MapFirst: true, Now: now}, func(stage.Record) error { n++; return nil })
			if err != nil {
				t.Fatal(err)
			}
			if fault != "" {
				want = 0
			}
			if n != want || fault != report.Skips[Unreadable].Detail {
				t.Errorf("%s: got %d records and %q, want %d and %q", path, n, report.Skips[Unreadable].Detail, want, fault)
			}
		}
	}
}
