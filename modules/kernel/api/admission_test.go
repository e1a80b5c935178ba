package api_test

import (
	"errors"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/api"
)

func TestRefusalsComeInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Tiers = map[string]string{"getTrends": "max", "getOutliers": "starter"} })
	bad := `{"x":1}`
	cases := []struct {
		name, method, path, key, body string
		status                        int
		code, event                   string
		fields                        map[string]any
	}{
		{"unknown path", "GET", "/v1/nothing", "", "", 404, "not_found", "", nil},
		{"wrong method", "DELETE", "/v1/rules", "", "", 405, "method_not_allowed", "", nil},
		{"no key", "PUT", "/v1/rules", "", bad, 401, "unauthorized", "forbidden", map[string]any{"subscribeUrl": "https://api.scrollery.test/v1/subscribe"}},
		{"unknown key", "PUT", "/v1/rules", "unknown", bad, 401, "unauthorized", "forbidden", nil},
		{"no key on an older one", "POST", "/v1/agent", "", bad, 401, "unauthorized", "forbidden", map[string]any{"signupUrl": "https://api.scrollery.test/v1/signup"}},
		{"ended session", "PUT", "/v1/rules", "ended", bad, 401, "auth_required", "forbidden", nil},
		{"key not looked up", "PUT", "/v1/rules", "broken", bad, 409, "operation_error", "error", nil},
		{"scope before input", "PUT", "/v1/rules", "reader", bad, 403, "forbidden", "forbidden", map[string]any{"requiredScope": "rules:write", "grantedScopes": []any{"library:read"}}},
		{"tier before subscription", "GET", "/v1/trends?x=1", "lapsed", "", 403, "tier_required", "forbidden", map[string]any{"requiredTier": "max", "currentTier": "none"}},
		{"lower tier", "GET", "/v1/trends", "good", "", 403, "tier_required", "forbidden", map[string]any{"requiredTier": "max", "currentTier": "starter", "subscribeUrl": "https://api.scrollery.test/v1/subscribe"}},
		{"subscription before input", "PUT", "/v1/rules", "lapsed", bad, 402, "subscription_required", "subscription_required", map[string]any{"subscribeUrl": "https://api.scrollery.test/v1/subscribe"}},
		{"budget before input", "PUT", "/v1/rules", "drained", bad, 429, "rate_limited", "rate_limited", map[string]any{"retryAfter": 90.0}},
		{"input", "PUT", "/v1/rules", "good", bad, 400, "invalid_request", "error", nil},
		{"spent budget, usage answers", "GET", "/v1/usage", "drained", "", 200, "", "ok", nil},
		{"spent budget, events answer", "GET", "/v1/events", "drained", "", 200, "", "ok", nil},
		{"no subscription, rules are read", "GET", "/v1/rules", "lapsed", "", 200, "", "ok", nil},
		{"public with an unknown key", "GET", "/v1/health", "unknown", "", 200, "", "ok", nil},
		{"public with a key not looked up", "GET", "/v1/health", "broken", "", 200, "", "ok", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := b.events.count()
			got := b.call(t, c.method, c.path, c.key, c.body)
			if got.status != c.status {
				t.Fatalf("%d %s", got.status, got.body)
			}
			body := got.json(t)
			if code, _ := body["error"].(string); code != c.code {
				t.Errorf("code %q: %s", code, got.body)
			}
			for name, want := range c.fields {
				if !equal(body[name], want) {
					t.Errorf("%s: %v, want %v", name, body[name], want)
				}
			}
			if c.event == "" {
				if b.events.count() != before {
					t.Error("an event was recorded")
				}
				return
			}
			if e := b.events.last(t); b.events.count() != before+1 || e.Status != c.event || (c.status != 200 && e.Units != 0) {
				t.Errorf("event %+v", e)
			}
		})
	}
}

func TestMethodsAndPaths(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/health/", "//v1/health", "/v1//health", "/v1/./health", "/V1/health", "/v1/%68ealth", "/v1%2Fhealth", "/checkout/x"} {
		if got := b.call(t, "GET", path, "", ""); got.status != 404 || got.json(t)["error"] != "not_found" || got.header.Get("Location") != "" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	for path, allow := range map[string]string{
		"/v1/workspace": "GET, HEAD, POST, PUT", "/v1/health": "GET, HEAD", "/v1/subscribe": "POST",
		"/scrollery.v1.RulesService/PutRules": "POST",
	} {
		for _, method := range []string{"DELETE", "PATCH", "OPTIONS"} {
			if got := b.call(t, method, path, "", ""); got.status != 405 || got.header.Get("Allow") != allow {
				t.Errorf("%s %s: %d, allow %q", method, path, got.status, got.header.Get("Allow"))
			}
		}
	}
	if got := b.call(t, "HEAD", "/v1/health", "", ""); got.status != 200 || got.body != "" || b.events.last(t).Op != "getHealth" {
		t.Errorf("HEAD: %d %q", got.status, got.body)
	}
}

func TestBearer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for header, status := range map[string]int{
		"Bearer good": 200, "bearer good": 200, "BEARER  good ": 200,
		"good": 401, "Basic good": 401, "Bearer": 401, "Bearer ": 401, "Bearer good x": 401,
	} {
		got := b.call(t, "GET", "/v1/rules", "", "", "Authorization", header)
		if got.status != status {
			t.Errorf("%q: %d %s", header, got.status, got.body)
		}
		if status == 401 && got.header.Get("Www-Authenticate") != "Bearer" {
			t.Errorf("%q: no challenge", header)
		}
	}
}

func TestPublicCallsAreAttributed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.call(t, "GET", "/v1/health", "good", "")
	if e := b.events.last(t); e.Viewer == nil || e.Viewer.AccountID != 1 || e.Units != 0 {
		t.Errorf("event %+v", e)
	}
}

func TestKeyRate(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RateLimit, c.KeyBurst, c.KeyRate = true, 3, 0.5 })
	for left := 2; left >= 0; left-- {
		got := b.call(t, "GET", "/v1/rules", "good", "")
		if got.status != 200 || got.header.Get("Ratelimit-Policy") != `"key";q=3;w=6` ||
			got.header.Get("Ratelimit") != `"key";r=`+strconv.Itoa(left)+`;t=`+strconv.Itoa(2*(3-left)) {
			t.Errorf("%d %v", got.status, got.header)
		}
	}
	got := b.call(t, "PUT", "/v1/rules", "good", `{"x":1}`)
	if got.status != 429 || got.header.Get("Retry-After") != "2" || got.json(t)["retryAfter"] != 2.0 {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	if e := b.events.last(t); e.Status != "rate_limited" || e.Viewer == nil || e.Units != 0 {
		t.Errorf("event %+v", e)
	}
	if other := b.call(t, "GET", "/v1/rules", "pro", ""); other.status != 200 {
		t.Errorf("another key: %d", other.status)
	}
	if refused := b.call(t, "GET", "/v1/rules", "unknown", ""); refused.status != 401 || refused.header.Get("Ratelimit") == "" {
		t.Errorf("%d %v", refused.status, refused.header)
	}
	if missing := b.call(t, "GET", "/v1/nothing", "", ""); missing.header.Get("Ratelimit-Policy") == "" {
		t.Errorf("%v", missing.header)
	}
}

func TestClientRate(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		c.RateLimit, c.ClientBurst, c.ClientRate = true, 2, 0.01
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
	})
	health := func(forwarded string) int {
		return b.call(t, "GET", "/v1/health", "", "", "X-Forwarded-For", forwarded).status
	}
	for _, c := range []struct {
		forwarded string
		status    int
	}{
		{"203.0.113.1", 200},
		{"198.51.100.9, 203.0.113.1, 10.1.2.3", 200},
		{"203.0.113.1", 429},
		{"203.0.113.2", 200},
		{"2001:db8:1:2:3::1", 200},
		{"2001:db8:1:2:4::1", 200},
		{"2001:db8:1:2:5::1", 429},
		{"2001:db8:1:3::1", 200},
		{"nonsense", 200},
		{"", 200},
		{"10.9.9.9", 200},
		{"203.0.113.3, nonsense", 429},
	} {
		if got := health(c.forwarded); got != c.status {
			t.Errorf("%q: %d, want %d", c.forwarded, got, c.status)
		}
	}
}

func TestForwardedForOfAStrangerIsIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RateLimit, c.ClientBurst, c.ClientRate = true, 1, 0.01 })
	for i, status := range []int{200, 429} {
		got := b.call(t, "GET", "/v1/health", "", "", "X-Forwarded-For", "203.0.113."+strconv.Itoa(i))
		if got.status != status {
			t.Errorf("call %d: %d", i, got.status)
		}
	}
}

func TestMinuteRate(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RateLimit = true })
	for i := range 5 {
		if got := b.call(t, "POST", "/v1/api_keys/recover", "", `{"email":"a@example.com"}`); got.status != 200 {
			t.Fatalf("call %d: %d", i, got.status)
		}
	}
	got := b.call(t, "POST", "/v1/api_keys/recover", "", `{"email":"a@example.com"}`)
	if wait, _ := strconv.Atoi(got.header.Get("Retry-After")); got.status != 429 || wait < 55 || wait > 60 {
		t.Errorf("%d %v", got.status, got.header)
	}
	if got.header.Get("Ratelimit-Policy") != `"client";q=20;w=20, "minute";q=5;w=60` {
		t.Errorf("%v", got.header)
	}
	if other := b.call(t, "GET", "/v1/health", "", ""); other.status != 200 {
		t.Errorf("another operation: %d", other.status)
	}
}

func TestUnitsAndStatus(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if b.call(t, "POST", "/v1/scrolls", "good", `{}`); b.events.last(t).Units != 100 {
		t.Errorf("event %+v", b.events.last(t))
	}
	b.fake.do = existing
	got := b.call(t, "POST", "/v1/scrolls", "good", `{}`)
	if e := b.events.last(t); got.status != 202 || e.Units != 1 || time.Since(e.At) > time.Minute {
		t.Errorf("%d %+v", got.status, e)
	}
}

func TestEventNotWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.events.fail = errors.New("disk full")
	if got := b.call(t, "GET", "/v1/rules", "good", ""); got.status != 409 || got.json(t)["error"] != "operation_error" {
		t.Errorf("a success: %d %s", got.status, got.body)
	}
	if got := b.call(t, "GET", "/v1/rules", "unknown", ""); got.status != 401 {
		t.Errorf("a refusal: %d %s", got.status, got.body)
	}
}
