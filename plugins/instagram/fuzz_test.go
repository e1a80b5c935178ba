package instagram

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
)

// FuzzPosts: whatever comes, each post that is kept is one that the host takes.
func FuzzPosts(f *testing.F) {
	for _, seed := range []string{
		`{"data":[{"id":"1","shortcode":"Cgood1","media_product_type":"REELS","view_count":"7","timestamp":"2019-09-26T22:36:43+0000"}],"paging":{"cursors":{"after":"x"}}}`,
		`{"data":[{"permalink":"https://www.instagram.com/a/reel/Cgood2/","caption":"\ud83d #x \u0000","like_count":1e300}]}`, `{"data":[null,[],"x"]}`,
	} {
		f.Add([]byte(seed), `{"call_count":80}`)
	}
	f.Fuzz(func(t *testing.T, body []byte, used string) {
		u := usageOf(http.Header{"X-App-Usage": {used}, "X-Business-Use-Case-Usage": {used}})
		if u.regain < 0 || u.percent < 0 {
			t.Fatalf("%+v, want regain at least 0 and percent at least 0", u)
		}
		var page posts
		if json.Unmarshal(body, &page) != nil || page.Data == nil {
			return
		}
		h := &haul{limit: 100, seen: map[string]bool{}}
		h.take = func(record stage.Record) error {
			repairs, fault := record.Clean()
			if fault != nil || repairs.JSON > 0 || repairs.Text > 0 || !json.Valid(record.Metadata) {
				t.Fatalf("%+v: %v %s", repairs, fault, record.Metadata)
			}
			return nil
		}
		_ = h.keep(*page.Data, creator{}, func(media) bool { return true })
	})
}
