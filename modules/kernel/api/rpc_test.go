package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
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

// issuePaths returns the sorted paths of the issues in an error's detail.
func issuePaths(err error) []string {
	var found []string
	for _, issue := range detailOf(err).GetIssues() {
		found = append(found, issue.Path)
	}
	slices.Sort(found)
	return found
}

func TestRPCMeetsTheSameBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, p := range protocols(b) {
		library := scrolleryv1connect.NewLibraryServiceClient(p.client, b.server.URL, p.options...)
		limit := int32(26)
		_, err := library.GetHooks(withKey("good"), &scrolleryv1.GetHooksRequest{Limit: &limit})
		check(t, name+": code", connect.CodeInvalidArgument, connect.CodeOf(err))
		check(t, name+": error", "invalid_request", detailOf(err).GetError())
		check(t, name+": paths of the issues", []string{"limit"}, issuePaths(err))
		value, _ := structpb.NewValue(map[string]any{"note": []any{"a", 1, "c\x00"}})
		id := "v\x00"
		_, err = library.AnnotateLibraryVideo(withKey("good"), &scrolleryv1.AnnotateLibraryVideoRequest{VideoId: &id, AgentMetadata: value})
		check(t, name+": paths of the issues", []string{"agentMetadata.note[1]", "agentMetadata.note[2]", "videoId"}, issuePaths(err))
		id = "v"
		value, _ = structpb.NewValue(map[string]any{"note": []any{"a"}, "b": "<é>"})
		if _, err = library.AnnotateLibraryVideo(withKey("good"), &scrolleryv1.AnnotateLibraryVideoRequest{VideoId: &id, AgentMetadata: value}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		check(t, name+": raw text", `{"b":"<é>","note":["a"]}`, string(b.fake.raw))
		null := structpb.NewNullValue()
		if _, err = library.AnnotateLibraryVideo(withKey("good"), &scrolleryv1.AnnotateLibraryVideoRequest{VideoId: &id, AgentMetadata: null}); err != nil {
			t.Errorf("%s: null: %v", name, err)
		}
		check(t, name+": raw text of null", "null", string(b.fake.raw))
	}
}

func TestRPCRefusalsCarryTheDetail(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RateLimit, c.AccountBurst, c.AccountRate = true, 100, 1 })
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
			t.Run(key, func(t *testing.T) {
				before := b.events.count()
				_, err := client.CreateScroll(withKey(key), &scrolleryv1.CreateScrollRequest{})
				what := name + ", " + key + ": "
				check(t, what+"code", want.code, connect.CodeOf(err))
				check(t, what+"error", want.error, detailOf(err).GetError())
				check(t, what+"events", before+1, b.events.count())
				check(t, what+"operation", "createScroll", b.events.last(t).Op)
				check(t, what+"status of the event", want.status, b.events.last(t).Status)
				var failed *connect.Error
				if !errors.As(err, &failed) {
					t.Fatalf("%s: got %v, want an error of Connect", what, err)
				}
				if key == "drained" {
					check(t, what+"Retry-After", "90", failed.Meta().Get("Retry-After"))
				}
				for _, header := range []string{"Ratelimit", "X-Request-Id"} {
					check(t, what+header+" is missing", false, failed.Meta().Get(header) == "")
				}
			})
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
		if err := stream.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		check(t, name+": messages", []string{"queued", "completed"}, seen)
		_ = stream.Close()
		check(t, name+": events", before+1, b.events.count())
		check(t, name+": event", outcome{Op: "watchScroll", Status: "ok", Account: 1, Units: 1}, b.events.outcome(t))
		refused, err := client.WatchScroll(withKey("good"), &scrolleryv1.WatchScrollRequest{})
		if err == nil {
			refused.Receive()
			err = refused.Err()
		}
		check(t, name+": error without an id", "invalid_request", detailOf(err).GetError())
	}
}

func TestPageOverEveryProtocol(t *testing.T) {
	t.Parallel()
	b := setup(t)
	released := 0
	body := `{"hooks":[{"video":{"id":"v1","platform":"tiktok","externalId":"1","sourceUrl":"","postedAt":null,"firstSeenAt":1,"lastSeenAt":2,"source":null,"agentMetadata":null,"metadata":{"big":12345678901234567890,"b":1,"a":null},"metrics":{"views":1,"likes":null,"comments":null,"shares":null,"saves":null,"observedAt":null}},"visual":null,"spoken":"hi","onScreenText":null,"version":3}]}`
	b.fake.page = api.Rendered{Body: []byte(body), NextPageToken: "next", ETag: "r1-25", Done: func() { released++ }}
	got := b.call(t, "GET", "/v1/hooks", "good", "")
	check(t, "body", body, got.body)
	check(t, "Etag", `"r1-25"`, got.header.Get("Etag"))
	for tag, status := range map[string]int{`"r1-25"`: 304, `W/"r1-25"`: 304, `"a", "r1-25"`: 304, `*`: 304, `"r1-2"`: 200} {
		again := b.call(t, "GET", "/v1/hooks", "good", "", "If-None-Match", tag)
		check(t, "status of "+tag, status, again.status)
		check(t, "body of "+tag+" is empty", status == 304, again.body == "")
	}
	check(t, "event", outcome{Op: "getHooks", Status: "ok", Account: 1, Units: 1}, b.events.outcome(t))
	for name, p := range protocols(b) {
		library := scrolleryv1connect.NewLibraryServiceClient(p.client, b.server.URL, p.options...)
		page, err := library.GetHooks(withKey("good"), &scrolleryv1.GetHooksRequest{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		check(t, name+": token", "next", page.NextPageToken)
		hook := page.Hooks[0]
		check(t, name+": id", "v1", hook.Video.Id)
		check(t, name+": postedAt is set", false, hook.Video.PostedAt != nil)
		check(t, name+": spoken", "hi", hook.GetSpoken())
		check(t, name+": version", int32(3), hook.Version)
	}
	check(t, "calls of Done", 11, released)
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
		t.Run(name, func(t *testing.T) {
			before := b.events.count()
			got := b.call(t, "POST", "/scrollery.v1.RulesService/PutRules", "good", c.body, "Content-Type", c.contentType)
			check(t, "status", c.status, got.status)
			check(t, "the body has a detail", c.detail, strings.Contains(got.body, `"scrollery.v1.Error"`))
			want := "error"
			if c.status == 200 {
				want = "ok"
			}
			check(t, "events", before+1, b.events.count())
			check(t, "status of the event", want, b.events.last(t).Status)
		})
	}
}

func TestConnectGet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.call(t, "GET", "/scrollery.v1.RulesService/GetRules?connect=v1&encoding=json&message=%7B%7D", "good", "")
	check(t, "status", 200, got.status)
	check(t, "body", "{}", got.body)
}

func TestReflection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, version := range []string{"v1", "v1alpha"} {
		t.Run(version, func(t *testing.T) {
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
				t.Errorf(`%s: %q %v, want with "scrollery.v1.LibraryService"`, version, body, response.Trailer)
			}
		})
	}
}
