package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// programs is the site of a client: it serves metadata documents, without a network.
type programs struct {
	handlers map[string]http.HandlerFunc
	asked    atomic.Int32
}

const (
	programID   = "https://example.com/agent.json"
	programBack = "http://127.0.0.1:7777/callback"
)

// newPrograms starts the site, and returns the change of a configuration that reaches it.
func newPrograms(t *testing.T) (*programs, func(*app.Config)) {
	t.Helper()
	p := &programs{handlers: map[string]http.HandlerFunc{}}
	p.serve(programID, `{"client_id":"`+programID+`","client_name":"<b>Your bank</b>","token_endpoint_auth_method":"none",
		"redirect_uris":["http://127.0.0.1/callback","https://example.com/back?x=1"]}`)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		if handler := p.handlers["https://"+r.Host+r.URL.Path]; handler != nil {
			handler(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, network, server.Listener.Addr().String())
	}
	return p, func(cfg *app.Config) { cfg.ClientDocuments = transport }
}

func (p *programs) serve(id, document string) {
	p.handlers[id] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, document)
	}
}

// visitor is a person with a browser that follows no redirects.
type visitor struct {
	running *apptest.Running
	client  *http.Client
}

func newVisitor(running *apptest.Running) *visitor {
	return &visitor{running, &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// view is an answer that a browser shows, or follows.
type view struct {
	status         int
	body, location string
	header         http.Header
}

func (v *visitor) do(t *testing.T, request *http.Request) view {
	t.Helper()
	answer, err := v.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return view{answer.StatusCode, string(body), answer.Header.Get("Location"), answer.Header}
}

func (v *visitor) open(t *testing.T, address string) view {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v.do(t, request)
}

func (v *visitor) post(t *testing.T, path string, form url.Values, headers ...string) view {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.running.BaseURL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	return v.do(t, request)
}

var hiddenInput = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// form is what the form of a page would send by itself.
func (p view) form() url.Values {
	values := url.Values{}
	for _, found := range hiddenInput.FindAllStringSubmatch(p.body, -1) {
		values.Set(found[1], html.UnescapeString(found[2]))
	}
	return values
}

// with is the form with what a person fills in.
func (p view) with(pairs ...string) url.Values {
	values := p.form()
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return values
}

var signInCode = regexp.MustCompile(`sign-in code: (\d{6})`)

// mailed waits for the newest sign-in code of an address; after is how many came before.
func (v *visitor) mailed(t *testing.T, email string, after int) (code string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if codes := v.codes(t, email); len(codes) > after {
			return codes[len(codes)-1]
		}
	}
	t.Fatalf("got no more than %d sign-in codes for %s within a minute, want another", after, email)
	return ""
}

func (v *visitor) codes(t *testing.T, email string) (codes []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(v.running.Config.Outbox(), "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		letter, err := netmail.ReadMessage(text)
		_ = text.Close()
		if err != nil {
			t.Fatal(err)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(letter.Header.Get("Subject"))
		if found := signInCode.FindStringSubmatch(subject); err == nil && found != nil && strings.Contains(letter.Header.Get("To"), email) {
			codes = append(codes, found[1])
		}
	}
	return codes
}

// signIn goes from an authorization address to the page that asks for consent.
func (v *visitor) signIn(t *testing.T, address, email string) view {
	t.Helper()
	before := len(v.codes(t, email))
	first := v.open(t, address)
	if first.status != http.StatusOK || !strings.Contains(first.body, "Send me a code") {
		t.Fatalf("the authorization address: got %d, want 200 and the form for a mail address: %s", first.status, first.body)
	}
	second := v.post(t, "/oauth/authorize", first.with("email", email))
	if second.status != http.StatusOK {
		t.Fatalf("the mail address: got %d, want 200: %s", second.status, second.body)
	}
	third := v.post(t, "/oauth/authorize", second.with("code", v.mailed(t, email, before)))
	if third.status != http.StatusOK || !strings.Contains(third.body, `name="account"`) {
		t.Fatalf("the code: got %d, want 200 and the accounts to choose from: %s", third.status, third.body)
	}
	return third
}

var accountInput = regexp.MustCompile(`name="account" value="([^"]+)"`)

// allow consents for the first account, or for the one that is named, and returns where
// the browser is sent.
func (v *visitor) allow(t *testing.T, consent view, scopes ...string) url.Values {
	t.Helper()
	form := consent.with("answer", "allow", "account", accountInput.FindStringSubmatch(consent.body)[1])
	form["allow"] = scopes
	answer := v.post(t, "/oauth/authorize", form)
	if answer.status != http.StatusSeeOther {
		t.Fatalf("the consent: got %d, want 303: %s", answer.status, answer.body)
	}
	back, err := url.Parse(answer.location)
	if err != nil || !strings.HasPrefix(answer.location, programBack+"?") {
		t.Fatalf("sent to %s (%v), want %s", answer.location, err, programBack)
	}
	return back.Query()
}

// TestProgramsSignIn: the SDK's client goes from a 401 to a tool call, with nothing but the
// server's address, a person and their mail.
func TestProgramsSignIn(t *testing.T) {
	t.Parallel()
	_, reached := newPrograms(t)
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		person, account := newVisitor(running), running.Account(t, "pro")
		account.Get(t, `POST /v1/workspace {"description":"Espresso machines."}`, &struct{}{})
		for _, query := range []string{"", "?toolsets=all"} {
			t.Run("at /mcp"+query, func(t *testing.T) {
				handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
					ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{URL: programID},
					RedirectURL:                    programBack,
					AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
						got := person.allow(t, person.signIn(t, args.URL, account.Email), "rules:write")
						return &auth.AuthorizationResult{Code: got.Get("code"), State: got.Get("state"), Iss: got.Get("iss")}, nil
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
					Endpoint: running.BaseURL + "/mcp" + query, OAuthHandler: handler, MaxRetries: -1, DisableStandaloneSSE: true,
				}, nil)
				if err != nil {
					t.Fatalf("connect: %v", err)
				}
				t.Cleanup(func() { _ = session.Close() })
				agent := &toolClient{ClientSession: session}
				agent.get(t, "putRules", `{"text":"Only espresso."}`, &struct{}{})
				agent.get(t, "getWorkspace", `{}`, &struct{}{})
				list, err := session.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, tool := range list.Tools {
					names = append(names, tool.Name)
				}
				if !slices.Contains(names, "putRules") || slices.Contains(names, "createScroll") || slices.Contains(names, "setWorkspace") {
					t.Errorf("got tools %v, want those of what was allowed", names)
				}
				source, err := handler.TokenSource(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				token, err := source.Token()
				if err != nil {
					t.Fatal(err)
				}
				if life := time.Until(token.Expiry); !strings.HasPrefix(token.AccessToken, "scr_sess_") || token.RefreshToken != "" || life > 24*time.Hour || life < 23*time.Hour {
					t.Errorf("got a token of %d characters, refresh %q, for %v, want a session key for a day", len(token.AccessToken), token.RefreshToken, life)
				}
				revokeCurrent(t, running, account, token.AccessToken)
				if answer := running.Anonymous().WithKey(token.AccessToken).Do(t, "POST /mcp {}", ""); answer.Status != http.StatusUnauthorized {
					t.Errorf("got %d after the session was revoked, want 401", answer.Status)
				}
			})
		}
	}, reached)
}

// revokeCurrent finds a session in the account's list by its hint, and revokes it.
func revokeCurrent(t *testing.T, running *apptest.Running, account *apptest.Caller, secret string) {
	t.Helper()
	var list struct {
		Keys []struct {
			ID, Hint, ParentID string
			Scopes             []string
			Active             bool
		}
	}
	account.Get(t, "GET /v1/api_keys", &list)
	for _, key := range list.Keys {
		if !strings.HasSuffix(secret, key.Hint) {
			continue
		}
		if want := strings.Fields("workspace:read rules:read rules:write scrolls:read library:read usage:read account:read"); !key.Active || key.ParentID == "" || !cmp.Equal(key.Scopes, want) {
			t.Errorf("got %+v, want an active session key with %v", key, want)
		}
		account.Get(t, fmt.Sprintf("POST /v1/api_keys/revoke {\"id\":%q}", key.ID), &struct{}{})
		return
	}
	t.Errorf("got the keys %+v, want the session among them", list)
}

// TestSignInMetadata: programs find the way by the standards' documents.
func TestSignInMetadata(t *testing.T) {
	t.Parallel()
	running := apptest.Start(t)
	read := func(t *testing.T, path string) map[string]any {
		t.Helper()
		answer := newVisitor(running).open(t, running.BaseURL+path)
		out := map[string]any{}
		if err := json.Unmarshal([]byte(answer.body), &out); err != nil || answer.status != http.StatusOK || answer.header.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: got %d, %q, %v, want 200 and JSON: %s", path, answer.status, answer.header.Get("Content-Type"), err, answer.body)
		}
		return out
	}
	for path, resource := range map[string]string{
		"/.well-known/oauth-protected-resource":                      "",
		"/.well-known/oauth-protected-resource/mcp":                  "/mcp",
		"/.well-known/oauth-protected-resource/mcp?toolsets=all":     "/mcp?toolsets=all",
		`/.well-known/oauth-protected-resource/mcp?x="evil`:          "/mcp",
		"/.well-known/oauth-protected-resource/mcp?toolsets=a,b&x=1": "/mcp?toolsets=a,b&x=1",
	} {
		t.Run(path, func(t *testing.T) {
			got := read(t, path)
			if got["resource"] != running.BaseURL+resource || !cmp.Equal(got["authorization_servers"], []any{running.BaseURL}) {
				t.Errorf("got %v, want the resource %s of this server", got, running.BaseURL+resource)
			}
		})
	}
	server := read(t, "/.well-known/oauth-authorization-server")
	want := map[string]any{
		"issuer": running.BaseURL, "authorization_endpoint": running.BaseURL + "/oauth/authorize", "token_endpoint": running.BaseURL + "/oauth/token",
		"response_types_supported": []any{"code"}, "response_modes_supported": []any{"query"}, "grant_types_supported": []any{"authorization_code"},
		"token_endpoint_auth_methods_supported": []any{"none"}, "code_challenge_methods_supported": []any{"S256"},
		"client_id_metadata_document_supported": true, "authorization_response_iss_parameter_supported": true,
		"protected_resources": []any{running.BaseURL + "/mcp"}, "service_documentation": running.BaseURL + "/docs/oauth",
	}
	scopes := server["scopes_supported"]
	delete(server, "scopes_supported")
	if diff := cmp.Diff(want, server); diff != "" {
		t.Errorf("the server's metadata (-want +got):\n%s", diff)
	}
	offered := []any{"workspace:read", "workspace:write", "rules:read", "rules:write", "scrolls:read", "scrolls:write", "library:read", "library:write", "usage:read", "account:read", "agent:run"}
	if diff := cmp.Diff(offered, scopes); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
	t.Run("the challenge of /mcp", func(t *testing.T) {
		answer := running.Anonymous().Do(t, "POST /mcp?toolsets=all {}", "")
		if got := answer.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, `Bearer resource_metadata="`+running.BaseURL+`/.well-known/oauth-protected-resource/mcp?toolsets=all", scope="workspace:read `) {
			t.Errorf("got the challenge %s, want the address of this resource's metadata, and scopes from workspace:read on", got)
		}
		if got := running.Anonymous().WithKey("scr_sess_wrong").Do(t, "POST /mcp {}", "").Header.Get("WWW-Authenticate"); !strings.HasSuffix(got, `, error="invalid_token"`) {
			t.Errorf("got %s, want that the key is wrong", got)
		}
		if got := running.Anonymous().Do(t, "GET /v1/rules", "").Header.Get("WWW-Authenticate"); got != "Bearer" {
			t.Errorf("REST: got %s, want Bearer", got)
		}
	})
}
