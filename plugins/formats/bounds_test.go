package formats

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/plugins/stage"
)

// TestLongLinesLoseNoVideo reads lines of exactly the limit.
func TestLongLinesLoseNoVideo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ head, unit, tail string }{
		"metadata":  {`{"platform":"x","externalId":"1","metadata":{"caption":"c","note":"`, "a", `"}}`},
		"a caption": {`{"platform":"x","externalId":"1","metadata":{"caption":"`, "#a ", `"}}`},
		"a text":    {`{"platform":"x","externalId":"1","evidence":{"spoken":"`, "a", `"}}`},
		"cues":      {`{"platform":"x","externalId":"1","cues":[`, `{"start":1,"text":"` + strings.Repeat("a", 900) + `"},`, `{"start":2,"text":"b"}]}`},
		"bad bytes": {`{"platform":"x","externalId":"1","creatorId":"`, "\xff", `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := c.head + strings.Repeat(c.unit, (LineLimit-len(c.head)-len(c.tail))/len(c.unit)) + c.tail
			line += strings.Repeat(" ", LineLimit-len(line))
			recs, report := readText(t, "a.jsonl", line+"\n")
			if len(recs) != 1 || report.Skipped() != 0 {
				t.Fatalf("got %d records, %d skipped (%q), want 1 and none", len(recs), report.Skipped(), report.Notes)
			}
			if n := size(recs[0]); n > recordLimit {
				t.Errorf("got a record of %d bytes, want at most %d", n, recordLimit)
			}
			if want := strings.Contains(c.head, "metadata"); recs[0].Trimmed != want {
				t.Errorf("got trimmed %v, want %v", recs[0].Trimmed, want)
			}
		})
	}
}

func TestNamesThatMeetLoseNoVideo(t *testing.T) {
	t.Parallel()
	line := `{"platform":"x","externalId":"1","metadata":{"a\u0000":1,"a` + "\xff" + `":2,"b":{"` + "\x00" + `":3,"\ufffd":4}},"x\u0000":1,"x\ufffd":2}`
	for _, name := range []string{"a.jsonl", "a.json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, name, line)
			if len(recs) != 1 || report.Skipped() != 0 {
				t.Fatalf("got %d records, %d skipped (%q), want 1 and none", len(recs), report.Skipped(), report.Notes)
			}
			var meta, want any
			unmarshal(t, recs[0].Metadata, &meta)
			unmarshal(t, []byte(`{"a\ufffd":1,"b":{"\ufffd":3}}`), &want)
			if diff := cmp.Diff(want, meta); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDateOfTikTokIsReadFromTheID(t *testing.T) {
	t.Parallel()
	const id, day, byID = "7320768196569599275", 1_704_412_800_000, 1_704_499_171_000
	csv := func(platform, posted string) string {
		return "platform,externalId,postedAt\n" + platform + "," + id + "," + posted + "\n"
	}
	for name, c := range map[string]struct {
		file, text string
		want       int64
	}{
		"a day in a table":          {"a.csv", csv("tiktok", "2024-01-05"), byID},
		"a day of another platform": {"a.csv", csv("vimeo", "2024-01-05"), day},
		"a time in a table":         {"a.csv", csv("tiktok", "2024-01-05 00:00:00"), day},
		"yt-dlp's day":              {"a.jsonl", `{"id":"` + id + `","extractor_key":"TikTok","upload_date":"20240105"}`, byID},
		"yt-dlp's time":             {"a.jsonl", `{"id":"` + id + `","extractor_key":"TikTok","timestamp":1704412800}`, day},
		"a page's day":              {"a.jsonl", `{"id":"` + id + `","createTime":"2024-01-05","desc":"a","author":"b","stats":{}}`, byID},
		"a page's number is a time": {"a.jsonl", `{"id":"` + id + `","createTime":1704412800,"desc":"a","author":"b","stats":{}}`, day},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, c.file, c.text)
			if len(recs) != 1 || recs[0].PostedAt == nil {
				t.Fatalf("got %s, skipped %q, want 1 rec and PostedAt not nil", fmt.Sprint(recs), report.Notes)
			}
			if got := *recs[0].PostedAt; got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestRepairedIDNamesNoVideo(t *testing.T) {
	t.Parallel()
	recs, report := readText(t, "a.jsonl", `{"platform":"x","externalId":"a\u0000b"}`+"\n"+`{"platform":"x","externalId":"ab"}`)
	if len(recs) != 1 || recs[0].Ref != (stage.Ref{Platform: "x", ExternalID: "ab"}) || report.Count(NoID) != 1 {
		t.Errorf("got %+v, %d without an id, want ab and 1", recs, report.Count(NoID))
	}
}

func unmarshal(t *testing.T, raw []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatal(err)
	}
}
