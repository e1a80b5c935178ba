package ytdlp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// shortsPage is a channel's page as YouTube serves it, with so many Shorts.
func shortsPage(n int) string {
	var items []any
	for i := range n {
		id := fmt.Sprintf("short%06d", i)
		items = append(items, map[string]any{"richItemRenderer": map[string]any{"content": map[string]any{"reelItemRenderer": map[string]any{
			"videoId": id, "headline": map[string]any{"simpleText": fmt.Sprintf("Short %d #beans", i)},
			"viewCountText":      map[string]any{"simpleText": "1.2M views"},
			"navigationEndpoint": map[string]any{"commandMetadata": map[string]any{"webCommandMetadata": map[string]any{"url": "/shorts/" + id}}},
		}}}})
	}
	data, _ := json.Marshal(map[string]any{
		"metadata": map[string]any{"channelMetadataRenderer": map[string]any{
			"title": "Beans", "externalId": "UCaaaaaaaaaaaaaaaaaaaaaa", "vanityChannelUrl": "http://www.youtube.com/@beans",
		}},
		"contents": map[string]any{"twoColumnBrowseResultsRenderer": map[string]any{"tabs": []any{map[string]any{"tabRenderer": map[string]any{
			"selected": true, "title": "Shorts",
			"endpoint": map[string]any{"commandMetadata": map[string]any{"webCommandMetadata": map[string]any{"url": "/@beans/shorts"}}},
			"content":  map[string]any{"richGridRenderer": map[string]any{"contents": items}},
		}}}}},
	})
	return "<html><script>var ytInitialData = " + string(data) + ";</script></html>"
}

// TestRealProgram has the installed yt-dlp read pages of a local server.
func TestRealProgram(t *testing.T) {
	real(t)
	w := newWeb(t, func(out http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host == "www.youtube.com" && r.URL.Path == "/@beans/shorts":
			_, _ = io.WriteString(out, shortsPage(5))
		case r.URL.Path == "/@busy/shorts":
			out.WriteHeader(http.StatusTooManyRequests)
		case r.URL.Path == "/@changed/shorts":
			_, _ = io.WriteString(out, "<html>a page of another kind</html>")
		default:
			http.NotFound(out, r)
		}
	})
	call := w.call(t)
	records, outcomes, err := stagetest.Collect(t, Spec(), call, []stage.Seed{
		{Kind: "competitor", Platform: "youtube", Handle: "beans", Limit: 3},
		{Kind: "competitor", Platform: "youtube", Handle: "nobody"},
		{Kind: "competitor", Platform: "instagram", Handle: "beans"},
		{Kind: "niche", Platform: "tiktok", Term: "espresso"},
		{Kind: "competitor", Platform: "youtube", Handle: "../../watch?v=1"},
		{Kind: "competitor", Platform: "youtube", Handle: "busy"},
		{Kind: "competitor", Platform: "youtube", Handle: "beans"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []stage.Status{stage.OK, stage.NotFound, stage.Unsupported, stage.Unsupported, stage.Unsupported, stage.Quota, stage.Quota}
	for i, o := range outcomes {
		if i >= len(want) || o.Status != want[i] {
			t.Errorf("outcome %d: got %+v, want %v", i, o, want[min(i, len(want)-1)])
		}
		if o.Status == stage.NotFound && !strings.Contains(o.Detail, "yt-dlp 20") {
			t.Errorf("got detail %q, want the version in it", o.Detail)
		}
		if o.Status == stage.Quota && o.RetryAt == nil {
			t.Errorf("got %+v, want a time to retry", o)
		}
	}
	if len(records) != 3 || outcomes[0].Returned != 3 {
		t.Fatalf("got %d records, outcomes %+v; want 3 records and 3 returned", len(records), outcomes)
	}
	first := records[0]
	if first.ExternalID != "short000000" || first.SourceURL != "https://www.youtube.com/shorts/short000000" || first.Seed != "beans" ||
		first.Metrics.Views == nil || *first.Metrics.Views != 1_200_000 || first.Metrics.Semantics != "rounded" || first.Metrics.Likes != nil ||
		first.Source.Handle == "" {
		t.Errorf("got %+v %+v %s, want short000000 at its address, from the seed beans, with about 1,200,000 views, likes unknown and a handle", first, first.Source, first.Metadata)
	}
	for _, host := range w.hosts {
		if host != "www.youtube.com:443" {
			t.Errorf("got a connection to %s, want www.youtube.com:443 alone", host)
		}
	}
}

// TestRealProgramLeavesNothingBehind if there is nothing to fetch.
func TestRealProgramLeavesNothingBehind(t *testing.T) {
	real(t)
	w := newWeb(t, func(out http.ResponseWriter, r *http.Request) { http.NotFound(out, r) })
	call := w.call(t)
	call.Scratch = t.TempDir()
	files, outcomes, err := stagetest.Media(t, Spec(), call, []stage.Ref{{Platform: "youtube", ExternalID: "abcdefghijk"}, {Platform: "tiktok", ExternalID: "../etc"}})
	if err != nil || len(files) != 0 || len(outcomes) != 2 {
		t.Fatalf("got %d files, outcomes %+v, error %v; want no file and 2 outcomes", len(files), outcomes, err)
	}
	if left, _ := filepath.Glob(filepath.Join(call.Scratch, "media-*")); len(left) > 0 {
		t.Errorf("got %v left behind, want nothing", left)
	}
}
