package app_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestEveryLinkOfTheSiteLeadsToAPage walks from the landing page.
func TestEveryLinkOfTheSiteLeadsToAPage(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	visitor := running.Anonymous()
	link := regexp.MustCompile(`<a href="([^"]+)"`)
	seen, waiting, bodies := map[string]bool{"/": true}, []string{"/"}, map[string]string{}
	var fragments [][2]string
	for len(waiting) > 0 {
		path := waiting[0]
		waiting = waiting[1:]
		answer := visitor.Do(t, "GET "+path, "")
		bodies[path] = string(answer.Body)
		if answer.Status != http.StatusOK {
			t.Errorf("GET %s answers %d, want 200", path, answer.Status)
		}
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
			continue
		}
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") {
			t.Errorf("%s has the policy %q, want one that forbids scripts", path, policy)
		}
		if strings.Contains(string(answer.Body), "<script") {
			t.Errorf(`%s has a script, want without "<script"`, path)
		}
		for _, match := range link.FindAllStringSubmatch(string(answer.Body), -1) {
			to, fragment, _ := strings.Cut(match[1], "#")
			if to == "" {
				to = path
			}
			if !strings.HasPrefix(to, "/") {
				if where, err := url.Parse(to); err != nil || where.Scheme != "https" && where.Scheme != "http" && where.Scheme != "mailto" {
					t.Errorf("%s links to %q, want an address of the web", path, to)
				}
				continue
			}
			if fragment != "" {
				fragments = append(fragments, [2]string{to, fragment})
			}
			if !seen[to] {
				seen[to] = true
				waiting = append(waiting, to)
			}
		}
	}
	for _, f := range fragments {
		if !strings.Contains(bodies[f[0]], `id="`+f[1]+`"`) {
			t.Errorf("a page links to %s#%s, which has no such heading, want with %v", f[0], f[1], `id="`+f[1]+`"`)
		}
	}
	for _, want := range []string{"/docs", "/docs/api", "/docs/deploy/README", "/docs/api.md", "/openapi.json", "/v1/pricing", "/llms.txt", "/llms-full.txt"} {
		if !seen[want] {
			t.Errorf("no page leads to %s", want)
		}
	}
}

// TestTheLandingPageHasPrices reads the plans on sale where a visitor does.
func TestTheLandingPageHasPrices(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, func(cfg *app.Config) { cfg.Billing.Standard.MonthlyCents = 4550 })
	home := running.Anonymous().Read(t, "GET /")
	for _, want := range []string{"$45.50</strong> a month", "$99</strong> a month, or $990 a year", "Up to 250 new videos", `href="/console/subscribe"`} {
		if !strings.Contains(home, want) {
			t.Errorf("the landing page lacks %q", want)
		}
	}
}

func TestSiteAnswersAsHTTPExpects(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	visitor := running.Anonymous()
	for _, path := range []string{"/", "/docs/api", "/docs/api.md", "/llms.txt"} {
		t.Run(path, func(t *testing.T) {
			first := visitor.Do(t, "GET "+path, "")
			tag := first.Header.Get("ETag")
			if tag == "" || first.Header.Get("Cache-Control") != "no-cache" || first.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("GET has the headers %v, want ETag, no-cache and nosniff", first.Header)
			}
			if again := visitor.Do(t, "GET "+path, "If-None-Match: "+tag); again.Status != http.StatusNotModified || len(again.Body) != 0 {
				t.Errorf("GET with the ETag answers %d and %d bytes, want 304 and none", again.Status, len(again.Body))
			}
			if head := visitor.Do(t, "HEAD "+path, ""); head.Status != http.StatusOK || len(head.Body) != 0 || head.Header.Get("ETag") != tag {
				t.Errorf("HEAD answers %d with the ETag %q, want 200 with %q", head.Status, head.Header.Get("ETag"), tag)
			}
			if post := visitor.Do(t, "POST "+path, ""); post.Status != http.StatusMethodNotAllowed || post.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("POST answers %d with Allow %q, want 405 with GET, HEAD", post.Status, post.Header.Get("Allow"))
			}
		})
	}
	for _, path := range []string{"/docs/nothing", "/docs/../app.go", "/docs/pages.go", "/docs/nothing.md", "/docs/%3Cscript%3E"} {
		t.Run(path, func(t *testing.T) {
			if answer := visitor.Do(t, "GET "+path, ""); answer.Status != http.StatusNotFound || strings.Contains(string(answer.Body), "<script>") {
				t.Errorf("GET %s answers %d, want 404 that repeats nothing", path, answer.Status)
			}
		})
	}
}

// TestTheGuideForAgentsSuffices does what /llms.txt says, in its order, and nothing
// else but the payment, which a person makes.
func TestTheGuideForAgentsSuffices(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t, sampleFeed)
	guide := running.Anonymous().Read(t, "GET /llms.txt")
	if len(guide) > 4096 {
		t.Errorf("the guide has %d bytes, want at most 4,096", len(guide))
	}
	known := map[string]string{}
	learn := map[string]*regexp.Regexp{
		"CLAIM_TOKEN": regexp.MustCompile(`"claimToken":"(claim_[A-Za-z0-9]+)"`), "KEY": regexp.MustCompile(`"apiKey":"(scr_live_[A-Za-z0-9]+)"`),
		"SCROLL_ID": regexp.MustCompile(`"id":"(scr_[a-z0-9]+)"`), "VIDEO_ID": regexp.MustCompile(`"id":"(vid_[a-z0-9]+)"`),
	}
	step := regexp.MustCompile(`(?m)^    (GET|POST|PUT) (/\S+)(?: (\{.*\}))?$`)
	done := step.FindAllStringSubmatch(guide, -1)
	if len(done) < 10 {
		t.Fatalf("the guide has %d calls, want the whole way", len(done))
	}
	drafted := false
	for _, match := range done {
		method, path, body := match[1], match[2], match[3]
		for name, value := range known {
			path, body = strings.ReplaceAll(path, name, value), strings.ReplaceAll(body, name, value)
		}
		caller := running.Anonymous().WithKey(known["KEY"])
		call := strings.TrimSpace(method + " " + path + " " + body)
		answer := caller.Do(t, call, "")
		if answer.Status/100 != 2 {
			t.Fatalf("%s answers %d, want success: %s", call, answer.Status, answer.Body)
		}
		text := string(answer.Body)
		if path == "/v1/briefs" {
			drafted = strings.Contains(text, `"status":"drafted"`) && strings.Contains(text, known["VIDEO_ID"])
		}
		if strings.HasPrefix(path, "/v1/scrolls?id=") {
			if scroll := caller.Await(t, known["SCROLL_ID"]); scroll.Status != "completed" {
				t.Fatalf(`the scroll ended %s, want "completed"`, scroll.Status)
			}
		}
		for name, pattern := range learn {
			if found := pattern.FindStringSubmatch(text); found != nil && known[name] == "" {
				known[name] = found[1]
			}
		}
		if page := regexp.MustCompile(`"url":"([^"]+)"`).FindStringSubmatch(text); page != nil && (path == "/v1/subscribe" || path == "/v1/topup") {
			pay(t, page[1], "agent@example.com")
			known["SESSION_ID"] = page[1][strings.LastIndex(page[1], "/")+1:]
		}
	}
	if known["VIDEO_ID"] == "" {
		t.Errorf("the way ended without an outlier: got %q, want VIDEO_ID not empty", known["VIDEO_ID"])
	}
	if !drafted {
		t.Errorf("the way ended without a brief that cites the outlier: got %v, want drafted", drafted)
	}
}
