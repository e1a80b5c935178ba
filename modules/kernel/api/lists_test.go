package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	"github.com/scrollery/scrollery/proto/gen/openapi"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// read sends a GET with a key, and returns the answer with its body.
func (b *bundle) read(t *testing.T, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer good")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

// TestListsAreDescribed asks every operation that reads for a table: those that the
// OpenAPI document names give one, and no others.
func TestListsAreDescribed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fake.page = api.Rendered{Body: []byte(`{}`)}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Responses   map[string]struct{ Content map[string]any }
		}
	}
	text, err := openapi.Document()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for path, methods := range document.Paths {
		op, reads := methods["get"]
		if _, file := op.Responses["200"].Content["application/zip"]; !reads || file || path == "/v1/scrolls/watch" {
			continue
		}
		_, csv := op.Responses["200"].Content["text/csv"]
		if _, lines := op.Responses["200"].Content["application/x-ndjson"]; csv && lines {
			want = append(want, op.OperationID)
		}
		answer, body := b.read(t, path, "Accept", "text/csv")
		for _, required := range []string{"?videoId=vid_1", "?key=hashtag:a", "?id=scr_1", "?ids=vid_1"} {
			if answer.StatusCode == 400 {
				answer, body = b.read(t, path+required, "Accept", "text/csv")
			}
		}
		switch contentType := answer.Header.Get("Content-Type"); {
		case answer.StatusCode != 200:
			t.Errorf("GET %s: %d %s, want 200", path, answer.StatusCode, body)
		case contentType == "text/csv; charset=utf-8; header=present":
			got = append(got, op.OperationID)
		case contentType != "application/json":
			t.Errorf(`GET %s, want "application/json": %s`, path, contentType)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	check(t, "lists that are described, and those that come as text", want, got)
	for _, id := range []string{"getHooks", "getOutliers", "getTrends", "getLibrary", "listScrolls", "listEvents", "listChanges", "listWebhooks", "listTrends"} {
		if !slices.Contains(got, id) {
			t.Errorf("got the lists %v, want %s among them", got, id)
		}
	}
}

func TestListsComeAsText(t *testing.T) {
	t.Parallel()
	b := setup(t, func(cfg *api.Config) { cfg.Origins = []string{"https://app.test"} })
	next := "page_2"
	b.fake.do = func(context.Context, proto.Message) (proto.Message, error) {
		return &scrolleryv1.ListTemplatesResponse{Templates: []*scrolleryv1.Template{{Name: "=niche", Kinds: []string{"niche"}}}, NextPageToken: &next}, nil
	}
	b.fake.page = api.Rendered{Body: []byte(`{"videos":[{"id":"vid_1",  "caption":"a b"}],"nextCursor":null}`), ETag: "r1"}
	t.Run("a list of messages is a table with a link to the next page", func(t *testing.T) {
		answer, body := b.read(t, "/v1/scrolls/templates?limit=2", "Accept", "text/csv")
		check(t, "table", "name,kinds,stages\n'=niche,\"[\"\"niche\"\"]\",[]\n", body)
		check(t, "links", []string{`</openapi.json>; rel="service-desc"`, `</v1/scrolls/templates?cursor=page_2&limit=2>; rel="next"`}, answer.Header.Values("Link"))
		check(t, "content type", "text/csv; charset=utf-8; header=present", answer.Header.Get("Content-Type"))
		check(t, "Vary", "Origin, Accept", answer.Header.Get("Vary"))
		check(t, "event", outcome{Op: "listTemplates", Status: "ok", Account: 1, Units: 1}, b.events.outcome(t))
	})
	t.Run("a rendered list is lines with an entity tag of their own", func(t *testing.T) {
		plain, _ := b.read(t, "/v1/library")
		lines, body := b.read(t, "/v1/library", "Accept", "application/x-ndjson")
		check(t, "lines", `{"id":"vid_1","caption":"a b"}`+"\n", body)
		check(t, "tags", []string{`"r1"`, `"r1-ndjson"`}, []string{plain.Header.Get("Etag"), lines.Header.Get("Etag")})
		again, _ := b.read(t, "/v1/library", "Accept", "application/x-ndjson", "If-None-Match", `"r1-ndjson"`)
		other, _ := b.read(t, "/v1/library", "Accept", "application/x-ndjson", "If-None-Match", `"r1"`)
		check(t, "statuses with the tags of the lines and of the JSON", []int{304, 200}, []int{again.StatusCode, other.StatusCode})
		check(t, "Vary of JSON", "Origin, Accept", plain.Header.Get("Vary"))
	})
	t.Run("what is not offered is JSON, and so are errors", func(t *testing.T) {
		page, _ := b.read(t, "/v1/library", "Accept", "text/html")
		fault, _ := b.read(t, "/v1/library?nothing=1", "Accept", "text/csv")
		check(t, "statuses", []int{200, 400}, []int{page.StatusCode, fault.StatusCode})
		check(t, "content types", []string{"application/json", "application/json"}, []string{page.Header.Get("Content-Type"), fault.Header.Get("Content-Type")})
	})
	t.Run("a body that is no list is an error without a part of it", func(t *testing.T) {
		broken := setup(t)
		broken.fake.page = api.Rendered{Body: []byte(`{"videos":[{"id":"vid_1"},{]}`)}
		answer, _ := broken.read(t, "/v1/library", "Accept", "text/csv")
		check(t, "status", http.StatusConflict, answer.StatusCode)
	})
}
