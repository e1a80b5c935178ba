package formats

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const jsonMap = `{
  "columns": {"externalId": "video.ref", "handle": "by.name", "postedAt": "when", "caption": "text", "hashtags": "tags", "views": "stats.plays", "likes": "stats.hearts", "durationSeconds": "secs"},
  "constants": {"platform": "tiktok"},
  "metadata": {"campaign": "our.campaign"},
  "sourceUrl": "https://www.tiktok.com/@{handle}/video/{externalId}",
  "filter": {"maxDurationSeconds": 60, "equals": {"status": ["public"]}}
}`

// TestColumnMapsReadJSON reads objects in no known format by a column map whose columns
// are paths.
func TestColumnMapsReadJSON(t *testing.T) {
	t.Parallel()
	const whole = `{"video":{"ref":"7301"},"by":{"name":"maya"},"when":"2026-03-01T10:00:00Z","text":"Slow bar","tags":["coffee","v60"],"stats":{"plays":12000,"hearts":"340"},"secs":31,"our":{"campaign":"spring"},"status":"public"}`
	const want = `{"platform":"tiktok","externalId":"7301","sourceUrl":"https://www.tiktok.com/@maya/video/7301","postedAt":1772359200000,"source":{"handle":"maya"},` +
		`"metadata":{"caption":"Slow bar","hashtags":["coffee","v60"],"durationSeconds":31,"campaign":"spring"},"metrics":{"views":12000,"likes":340}}`
	for name, c := range map[string]struct {
		file, text string
		want       []string
		skips      map[Reason]Skip
	}{
		"a line each": {"a.jsonl", whole + "\n", []string{want}, nil},
		"a list":      {"a.json", "[" + whole + "]", []string{want}, nil},
		"an object that a known format would take for its id": {
			"a.jsonl", `{"id":"x","video":{"ref":"9"},"secs":1,"status":"public","text":""}` + "\n",
			[]string{`{"platform":"tiktok","externalId":"9","sourceUrl":"https://www.tiktok.com/@/video/9","metadata":{"caption":"","durationSeconds":1},"metrics":{}}`},
			nil,
		},
		"one of a known format, read as that": {
			"a.jsonl", `{"platform":"youtube","externalId":"q","metrics":{"views":1}}` + "\n",
			[]string{`{"platform":"youtube","externalId":"q","metrics":{"views":1}}`},
			nil,
		},
		"reasons name the line, the field and the rule": {
			"a.jsonl", `{"video":{"ref":"1"},"secs":1,"status":"draft"}` + "\n" + `{"video":{"ref":"2"},"secs":61,"status":"public"}` + "\n" + `{"video":{"ref":" "},"secs":1,"status":"public"}` + "\n" + `{"stats":{}}` + "\n",
			nil,
			map[Reason]Skip{
				Filtered:    {Filtered, 2, 1, "status: not one of the values of the map's filter"},
				NoID:        {NoID, 1, 3, `externalId: "" is missing or cannot name a video`},
				UnknownForm: {UnknownForm, 1, 4, "an object in no known format"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readFS(t, fstest.MapFS{c.file: {Data: []byte(c.text)}, c.file + ".map.json": {Data: []byte(jsonMap)}}, c.file)
			var got []string
			for _, rec := range recs {
				got = append(got, asJSON(t, rec))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if c.skips == nil {
				c.skips = map[Reason]Skip{}
			}
			if diff := cmp.Diff(c.skips, report.Skips); diff != "" {
				t.Errorf("skips (-want +got):\n%s", diff)
			}
		})
	}
}
