package browser_test

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

type documents func(*http.Request) (*http.Response, error)

func (d documents) RoundTrip(r *http.Request) (*http.Response, error) { return d(r) }

// TestAnAgentSignsIn: a browser goes through the pages of the sign-in and back to the agent,
// by their policy and without a script.
func TestAnAgentSignsIn(t *testing.T) {
	needBrowser(t)
	const id = "https://example.com/agent.json"
	back := make(chan url.Values, 1)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			back <- r.URL.Query()
		}
		_, _ = io.WriteString(w, "<title>agent</title>You may close this page")
	}))
	t.Cleanup(agent.Close)
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.ClientDocuments = documents(func(r *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
				Body: io.NopCloser(strings.NewReader(`{"client_id":"` + id + `","redirect_uris":["http://127.0.0.1/callback"]}`)),
			}, nil
		})
	})
	account := running.Account(t, "pro")
	proof := strings.Repeat("p", 43)
	sum := sha256.Sum256([]byte(proof))
	query := url.Values{
		"response_type": {"code"}, "client_id": {id}, "redirect_uri": {agent.URL + "/callback"}, "state": {"s"}, "scope": {"rules:read rules:write"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {running.BaseURL + "/mcp"},
	}
	b := launch(t).tab(t, running.BaseURL)
	b.open("/oauth/authorize?" + query.Encode())
	b.sees("The program at example.com asks")
	b.check("agent-address")
	b.fill("Mail address of your account", account.Email)
	b.press("Send me a code")
	b.sees("Code from the mail")
	b.check("agent-code")
	b.fill("Code from the mail", signInCode(t, running))
	b.press("Go on")
	b.sees("change your rules")
	b.check("agent-consent")
	eval[bool](b, `document.querySelector('input[value="rules:write"]').click(), true`)
	b.press("Allow")
	b.sees("You may close this page")
	got := <-back
	if got.Get("code") == "" || got.Get("state") != "s" || got.Get("iss") != running.BaseURL {
		t.Errorf("the agent got %v, want a code, the state and the issuer", got)
	}
}

// signInCode waits for the code in the one mail of the server.
func signInCode(t *testing.T, running *apptest.Running) string {
	t.Helper()
	digits := regexp.MustCompile(`sign-in code is (\d{6})`)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(running.Config.Outbox(), "*.eml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := digits.FindSubmatch(text); found != nil {
				return string(found[1])
			}
		}
	}
	t.Fatal("got no code in the mail, want one")
	return ""
}
