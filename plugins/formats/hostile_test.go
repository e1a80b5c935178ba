package formats

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"github.com/scrollery/scrollery/plugins/stage"
)

func idsOf(recs []stage.Record) string {
	var ids []string
	for _, rec := range recs {
		ids = append(ids, rec.ExternalID)
	}
	return strings.Join(ids, " ")
}

// item is a good one, in the form of TikTok's pages.
func item(id int) string {
	return fmt.Sprintf(`{"id":"%d","desc":"a","createTime":1704499196,"stats":{"playCount":%d}}`, id, id)
}

// TestDamageCostsItself breaks one value in every layout: the values around it are read.
func TestDamageCostsItself(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", sniffed)
	for name, c := range map[string]struct{ text, ids, said string }{
		"lines, one without its end":    {item(1) + "\n" + `{"id":"9","desc":"cut` + "\n" + item(2) + "\n", "1 2", "malformed 1 at 2"},
		"lines, the first is broken":    {`{"id":"9","desc":"cut` + "\n" + item(1) + "\n" + item(2) + "\n", "1 2", "malformed 1 at 1"},
		"lines, the last is cut":        {item(1) + "\n" + item(2)[:30], "1", "truncated 1 at 2"},
		"a list a line each":            {"[\n" + item(1) + ",\n" + `{"id":"9",` + "\n" + item(2) + "\n]", "1 2", "malformed 1 at 3"},
		"an indented list":              {"[\n  " + strings.ReplaceAll(item(1), ",", ",\n    ") + ",\n  {\n    \"id\": \"9,\n    \"a\": {}\n  },\n  " + item(2) + "\n]", "1 2", "malformed 1 at 6"},
		"brackets that do not match":    {"[\n  " + item(1) + ",\n  {\"id\": [}},\n  " + item(2) + "\n]", "1 2", "malformed 1 at 3"},
		"a word that is none":           {"[" + item(1) + `,{"id":nope},` + item(2) + "]", "1 2", "malformed 1 at 1"},
		"a list that is cut":            {"[" + item(1) + "," + item(2) + "," + item(3)[:20], "1 2", "truncated 1 at 1"},
		"an answer that is cut":         {`{"itemList":[` + item(1) + "," + item(2) + `,{"id"`, "1 2", "truncated 1 at 1"},
		"very long lines, one unclosed": {`{"id":"9","desc":"` + long + `",` + "\n" + item(1) + "\n" + item(2) + "\n", "1 2", "malformed 1 at 1"},
		"very long lines, one nested":   {`{"id":"9","x":"` + long + `","author":{"a":` + "\n" + item(1) + "\n" + item(2) + "\n", "1 2", "malformed 1 at 1"},
		"wrong kinds everywhere":        {`{"id":["1"],"desc":{},"createTime":[],"stats":[]}` + "\n" + `{"id":"2","createTime":1,"desc":7,"author":[1],"stats":{"playCount":{}}}`, "2", "unknown_format 1 at 1"},
		"a name twice":                  {`{"id":"8","id":"1","desc":"a","createTime":1,"stats":{"playCount":1}}`, "1", ""},
		"scalars":                       {`[1,"a",null,` + item(1) + `]`, "1", "malformed 2 at 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "sample", c.text)
			if diff := cmp.Diff(c.ids, idsOf(recs)); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
			said := strings.SplitN(summary(report), "\n", 2)[1]
			if !strings.HasPrefix(said, c.said) || (c.said == "") != (said == "") {
				t.Errorf("got the report %q, want %q", said, c.said)
			}
			for _, rec := range recs {
				if rec.ExternalID == "2" && name == "wrong kinds everywhere" && rec.Metrics.Views != nil {
					t.Errorf("got %d views of an object, want none", *rec.Metrics.Views)
				}
			}
		})
	}
}

// TestTooLongIsPassed passes a value above the limit and reads the next.
func TestTooLongIsPassed(t *testing.T) {
	t.Parallel()
	long := `{"id":"9","x":"` + strings.Repeat("x", documentLimit) + `"}`
	for name, text := range map[string]string{"in a list": "[" + item(1) + "," + long + "," + item(2) + "]", "in a line": item(1) + "\n" + long + "\n" + item(2)} {
		t.Run(name, func(t *testing.T) {
			recs, report := readText(t, "sample", text)
			if idsOf(recs) != "1 2" || report.Count(TooLong) != 1 || report.Skipped() != 1 {
				t.Errorf("got %q, %d too long, %d skipped, want \"1 2\", 1 and 1", idsOf(recs), report.Count(TooLong), report.Skipped())
			}
		})
	}
}

// TestWrappings reads the same lines in whatever they are wrapped.
func TestWrappings(t *testing.T) {
	t.Parallel()
	text := item(1) + "\r\n" + item(2) + "\r\n"
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write([]byte(text)); err != nil || zip.Close() != nil {
		t.Fatal(err)
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{"plain": text, "gzip": packed.String(), "UTF-16": wide, "BOM": "\xef\xbb\xbf" + text} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if recs, report := readText(t, "sample", in); idsOf(recs) != "1 2" || report.Skipped() != 0 {
				t.Errorf("got %q, %d skipped (%q), want \"1 2\" and none", idsOf(recs), report.Skipped(), report.Notes)
			}
		})
	}
	recs, report := readText(t, "sample.gz", packed.String()[:packed.Len()-12])
	if report.Count(Truncated) != 1 {
		t.Errorf("half a gzip: %q, %+v, want 1", idsOf(recs), report)
	}
	_, report = readText(t, "posts.json.xz", "\xfd7zXZ\x00more")
	if report.Count(Unreadable) != 1 {
		t.Errorf("xz: %+v, want 1", report)
	}
}

func TestOneFormatOnly(t *testing.T) {
	t.Parallel()
	text := item(1) + "\n" + `{"code":"AAAA","media_type":2,"user":{"username":"a"},"taken_at":1714471176}`
	for format, want := range map[Format]string{TikTokWeb: "1", InstagramWeb: "AAAA", Zeeschuimer: ""} {
		t.Run(string(format), func(t *testing.T) {
			var recs []stage.Record
			report, err := ReadStream(t.Context(), strings.NewReader(text), "-", Options{Format: format}, func(rec stage.Record) error {
				recs = append(recs, rec)
				return nil
			})
			if err != nil || idsOf(recs) != want || report.Skipped() != 2-len(recs) {
				t.Errorf("got %q, %+v, %v, want %q and the rest skipped", idsOf(recs), report, err, want)
			}
		})
	}
}

func FuzzFormats(f *testing.F) {
	f.Add(item(1) + "\n" + item(2))
	f.Add(`{"data":{"videos":[` + item(1) + `]},"error":{"code":"ok"}}`)
	f.Add(`{"source_platform":"tiktok.com","data":` + item(1) + `}`)
	f.Add(`[{"shortCode":"a","type":"Video"},{"code":"a","media_type":2},{"shortcode":"a","is_video":true},{"id":"1","media_type":"VIDEO","permalink":"https://instagram.com/p/a/"}]`)
	f.Add(`{"kind":"youtube#searchListResponse","items":[{"kind":"youtube#searchResult","id":{"videoId":"a"},"snippet":{}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		recs, report := readText(t, "sample", text)
		if len(recs) != report.Videos {
			t.Errorf("got %d records, want the %d that were counted", len(recs), report.Videos)
		}
		for _, rec := range recs {
			if repairs, err := rec.Clean(); err != nil || repairs.JSON > 0 {
				t.Errorf("%q: got %v, %+v, want no refusal and no repaired JSON", rec.ExternalID, err, repairs)
			}
		}
	})
}
