package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/scrollery/scrollery/modules/kernel/api"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
	"github.com/scrollery/scrollery/proto/gen/scrollery/v1/scrolleryv1connect"
)

// withKey is a context whose calls carry the key.
func withKey(key string) context.Context {
	ctx, info := connect.NewClientContext(context.Background())
	info.RequestHeader().Set("Authorization", "Bearer "+key)
	return ctx
}

// h2c is a client that speaks HTTP/2 without TLS, as gRPC needs it.
func h2c() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols}}
}

// protocols are the clients of every protocol but REST.
func protocols(b *bundle) map[string]struct {
	client  connect.HTTPClient
	options []connect.ClientOption
} {
	type entry = struct {
		client  connect.HTTPClient
		options []connect.ClientOption
	}
	return map[string]entry{
		"Connect proto": {b.server.Client(), nil},
		"Connect JSON":  {b.server.Client(), []connect.ClientOption{connect.WithProtoJSON()}},
		"gRPC":          {h2c(), []connect.ClientOption{connect.WithGRPC()}},
		"gRPC-Web":      {b.server.Client(), []connect.ClientOption{connect.WithGRPCWeb()}},
		"gRPC JSON":     {h2c(), []connect.ClientOption{connect.WithGRPC(), connect.WithProtoJSON()}},
	}
}

func clients(b *bundle) map[string]scrolleryv1connect.ScrollsServiceClient {
	out := map[string]scrolleryv1connect.ScrollsServiceClient{}
	for name, p := range protocols(b) {
		out[name] = scrolleryv1connect.NewScrollsServiceClient(p.client, b.server.URL, p.options...)
	}
	return out
}

func detailOf(err error) *scrolleryv1.Error {
	var failed *connect.Error
	if !errors.As(err, &failed) || len(failed.Details()) != 1 {
		return nil
	}
	value, err := failed.Details()[0].Value()
	if err != nil {
		return nil
	}
	detail, _ := value.(*scrolleryv1.Error)
	return detail
}

func TestRPCMeetsTheSameBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, p := range protocols(b) {
		library := scrolleryv1connect.NewLibraryServiceClient(p.client, b.server.URL, p.options...)
		limit := int32(26)
		_, err := library.GetHooks(withKey("good"), &scrolleryv1.GetHooksRequest{Limit: &limit})
		if detail := detailOf(err); connect.CodeOf(err) != connect.CodeInvalidArgument || detail.GetError() != "invalid_request" ||
			len(detail.Issues) != 1 || detail.Issues[0].Path != "limit" {
			t.Errorf("%s: %v %v", name, err, detailOf(err))
		}
		value, _ := structpb.NewValue(map[string]any{"note": []any{"a", 1, "c\x00"}})
		id := "v\x00"
		_, err = library.AnnotateLibraryVideo(withKey("good"), &scrolleryv1.AnnotateLibraryVideoRequest{VideoId: &id, AgentMetadata: value})
		if detail := detailOf(err); detail == nil || len(detail.Issues) != 3 {
			t.Errorf("%s: %v %v", name, err, detail)
		}
		id = "v"
		value, _ = structpb.NewValue(map[string]any{"note": []any{"a"}, "b": "<é>"})
		if _, err = library.AnnotateLibraryVideo(withKey("good"), &scrolleryv1.AnnotateLibraryVideoRequest{VideoId: &id, AgentMetadata: value}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := string(b.fake.raw); got != `{"b":"<é>","note":["a"]}` {
			t.Errorf("%s: %s", name, got)
		}
		null := structpb.NewNullValue()
		if _, err = library.AnnotateLibraryVideo(withKey("good"), &scrolleryv1.AnnotateLibraryVideoRequest{VideoId: &id, AgentMetadata: null}); err != nil || string(b.fake.raw) != "null" {
			t.Errorf("%s: null: %v %s", name, err, b.fake.raw)
		}
	}
}

func TestRPCRefusalsCarryTheDetail(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RateLimit, c.KeyBurst, c.KeyRate = true, 100, 1 })
	for name, client := range clients(b) {
		for key, want := range map[string]struct {
			code   connect.Code
			error  string
			status string
		}{
			"unknown": {connect.CodeUnauthenticated, "unauthorized", "forbidden"},
			"ended":   {connect.CodeUnauthenticated, "auth_required", "forbidden"},
			"reader":  {connect.CodePermissionDenied, "forbidden", "forbidden"},
			"lapsed":  {connect.CodeFailedPrecondition, "subscription_required", "subscription_required"},
			"drained": {connect.CodeResourceExhausted, "rate_limited", "rate_limited"},
		} {
			before := b.events.count()
			_, err := client.CreateScroll(withKey(key), &scrolleryv1.CreateScrollRequest{})
			if connect.CodeOf(err) != want.code || detailOf(err).GetError() != want.error {
				t.Errorf("%s, %s: %v %v", name, key, err, detailOf(err))
			}
			if e := b.events.last(t); b.events.count() != before+1 || e.Status != want.status || e.Op != "createScroll" {
				t.Errorf("%s, %s: event %+v", name, key, e)
			}
			var failed *connect.Error
			if errors.As(err, &failed); key == "drained" && failed.Meta().Get("Retry-After") != "90" {
				t.Errorf("%s: %v", name, failed.Meta())
			}
			if failed.Meta().Get("Ratelimit") == "" || failed.Meta().Get("X-Request-Id") == "" {
				t.Errorf("%s, %s: %v", name, key, failed.Meta())
			}
		}
	}
}

func TestStreamOnEveryProtocol(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, client := range clients(b) {
		before, id := b.events.count(), "scr_1"
		stream, err := client.WatchScroll(withKey("good"), &scrolleryv1.WatchScrollRequest{Id: &id})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var seen []string
		for stream.Receive() {
			seen = append(seen, stream.Msg().Scroll.Status)
		}
		if stream.Err() != nil || strings.Join(seen, " ") != "queued completed" {
			t.Errorf("%s: %v %v", name, seen, stream.Err())
		}
		_ = stream.Close()
		if e := b.events.last(t); b.events.count() != before+1 || e.Status != "ok" || e.Units != 1 {
			t.Errorf("%s: event %+v", name, e)
		}
		refused, err := client.WatchScroll(withKey("good"), &scrolleryv1.WatchScrollRequest{})
		if err == nil {
			refused.Receive()
			err = refused.Err()
		}
		if detailOf(err).GetError() != "invalid_request" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPageOnBothDoors(t *testing.T) {
	t.Parallel()
	b := setup(t)
	released := 0
	body := `{"hooks":[{"video":{"id":"v1","platform":"tiktok","externalId":"1","sourceUrl":"","postedAt":null,"firstSeenAt":1,"lastSeenAt":2,"source":null,"agentMetadata":null,"metadata":{"big":12345678901234567890,"b":1,"a":null},"metrics":{"views":1,"likes":null,"comments":null,"shares":null,"saves":null,"observedAt":null}},"visual":null,"spoken":"hi","onScreenText":null,"version":3}]}`
	b.fake.page = api.Rendered{Body: []byte(body), NextPageToken: "next", ETag: "r1-25", Done: func() { released++ }}
	got := b.call(t, "GET", "/v1/hooks", "good", "")
	if got.body != body || got.header.Get("Etag") != `"r1-25"` {
		t.Errorf("%v %s", got.header, got.body)
	}
	for tag, status := range map[string]int{`"r1-25"`: 304, `W/"r1-25"`: 304, `"a", "r1-25"`: 304, `*`: 304, `"r1-2"`: 200} {
		if again := b.call(t, "GET", "/v1/hooks", "good", "", "If-None-Match", tag); again.status != status || (status == 304) != (again.body == "") {
			t.Errorf("%s: %d %s", tag, again.status, again.body)
		}
	}
	if e := b.events.last(t); e.Units != 1 || e.Status != "ok" {
		t.Errorf("event %+v", e)
	}
	for name, p := range protocols(b) {
		library := scrolleryv1connect.NewLibraryServiceClient(p.client, b.server.URL, p.options...)
		page, err := library.GetHooks(withKey("good"), &scrolleryv1.GetHooksRequest{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		hook := page.Hooks[0]
		if page.NextPageToken != "next" || hook.Video.Id != "v1" || hook.Video.PostedAt != nil || hook.GetSpoken() != "hi" || hook.Version != 3 {
			t.Errorf("%s: %v", name, page)
		}
	}
	if released != 11 {
		t.Errorf("the buffer was given back %d times", released)
	}
}

func TestUnreadableMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct {
		contentType, body string
		status            int
		detail            bool
	}{
		"bad JSON":       {"application/json", `{"text":`, 400, true},
		"wrong type":     {"application/json", `{"text":1}`, 400, true},
		"bad protobuf":   {"application/proto", "\xff\xff", 400, true},
		"empty JSON":     {"application/json", ``, 400, true},
		"unknown fields": {"application/json", `{"text":"a","later":{}}`, 200, false},
		"unknown codec":  {"application/xml", `<a/>`, 415, false},
		"too large":      {"application/json", `{"text":"` + strings.Repeat("a", 2<<20) + `"}`, 400, true},
	} {
		before := b.events.count()
		got := b.call(t, "POST", "/scrollery.v1.RulesService/PutRules", "good", c.body, "Content-Type", c.contentType)
		if got.status != c.status || strings.Contains(got.body, `"scrollery.v1.Error"`) != c.detail {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		want := "error"
		if c.status == 200 {
			want = "ok"
		}
		if e := b.events.last(t); b.events.count() != before+1 || e.Status != want {
			t.Errorf("%s: event %+v", name, e)
		}
	}
}

func TestConnectGet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.call(t, "GET", "/scrollery.v1.RulesService/GetRules?connect=v1&encoding=json&message=%7B%7D", "good", "")
	if got.status != 200 || got.body != "{}" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestReflection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, version := range []string{"v1", "v1alpha"} {
		// ServerReflectionRequest{list_services: ""} in a gRPC frame.
		request, _ := http.NewRequest("POST", b.server.URL+"/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo",
			strings.NewReader("\x00\x00\x00\x00\x02\x3a\x00"))
		request.Header.Set("Content-Type", "application/grpc")
		request.Header.Set("Te", "trailers")
		response, err := h2c().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if !strings.Contains(string(body), "scrollery.v1.LibraryService") {
			t.Errorf("%s: %q %v", version, body, response.Trailer)
		}
	}
}
