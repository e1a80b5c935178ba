package instagram

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/instagram/instagramtest"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
)

func failing(status, code int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { instagramtest.Fail(w, status, code, message) }
}

// TestFaultsThatPass: the seed ends as if nothing had happened.
func TestFaultsThatPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n      int
		fault  http.HandlerFunc
		waited time.Duration
	}{
		"unknown":        {1, failing(500, 1, "An unknown error occurred"), 5 * time.Second},
		"service":        {3, failing(500, 2, "Service temporarily unavailable"), 35 * time.Second},
		"transient":      {1, sitetest.Text(400, `{"error":{"message":"x","code":"5","is_transient":true}}`), 5 * time.Second},
		"bad gateway":    {2, sitetest.Text(502, "<html>502</html>"), 15 * time.Second},
		"cut JSON":       {2, sitetest.Text(200, `{"business_discovery":{"med`), 15 * time.Second},
		"cut connection": {1, sitetest.CutShort(`{"business_discovery":{"media":{"data":[{"id":"1`), 5 * time.Second},
		"no answer":      {1, sitetest.Hang, 5 * time.Second},
		"slow answer":    {1, sitetest.Drip, 5 * time.Second},
		"huge answer":    {1, sitetest.Huge, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Accounts["kettle"] = instagramtest.Account{ID: "1", Posts: feed(9)}
			b.Intercept = sitetest.Times(c.n, c.fault)
			if strings.HasSuffix(name, "answer") {
				b.timeout(time.Second)
			}
			records, outcomes := b.collect(t, handle("kettle", 0))
			want(t, outcomes[0], stage.OK, 6)
			if len(records) != 6 || b.clock.Waited() != c.waited {
				t.Errorf("%d records, waited %v, want %v", len(records), b.clock.Waited(), c.waited)
			}
		})
	}
}

// TestFaultsThatStay: each ends in its outcome, for every seed.
func TestFaultsThatStay(t *testing.T) {
	t.Parallel()
	type outcome struct {
		fault  http.HandlerFunc
		status stage.Status
		asked  int // of two handles and two terms
		retry  bool
	}
	cases := map[string]outcome{
		"token":      {failing(400, 190, "Error validating access token: Session has expired"), stage.Misconfigured, 1, false},
		"permission": {failing(400, 10, "Application does not have permission for this action"), stage.Misconfigured, 2, false},
		"policy":     {failing(400, 368, "The action attempted has been deemed abusive"), stage.Blocked, 1, false},
		"user":       {failing(400, 110, "Invalid user id"), stage.NotFound, 4, false},
		"parameter":  {failing(400, 100, "(#100) Tried accessing nonexisting field (view_count)"), stage.Changed, 8, false},
		"feature":    {failing(400, 100, "(#100) requires the 'Instagram Public Content Access' feature"), stage.Misconfigured, 2, false},
		"service":    {failing(500, 2, "Service temporarily unavailable"), stage.Blocked, 6, true},
		"no answer":  {sitetest.Hang, stage.Blocked, 6, true},
		"cut JSON":   {sitetest.Text(200, `{"business_`), stage.Blocked, 6, true},
		"429":        {sitetest.Text(429, `slow down`), stage.Quota, 1, true},
		"moved":      {sitetest.Text(404, `<html>gone</html>`), stage.Changed, 4, false},
		"redirect":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, stage.Changed, 4, false},
		"shape":      {sitetest.Text(200, `{"id":"1"}`), stage.Changed, 4, false},
		"new code":   {failing(400, 999999, "?"), stage.Changed, 4, false},
	}
	for _, code := range []int{4, 17, 32, 613, 80002} {
		cases[fmt.Sprint("limit ", code)] = outcome{failing(403, code, "(#4) Application request limit reached"), stage.Quota, 1, true}
	}
	for _, code := range []int{200, 230, 299} {
		cases[fmt.Sprint("right ", code)] = outcome{failing(403, code, "Permissions error"), stage.Misconfigured, 2, false}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Intercept = sitetest.Times(sitetest.Always, c.fault)
			if name == "no answer" {
				b.timeout(time.Second)
			}
			records, outcomes := b.collect(t, handle("one", 0), handle("two", 0), term("three"), term("four"))
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

// TestRecordedErrors: those that were seen in the wild.
func TestRecordedErrors(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("SCROLLERY_TEST_DATA")
	if folder == "" {
		folder = "../../../shared/data"
	}
	for name, status := range map[string]stage.Status{
		"100_app_token": stage.Misconfigured, "100_permission": stage.Misconfigured, "190_expired_token": stage.Misconfigured, "4_rate_limit": stage.Quota,
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(folder, "api-shapes", "meta_error_"+name+".json"))
			if err != nil {
				t.Skipf("no recorded answers (SCROLLERY_TEST_DATA): %v", err)
			}
			b := setup(t)
			b.Intercept = sitetest.Times(sitetest.Always, sitetest.Text(400, string(raw)))
			_, outcomes := b.collect(t, handle("kettle", 0))
			want(t, outcomes[0], status, 0)
		})
	}
}

// TestPartial: what came before the end is kept, and the seed says so.
func TestPartial(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]http.HandlerFunc{
		"limit": failing(400, 4, "x"), "token": failing(400, 190, "x"), "down": failing(500, 2, "x"), "shape": sitetest.Text(200, `{}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Accounts["kettle"] = instagramtest.Account{ID: "1", Posts: feed(90)}
			b.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				later := strings.Contains(r.URL.RawQuery, ".after")
				if later {
					fault(w, r)
				}
				return later
			}
			records, outcomes := b.collect(t, handle("kettle", 60))
			want(t, outcomes[0], stage.Partial, 34)
			if len(records) != 34 {
				t.Errorf("%d records, want 34", len(records))
			}
		})
	}
}

// TestUsage: the source stops before it is stopped, and slows down before that.
func TestUsage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header, value string
		asked         int
		slept, retry  time.Duration
	}{
		"little":   {"X-App-Usage", `{"call_count":28,"total_time":25,"total_cputime":25}`, 2, 0, 0},
		"much":     {"X-App-Usage", `{"call_count":28,"total_time":80,"total_cputime":25}`, 2, 5 * time.Second, 0},
		"near":     {"X-Business-Use-Case-Usage", `{"178":[{"type":"instagram","call_count":95,"total_cputime":1,"total_time":1,"estimated_time_to_regain_access":0}]}`, 2, 20 * time.Second, 0},
		"all":      {"X-App-Usage", `{"call_count":100}`, 1, 0, time.Hour},
		"regained": {"X-Business-Use-Case-Usage", `{"178":[{"type":"instagram","call_count":3,"estimated_time_to_regain_access":19}]}`, 1, 0, 19 * time.Minute},
		"nonsense": {"X-App-Usage", `{"call_count":"lots"`, 2, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.Accounts["one"] = instagramtest.Account{ID: "1", Posts: feed(3)}
			b.Accounts["two"] = b.Accounts["one"]
			b.Header.Set(c.header, c.value)
			_, outcomes := b.collect(t, handle("one", 0), handle("two", 0))
			want(t, outcomes[0], stage.OK, 2)
			if len(b.Asked()) != c.asked || b.clock.Waited() != c.slept {
				t.Errorf("asked %d times, slept %v, want %v Asked and Waited %v", len(b.Asked()), b.clock.Waited(), c.asked, c.slept)
			}
			if c.retry == 0 {
				want(t, outcomes[1], stage.OK, 2)
				return
			}
			want(t, outcomes[1], stage.Quota, 0)
			if wait := time.UnixMilli(*outcomes[1].RetryAt).Sub(b.clock.Now()); (wait - c.retry).Abs() > 2*time.Second {
				t.Errorf("another try in %v, want %v", wait, c.retry)
			}
		})
	}
}

func TestCursorsThatLeadNowhere(t *testing.T) {
	t.Parallel()
	for cursor, asked := range map[string]int{"x).limit(1){id},name": 1, "same": 2} {
		t.Run(cursor, func(t *testing.T) {
			b := setup(t)
			b.Intercept = sitetest.Times(sitetest.Always, sitetest.Text(200, `{"business_discovery":{"id":"1","username":"kettle","media":{"data":[{"shortcode":"Cgood1","media_product_type":"REELS"}],"paging":{"cursors":{"after":"`+cursor+`"}}}}}`))
			records, outcomes := b.collect(t, handle("kettle", 0))
			want(t, outcomes[0], stage.Partial, 1)
			if len(records) != 1 || len(b.Asked()) != asked {
				t.Errorf("got %d records, asked %d times, want 1 and %d", len(records), len(b.Asked()), asked)
			}
		})
	}
}

func TestSetUpWrong(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*stage.Call){
		"no token": func(c *stage.Call) { delete(c.Secrets, "access_token") },
		"user":     func(c *stage.Call) { c.Settings["user_id"] = "me/../x" },
		"version":  func(c *stage.Call) { c.Settings["version"] = "latest" },
		"patience": func(c *stage.Call) { c.Settings["patience"] = "-1s" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			change(&b.call)
			_, outcomes := b.collect(t, handle("kettle", 0), term("kettle"))
			want(t, outcomes[0], stage.Misconfigured, 0)
			want(t, outcomes[1], stage.Misconfigured, 0)
			if len(b.Asked()) != 0 || len(b.tags) != 0 {
				t.Errorf("asked %d times, want no Asked and no tags", len(b.Asked()))
			}
		})
	}
}

func TestPatience(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.call.Settings["patience"] = "0s"
	b.Intercept = sitetest.Times(sitetest.Always, failing(500, 2, "x"))
	_, outcomes := b.collect(t, handle("one", 0), handle("two", 0))
	want(t, outcomes[0], stage.Blocked, 0)
	want(t, outcomes[1], stage.Blocked, 0)
	if len(b.Asked()) != 1 || b.clock.Waited() != 0 {
		t.Errorf("asked %d times, waited %v, want 1 Asked and Waited 0", len(b.Asked()), b.clock.Waited())
	}
}
