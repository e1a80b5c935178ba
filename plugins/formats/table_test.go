package formats

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/scrollery/scrollery/plugins/stage"
)

const oneRow = "platform;externalId;caption;views\r\ntiktok;7290000000000004101;ñ é – a, b;5\r\n"

// TestLayoutsOfTables reads the same row in whatever it is written.
func TestLayoutsOfTables(t *testing.T) {
	t.Parallel()
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(oneRow)
	if err != nil {
		t.Fatal(err)
	}
	unmarked, err := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder().String(oneRow)
	if err != nil {
		t.Fatal(err)
	}
	western, err := charmap.Windows1252.NewEncoder().String(oneRow)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"semicolons":            oneRow,
		"tabs":                  strings.ReplaceAll(oneRow, ";", "\t"),
		"bars":                  strings.ReplaceAll(oneRow, ";", "|"),
		"a sep line":            "sep=;\r\n" + oneRow,
		"UTF-8 with a mark":     "\xef\xbb\xbf" + oneRow,
		"UTF-16":                wide,
		"UTF-16 without a mark": unmarked,
		"Windows-1252":          western,
		"carriage returns":      strings.ReplaceAll(oneRow, "\r\n", "\r"),
		"a preamble":            "My report\n\nfrom;2025-01-01\n" + oneRow,
		"a delimiter too many":  strings.ReplaceAll(oneRow, "\r\n", ";\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "a.csv", text)
			if len(recs) != 1 || report.Skipped() != 0 {
				t.Fatalf("got %d records, %q, want 1", len(recs), report.Notes)
			}
			want := `{"platform":"tiktok","externalId":"7290000000000004101","metadata":{"caption":"ñ é – a, b"},"metrics":{"views":5}}`
			if diff := cmp.Diff(want, asJSON(t, recs[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestColumnsByNameAndValues names the column of each field in tables that no tool wrote.
func TestColumnsByNameAndValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want map[string]string
	}{
		"the video's likes, not the profile's": {
			"username,likes,video_likes,video_link\na,999,5,https://www.tiktok.com/@a/video/7290000000000003601\n",
			map[string]string{"handle": "username", "likes": "video_likes", "sourceUrl": "video_link"},
		},
		"plays of Instagram": {
			"shortcode,views,plays\nCAAAAAAAL03,5,9\n", map[string]string{"externalId": "shortcode", "views": "plays"},
		},
		"a full column before an empty one": {
			"video_id,plays,views\n7290000000000003601,5,\n7290000000000003602,6,\n7290000000000003603,6,7\n", map[string]string{"externalId": "video_id", "views": "plays"},
		},
		"captions of yes and no are none": {
			"videoId,title,caption,viewCount,channelId\nAAAAAAAAL04,Pour,False,5,UCaaaaaaaaaaaaaaaaaaaaaa\n",
			map[string]string{"externalId": "videoId", "title": "title", "views": "viewCount", "creatorId": "channelId"},
		},
		"times that differ where a video recurs": {
			"id,video,when,views\nAAAAAAAAL04,x,2025-07-01,5\nAAAAAAAAL04,x,2025-07-02,6\nxAAAAAAAL05,y,2025-07-02,6\n",
			map[string]string{"externalId": "id", "caption": "video", "observedAt": "when", "views": "views"},
		},
		"a timestamp after the post": {
			"videoId,publishedAt,timestamp,viewCount\nxAAAAAAAL04,2025-07-01,2025-07-02,5\n",
			map[string]string{"externalId": "videoId", "postedAt": "publishedAt", "observedAt": "timestamp", "views": "viewCount"},
		},
		"percents are no counts": {
			"platform,externalId,Views,Likes (%)\nyoutube,AAAAAAAAS01,50,6\n", map[string]string{"platform": "platform", "externalId": "externalId", "views": "Views"},
		},
		"the smaller name first": {
			"platform,externalId,n_total_likes,n_likes\ntiktok,7290000000000004101,99,5\n", map[string]string{"platform": "platform", "externalId": "externalId", "likes": "n_likes"},
		},
		"Portuguese": {
			"Link;Visualizações;Curtidas;Data\nhttps://www.tiktok.com/@a/video/7290000000000003601;5;4;23-02-2024\n",
			map[string]string{"sourceUrl": "Link", "views": "Visualizações", "likes": "Curtidas", "postedAt": "Data"},
		},
		"Chinese": {
			"链接,播放量,点赞数,发布时间\nhttps://www.tiktok.com/@a/video/7290000000000003601,5,4,2024-02-23\n",
			map[string]string{"sourceUrl": "链接", "views": "播放量", "likes": "点赞数", "postedAt": "发布时间"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "a.csv", c.text)
			got := map[string]string{}
			for _, column := range report.Columns {
				if column.Field != "" {
					got[column.Field] = column.Name
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(recs) == 0 {
				t.Errorf("%d records (-want +got):\n%s%q", len(recs), diff, report.Notes)
			}
		})
	}
}

// TestDoubtfulTablesAreAsked reads nothing of a table that may be another thing, and says why.
func TestDoubtfulTablesAreAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, words string }{
		"no known column":         {"name;value\na;1\n", "no column has ids or addresses"},
		"numbers of no name":      {"Link;Foo\nhttps://www.tiktok.com/@a/video/7290000000000003601;5\n", `"Foo" may have them`},
		"two kinds of views":      {"video_id,views,plays\n7290000000000003601,5,9\n", `may be in "views" or in "plays"`},
		"a code of either":        {"id,views\nCAAAAAAAL03,5\n", "which platform"},
		"comments":                {"video_id,comment_id,likes,views\nAAAAAAAAL04,c,4,5\n", "a column of comments"},
		"comments by their texts": {"video_url,username,comment,views\nhttps://youtu.be/AAAAAAAAL04,x,so nice,5\n", "a column of comments"},
		"other texts of a video":  {"video_url,text,views\nhttps://youtu.be/AAAAAAAAL04,so nice,5\nhttps://youtu.be/AAAAAAAAL04,so bad,5\n", "they may be comments"},
		"no header":               {"tiktok,7290000000000003301,10\ntiktok,7290000000000003302,20\n", "values, not names"},
		"views of single days":    {"date,video_id,channel_id,views\n2025-07-01,xAAAAAAAL04,UC1,50\n2025-07-02,xAAAAAAAL04,UC1,40\n2025-07-03,xAAAAAAAL04,UC1,60\n2025-07-04,xAAAAAAAL04,UC1,10\n", "those of single days"},
		"a chart of Studio":       {"Date,Content,Video title,Video publish time,Views\n2025-07-01,AAAAAAAAS01,x,\"Apr 29, 2025\",50\n", "the views of single days"},
		"Turkish of Windows":      {"platform,externalId,caption\ntiktok,7290000000000004101,\xfeekerli kahve \xfd\xfe\xfd\xf0\xfd\n", "save the file as UTF-8"},
		"another encoding":        {"platform,externalId,caption\ntiktok,7290000000000004101,\xca\xee\xf4\xe5 \xe8 \xec\xee\xeb\xee\xea\xee \xf3\xf2\xf0\xee\xec\n", "save the file as UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "a.csv", c.text)
			if got := report.Skips[Unreadable].Detail; len(recs) != 0 || !strings.Contains(got, c.words) {
				t.Errorf("got %d records and %q, want none and %q", len(recs), got, c.words)
			}
		})
	}
}

func TestObjectsOfNoFormAreATable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, ids string }{
		"by their members":    {`[{"video_id":"7290000000000003301","by":{"username":"a"},"views":"1.2M"},{"video_id":"7290000000000003302","views":5}]`, "7290000000000003301 7290000000000003302"},
		"comments are none":   {`[{"aweme_id":"7290000000000003301","cid":"7","text":"hi","digg_count":4}]`, ""},
		"an id and a link":    {`[{"id":"1","url":"https://example.com/"}]`, ""},
		"accounts are none":   {`[{"id":"123","username":"a","followers":3}]`, ""},
		"mixed with the rest": {item(1) + "\n" + `{"video_id":"7290000000000003302","plays":5}`, "1 7290000000000003302"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if recs, report := readText(t, "a.json", c.text); idsOf(recs) != c.ids {
				t.Errorf("got %q, want %q: %q", idsOf(recs), c.ids, report.Notes)
			}
		})
	}
}

// TestVideosAnywhere finds the same item wherever it is in a file, and says where.
func TestVideosAnywhere(t *testing.T) {
	t.Parallel()
	for text, places := range map[string]map[string]int{
		`{"ItemModule":{"7290000000000004401":` + item(1) + `,"7290000000000004402":` + item(2) + `}}`:                      {"ItemModule.*": 2},
		`{"by":{"BD":[` + item(1) + `],"IN":[` + item(2) + `,3,null]}}`:                                                     {"by.BD": 1, "by.IN": 1},
		`{"__DEFAULT_SCOPE__":{"webapp.video-detail":{"itemInfo":{"itemStruct":` + item(1) + `}}},"a":[[` + item(2) + `]]}`: {"__DEFAULT_SCOPE__.webapp.video-detail.itemInfo.itemStruct": 1, "a": 1},
	} {
		recs, report := readText(t, "a.json", text)
		if diff := cmp.Diff(places, report.Places); diff != "" || len(recs) != 2 || report.Skipped() != 0 {
			t.Errorf("%s: got %q, %q (-want +got):\n%s", text, idsOf(recs), report.Notes, diff)
		}
	}
}

func TestMapOfMembersThatNoObjectHasIsNamed(t *testing.T) {
	t.Parallel()
	_, report := readFS(t, fstest.MapFS{
		"a.json":          {Data: []byte(`[{"video_id":"7290000000000006101","video_playcount":399}]`)},
		"a.json.map.json": {Data: []byte(`{"columns":{"externalId":"video_id","views":"playcount"},"constants":{"platform":"tiktok"}}`)},
	}, "a.json")
	if got, want := report.Form[0], `the map names "playcount", which no object has`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnnouncedStreamsAreNoVideos(t *testing.T) {
	t.Parallel()
	for text, ids := range map[string]string{
		`{"id":"AAAAAAAAA05","title":"x","extractor_key":"Youtube","live_status":"is_upcoming","release_timestamp":1893456000}`:                                       "",
		`{"kind":"youtube#video","id":"AAAAAAAAA05","snippet":{"title":"x","liveBroadcastContent":"upcoming"},"statistics":{"viewCount":"0"}}`:                        "",
		`{"kind":"youtube#video","id":"AAAAAAAAA06","snippet":{"title":"x","liveBroadcastContent":"live"},"statistics":{"viewCount":"900","likeCount":"3"}}`:          "AAAAAAAAA06",
		`{"id":"AAAAAAAAA06","title":"x","extractor_key":"Youtube","live_status":"is_live","media_type":"livestream","view_count":4000,"concurrent_view_count":4000}`: "AAAAAAAAA06",
	} {
		recs, report := readText(t, "a.json", text)
		if idsOf(recs) != ids || len(recs)+report.Count(Unavailable) != 1 {
			t.Errorf("%s: got %q and %+v, want %q", text, idsOf(recs), report.Skips, ids)
		}
		if len(recs) > 0 && recs[0].Metrics.Views != nil {
			t.Errorf("got %d views of a running stream, want none", *recs[0].Metrics.Views)
		}
	}
}

func TestOwnArchivesAreNamed(t *testing.T) {
	t.Parallel()
	for text, words := range map[string]string{
		`{"Your Activity":{"Watch History":{"VideoList":[{"Date":"2025-07-01","Link":"https://www.tiktokv.com/share/video/7290000000000005401/"}]}}}`: "TikTok's data download",
		`[{"header":"YouTube","title":"Watched Pour","titleUrl":"https://www.youtube.com/watch?v=AAAAAAAAW01","time":"2025-07-01T00:00:00Z"}]`:        "Google Takeout",
		`[{"media":[{"uri":"media/reels/1.mp4","creation_timestamp":1751328000,"title":"x"}]}]`:                                                       "Instagram's data download",
		"Watch History\nDate: 2025-07-01 00:00:00\nLink: https://www.tiktokv.com/share/video/7290000000000005401/\n":                                  "as text",
	} {
		recs, report := readText(t, "a.json", text)
		if got := report.Skips[OwnArchive].Detail; len(recs) != 0 || !strings.Contains(got, words) {
			t.Errorf("got %d records and %q, want none and %q", len(recs), got, words)
		}
	}
}

// packedFile writes a zip to a file, since a zip is read from its end.
func packedFile(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var body bytes.Buffer
	writer := zip.NewWriter(&body)
	for _, name := range sortedKeys(files) {
		out, err := writer.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(2025, 7, 2, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = io.WriteString(out, files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, body.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readPath(t *testing.T, path string, options Options) ([]stage.Record, Report) {
	t.Helper()
	var recs []stage.Record
	options.Now = now
	report, err := Read(t.Context(), os.DirFS(filepath.Dir(path)), []string{filepath.Base(path)}, options, func(rec stage.Record) error {
		recs = append(recs, rec)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return recs, report
}

func TestZips(t *testing.T) {
	t.Parallel()
	packed := func(files map[string]string) string {
		text, err := os.ReadFile(packedFile(t, "inner.zip", files))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	inner := packed(map[string]string{"c.jsonl": item(3), "innermost.zip": packed(map[string]string{"d.jsonl": item(4)})})
	path := packedFile(t, "a.zip", map[string]string{
		"in/a.csv": "i,v\n7290000000000004701,31\n", "in/a.csv.map.json": `{"columns":{"externalId":"i","views":"v"},"constants":{"platform":"tiktok"}}`,
		"b.jsonl": item(2), "readme.txt": "x", "__MACOSX/._a.csv": "x", "inner.zip": inner, "start.html": "<!DOCTYPE html><title>Your data</title>",
	})
	file := int64(1_700_000_000_000)
	recs, report := readPath(t, path, Options{ObservedAt: &file, FileTime: true})
	if got, want := idsOf(recs), "2 7290000000000004701 3"; got != want {
		t.Errorf("got %q, want %q: %q", got, want, report.Notes)
	}
	for _, rec := range recs {
		if got, want := *rec.Metrics.ObservedAt, int64(1751414400000); got != want {
			t.Errorf("%s: observed at %d, want %d", rec.ExternalID, got, want)
		}
	}
	if report.Count(OtherFile) != 2 || report.Count(Unreadable) != 1 || !strings.Contains(report.Skips[Unreadable].Detail, "zip in a zip in a zip") {
		t.Errorf("got the skips %+v, want two of another kind and a zip in a zip", report.Skips)
	}
	stop := errors.New("no room")
	if _, err := Read(t.Context(), os.DirFS(filepath.Dir(path)), []string{"a.zip"}, Options{}, func(rec stage.Record) error {
		if rec.ExternalID == "3" { // the one of the inner zip
			return stop
		}
		return nil
	}); !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of who takes the videos", err)
	}
	recs, _ = readPath(t, path, Options{ObservedAt: &file})
	if got := *recs[0].Metrics.ObservedAt; got != file {
		t.Errorf("observed at %d, want what was named, %d", got, file)
	}
}

func TestSpreadsheets(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	sheet := func(name string, rows ...[]any) {
		t.Helper()
		if _, err := book.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if err := book.SetSheetRow(name, fmt.Sprintf("A%d", i+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	sheet("Notes", []any{"made by", "me"})
	sheet("Data", []any{"Report of July"}, []any{"URL", "Views", "Posted", "Duration"},
		[]any{"https://www.tiktok.com/@a/video/7290000000000004801", 1200, time.Date(2025, 7, 13, 15, 5, 9, 0, time.UTC), "0:31"},
		[]any{}, []any{"https://www.tiktok.com/@a/video/7290000000000004802", "1.2M"})
	names := []any{"URL", "Views", "Posted", "Duration"}
	sheet("More", names, []any{"https://www.tiktok.com/@a/video/7290000000000004803", 5})
	sheet("Best", names, []any{"https://www.tiktok.com/@a/video/7290000000000004803", 4})
	path := filepath.Join(t.TempDir(), "a.xlsx")
	if err := book.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	recs, report := readPath(t, path, Options{})
	if got, want := idsOf(recs), "7290000000000004801 7290000000000004802 7290000000000004803"; got != want {
		t.Fatalf("got %q, want %q: %q", got, want, report.Notes)
	}
	if got, want := *recs[0].PostedAt, int64(1752419109000); got != want {
		t.Errorf("posted at %d, want %d", got, want)
	}
	if got := *recs[1].Metrics.Views; got != 1200000 {
		t.Errorf("got %d views, want 1200000", got)
	}
	form := strings.Join(report.Form, "\n")
	for _, want := range []string{`"Data"`, `"Notes" was not read`, `the sheet "More", which has the same columns`, `"Best" was not read: it has the same videos`} {
		if !strings.Contains(form, want) {
			t.Errorf("got the form %q, want %q in it", form, want)
		}
	}
}

// TestAddressesBesideCellsThatLeadToVideos: most rows have the address, and some a text that one clicks on.
func TestAddressesBesideCellsThatLeadToVideos(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	for i, row := range [][]any{{"Link", "Note", "Views"}, {"Watch", "mail", 5}, {"https://www.tiktok.com/@moka/video/7290000000000004803", "mail", 6}} {
		if err := book.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	for cell, address := range map[string]string{"A2": "https://www.tiktok.com/@moka/video/7290000000000004802", "B3": "https://www.tiktok.com/@moka/video/7290000000000004809"} {
		if err := book.SetCellHyperLink("Sheet1", cell, address, "External"); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.xlsx")
	if err := book.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	recs, report := readPath(t, path, Options{})
	if got, want := idsOf(recs), "7290000000000004802 7290000000000004803"; got != want {
		t.Errorf("got %q, want %q: %+v", got, want, report)
	}
}

// TestZipsThatAreNoZipsOfFiles says which program wrote them.
func TestZipsThatAreNoZipsOfFiles(t *testing.T) {
	t.Parallel()
	for part, want := range map[string]string{"content.xml": "OpenDocument", "word/document.xml": "Word", "xl/workbook.bin": "binary format", "Index/Document.iwa": "Numbers"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.zip")
			var body bytes.Buffer
			writer := zip.NewWriter(&body)
			for _, name := range []string{"mimetype", part} {
				if _, err := writer.Create(name); err != nil {
					t.Fatal(err)
				}
			}
			if err := writer.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, body.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, report := readPath(t, path, Options{}); !strings.Contains(report.Skips[Unreadable].Detail, want) {
				t.Errorf("got %+v, want %q", report.Skips, want)
			}
		})
	}
}

// TestCellsThatLeadToVideos: a title that one clicks on, by a hyperlink of the cell or by a formula.
func TestCellsThatLeadToVideos(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(book *excelize.File, cell, address string) error{
		"hyperlinks": func(book *excelize.File, cell, address string) error {
			return book.SetCellHyperLink("Data", cell, address, "External")
		},
		"formulas": func(book *excelize.File, cell, address string) error {
			return book.SetCellFormula("Data", cell, `HYPERLINK("`+address+`","a title & more")`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book := excelize.NewFile()
			if _, err := book.NewSheet("Data"); err != nil {
				t.Fatal(err)
			}
			rows := [][]any{{"Best of July"}, {"Watch", "Caption", "Views", "Profile"}, {"here", "Pour slower", 1200, "@moka"}, {"here", "Grind finer", "1.2M", "@moka"}, {"here", "Warm cups", 77}, {"", "No link", 5}}
			for i, row := range rows {
				if err := book.SetSheetRow("Data", fmt.Sprintf("A%d", i+1), &row); err != nil {
					t.Fatal(err)
				}
				if i >= 2 && i < 5 {
					if err := link(book, fmt.Sprintf("A%d", i+1), fmt.Sprintf("https://www.tiktok.com/@moka/video/729000000000000480%d?lang=en&x=1", i)); err != nil {
						t.Fatal(err)
					}
				}
			}
			path := filepath.Join(t.TempDir(), "a.xlsx")
			if err := book.SaveAs(path); err != nil {
				t.Fatal(err)
			}
			recs, report := readPath(t, path, Options{})
			if got, want := idsOf(recs), "7290000000000004802 7290000000000004803 7290000000000004804"; got != want {
				t.Fatalf("got %q, want %q: %+v", got, want, report)
			}
			if got := *recs[1].Metrics.Views; got != 1200000 || !strings.Contains(string(recs[1].Metadata), "Grind finer") {
				t.Errorf("got %d views of %s, want 1200000 of its caption", got, recs[1].Metadata)
			}
			if n := report.Count(NoID); n != 1 {
				t.Errorf("got %d rows without a link, want 1: %+v", n, report.Skips)
			}
		})
	}
}

func TestDaysOfASpreadsheetSince1904(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	since := true
	if err := book.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &since}); err != nil {
		t.Fatal(err)
	}
	for i, row := range [][]any{{"URL", "Views", "Posted"}, {"https://youtu.be/AAAAAAAAS05", 5, 44377}} {
		if err := book.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.xlsx")
	if err := book.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	recs, _ := readPath(t, path, Options{})
	if len(recs) != 1 || recs[0].PostedAt == nil || *recs[0].PostedAt != 1751328000000 {
		t.Errorf("got %+v, want one video of 2025-07-01", recs)
	}
}

// zeros is a text of many zeros, or of any other byte.
type zeros struct {
	c    byte
	left int64
}

func (z *zeros) Read(p []byte) (int, error) {
	if z.left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.left)
	for i := range p[:n] {
		p[i] = z.c
	}
	z.left -= n
	return int(n), nil
}

// TestBombsEnd reads files that were made to exhaust a reader: each ends with a reason, in
// bounded memory.
func TestBombsEnd(t *testing.T) {
	const limit = 256 << 20
	bomb := func(name string, c byte, size int64) string {
		path := filepath.Join(t.TempDir(), "a.zip")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		writer := zip.NewWriter(file)
		out, err := writer.Create(name)
		if err == nil {
			_, err = io.Copy(out, &zeros{c, size})
		}
		if err != nil || writer.Close() != nil || file.Close() != nil {
			t.Fatal(err)
		}
		return path
	}
	nested := func(inner ...string) string {
		files := map[string]string{}
		for i, path := range inner {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[fmt.Sprintf("inner%d.zip", i)] = string(text)
		}
		return packedFile(t, "outer.zip", files)
	}
	plain := func(text io.Reader) string {
		path := filepath.Join(t.TempDir(), "a.csv")
		file, err := os.Create(path)
		if err == nil {
			_, err = io.Copy(file, text)
		}
		if err != nil || file.Close() != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		path   string
		reason Reason
	}{
		"a zip of one long line":          {bomb("a.csv", 'a', 200<<20), Unreadable},
		"a zip of brackets":               {bomb("a.json", '[', 100<<20), Malformed},
		"a zip of quotes":                 {bomb("a.csv", '"', 100<<20), Unreadable},
		"a million columns":               {plain(io.MultiReader(strings.NewReader("externalId"), strings.NewReader(strings.Repeat(",a", 1_000_000)), strings.NewReader("\n1\n"))), Unreadable},
		"a quote that never closes":       {plain(io.MultiReader(strings.NewReader("platform,externalId,caption\nyoutube,AAAAAAAAA01,\""), &zeros{'a', 64 << 20})), TooLong},
		"a line without an end":           {plain(&zeros{'a', 256 << 20}), Unreadable},
		"a workbook that is none":         {bomb("xl/workbook.xml", ' ', 64<<20), Unreadable},
		"a zip in a zip":                  {nested(bomb("a.csv", 'a', 200<<20)), Unreadable},
		"zips that are too much together": {nested(bomb("a.csv", '"', 40<<20), bomb("a.csv", '"', 40<<20)), TooLong},
		"a zip in a zip of quotes":        {nested(bomb("a.csv", '"', 200<<20)), TooLong},
		"a spreadsheet of one letter":     {bomb("a.xlsx", 'x', 100<<20), TooLong},
	} {
		t.Run(name, func(t *testing.T) {
			runtime.GC() // what earlier files left
			var most uint64
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-stop:
						return
					case <-time.After(20 * time.Millisecond):
						var mem runtime.MemStats
						runtime.ReadMemStats(&mem)
						most = max(most, mem.HeapAlloc)
					}
				}
			}()
			recs, report := readPath(t, c.path, Options{})
			close(stop)
			<-done
			if len(recs) != 0 || report.Count(c.reason) == 0 {
				t.Errorf("got %d records, %+v; want none and a reason %s", len(recs), report.Skips, c.reason)
			}
			if most > limit {
				t.Errorf("got %d MiB held, want at most %d", most>>20, limit>>20)
			}
		})
	}
}
