package app_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

const proof = "a-verifier-that-is-long-enough-for-the-standard-0"

// askURL is the address of a right request, with some parameters replaced; an empty value
// leaves one out.
func askURL(running *apptest.Running, replaced ...string) string {
	sum := sha256.Sum256([]byte(proof))
	query := url.Values{
		"response_type": {"code"}, "client_id": {programID}, "redirect_uri": {programBack}, "state": {`its "own" <state>`},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		"resource": {running.BaseURL + "/mcp"}, "scope": {"rules:read rules:write library:read"},
	}
	for i := 0; i < len(replaced); i += 2 {
		if query.Set(replaced[i], replaced[i+1]); replaced[i+1] == "" {
			query.Del(replaced[i])
		}
	}
	return running.BaseURL + "/oauth/authorize?" + query.Encode()
}

// tokenAnswer is the answer of the token endpoint.
type tokenAnswer struct {
	status int
	Token  string `json:"access_token"`
	Scope  string `json:"scope"`
	Error  string `json:"error"`
}

func (v *visitor) exchange(t *testing.T, code string, replaced ...string) (out tokenAnswer) {
	t.Helper()
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "client_id": {programID}, "redirect_uri": {programBack},
		"code_verifier": {proof}, "resource": {v.running.BaseURL + "/mcp"},
	}
	for i := 0; i < len(replaced); i += 2 {
		if form.Set(replaced[i], replaced[i+1]); replaced[i+1] == "" {
			form.Del(replaced[i])
		}
	}
	got := v.post(t, "/oauth/token", form)
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d, Cache-Control %q, %v, want JSON that is not stored: %s", got.status, got.header.Get("Cache-Control"), err, got.body)
	}
	out.status = got.status
	return out
}

// granted goes all the way to a code.
func (v *visitor) granted(t *testing.T, email string, scopes ...string) (code string) {
	t.Helper()
	back := v.allow(t, v.signIn(t, askURL(v.running), email), scopes...)
	if back.Get("state") != `its "own" <state>` || back.Get("iss") != v.running.BaseURL {
		t.Errorf("got %v, want the state and the issuer", back)
	}
	return back.Get("code")
}

// opens reports whether a key is in force.
func opens(t *testing.T, running *apptest.Running, key string) bool {
	t.Helper()
	answer := running.Anonymous().WithKey(key).Do(t, "GET /v1/rules", "")
	if answer.Status != http.StatusOK && answer.Status != http.StatusUnauthorized {
		t.Errorf("reading the rules: got %d, want 200 with a valid key and 401 otherwise: %s", answer.Status, answer.Body)
	}
	return answer.Status == http.StatusOK
}

// TestStolenCodes: a code serves the client to which it was given, once and soon.
func TestStolenCodes(t *testing.T) {
	t.Parallel()
	_, reached := newPrograms(t)
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		person := newVisitor(running)
		t.Run("a code that comes twice ends its session", func(t *testing.T) {
			code := person.granted(t, running.Account(t, "pro").Email)
			first := person.exchange(t, code)
			if first.status != http.StatusOK || first.Scope != "rules:read library:read" || !opens(t, running, first.Token) {
				t.Fatalf("got %d %q, want a session with what is only read", first.status, first.Scope)
			}
			if again := person.exchange(t, code, "code_verifier", strings.Repeat("x", 43)); again.status != http.StatusBadRequest || again.Error != "invalid_grant" {
				t.Errorf("got %d %q, want invalid_grant", again.status, again.Error)
			}
			if opens(t, running, first.Token) {
				t.Error("got an answer for the session whose code came twice, want it refused")
			}
		})
		t.Run("racing for a code", func(t *testing.T) {
			code := person.granted(t, running.Account(t, "pro").Email)
			answers := make([]tokenAnswer, 6)
			var racing sync.WaitGroup
			for i := range answers {
				racing.Go(func() { answers[i] = person.exchange(t, code) })
			}
			racing.Wait()
			served := 0
			for _, answer := range answers {
				if answer.Token == "" {
					continue
				}
				if served++; opens(t, running, answer.Token) {
					t.Error("got an answer for a session whose code came six times, want it refused")
				}
			}
			if served != 1 {
				t.Errorf("%d of the racers got a session, want 1", served)
			}
		})
		for name, c := range map[string]struct{ field, value string }{
			"another verifier":                {"code_verifier", strings.Repeat("x", 43)},
			"another redirect":                {"redirect_uri", "http://127.0.0.1:7778/callback"},
			"another client":                  {"client_id", "https://example.com/other.json"},
			"another resource of this server": {"resource", running.BaseURL},
		} {
			t.Run(name+" uses the code up", func(t *testing.T) {
				code := person.granted(t, running.Account(t, "pro").Email)
				if got := person.exchange(t, code, c.field, c.value); got.status != http.StatusBadRequest || got.Error != "invalid_grant" {
					t.Errorf("got %d %q, want invalid_grant", got.status, got.Error)
				}
				if got := person.exchange(t, code); got.Error != "invalid_grant" {
					t.Errorf("afterwards the right request got %d %q, want invalid_grant", got.status, got.Error)
				}
			})
		}
		t.Run("requests that are not well-formed use nothing up", func(t *testing.T) {
			code := person.granted(t, running.Account(t, "pro").Email)
			for _, c := range []struct{ field, value, code string }{
				{"resource", "https://example.com/mcp", "invalid_target"},
				{"resource", "", "invalid_request"},
				{"code_verifier", "short", "invalid_request"},
				{"client_id", "", "invalid_request"},
				{"grant_type", "refresh_token", "unsupported_grant_type"},
				{"code", strings.Repeat("1", 43), "invalid_grant"},
				{"code", strings.Repeat("1", 2000), "invalid_request"},
			} {
				if got := person.exchange(t, code, c.field, c.value); got.status != http.StatusBadRequest || got.Error != c.code {
					t.Errorf("%s %.20q: got %d %q, want %s", c.field, c.value, got.status, got.Error, c.code)
				}
			}
			if got := person.exchange(t, code); got.status != http.StatusOK {
				t.Errorf("got %d %q, want a session", got.status, got.Error)
			}
		})
		t.Run("a code that is too old", func(t *testing.T) {
			code := person.granted(t, running.Account(t, "pro").Email)
			running.Exec(t, "UPDATE authorizations SET expires_at = 1 WHERE step = 'granted'")
			if got := person.exchange(t, code); got.Error != "invalid_grant" {
				t.Errorf("got %d %q, want invalid_grant", got.status, got.Error)
			}
		})
		t.Run("keys that were revoked since", func(t *testing.T) {
			account := running.Account(t, "pro")
			consent := person.signIn(t, askURL(running), account.Email)
			code := person.granted(t, account.Email)
			var list struct{ Keys []struct{ ID string } }
			account.Get(t, "GET /v1/api_keys", &list)
			account.Get(t, `POST /v1/api_keys/revoke {"id":"`+list.Keys[0].ID+`"}`, &struct{}{})
			if got := person.exchange(t, code); got.Error != "invalid_grant" {
				t.Errorf("a code: got %d %q, want invalid_grant", got.status, got.Error)
			}
			got := person.post(t, "/oauth/authorize", consent.with("answer", "allow", "account", accountInput.FindStringSubmatch(consent.body)[1]))
			if got.status != http.StatusConflict {
				t.Errorf("a sign-in: got %d, want 409: %s", got.status, got.body)
			}
		})
	}, reached)
}

// TestForeignForms: a page serves the browser that has it, one time, and its own person.
func TestForeignForms(t *testing.T) {
	t.Parallel()
	_, reached := newPrograms(t)
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		person := newVisitor(running)
		email := running.Account(t, "pro").Email
		t.Run("a form from another origin", func(t *testing.T) {
			first := person.open(t, askURL(running))
			for _, header := range []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example.com"} {
				if got := person.post(t, "/oauth/authorize", first.with("email", email), header); got.status != http.StatusForbidden {
					t.Errorf("%s: got %d, want 403", header, got.status)
				}
			}
		})
		t.Run("a form that was used", func(t *testing.T) {
			second := person.post(t, "/oauth/authorize", person.open(t, askURL(running)).with("email", email))
			code := person.mailed(t, email, 0)
			third := person.post(t, "/oauth/authorize", second.with("code", code))
			for name, form := range map[string]url.Values{
				"the code again": second.with("code", code), "consent with the ticket before": second.with("answer", "allow"),
				"the code with the ticket after": third.with("code", code), "a ticket of no one": {"ticket": {strings.Repeat("1", 43)}, "answer": {"allow"}},
				"no ticket at all": {"ticket": {""}, "answer": {"allow"}},
			} {
				if got := person.post(t, "/oauth/authorize", form); got.status != http.StatusNotFound {
					t.Errorf("%s: got %d, want 404", name, got.status)
				}
			}
			person.allow(t, third)
			if got := person.post(t, "/oauth/authorize", third.with("answer", "deny")); got.status != http.StatusNotFound {
				t.Errorf("a second answer: got %d, want 404", got.status)
			}
		})
		t.Run("an account of someone else, and scopes that were not asked for", func(t *testing.T) {
			consent := person.signIn(t, askURL(running), running.Account(t, "pro").Email)
			mine := person.signIn(t, askURL(running), running.Account(t, "pro").Email)
			theirs := accountInput.FindStringSubmatch(consent.body)[1]
			if got := person.post(t, "/oauth/authorize", mine.with("answer", "allow", "account", theirs)); got.status != http.StatusBadRequest || got.location != "" {
				t.Errorf("got %d, sent to %q, want 400 and nowhere", got.status, got.location)
			}
			got := person.exchange(t, person.allow(t, mine, "rules:write", "keys:write", "billing:write", "scrolls:write").Get("code"))
			if got.Scope != "rules:read rules:write library:read" {
				t.Errorf("got %d %q, want what was asked for and allowed", got.status, got.Scope)
			}
			if opened := running.Anonymous().WithKey(got.Token).Do(t, `POST /v1/api_keys/sessions {"scopes":["rules:read"]}`, ""); opened.Status != http.StatusForbidden {
				t.Errorf("a session that makes another: got %d %s, want 403", opened.Status, opened.Body)
			}
		})
		t.Run("one of two accounts of an address", func(t *testing.T) {
			first, second := running.Account(t, "pro"), running.Account(t, "pro")
			running.Exec(t, "UPDATE accounts SET email = '"+first.Email+"' WHERE email = '"+second.Email+"'")
			second.Get(t, `POST /v1/workspace {"description":"Espresso machines."}`, &struct{}{})
			second.Get(t, `PUT /v1/rules {"text":"Of the second."}`, &struct{}{})
			consent := person.signIn(t, askURL(running), first.Email)
			accounts := accountInput.FindAllStringSubmatch(consent.body, -1)
			if len(accounts) != 2 {
				t.Fatalf("got %d accounts, want 2", len(accounts))
			}
			sent := person.post(t, "/oauth/authorize", consent.with("answer", "allow", "account", accounts[1][1]))
			back, _ := url.Parse(sent.location)
			session := person.exchange(t, back.Query().Get("code"))
			if got := running.Anonymous().WithKey(session.Token).Read(t, "GET /v1/rules"); !strings.Contains(got, "Of the second.") {
				t.Errorf("got %s, want the rules of the account that was chosen", got)
			}
		})
		t.Run("a person who denies it", func(t *testing.T) {
			got := person.post(t, "/oauth/authorize", person.signIn(t, askURL(running), running.Account(t, "pro").Email).with("answer", "deny"))
			if !strings.HasPrefix(got.location, programBack+"?error=access_denied&") {
				t.Errorf("got %d, sent to %q, want the program's address with access_denied", got.status, got.location)
			}
		})
		t.Run("a page that was left open too long", func(t *testing.T) {
			consent := person.signIn(t, askURL(running), running.Account(t, "pro").Email)
			running.Exec(t, "UPDATE authorizations SET expires_at = 1 WHERE step = 'consent'")
			if got := person.post(t, "/oauth/authorize", consent.with("answer", "allow", "account", accountInput.FindStringSubmatch(consent.body)[1])); got.status != http.StatusNotFound {
				t.Errorf("got %d, want 404", got.status)
			}
		})
	}, reached)
}

// TestGuessedSignIns: codes are guessed no better than those of recovery, and the page does
// not say who has an account.
func TestGuessedSignIns(t *testing.T) {
	t.Parallel()
	_, reached := newPrograms(t)
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		person := newVisitor(running)
		t.Run("too many guesses", func(t *testing.T) {
			email := running.Account(t, "pro").Email
			second := person.post(t, "/oauth/authorize", person.open(t, askURL(running)).with("email", email))
			code := person.mailed(t, email, 0)
			var got []int
			for range 6 {
				got = append(got, person.post(t, "/oauth/authorize", second.with("code", another(code))).status)
			}
			got = append(got, person.post(t, "/oauth/authorize", second.with("code", code)).status)
			got = append(got, person.post(t, "/oauth/authorize", second.with("code", person.word(t, email))).status)
			if want := []int{400, 400, 400, 400, 400, 429, 429, 200}; !cmp.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
		t.Run("an address without an account", func(t *testing.T) {
			known, unknown := running.Account(t, "pro").Email, "nobody@example.com"
			pages := map[string]view{}
			for _, email := range []string{unknown, known} { // so that a letter to the first would come first
				pages[email] = person.post(t, "/oauth/authorize", person.open(t, askURL(running)).with("email", email))
			}
			person.mailed(t, known, 0)
			blank := func(v view) string { return strings.ReplaceAll(v.body, v.form().Get("ticket"), "") }
			if diff := cmp.Diff(blank(pages[known]), blank(pages[unknown])); diff != "" {
				t.Errorf("the page for an unknown address differs from that for a known one (-want +got):\n%s", diff)
			}
			if got := person.post(t, "/oauth/authorize", pages[unknown].with("code", "123456")); got.status != http.StatusBadRequest {
				t.Errorf("got %d, want 400", got.status)
			}
			if codes := person.codes(t, unknown); len(codes) > 0 {
				t.Errorf("got %d codes mailed to an address without an account, want none", len(codes))
			}
		})
		t.Run("a code is of its purpose", func(t *testing.T) {
			account := running.Account(t, "pro")
			person.post(t, "/oauth/authorize", person.open(t, askURL(running)).with("email", account.Email))
			got := running.Anonymous().Read(t, `POST /v1/api_keys/reissue {"email":"`+account.Email+`","code":"`+person.mailed(t, account.Email, 0)+`"}`)
			if !strings.Contains(got, "invalid_code") || !opens(t, running, account.Key) {
				t.Errorf("a sign-in code for a new key: got %s, want invalid_code, and the old key to work", got)
			}
		})
	}, reached)
}

// word is that of the newest letter to an address: guesses do not use it up.
func (v *visitor) word(t *testing.T, email string) (word string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(v.running.Config.Outbox(), "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := mailedWord.FindSubmatch(text); found != nil && strings.Contains(string(text), email) {
			word = string(found[1])
		}
	}
	return word
}

var mailedWord = regexp.MustCompile(`(?m)^([0-9A-Za-z]{43})\r?$`)

func another(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

// TestSignInRates: the forms share the rates of recovery.
func TestSignInRates(t *testing.T) {
	t.Parallel()
	site, reached := newPrograms(t)
	running := apptest.Start(t, reached, func(cfg *app.Config) { cfg.RateLimit = true })
	person := newVisitor(running)
	first := person.open(t, askURL(running))
	var got []int
	for range 4 {
		got = append(got, person.post(t, "/oauth/authorize", first.with("email", "nobody@example.com")).status)
	}
	got = append(got, running.Anonymous().Do(t, `POST /v1/api_keys/recover {"email":"nobody@example.com"}`, "").Status)
	last := person.post(t, "/oauth/authorize", first.with("email", "nobody@example.com"))
	if got = append(got, last.status); !cmp.Equal(got, []int{200, 200, 200, 200, 200, 429}) || last.header.Get("Retry-After") == "" {
		t.Errorf("got %v, Retry-After %q, want the sixth refused", got, last.header.Get("Retry-After"))
	}
	if n := site.asked.Load(); n != 1 {
		t.Errorf("the document was fetched %d times, want once", n)
	}
	for _, path := range []string{"/recover/", "/erase/acct_1."} { // links of mails
		slowed := slices.ContainsFunc(make([]int, 40), func(int) bool {
			answer := running.Anonymous().Do(t, "GET "+path+strings.Repeat("x", 43), "")
			return answer.Status == http.StatusTooManyRequests && answer.Header.Get("Retry-After") != ""
		})
		if !slowed {
			t.Errorf("%s: got 40 answers, want some of them 429 with Retry-After", path)
		}
	}
	slowed := slices.ContainsFunc(make([]int, 25), func(int) bool {
		return person.open(t, askURL(running, "client_id", "https://example.com/none.json")).status == http.StatusTooManyRequests
	})
	if n := site.asked.Load(); !slowed || n > 21 {
		t.Errorf("after 25 pages the site was asked %d times (slowed down: %t), want at most 21, and 429 from then on", n, slowed)
	}
}

// TestWrongRequests: a request that is wrong sends no person anywhere.
func TestWrongRequests(t *testing.T) {
	t.Parallel()
	site, reached := newPrograms(t)
	running := apptest.Start(t, reached)
	site.serve("https://example.com/liar.json", `{"client_id":"https://example.com/agent.json","redirect_uris":["`+programBack+`"]}`)
	site.serve("https://example.com/secret.json", `{"client_id":"https://example.com/secret.json","client_secret":"x","redirect_uris":["`+programBack+`"]}`)
	site.serve("https://example.com/huge.json", `{"client_id":"https://example.com/huge.json","redirect_uris":["`+programBack+`"],"x":"`+strings.Repeat("x", 5<<10)+`"}`)
	site.handlers["https://example.com/moved.json"] = func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/target.json", http.StatusFound) }
	site.serve("https://example.com/target.json", `{"client_id":"https://example.com/moved.json","redirect_uris":["`+programBack+`"]}`)
	site.handlers["https://example.com/page.json"] = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }
	person := newVisitor(running)
	for _, c := range []struct{ name, field, value, returns string }{
		{"a private address", "client_id", "https://127.0.0.1/agent.json", ""},
		{"a name of this machine", "client_id", "https://localhost/agent.json", ""},
		{"metadata of a cloud", "client_id", "https://169.254.169.254/latest/x", ""},
		{"an address in disguise", "client_id", "https://0x7f.1/agent.json", ""},
		{"not encrypted", "client_id", "http://example.com/agent.json", ""},
		{"no path", "client_id", "https://example.com", ""},
		{"a user name", "client_id", "https://a@example.com/agent.json", ""},
		{"a fragment", "client_id", "https://example.com/agent.json#x", ""},
		{"dots", "client_id", "https://example.com/x/../agent.json", ""},
		{"no client", "client_id", "", ""},
		{"a long one", "client_id", "https://example.com/" + strings.Repeat("x", 600), ""},
		{"an unknown document", "client_id", "https://example.com/none.json", ""},
		{"a document of another", "client_id", "https://example.com/liar.json", ""},
		{"a document with a secret", "client_id", "https://example.com/secret.json", ""},
		{"a document that is too large", "client_id", "https://example.com/huge.json", ""},
		{"a document that moved", "client_id", "https://example.com/moved.json", ""},
		{"a page", "client_id", "https://example.com/page.json", ""},
		{"a redirect elsewhere", "redirect_uri", "https://evil.example.com/callback", ""},
		{"another path", "redirect_uri", "http://127.0.0.1:7777/callback/", ""},
		{"a longer query", "redirect_uri", "https://example.com/back?x=1&y=2", ""},
		{"a script", "redirect_uri", "javascript:alert(1)", ""},
		{"a name like loopback", "redirect_uri", "http://127.0.0.1.evil.example.com/callback", ""},
		{"a user name in loopback", "redirect_uri", "http://127.0.0.1:7777@evil.example.com/callback", ""},
		{"a twin of loopback", "redirect_uri", "http://localhost:7777/callback", ""},
		{"no PKCE", "code_challenge", "", "invalid_request"},
		{"plain PKCE", "code_challenge_method", "plain", "invalid_request"},
		{"a token at once", "response_type", "token", "unsupported_response_type"},
		{"a scope of keys", "scope", "rules:read keys:write", "invalid_scope"},
		{"an unknown scope", "scope", "everything", "invalid_scope"},
		{"no resource", "resource", "", "invalid_target"},
		{"a foreign resource", "resource", running.BaseURL + ".evil.example.com/mcp", "invalid_target"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := person.open(t, askURL(running, c.field, c.value))
			if got.status != http.StatusBadRequest || got.location != "" || strings.Contains(got.body, "<form") {
				t.Errorf("got %d, sent to %q, want 400, without a form and sent nowhere: %s", got.status, got.location, got.body)
			}
			returns := strings.Contains(got.body, `href="`+programBack+"?error="+c.returns+"&amp;")
			if (c.returns != "") != returns || c.returns == "" && strings.Contains(got.body, "href=") {
				t.Errorf("want a way back with %q: %s", c.returns, got.body)
			}
		})
	}
	t.Run("the port of loopback is any", func(t *testing.T) {
		got := person.open(t, askURL(running, "redirect_uri", "http://127.0.0.1:1/callback"))
		if got.status != http.StatusOK || !strings.Contains(got.body, "127.0.0.1:1 is your own machine") {
			t.Errorf("got %d, want 200 and a page that names 127.0.0.1:1 as the own machine: %s", got.status, got.body)
		}
		if strings.Contains(got.body, "bank") || strings.Contains(got.body, "<script") || !strings.Contains(got.body, "<strong>example.com</strong>") {
			t.Errorf("got %s, want example.com as the name, and neither the document's \"bank\" nor its script", got.body)
		}
	})
	t.Run("parameters twice", func(t *testing.T) {
		if got := person.open(t, askURL(running)+"&state=2"); got.status != http.StatusBadRequest || strings.Contains(got.body, "<form") {
			t.Errorf("got %d, want 400 without a form: %s", got.status, got.body)
		}
	})
	t.Run("an address that is none", func(t *testing.T) {
		got := person.post(t, "/oauth/authorize", person.open(t, askURL(running)).with("email", "<x>"))
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, "Type the mail address") {
			t.Errorf("got %d, want 400 and a request for the mail address: %s", got.status, got.body)
		}
	})
}
