package tiktok

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/tiktok/tiktoktest"
)

// grant counts; a limit in b.spent's "limit:<quota>" is kept.
func (b *bundle) grant(_ context.Context, quota string, units int64, _ string) error {
	if limit, ok := b.spent["limit:"+quota]; ok && b.spent[quota]+units > limit {
		return stage.Quotaf(midnight(b.clock.Now()), "quota %s is used up", quota)
	}
	b.spent[quota] += units
	return nil
}

// times lets a fault happen so often, then steps aside.
func times(n int, fault http.HandlerFunc) func(http.ResponseWriter, *http.Request, tiktoktest.Query) bool {
	fails := sitetest.Times(n, fault)
	return func(w http.ResponseWriter, r *http.Request, _ tiktoktest.Query) bool { return fails(w, r) }
}

func failing(status int, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { tiktoktest.Fail(w, status, code, message) }
}

// TestFaultsThatPass: the seed ends as if nothing had happened.
func TestFaultsThatPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n      int
		fault  http.HandlerFunc
		waited time.Duration
	}{
		"internal error":       {1, failing(500, "internal_error", "Something went wrong"), 30 * time.Second},
		"internal error, long": {4, failing(500, "internal_error", "Something went wrong"), (30 + 60 + 120 + 120) * time.Second},
		"bad gateway":          {2, sitetest.Text(502, "<html>502</html>"), 90 * time.Second},
		"rate":                 {2, failing(400, "rate_limit_exceeded", "slow down"), 2 * time.Minute},
		"search id":            {3, failing(400, "invalid_params", "Search Id 7 is invalid or expired"), 30 * time.Second},
		"search id for good":   {6, failing(400, "invalid_params", "Invalid count or cursor"), 75 * time.Second},
		"cut JSON":             {2, sitetest.Text(200, `{"data":{"videos":[{"id":732`), 15 * time.Second},
		"cut connection":       {1, sitetest.CutShort(`{"data":{"videos":[{"id":73`), 30 * time.Second},
		"no answer":            {1, sitetest.Hang, 30 * time.Second},
		"slow answer":          {1, sitetest.Drip, 30 * time.Second},
		"huge answer":          {1, sitetest.Huge, 30 * time.Second},
		"token":                {1, failing(401, "access_token_invalid", "The access token is invalid"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, clips("kettle.co", 7)...)
			b.Intercept = times(c.n, c.fault)
			if strings.HasSuffix(name, "answer") {
				b.timeout(time.Second)
			}
			records, outcomes := b.collect(t, handle("kettle.co", 0))
			want(t, outcomes[0], stage.OK, 7)
			if len(records) != 7 || b.clock.Waited() != c.waited {
				t.Errorf("%d records, waited %v, want %v", len(records), b.clock.Waited(), c.waited)
			}
			if b.spent["requests"] != int64(len(b.Asked())) {
				t.Errorf("spent %v for %d requests", b.spent, len(b.Asked()))
			}
		})
	}
}

// TestFaultsThatStay: each ends in its outcome, for every seed.
func TestFaultsThatStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  http.HandlerFunc
		status stage.Status
		asked  int // of three seeds
		retry  bool
	}{
		"internal error": {failing(500, "internal_error", "Something went wrong"), stage.Blocked, 7, true},
		"no answer":      {sitetest.Hang, stage.Blocked, 7, true},
		"cut JSON":       {sitetest.Text(200, `{"data":`), stage.Blocked, 7, true},
		"rate":           {failing(429, "rate_limit_exceeded", "slow down"), stage.Quota, 5, true},
		"day":            {failing(429, "daily_quota_limit_exceeded", "The daily quota is exceeded"), stage.Quota, 1, true},
		"token":          {failing(401, "access_token_invalid", "The access token is invalid"), stage.Misconfigured, 2, false},
		"scope":          {failing(401, "scope_not_authorized", "research.data.basic"), stage.Misconfigured, 1, false},
		"permission":     {failing(403, "scope_permission_missed", "no"), stage.Misconfigured, 1, false},
		"forbidden":      {sitetest.Text(403, "<html>no</html>"), stage.Misconfigured, 1, false},
		"parameters":     {failing(400, "invalid_params", "Invalid fields"), stage.Changed, 6, false},
		"stale":          {failing(400, "invalid_params", "Search Id 7 is invalid or expired"), stage.Changed, 36, false},
		"moved":          {sitetest.Text(404, "<html>gone</html>"), stage.Changed, 3, false},
		"redirect":       {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, stage.Changed, 3, false},
		"other shape":    {sitetest.Text(200, `{"data":{"items":[]},"error":{"code":"ok"}}`), stage.Changed, 3, false},
		"no object":      {sitetest.Text(200, `[]`), stage.Blocked, 7, true},
		"new code":       {failing(200, "brand_new", "?"), stage.Changed, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, clips("kettle.co", 7)...)
			b.Intercept = times(sitetest.Always, c.fault)
			if name == "no answer" {
				b.timeout(time.Second)
			}
			b.call.Settings["patience"] = "10h"
			records, outcomes := b.collect(t, handle("kettle.co", 0), handle("two", 0), term("three"))
			for _, o := range outcomes {
				want(t, o, c.status, 0)
				if (o.RetryAt != nil) != c.retry {
					t.Errorf("retry at %v", o.RetryAt)
				}
			}
			if len(records) != 0 || len(b.Asked()) != c.asked {
				t.Errorf("%d records, asked %d times, want %d", len(records), len(b.Asked()), c.asked)
			}
		})
	}
}

// TestPartial: what came before the end is kept, and the seed says so.
func TestPartial(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]http.HandlerFunc{
		"day": failing(429, "daily_quota_limit_exceeded", "x"), "down": failing(500, "internal_error", "x"),
		"scope": failing(401, "scope_not_authorized", "x"), "shape": sitetest.Text(200, `{"data":{},"error":{"code":"ok"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			videos := clips("kettle.co", 150)
			for i := range videos { // of one day, so that no window is short enough
				videos[i].Created = time.Now().Add(-48 * time.Hour).Truncate(24 * time.Hour)
			}
			b := setup(t, videos...)
			b.Intercept = func(w http.ResponseWriter, r *http.Request, q tiktoktest.Query) bool {
				if q.Cursor > 0 {
					fault(w, r)
				}
				return q.Cursor > 0
			}
			b.call.Settings["patience"] = "10h"
			records, outcomes := b.collect(t, handle("kettle.co", 150))
			want(t, outcomes[0], stage.Partial, 100)
			if len(records) != 100 {
				t.Errorf("%d records, want 100", len(records))
			}
		})
	}
}

// TestShorterWindows: a span that is too much for the interface is asked for in parts.
func TestShorterWindows(t *testing.T) {
	t.Parallel()
	b := setup(t, clips("kettle.co", 50)...)
	b.Intercept = func(w http.ResponseWriter, _ *http.Request, q tiktoktest.Query) bool {
		start, _ := time.Parse("20060102", q.Start)
		end, _ := time.Parse("20060102", q.End)
		if end.Sub(start) > 15*24*time.Hour {
			tiktoktest.Fail(w, 500, "internal_error", "too much")
			return true
		}
		return false
	}
	_, outcomes := b.collect(t, handle("kettle.co", 60))
	want(t, outcomes[0], stage.OK, 50)
}

func TestMoreThatNeverComes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Intercept = times(sitetest.Always, sitetest.Text(200, `{"data":{"videos":[{"id":1}],"cursor":100,"has_more":true,"search_id":"1"},"error":{"code":"ok"}}`))
	records, outcomes := b.collect(t, handle("kettle.co", 0))
	want(t, outcomes[0], stage.Partial, 1)
	if len(records) != 1 || len(b.Asked()) > 10 {
		t.Errorf("%d records, asked %d times, want 1 record and at most 10 Asked", len(records), len(b.Asked()))
	}
}

func TestHouseQuota(t *testing.T) {
	t.Parallel()
	b := setup(t, append(clips("kettle.co", 150), clips("two", 3)...)...)
	b.spent["limit:requests"] = 1
	records, outcomes := b.collect(t, handle("kettle.co", 150), handle("two", 0))
	want(t, outcomes[0], stage.Partial, 100)
	want(t, outcomes[1], stage.Quota, 0)
	at := midnight(b.clock.Now()).UnixMilli()
	if len(records) != 100 || *outcomes[0].RetryAt != at || *outcomes[1].RetryAt != at || len(b.Asked()) != 1 {
		t.Errorf("%d records, %+v, want 100 records, RetryAt %v, RetryAt %v and 1 Asked", len(records), outcomes, at, at)
	}
}

func TestPatience(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Intercept = times(sitetest.Always, failing(500, "internal_error", "x"))
	b.call.Settings["patience"] = "40s"
	_, outcomes := b.collect(t, handle("one", 0), handle("two", 0))
	want(t, outcomes[0], stage.Blocked, 0)
	want(t, outcomes[1], stage.Blocked, 0)
	if len(b.Asked()) != 2 || b.clock.Waited() != 30*time.Second {
		t.Errorf("asked %d times, waited %v, want 2 Asked and Waited %v", len(b.Asked()), b.clock.Waited(), 30*time.Second)
	}
}

func TestSetUpWrong(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*stage.Call){
		"not eligible":  func(c *stage.Call) { c.Settings["eligible"] = "maybe" },
		"no key":        func(c *stage.Call) { delete(c.Secrets, "client_key") },
		"wrong secret":  func(c *stage.Call) { c.Secrets["client_secret"] = "other" },
		"days":          func(c *stage.Call) { c.Settings["days"] = "0" },
		"regions":       func(c *stage.Call) { c.Settings["regions"] = "Germany" },
		"patience":      func(c *stage.Call) { c.Settings["patience"] = "long" },
		"not its place": func(c *stage.Call) { c.Settings["eligible"] = "YES" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, clips("kettle.co", 3)...)
			change(&b.call)
			_, outcomes := b.collect(t, handle("kettle.co", 0), term("kettle"))
			want(t, outcomes[0], stage.Misconfigured, 0)
			want(t, outcomes[1], stage.Misconfigured, 0)
			if len(b.Asked()) != 0 {
				t.Errorf("asked %d times, want none", len(b.Asked()))
			}
		})
	}
}

func TestTokenEndsOnTheWay(t *testing.T) {
	t.Parallel()
	b := setup(t, clips("kettle.co", 250)...)
	b.Intercept = func(_ http.ResponseWriter, _ *http.Request, q tiktoktest.Query) bool {
		if q.Cursor == 100 && b.Tokens() == 1 {
			b.Revoke()
		}
		return false
	}
	_, outcomes := b.collect(t, handle("kettle.co", 250))
	want(t, outcomes[0], stage.OK, 250)
	if b.Tokens() != 2 {
		t.Errorf("%d tokens, want 2", b.Tokens())
	}
}

// TestForgottenSearch: one that does not come back is begun anew, and loses nothing.
func TestForgottenSearch(t *testing.T) {
	t.Parallel()
	b := setup(t, clips("kettle.co", 150)...)
	first := ""
	b.Intercept = func(w http.ResponseWriter, _ *http.Request, q tiktoktest.Query) bool {
		if first == "" {
			first = q.SearchID
		}
		if q.SearchID == "" || q.SearchID != first {
			return false
		}
		tiktoktest.Fail(w, 400, "invalid_params", "Search Id "+first+" is invalid or expired")
		return true
	}
	records, outcomes := b.collect(t, handle("kettle.co", 150))
	want(t, outcomes[0], stage.OK, 150)
	if len(records) != 150 || b.clock.Waited() != 75*time.Second {
		t.Errorf("%d records, waited %v, want 150 records and Waited %v", len(records), b.clock.Waited(), 75*time.Second)
	}
}

// TestComesBack: a site that failed one seed and answered the next has all its
// tries again.
func TestComesBack(t *testing.T) {
	t.Parallel()
	b := setup(t, append(clips("two", 3), clips("three", 4)...)...)
	b.call.Settings["patience"] = "10h"
	var third atomic.Int64
	b.Intercept = func(w http.ResponseWriter, _ *http.Request, q tiktoktest.Query) bool {
		name := q.Query.And[0].Values[0]
		if name != "one" && (name != "three" || third.Add(1) > 3) {
			return false
		}
		tiktoktest.Fail(w, 500, "internal_error", "x")
		return true
	}
	_, outcomes := b.collect(t, handle("one", 0), handle("two", 0), handle("three", 0))
	want(t, outcomes[0], stage.Blocked, 0)
	want(t, outcomes[1], stage.OK, 3)
	want(t, outcomes[2], stage.OK, 4)
}

func TestTokenIsNotTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Intercept = func(w http.ResponseWriter, r *http.Request, _ tiktoktest.Query) bool {
		tiktoktest.Fail(w, 403, "scope_permission_missed", "not for "+r.Header.Get("Authorization"))
		return true
	}
	_, outcomes := b.collect(t, handle("one", 0)) // looks for the token
	want(t, outcomes[0], stage.Misconfigured, 0)
}
