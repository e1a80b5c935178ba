package api_test

import (
	"errors"
	"fmt"
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
			check(t, "status", c.status, got.status)
			body := got.json(t)
			code, _ := body["error"].(string)
			check(t, "error", c.code, code)
			for name, want := range c.fields {
				check(t, name, want, body[name])
			}
			if c.event == "" {
				check(t, "events", before, b.events.count())
				return
			}
			check(t, "events", before+1, b.events.count())
			event := b.events.last(t)
			check(t, "event", c.event, event.Status)
			if c.status != 200 {
				check(t, "units of a refusal", 0, event.Units)
			}
		})
	}
}

func TestMethodsAndPaths(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/health/", "//v1/health", "/v1//health", "/v1/./health", "/V1/health", "/v1/%68ealth", "/v1%2Fhealth", "/checkout/x"} {
		t.Run(path+" is not found", func(t *testing.T) {
			got := b.call(t, "GET", path, "", "")
			check(t, "status", 404, got.status)
			check(t, "error", any("not_found"), got.json(t)["error"])
			check(t, "Location", "", got.header.Get("Location"))
		})
	}
	for path, allow := range map[string]string{
		"/v1/workspace": "GET, HEAD, POST, PUT", "/v1/health": "GET, HEAD", "/v1/subscribe": "POST",
		"/scrollery.v1.RulesService/PutRules": "POST",
	} {
		for _, method := range []string{"DELETE", "PATCH", "OPTIONS"} {
			t.Run(method+" "+path+" is not allowed", func(t *testing.T) {
				got := b.call(t, method, path, "", "")
				check(t, "status", 405, got.status)
				check(t, "Allow", allow, got.header.Get("Allow"))
			})
		}
	}
	t.Run("HEAD answers without a body", func(t *testing.T) {
		got := b.call(t, "HEAD", "/v1/health", "", "")
		check(t, "status", 200, got.status)
		check(t, "body", "", got.body)
		check(t, "event", outcome{Op: "getHealth", Status: "ok"}, b.events.outcome(t))
	})
}

func TestBearer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for header, status := range map[string]int{
		"Bearer good": 200, "bearer good": 200, "BEARER  good ": 200,
		"good": 401, "Basic good": 401, "Bearer": 401, "Bearer ": 401, "Bearer good x": 401,
	} {
		t.Run(header, func(t *testing.T) {
			got := b.call(t, "GET", "/v1/rules", "", "", "Authorization", header)
			check(t, "status", status, got.status)
			if status == 401 {
				check(t, "Www-Authenticate", "Bearer", got.header.Get("Www-Authenticate"))
			}
		})
	}
}

func TestPublicCallsAreAttributed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.call(t, "GET", "/v1/health", "good", "")
	check(t, "event", outcome{Op: "getHealth", Status: "ok", Account: 1}, b.events.outcome(t))
}

func TestAccountRate(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RateLimit, c.AccountBurst, c.AccountRate = true, 3, 0.5 })
	for left := 2; left >= 0; left-- {
		key := []string{"good", "session", "good"}[left] // both are of one account
		got := b.call(t, "GET", "/v1/rules", key, "")
		check(t, "status", 200, got.status)
		check(t, "Ratelimit-Policy", `"account";q=3;w=6`, got.header.Get("Ratelimit-Policy"))
		check(t, "Ratelimit", fmt.Sprintf(`"account";r=%d;t=%d`, left, 2*(3-left)), got.header.Get("Ratelimit"))
	}
	got := b.call(t, "PUT", "/v1/rules", "good", `{"x":1}`)
	check(t, "status beyond the rate", 429, got.status)
	check(t, "Retry-After", "2", got.header.Get("Retry-After"))
	check(t, "retryAfter", any(2.0), got.json(t)["retryAfter"])
	check(t, "event", outcome{Op: "putRules", Status: "rate_limited", Account: 1}, b.events.outcome(t))
	check(t, "status of another account", 200, b.call(t, "GET", "/v1/rules", "pro", "").status)
	unknown := b.call(t, "GET", "/v1/rules", "unknown", "")
	check(t, "status of an unknown key", 401, unknown.status)
	check(t, "an unknown key gets no Ratelimit", false, unknown.header.Get("Ratelimit") == "")
	missing := b.call(t, "GET", "/v1/nothing", "", "")
	check(t, "an unknown path gets no policy", false, missing.header.Get("Ratelimit-Policy") == "")
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
		check(t, fmt.Sprintf("status for %q", c.forwarded), c.status, health(c.forwarded))
	}
}

func TestForwardedForOfAnUntrustedPeerIsIgnored(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RateLimit, c.ClientBurst, c.ClientRate = true, 1, 0.01 })
	for i, status := range []int{200, 429} {
		got := b.call(t, "GET", "/v1/health", "", "", "X-Forwarded-For", "203.0.113."+strconv.Itoa(i))
		check(t, fmt.Sprintf("status of call %d", i), status, got.status)
	}
}

func TestMinuteRate(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.RateLimit = true })
	for i := range 5 {
		if got := b.call(t, "POST", "/v1/api_keys/recover", "", `{"email":"a@example.com"}`); got.status != 200 {
			t.Fatalf("call %d: %d, want 200", i, got.status)
		}
	}
	got := b.call(t, "POST", "/v1/api_keys/recover", "", `{"email":"a@example.com"}`)
	check(t, "status of call 6", 429, got.status)
	if wait, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 {
		t.Errorf("Retry-After is %q, want 1 to 60", got.header.Get("Retry-After"))
	}
	check(t, "Ratelimit-Policy", `"client";q=20;w=20, "minute";q=5;w=60`, got.header.Get("Ratelimit-Policy"))
	check(t, "status of another operation", 200, b.call(t, "GET", "/v1/health", "", "").status)
}

func TestUnitsAndStatus(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.call(t, "POST", "/v1/scrolls", "good", `{}`)
	check(t, "event of the table", outcome{Op: "createScroll", Status: "ok", Account: 1, Units: 100}, b.events.outcome(t))
	b.fake.do = existing
	got := b.call(t, "POST", "/v1/scrolls", "good", `{}`)
	check(t, "status that the handler set", 202, got.status)
	check(t, "event with the units that the handler set", outcome{Op: "createScroll", Status: "ok", Account: 1, Units: 1}, b.events.outcome(t))
	if at := b.events.last(t).At; time.Since(at) > time.Minute {
		t.Errorf("the event is of %v, want now", at)
	}
}

func TestEventNotWritten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.events.fail = errors.New("disk full")
	got := b.call(t, "GET", "/v1/rules", "good", "")
	check(t, "status of a success", 409, got.status)
	check(t, "error of a success", any("operation_error"), got.json(t)["error"])
	check(t, "status of a refusal", 401, b.call(t, "GET", "/v1/rules", "unknown", "").status)
}
