package formats

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

// now is a Friday noon, as good as any.
const now = 1795262400000

func readText(t testing.TB, name, text string) ([]stage.Record, Report) {
	t.Helper()
	return readFS(t, fstest.MapFS{name: {Data: []byte(text)}}, name)
}

func readFS(t testing.TB, files fs.FS, names ...string) ([]stage.Record, Report) {
	t.Helper()
	var recs []stage.Record
	report, err := Read(context.Background(), files, names, Options{Now: now}, func(rec stage.Record) error {
		recs = append(recs, rec)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return recs, report
}

// broken are those that were no video and not too long.
func (r Report) broken() int { return r.Skipped() - r.Count(TooLong) }

// asJSON is a record as the tests compare it.
func asJSON(t testing.TB, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line, want string
		doubtful         int
	}{
		{
			"the language of cues", `{"platform":"tiktok","externalId":"1","evidence":{"language":"de"},"cues":[{"start":0,"end":9,"text":"ja"}]}`,
			`{"platform":"tiktok","externalId":"1","metrics":{},"evidence":{"language":"de"},"cues":[{"start":0,"end":9,"text":"ja"}]}`, 0,
		},
		{"a language that is none", `{"platform":"tiktok","externalId":"1","evidence":{"language":"german"}}`, `{"platform":"tiktok","externalId":"1","metrics":{}}`, 0},
		{"the least", `{"platform":"TikTok","externalId":"1"}`, `{"platform":"tiktok","externalId":"1","metrics":{}}`, 0},
		{
			"all", `{"platform":"tiktok","externalId":"1","sourceUrl":"https://a.example/1","postedAt":5,"creatorId":7,"source":{"kind":"own","handle":"@a","seededBy":"b"},` +
				`"metadata":{"z":1.0,"caption":"x","a":[9007199254740993]},"metrics":{"views":3,"likes":2,"comments":1,"shares":0,"saves":null,"observedAt":9,"semantics":"exact"},` +
				`"evidence":{"spoken":"hi","onScreenText":"","visual":{"summary":"s"},"language":"EN-us"},"cues":[{"start":0,"end":9,"text":"hi"}],"stickers":[{"text":"s"}],"keys":[{"key":"term:x"}]}`,
			`{"platform":"tiktok","externalId":"1","sourceUrl":"https://a.example/1","postedAt":5,"creatorId":"7","source":{"kind":"own","handle":"@a","seededBy":"b"},` +
				`"metadata":{"z":1.0,"caption":"x","a":[9007199254740993]},"metrics":{"views":3,"likes":2,"comments":1,"shares":0,"observedAt":9,"semantics":"exact"},` +
				`"evidence":{"visual":{"summary":"s"},"spoken":"hi","onScreenText":"","language":"en"},"cues":[{"start":0,"end":9,"text":"hi"}],"stickers":[{"text":"s"}],"keys":[{"key":"term:x","label":"term:x"}]}`, 0,
		},
		{"an id above 2^53", `{"platform":"tiktok","externalId":7620034020465855766}`, `{"platform":"tiktok","externalId":"7620034020465855766","metrics":{}}`, 0},
		{"counts that are none", `{"platform":"x","externalId":"1","metrics":{"views":-1,"likes":1.5,"comments":1e99,"shares":"12","saves":"many"}}`, `{"platform":"x","externalId":"1","metrics":{"shares":12}}`, 4},
		{"NUL and halves of pairs", `{"platform":"x","externalId":"1","metadata":{"caption":"a\u0000b\ud800c\ud83d\ude00\\u0000"}}`, `{"platform":"x","externalId":"1","metadata":{"caption":"a\ufffdb\ufffdc\ud83d\ude00\\u0000"},"metrics":{}}`, 0},
		{"invalid bytes", "{\"platform\":\"x\",\"externalId\":\"1\",\"creatorId\":\"a\xffb\x00\"}", `{"platform":"x","externalId":"1","creatorId":"a` + "\ufffd" + `b` + "\ufffd" + `","metrics":{}}`, 0},
		{
			"tags of the caption", `{"platform":"x","externalId":"1","metadata":{"caption":"#Kaffe #kaffe #日本 #1 www.a.com/#b c#d"}}`,
			`{"platform":"x","externalId":"1","metadata":{"caption":"#Kaffe #kaffe #日本 #1 www.a.com/#b c#d"},"metrics":{},"keys":[{"key":"hashtag:kaffe","label":"#Kaffe"},{"key":"hashtag:日本","label":"#日本"},{"key":"hashtag:d","label":"#d"}]}`, 0,
		},
		{"listed tags", `{"platform":"x","externalId":"1","metadata":{"caption":"#a","hashtags":[]}}`, `{"platform":"x","externalId":"1","metadata":{"caption":"#a","hashtags":[]},"metrics":{}}`, 0},
		{"an address of no page", `{"platform":"x","externalId":"1","sourceUrl":"javascript:alert(1)"}`, `{"platform":"x","externalId":"1","metrics":{}}`, 1},
		{"a time in words", `{"platform":"x","externalId":"1","postedAt":"2026-01-02T03:04:05Z"}`, `{"platform":"x","externalId":"1","postedAt":1767323045000,"metrics":{}}`, 0},
		{"days ago are for the sample only", `{"platform":"x","externalId":"1","postedDaysAgo":3}`, `{"platform":"x","externalId":"1","metrics":{}}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "a.jsonl", c.line+"\r\n")
			if len(recs) != 1 || report.Skipped() != 0 {
				t.Fatalf("got %d records, %d skipped (%q), want 1 and none", len(recs), report.Skipped(), report.Notes)
			}
			if diff := cmp.Diff(c.want, asJSON(t, recs[0])); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if report.Doubtful != c.doubtful {
				t.Errorf("got %d doubtful values, want %d", report.Doubtful, c.doubtful)
			}
		})
	}
}

func TestBrokenLinesAreCounted(t *testing.T) {
	t.Parallel()
	good := `{"platform":"x","externalId":"%d"}`
	lines := []string{
		"\xef\xbb\xbf" + fmt.Sprintf(good, 1), "", "  ", `{"platform":"x"}`, `{"externalId":"1"}`, `{`, `[]`, `null`, `7`, fmt.Sprintf(good, 2) + " {}",
		`{"platform":"a b","externalId":"1"}`, `{"platform":"x","externalId":"a b"}`, `{"platform":"x","externalId":1.5e1}`, fmt.Sprintf(good, 3),
		`{"platform":"x","externalId":"long","creatorId":"` + strings.Repeat("a", LineLimit) + `"}`,
		`{"platform":"x","externalId":"deep","metadata":{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}}`,
		fmt.Sprintf(good, 4),
	}
	recs, report := readText(t, "a.ndjson", strings.Join(lines, "\n"))
	ids := ""
	for _, rec := range recs {
		ids += rec.ExternalID + " "
	}
	if ids != "1 1.5e1 3 4 " || report.broken() != 10 || report.Count(TooLong) != 1 {
		t.Errorf(`read %q, %d broken, %d long: %q, want ids "1 1.5e1 3 4 ", broken 10 and count 1`, ids, report.broken(), report.Count(TooLong), report.Notes)
	}
}

func TestLineOfExactlyOneMebibyte(t *testing.T) {
	t.Parallel()
	head, tail := `{"platform":"x","externalId":"1","note":"`, `"}`
	for _, c := range []struct{ extra, want int }{{0, 1}, {1, 0}} {
		t.Run(fmt.Sprintf("%d bytes above it give %d records", c.extra, c.want), func(t *testing.T) {
			t.Parallel()
			line := head + strings.Repeat("a", LineLimit-len(head)-len(tail)+c.extra) + tail
			recs, report := readText(t, "a.jsonl", line+"\r\n")
			if long := report.Count(TooLong); len(recs) != c.want || long != 1-c.want {
				t.Errorf("got %d records and %d too long, want %d and %d", len(recs), long, c.want, 1-c.want)
			}
		})
	}
}

const infoJSON = `{"id":"abc","title":"A #Short","description":"More #words","extractor_key":"Youtube","webpage_url":"https://www.youtube.com/shorts/abc","timestamp":1700000000,
 "duration":31.5,"uploader_id":"@maker","channel_id":"UC1","channel":"Maker","view_count":10,"like_count":null,"comment_count":3,"formats":[{"url":"https://cdn.example/x"}],"epoch":1700000100}`

func TestInfoJSON(t *testing.T) {
	t.Parallel()
	want := `{"platform":"youtube","externalId":"abc","sourceUrl":"https://www.youtube.com/shorts/abc","postedAt":1700000000000,"creatorId":"UC1","source":{"handle":"@maker"},` +
		`"metadata":{"caption":"A #Short","description":"More #words","hashtags":["Short","words"],"durationSeconds":31.5,"channel":"Maker"},"metrics":{"views":10,"comments":3,"observedAt":1700000100000}}`
	oneLine := strings.ReplaceAll(infoJSON, "\n", "")
	for name, text := range map[string]string{
		"a.info.json": infoJSON, "b.jsonl": oneLine, "c.json": "[" + infoJSON + "]",
		"d.json":  `{"_type":"playlist","id":"p","entries":[` + infoJSON + `,null]}`,
		"e.jsonl": `{"_type":"playlist","id":"p","entries":[` + oneLine + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, name, text)
			if len(recs) != 1 || report.Skipped() != 0 {
				t.Fatalf("got %d records, %d skipped (%q), want 1 and none", len(recs), report.Skipped(), report.Notes)
			}
			if diff := cmp.Diff(want, asJSON(t, recs[0])); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFlatPlaylists(t *testing.T) {
	t.Parallel()
	recs, _ := readText(t, "tiktok.json", `{"_type":"playlist","id":"x","uploader":"maker","extractor_key":"TikTokUser","entries":[
	 {"_type":"url","ie_key":"TikTok","id":7620034020465855766,"url":"https://www.tiktok.com/@maker/video/7620034020465855766","title":"hi","uploader":"maker","channel_id":"MS4w","view_count":5,"repost_count":2,"save_count":1,"timestamp":1700000000,"track":"song"}]}`)
	want := `{"platform":"tiktok","externalId":"7620034020465855766","sourceUrl":"https://www.tiktok.com/@maker/video/7620034020465855766","postedAt":1700000000000,"creatorId":"MS4w","source":{"handle":"maker"},` +
		`"metadata":{"caption":"hi","soundTitle":"song"},"metrics":{"views":5,"shares":2,"saves":1}}`
	if len(recs) != 1 || asJSON(t, recs[0]) != want {
		t.Errorf("got %s, want one record, %s", asJSON(t, recs), want)
	}
	recs, _ = readText(t, "youtube.json", `{"_type":"playlist","id":"UC1","channel_id":"UC1","uploader_id":"@maker","entries":[{"_type":"url","ie_key":"Youtube","id":"abc","url":"https://www.youtube.com/shorts/abc","title":"t","view_count":1200000,"uploader":null}],"extractor_key":"YoutubeTab"}`)
	if len(recs) != 1 || recs[0].Source.Handle != "@maker" || recs[0].CreatorID != "UC1" || recs[0].Metrics.Semantics != "rounded" {
		t.Errorf(`got %s, want 1 rec, Handle "@maker", CreatorID "UC1" and Semantics "rounded"`, asJSON(t, recs))
	}
}

func TestCSVWithMap(t *testing.T) {
	t.Parallel()
	csvMap := `{"columns":{"externalId":"id","views":"v","caption":"text","postedAt":"when","durationSeconds":"len","hashtags":"tags","handle":"who"},
	 "constants":{"platform":"instagram","kind":"competitor"},"metadata":{"board":"extra"},"timeLayouts":["Jan 2, 2006 3:04 pm"],"timeZone":"Asia/Taipei","sourceUrl":"https://www.instagram.com/reel/{externalId}/"}`
	text := "\xef\xbb\xbfid,who,v,text,when,len,tags,extra\r\n" +
		"a1,@m,12,\"one, \"\"two\"\"\nthree #x\",\"Jan 29, 2024 4:32 am\",1:05,\"['fyp', 'love']\",b\r\n" +
		"a2,,,,,P0D,,\r\n" +
		"a3,@m,-4,\xff,yesterday,PT1M28S,[],\r\n" +
		"too,few\r\n" +
		"a4,@m,\"5\"x,a,,,,\r\n" +
		",@m,5,a,,,,\r\n"
	recs, report := readFS(t, fstest.MapFS{"in/a.csv": {Data: []byte(text)}, "in/a.csv.map.json": {Data: []byte(csvMap)}}, "in/a.csv")
	want := []string{
		`{"platform":"instagram","externalId":"a1","sourceUrl":"https://www.instagram.com/reel/a1/","postedAt":1706473920000,"source":{"kind":"competitor","handle":"@m"},"metadata":{"caption":"one, \"two\"\nthree #x","hashtags":["fyp","love"],"durationSeconds":65,"board":"b"},"metrics":{"views":12}}`,
		`{"platform":"instagram","externalId":"a2","sourceUrl":"https://www.instagram.com/reel/a2/","source":{"kind":"competitor"},"metadata":{"caption":""},"metrics":{}}`,
		`{"platform":"instagram","externalId":"a3","sourceUrl":"https://www.instagram.com/reel/a3/","source":{"kind":"competitor","handle":"@m"},"metadata":{"caption":"` + "\ufffd" + `","durationSeconds":88},"metrics":{}}`,
	}
	if len(recs) != len(want) || report.broken() != 3 || report.Doubtful != 2 {
		t.Fatalf("got %d records, %d broken, %d doubtful, want %d, 3 and 2: %q", len(recs), report.broken(), report.Doubtful, len(want), report.Notes)
	}
	var got []string
	for _, rec := range recs {
		got = append(got, asJSON(t, rec))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestCSVWithoutMap(t *testing.T) {
	t.Parallel()
	recs, _ := readText(t, "a.csv", "Platform,externalid,VIEWS,ignored\ntiktok,7,8,x\n")
	if len(recs) != 1 || *recs[0].Metrics.Views != 8 {
		t.Errorf("got %s, want 1 rec and Views 8", asJSON(t, recs))
	}
	recs, report := readText(t, "a.csv", "video,count\n7,8\n")
	if len(recs) != 0 || report.broken() != 1 || !strings.Contains(strings.Join(report.Notes, ""), "column map is needed") {
		t.Errorf(`%d records, %+v, want no recs, broken 1 and text with "column map is needed"`, len(recs), report)
	}
}

func TestLostQuoteCostsOneLine(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("platform,externalId,caption\nx,1,\"never closed\n")
	for i := 2; i < 40000; i++ {
		fmt.Fprintf(&text, "x,%d,some more text to fill the megabyte\n", i)
	}
	recs, report := readText(t, "a.csv", text.String())
	if len(recs) != 39998 || report.Count(TooLong) != 1 {
		t.Errorf("got %d records and %d too long, want 39998 and 1", len(recs), report.Count(TooLong))
	}
}

func TestMapFaultsAreSaidAtOnce(t *testing.T) {
	t.Parallel()
	_, err := ParseMap([]byte(`{"columns":{"nope":"x"},"timeZone":"Mars/Base","durationUnit":"fortnights"}`))
	for _, want := range []string{`"nope"`, "platform", "externalId", "Mars/Base", "fortnights"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %s", err, want)
		}
	}
	if _, err := ParseMap([]byte(`{"column":{}}`)); err == nil {
		t.Error("an unknown property is taken, want an error")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.jsonl", `{"platform":"x","externalId":"1","metadata":{"caption":"\ud800#a"}}`)
	f.Add("a.json", infoJSON)
	f.Add("a.json", `{"entries":[{"id":"1","ie_key":"TikTok"}]}`)
	f.Add("a.csv", "platform,externalId,caption\nx,1,\"a\"\"b\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		if formOf(name) == "" || !fs.ValidPath(name) {
			name = "a.jsonl"
		}
		recs, _ := readText(t, name, text)
		for _, rec := range recs {
			repairs, err := rec.Clean()
			if err != nil || repairs.JSON > 0 {
				t.Errorf("%q: got %v, %+v, want no refusal and no repaired JSON", rec.ExternalID, err, repairs)
			}
		}
	})
}

func TestCaptionTagsCountWithoutAList(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"caption":"a #tag"}`:                                              "hashtag:tag",
		`{"caption":"a #tag","hashtags":["other"]}`:                         "",
		`{"caption":"a #tag","hashtags" : []}`:                              "",
		`{"caption":"a #tag","hashtags":"none"}`:                            "hashtag:tag",
		`{"caption":"a #tag","hash\u0074ags":["other"]}`:                    "",
		`{"caption":"a #tag","of":{"hashtags":["other"]}}`:                  "hashtag:tag",
		`{"caption":"a #tag","of":["hashtags",["other"]]}`:                  "hashtag:tag",
		`{"caption":"a #tag","of":"hashtags","list":["other"]}`:             "hashtag:tag",
		`{"caption":"a #tag \"hashtags\":[","a \"hashtags":["other"]}`:      "hashtag:tag",
		`{"caption":"a #tag \\","b":"}\"","c":[{}],"hashtags":[" quoted"]}`: "",
	} {
		got := ""
		if keys := captionKeys(json.RawMessage(metadata)); len(keys) > 0 {
			got = keys[0].Key
		}
		if got != want {
			t.Errorf("%s: got key %q, want %q", metadata, got, want)
		}
	}
}

func TestDepthIsThatOutsideOfStrings(t *testing.T) {
	deep := strings.Repeat("[", 70)
	for text, want := range map[string]error{
		`{"a":"` + deep + `"}`:                                  nil,
		`{"a":"\"` + deep + `"}`:                                nil,
		`{"a":"\\","b":"` + deep + `"}`:                         nil,
		`{"a\\\"":"","b":"` + deep + `"}`:                       nil,
		`{"a":"\\","b":` + deep + strings.Repeat("]", 70) + `}`: errTooDeep,
		`{"a":"\"","b":` + deep + strings.Repeat("]", 70) + `}`: errTooDeep,
	} {
		if _, err := usable(jsontext.Value(text)); err != want {
			t.Errorf("%s: got %v, want %v", text, err, want)
		}
	}
}
