package formats

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// notionPages is an answer of Notion's API about a database, with pages of such properties.
func notionPages(properties ...string) string {
	var pages []string
	for i, p := range properties {
		pages = append(pages, fmt.Sprintf(`{"object":"page","id":"1f2e3d4c-0000-4000-8000-00000000000%d","created_time":"2026-10-02T00:00:00.000Z","last_edited_time":"2026-10-03T00:00:00.000Z",`+
			`"parent":{"type":"database_id","database_id":"1f2e3d4c"},"archived":false,"properties":{%s},"url":"https://www.notion.so/page-%d"}`, i, p, i))
	}
	return `{"object":"list","results":[` + strings.Join(pages, ",") + `],"next_cursor":null,"has_more":false,"type":"page_or_database","page_or_database":{}}`
}

func TestPagesOfNotion(t *testing.T) {
	t.Parallel()
	const link = `"Link":{"id":"a","type":"url","url":"https://www.tiktok.com/@a.example/video/7521900000000000051"}`
	const read = `{"platform":"tiktok","externalId":"7521900000000000051","sourceUrl":"https://www.tiktok.com/@a.example/video/7521900000000000051",`
	for _, c := range []struct{ name, text, want, said string }{
		{
			"numbers, texts, lists and dates",
			notionPages(link + `,"Views":{"id":"b","type":"number","number":123},"Posted":{"id":"c","type":"date","date":{"start":"2025-07-01","end":null,"time_zone":null}},` +
				`"Caption":{"id":"title","type":"title","title":[{"type":"text","plain_text":"slow "},{"type":"text","plain_text":"pour"}]},"Hashtags":{"id":"d","type":"multi_select","multi_select":[{"name":"coffee"},{"name":"latte"}]}`),
			read + `"postedAt":1751328818000,"source":{"handle":"a.example"},"metadata":{"caption":"slow pour","hashtags":["coffee","latte"]},"metrics":{"views":123}}`,
			"pages of Notion",
		},
		{
			"formulas, rollups, selects and files",
			notionPages(`"Clip":{"type":"files","files":[{"name":"x","type":"external","external":{"url":"https://www.tiktok.com/@a.example/video/7521900000000000051"}}]},"Views":{"type":"formula","formula":{"type":"number","number":123}},` +
				`"Likes":{"type":"rollup","rollup":{"type":"number","number":4,"function":"max"}},"Saves":{"type":"rollup","rollup":{"type":"array","array":[{"type":"formula","formula":{"type":"string","string":"3"}}],"function":"show_original"}},` +
				`"Platform":{"type":"select","select":{"name":"TikTok"}},"Account":{"type":"rich_text","rich_text":[{"plain_text":"@a.example"}]}`),
			read + `"source":{"handle":"@a.example"},"metrics":{"views":123,"likes":4,"saves":3}}`,
			"",
		},
		{
			"a time with its zone beside it",
			notionPages(link + `,"Views":{"type":"number","number":123},"Posted":{"type":"date","date":{"start":"2025-07-01T22:00:00.000","end":null,"time_zone":"America/New_York"}}`),
			read + `"postedAt":1751421600000,"source":{"handle":"a.example"},"metrics":{"views":123}}`,
			"",
		},
		{
			"from and to are no time of a post",
			notionPages(link + `,"Views":{"type":"number","number":123},"Posted":{"type":"date","date":{"start":"2025-07-01","end":"2025-07-09","time_zone":null}}`),
			read + `"source":{"handle":"a.example"},"metrics":{"views":123}}`,
			`such as "2025-07-01/2025-07-09"`,
		},
		{
			"what Notion keeps of a page is not of the video",
			notionPages(`"URL":{"type":"url","url":"https://youtu.be/AAAAAAAAS03"},"Views":{"type":"number","number":123},"Published":{"type":"created_time","created_time":"2026-10-02T00:00:00.000Z"},` +
				`"Creator":{"type":"people","people":[{"object":"user","name":"Ada"}]},"Author":{"type":"created_by","created_by":{"object":"user","name":"Ada"}},"ID":{"type":"unique_id","unique_id":{"prefix":"V","number":3}},"Channel":{"type":"relation","relation":[{"id":"1f2e3d4c"}]}`),
			`{"platform":"youtube","externalId":"AAAAAAAAS03","sourceUrl":"https://youtu.be/AAAAAAAAS03","metrics":{"views":123}}`,
			"are not read",
		},
		{
			"one of several values is not chosen",
			notionPages(link + `,"Views":{"type":"rollup","rollup":{"type":"array","array":[{"type":"number","number":5},{"type":"number","number":6}],"function":"show_original"}}`),
			read + `"source":{"handle":"a.example"},"metrics":{}}`,
			`"Views" has several values`,
		},
		{"pages of something else", notionPages(`"Name":{"type":"title","title":[{"plain_text":"Buy milk"}]},"Views":{"type":"number","number":3}`), "", "unknown_format"},
		{"properties without types", `[{"object":"page","properties":{"Link":"https://youtu.be/AAAAAAAAS03","Views":5}}]`, "", "properties.Views"},
		{"properties of a place", `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"Link":{"type":"url","url":"https://youtu.be/AAAAAAAAS03"},"Views":{"type":"number","number":5}}}]}`, "", "unknown_format"},
		{"the columns of a database", `{"object":"database","properties":{"Link":{"type":"url","url":{}},"Views":{"type":"number","number":{"format":"number"}}}}`, "", "unknown_format"},
		{"an error", `{"object":"error","status":401,"code":"unauthorized","message":"API token is invalid."}`, "", "unknown_format"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recs, report := readText(t, "a.json", c.text)
			got := ""
			if len(recs) > 0 {
				got = asJSON(t, recs[0])
			}
			said := fmt.Sprintf("%v %+v %+v", report.Form, report.Sorted(), report.Columns)
			if diff := cmp.Diff(c.want, got); diff != "" || len(recs) > 1 || !strings.Contains(said, c.said) {
				t.Errorf("got %d records, said %s, want one and %q; -want +got:\n%s", len(recs), said, c.said, diff)
			}
		})
	}
}

// TestMapsOfPagesOfNotion reads pages by maps that name properties, and by those that name members of the answer.
func TestMapsOfPagesOfNotion(t *testing.T) {
	t.Parallel()
	text := notionPages(`"Link":{"type":"url","url":"https://youtu.be/AAAAAAAAS03"},"How often":{"type":"number","number":5}`, `"Link":{"type":"url","url":"https://youtu.be/AAAAAAAAS04"},"How often":{"type":"number","number":6}`)
	for name, columns := range map[string]string{
		"properties": `{"columns":{"sourceUrl":"Link","views":"How often"}}`,
		"members":    `{"columns":{"sourceUrl":"properties.Link.url","views":"properties.How often.number"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recs, report := readFS(t, fstest.MapFS{"a.json": {Data: []byte(text)}, "a.json.map.json": {Data: []byte(columns)}}, "a.json")
			var got []string
			for _, rec := range recs {
				got = append(got, brief(rec))
			}
			if diff := cmp.Diff([]string{"AAAAAAAAS03 5 - - -", "AAAAAAAAS04 6 - - -"}, got); diff != "" {
				t.Errorf("said %v; -want +got:\n%s", report.Form, diff)
			}
		})
	}
}
