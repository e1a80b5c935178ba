package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/modules/kernel/api"
	scrolleryv1 "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const serviceDescription = `</openapi.json>; rel="service-desc"`

func TestCachesAreToldWhatToStore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	claim := `{"claimToken":"claim_0123456789abcdef"}`
	for _, c := range []struct{ name, method, path, key, body, want string }{
		{"a tenant's answer", "GET", "/v1/rules", "good", "", "private, no-cache"},
		{"a tenant's write", "PUT", "/v1/rules", "good", `{"text":"a"}`, "private, no-cache"},
		{"a tenant's refusal", "PUT", "/v1/rules", "good", `{}`, "private, no-cache"},
		{"HEAD of a tenant's answer", "HEAD", "/v1/rules", "good", "", "private, no-cache"},
		{"a public answer", "GET", "/v1/pricing", "", "", "no-cache"},
		{"HEAD of a public answer", "HEAD", "/v1/pricing", "", "", "no-cache"},
		{"an unknown path", "GET", "/v1/nothing", "", "", "no-cache"},
		{"a claim", "POST", "/v1/subscribe/claim", "", claim, "no-store"},
		{"a checkout", "POST", "/v1/subscribe", "", `{"billingInterval":"annual"}`, "no-store"},
		{"a new key", "POST", "/v1/api_keys/reissue", "", `{"email":"a@example.org","code":"123456"}`, "no-store"},
		{"the description", "GET", "/openapi.json", "", "", "no-cache"},
		{"a tenant's answer on Connect", "POST", "/scrollery.v1.RulesService/GetRules", "good", `{}`, "private, no-cache"},
		{"a session key on Connect", "POST", "/scrollery.v1.KeysService/CreateSessionKey", "good", `{}`, "no-store"},
		{"a public answer on Connect", "POST", "/scrollery.v1.BillingService/GetPricing", "", `{}`, "no-cache"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := b.call(t, c.method, c.path, c.key, c.body)
			check(t, "Cache-Control", []string{c.want}, got.header.Values("Cache-Control"))
		})
	}
}

func TestHeadHasTheHeadersOfGet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fake.page = api.Rendered{Body: []byte(`{"hooks":[]}`), ETag: "r1"}
	for _, path := range []string{"/v1/rules", "/v1/pricing", "/v1/hooks", "/v1/hooks?limit=0", "/v1/nothing", "/openapi.json"} {
		t.Run(path, func(t *testing.T) {
			encoding := []string{"Accept-Encoding", "gzip"} // the client sends it with GET alone
			get, head := b.call(t, "GET", path, "good", "", encoding...), b.call(t, "HEAD", path, "good", "", encoding...)
			check(t, "status", get.status, head.status)
			check(t, "body", "", head.body)
			for _, own := range []string{"Date", "X-Request-Id"} {
				get.header.Del(own)
				head.header.Del(own)
			}
			check(t, "headers", get.header, head.header)
		})
	}
}

func TestEveryAnswerNamesTheDescription(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct{ method, path, key string }{
		{"GET", "/v1/health", ""},
		{"GET", "/v1/rules", "good"},
		{"GET", "/v1/rules", ""},
		{"DELETE", "/v1/rules", "good"},
		{"OPTIONS", "/v1/rules", ""},
		{"GET", "/v1/nothing", ""},
		{"GET", "/v1", ""},
		{"GET", "/v1/hooks?limit=0", "good"},
	} {
		t.Run(c.method+" "+c.path+" by "+c.key, func(t *testing.T) {
			got := b.call(t, c.method, c.path, c.key, "")
			check(t, "Link", serviceDescription, got.header.Get("Link"))
			for _, name := range []string{"Ratelimit", "Ratelimit-Policy"} {
				check(t, name+" is missing", false, got.header.Get(name) == "")
			}
		})
	}
	t.Run("a 404 names it in words", func(t *testing.T) {
		want := "There is nothing at this path; /openapi.json describes what there is."
		check(t, "message", any(want), b.call(t, "GET", "/v1/nothing", "", "").json(t)["message"])
	})
}

func TestOnlyListedOriginsMayRead(t *testing.T) {
	t.Parallel()
	const listed = "https://app.example.org"
	b := setup(t, func(c *api.Config) { c.Origins = []string{listed} })
	preflight := []string{"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization", "Origin"}
	t.Run("a listed origin may ask and read", func(t *testing.T) {
		got := b.call(t, "OPTIONS", "/v1/rules", "", "", append(preflight, listed)...)
		check(t, "status", http.StatusNoContent, got.status)
		check(t, "methods", "GET, HEAD, PUT", got.header.Get("Access-Control-Allow-Methods"))
		check(t, "origin", listed, got.header.Get("Access-Control-Allow-Origin"))
		got = b.call(t, "GET", "/v1/rules", "good", "", "Origin", listed)
		check(t, "status", 200, got.status)
		check(t, "origin", listed, got.header.Get("Access-Control-Allow-Origin"))
		check(t, "headers are exposed", false, got.header.Get("Access-Control-Expose-Headers") == "")
		check(t, "Vary", "Origin", got.header.Get("Vary"))
	})
	t.Run("so may it on Connect", func(t *testing.T) {
		got := b.call(t, "OPTIONS", "/scrollery.v1.RulesService/PutRules", "", "", append(preflight, listed)...)
		check(t, "status", http.StatusNoContent, got.status)
		check(t, "methods", "POST", got.header.Get("Access-Control-Allow-Methods"))
	})
	t.Run("another origin may not", func(t *testing.T) {
		got := b.call(t, "OPTIONS", "/v1/rules", "", "", append(preflight, "https://evil.example.org")...)
		check(t, "status", 405, got.status)
		check(t, "origin", "", got.header.Get("Access-Control-Allow-Origin"))
	})
	t.Run("none may by default", func(t *testing.T) {
		got := setup(t).call(t, "OPTIONS", "/v1/rules", "", "", append(preflight, listed)...)
		check(t, "status", 405, got.status)
		check(t, "origin", "", got.header.Get("Access-Control-Allow-Origin"))
	})
	t.Run("what is no origin is refused at start", func(t *testing.T) {
		for _, origin := range []string{"*", "null", "app.example.org", "https://app.example.org/", "https://App.example.org", "ftp://a.example.org"} {
			cfg := api.Defaults()
			cfg.Origins = []string{origin}
			check(t, origin+" is refused", true, cfg.Validate() != nil)
		}
	})
}

func TestRetryAfterOfASuccess(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fake.do = func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		api.RetryAfter(ctx, 1500*time.Millisecond)
		return &scrolleryv1.ClaimSubscriptionResponse{Status: "pending"}, nil
	}
	body := `{"claimToken":"claim_0123456789abcdef"}`
	for _, path := range []string{"/v1/subscribe/claim", "/scrollery.v1.BillingService/ClaimSubscription"} {
		got := b.call(t, "POST", path, "", body)
		check(t, path+": status", 200, got.status)
		check(t, path+": Retry-After", "2", got.header.Get("Retry-After"))
	}
}
