package recipe

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/plugins/recipe/recipetest"
	"github.com/scrollery/scrollery/plugins/stage"
	"github.com/scrollery/scrollery/plugins/stage/site"
	"github.com/scrollery/scrollery/plugins/stage/site/sitetest"
	"github.com/scrollery/scrollery/plugins/stage/stagetest"
)

// checking is the recipe with a check.
func checking(check string) string {
	return strings.Replace(reelbase, "rate:", "check: "+check+"\nrate:", 1)
}

func TestACheckOfARecipe(t *testing.T) {
	t.Parallel()
	const check = `{url: "https://api.reelbase.example/2/me?on={today}", says: "{who.name} has {left} calls"}`
	for name, c := range map[string]struct {
		status       int
		answer, line string
		fault        stage.Fault
		says         string
	}{
		"it works":                  {200, `{"who":{"name":"ada"},"left":0}`, "ada has 0 calls", "", ""},
		"an answer with the secret": {200, `{"who":{"name":"` + recipetest.Key + `"},"left":1}`, "… has 1 calls", "", ""},
		"an answer of many lines":   {200, `{"who":{"name":"a\nb"},"left":1}`, "a b has 1 calls", "", ""},
		"a member is missing":       {200, `{"who":{}}`, "", stage.FaultInternal, "has no who.name"},
		"a member is an object":     {200, `{"who":{"name":{}},"left":1}`, "", stage.FaultInternal, "has no who.name"},
		"the key is refused":        {401, `{}`, "", stage.FaultMisconfigured, "answers 401"},
		"the recipe's own error":    {200, `{"fault":{"kind":"broke","words":"no money left"}}`, "", stage.FaultQuota, "no money left"},
		"the provider is down":      {503, `{}`, "", stage.FaultBusy, "answers 503"},
		"a web page":                {200, `<html>`, "", stage.FaultBusy, "answers 200"},
		"another address":           {404, `{}`, "", stage.FaultNotFound, "answers 404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, checking(check))
			asked := ""
			b.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				asked = r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("X-Reelbase-Key")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.answer))
				return true
			}
			line, err := stagetest.Check(t, b.spec(), b.call)
			var fault *stage.Error
			errors.As(err, &fault)
			if line != c.line || (err == nil) != (c.fault == "") || fault != nil && (fault.Fault != c.fault || !strings.Contains(fault.Message, c.says)) {
				t.Errorf("%q, error %v; want %q, %s with %q", line, err, c.line, c.fault, c.says)
			}
			if want := "GET /2/me?on=2026-09-01 " + recipetest.Key; asked != want || b.spent != 0 {
				t.Errorf("asked %q for %d; want %q, for nothing", asked, b.spent, want)
			}
		})
	}
}

// TestChecksNameTheirFaults with the line.
func TestChecksNameTheirFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ check, want string }{
		"nothing to say":       {`{url: "https://api.reelbase.example/2/me"}`, "line 6: says: want a line"},
		"a seed's placeholder": {`{url: "https://api.reelbase.example/{handle}", says: a}`, `line 6: a check has no placeholder "{handle}" but {today}`},
		"plain http":           {`{url: "http://api.reelbase.example/2/me", says: a}`, "is not an https address"},
		"another method":       {`{url: "DELETE https://api.reelbase.example/2/me", says: a}`, "neither GET nor POST"},
		"a name":               {`{adress: a, says: b}`, `line 6: a check has no "adress"`},
		"a long line":          {`{url: "https://api.reelbase.example/2/me", says: "` + strings.Repeat("a", 201) + `"}`, "at most 200 bytes"},
		"not a mapping":        {`https://api.reelbase.example/2/me`, "line 6: a check: want names"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Parse([]byte(checking(c.check))); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	read, err := Parse([]byte(checking(`{url: "https://other.example/me", says: fine}`)))
	if err != nil {
		t.Fatal(err)
	}
	if hosts := strings.Join(read.Spec().Hosts, " "); hosts != "api.reelbase.example:443 other.example:443" {
		t.Errorf("hosts %s, want that of the check too", hosts)
	}
	if spec := newBench(t, reelbase).spec(); spec.Check != nil {
		t.Error("a recipe without a check has one")
	}
}

// TestChecksOfShippedRecipes against what the pages of the providers show.
func TestChecksOfShippedRecipes(t *testing.T) {
	t.Parallel()
	for id, c := range map[string]struct{ asked, header, answer, line string }{
		"apify":          {"/v2/users/me", "Authorization", `{"data":{"id":"x","username":"myusername"}}`, "signed in as myusername"},
		"brightdata":     {"/status", "Authorization", `{"status":"active","customer":"c","can_make_requests":true}`, "the account is active"},
		"ensembledata":   {"/apis/customer/get-used-units?date=2026-09-01&token=s3cret", "", `{"data":{"tiktok":7}}`, "the token works"},
		"scrapecreators": {"/v1/credit-balance", "X-Api-Key", `{"creditCount":1234}`, "1234 credits left"},
		"sociavault":     {"/v1/credits", "X-Api-Key", `{"credits":950,"subscriptionStatus":"active","subscriptionId":null}`, "950 credits left, the subscription is active"},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.RequestURI() != c.asked || c.header != "" && !strings.Contains(r.Header.Get(c.header), "s3cret") {
					w.WriteHeader(http.StatusUnauthorized)
				}
				_, _ = w.Write([]byte(c.answer))
			}))
			defer server.Close()
			recipe, err := Parse(Shipped()[id])
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{clock: sitetest.NewClock(time.Date(2026, 9, 1, 16, 10, 0, 0, time.UTC))}
			spec := recipe.spec(site.Options{Clock: b.clock, Timeout: time.Minute}, nil)
			if line, err := stagetest.Check(t, spec, newBenchCall(b, server.URL)); err != nil || line != c.line {
				t.Errorf("%q, error %v; want %q", line, err, c.line)
			}
		})
	}
	for _, id := range ShippedIDs() {
		if recipe, err := Parse(Shipped()[id]); err != nil || recipe.check == nil {
			t.Errorf("%s has no check, error %v", id, err)
		}
	}
}
