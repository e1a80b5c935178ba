package app_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
	"github.com/scrollery/scrollery/modules/billing"
	"github.com/scrollery/scrollery/modules/changes"
	"github.com/scrollery/scrollery/modules/kernel/api/apitest/described"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/operator"
	"github.com/scrollery/scrollery/modules/usage"
)

// A refusalCase is a call that is refused, and with what.
type refusalCase struct {
	name string
	// by makes the caller; it may prepare what the call is refused for.
	by           func(t *testing.T) *apptest.Caller
	call, header string
	status       int
	kind         apierr.Kind
	// fields are members of the body besides error and message; nil values only
	// have to be there.
	fields map[string]any
}

// TestEveryRefusalIsReached reaches every kind of fault from outside, and fails
// for a kind that no case has.
func TestEveryRefusalIsReached(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	reached := map[apierr.Kind]bool{}
	t.Run("kinds", func(t *testing.T) {
		for _, w := range []func(*testing.T) (*apptest.Running, []refusalCase){
			refusalsOfProtocols, refusalsOfModules, refusalsOfRates, refusalsOfProviders, refusalsOfBrokenStorage,
		} {
			running, cases := w(t)
			document := openAPI(t, running)
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) {
					checkRefusal(t, document, c)
					mu.Lock()
					defer mu.Unlock()
					reached[c.kind] = true
				})
			}
		}
	})
	for _, kind := range faultKinds(t) {
		if !reached[kind] {
			t.Errorf("got no refusal with %s in any case, want one for each kind", kind)
		}
	}
}

func checkRefusal(t *testing.T, document *described.Document, c refusalCase) {
	answer := c.by(t).Do(t, c.call, c.header)
	if answer.Status != c.status {
		t.Fatalf("status %d, want %d: %s", answer.Status, c.status, answer.Body)
	}
	isDescribed(t, document, answer)
	answer.WantError(t, string(c.kind))
	body := answer.JSON(t)
	for name, want := range c.fields {
		got, there := body[name]
		if !there || want != nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v: %s", name, got, want, answer.Body)
		}
	}
	for name := range body {
		if _, listed := c.fields[name]; !listed && name != "error" && name != "message" {
			t.Errorf("got the member %s, want only error, message and what the case lists: %s", name, answer.Body)
		}
	}
	if c.status == http.StatusTooManyRequests {
		seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		if err != nil || float64(seconds) != body["retryAfter"] || seconds < 1 {
			t.Errorf("got Retry-After %q and retryAfter %v, want the same whole number of at least 1", answer.Header.Get("Retry-After"), body["retryAfter"])
		}
	}
	if c.status == http.StatusUnauthorized && answer.Header.Get("WWW-Authenticate") == "" {
		t.Error("got 401 without WWW-Authenticate, want a challenge")
	}
}

// lapse makes an account one that no longer pays. The server has not done it itself, and sees
// it within a second.
func lapse(t *testing.T, running *apptest.Running, account *apptest.Caller) *apptest.Caller {
	t.Helper()
	running.Exec(t, "UPDATE subscriptions SET status = 'past_due' WHERE account_id = (SELECT id FROM accounts WHERE email = $1)", account.Email)
	time.Sleep(time.Second)
	return account
}

// spend leaves an account without budget.
func spend(t *testing.T, running *apptest.Running, account *apptest.Caller) *apptest.Caller {
	t.Helper()
	for _, day := range []int{usage.Day(time.Now()), usage.Month(time.Now())} {
		running.Exec(t, "INSERT INTO usage_counters (id, account_id, day, units) SELECT -a.id - $2, a.id, $2, 100000000 FROM accounts AS a WHERE a.email = $1 ON CONFLICT (account_id, day) DO UPDATE SET units = excluded.units", account.Email, day)
	}
	return account
}

// order makes one more key of an account.
func order(t *testing.T, running *apptest.Running, account *apptest.Caller, ttl time.Duration, scopes ...string) *apptest.Caller {
	t.Helper()
	secret, err := running.Operator().CreateKey(t.Context(), operator.KeyOrder{Email: account.Email, Plan: "standard", Scopes: scopes, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return account.WithKey(secret)
}

func refusalsOfProtocols(t *testing.T) (*apptest.Running, []refusalCase) {
	running := apptest.Start(t, func(cfg *app.Config) { cfg.Protocols.Tiers = map[string]string{"getTrends": "max"} })
	subscribe, signup := running.BaseURL+"/v1/subscribe", running.BaseURL+"/v1/signup"
	standard := func(t *testing.T) *apptest.Caller { return running.Account(t, "standard") }
	nobody := func(*testing.T) *apptest.Caller { return running.Anonymous() }
	reader := func(t *testing.T) *apptest.Caller { return order(t, running, standard(t), 0, "library:read") }
	lapsed := func(t *testing.T) *apptest.Caller { return lapse(t, running, standard(t)) }
	expired := func(t *testing.T) *apptest.Caller {
		session := order(t, running, standard(t), time.Hour)
		running.Exec(t, "UPDATE keys SET expires_at = 1 WHERE parent_id IS NOT NULL AND account_id = (SELECT id FROM accounts WHERE email = $1)", session.Email)
		return session
	}
	orphan := func(t *testing.T) *apptest.Caller {
		session := order(t, running, standard(t), time.Hour)
		keys, err := running.Operator().Keys(t.Context(), session.Email)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if key.State == "active" {
				if err := running.Operator().RevokeKey(t.Context(), key.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
		return session
	}
	forbidden := map[string]any{"requiredScope": "rules:write", "grantedScopes": []any{"library:read"}}
	tier := func(current string) map[string]any {
		return map[string]any{"requiredTier": "max", "currentTier": current, "subscribeUrl": subscribe}
	}
	return running, []refusalCase{
		{name: "unknown path", by: nobody, call: "GET /v1/nothing", status: 404, kind: apierr.NotFound},
		{name: "wrong method before the key", by: nobody, call: "DELETE /v1/rules", status: 405, kind: apierr.MethodNotAllowed},
		{name: "no key, broken body", by: nobody, call: `PUT /v1/rules {`, status: 401, kind: apierr.Unauthorized, fields: map[string]any{"subscribeUrl": subscribe}},
		{name: "no key, older", by: nobody, call: `POST /v1/topup {}`, status: 401, kind: apierr.Unauthorized, fields: map[string]any{"signupUrl": signup}},
		{name: "expired session", by: expired, call: "GET /v1/usage", status: 401, kind: apierr.AuthRequired},
		{name: "orphaned session", by: orphan, call: "GET /v1/usage", status: 401, kind: apierr.AuthRequired},
		{name: "scope before the body", by: reader, call: `PUT /v1/rules {`, status: 403, kind: apierr.Forbidden, fields: forbidden},
		{name: "scope before subscription", by: func(t *testing.T) *apptest.Caller { return lapse(t, running, reader(t)) }, call: setRules, status: 403, kind: apierr.Forbidden, fields: forbidden},
		{name: "tier", by: standard, call: "GET /v1/trends?limit=0", status: 403, kind: apierr.TierRequired, fields: tier("starter")},
		{name: "tier before subscription", by: lapsed, call: "GET /v1/trends", status: 403, kind: apierr.TierRequired, fields: tier("none")},
		{name: "subscription before the body", by: lapsed, call: `POST /v1/scrolls {`, status: 402, kind: apierr.SubscriptionRequired, fields: map[string]any{"subscribeUrl": subscribe}},
		{name: "subscription before budget", by: func(t *testing.T) *apptest.Caller { return lapse(t, running, spend(t, running, standard(t))) }, call: "GET /v1/hooks", status: 402, kind: apierr.SubscriptionRequired, fields: map[string]any{"subscribeUrl": subscribe}},
		{name: "budget before the body", by: func(t *testing.T) *apptest.Caller { return spend(t, running, standard(t)) }, call: `PUT /v1/rules {`, status: 429, kind: apierr.RateLimited, fields: map[string]any{"retryAfter": nil}},
		{name: "no credits", by: standard, call: `POST /v1/agent {"goal":"summarise my hooks"}`, status: 402, kind: apierr.PaymentRequired, fields: map[string]any{
			"required": 50.0, "balance": 0.0, "shortfall": 50.0, "topupUrl": running.BaseURL + "/v1/topup",
			"type": "about:blank", "title": "Payment Required", "status": 402.0, "detail": nil,
		}},
		{name: "body before the workspace", by: standard, call: `PUT /v1/rules {"text":""}`, status: 400, kind: apierr.InvalidRequest, fields: map[string]any{"issues": nil}},
	}
}

func refusalsOfModules(t *testing.T) (*apptest.Running, []refusalCase) {
	hold := make(chan struct{})
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.Scrolls.Pause = func(ctx context.Context, _, _ string) {
			select {
			case <-hold:
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(func() { close(hold) })
	account := func(given ...string) func(*testing.T) *apptest.Caller {
		return func(t *testing.T) *apptest.Caller {
			account := running.Account(t, "standard")
			for _, call := range given {
				account.Get(t, call, &struct{}{})
			}
			return account
		}
	}
	return running, []refusalCase{
		{name: "brief", by: account(), call: `POST /v1/workspace {"name":"A"}`, status: 400, kind: apierr.InvalidWorkspaceBrief},
		{name: "brief already set", by: account(setBrief), call: `POST /v1/workspace {"description":"B"}`, status: 409, kind: apierr.WorkspaceAlreadySet, fields: map[string]any{"workspace": nil}},
		{name: "cursor beyond the feed", by: account(), call: "GET /v1/changes?cursor=" + changes.Cursor(1_000_000), status: 410, kind: apierr.CursorExpired},
		{name: "no workspace of a brief", by: account(), call: `POST /v1/briefs {}`, status: 409, kind: apierr.WorkspaceRequired},
		{name: "no workspace", by: account(), call: `POST /v1/scrolls {}`, status: 409, kind: apierr.WorkspaceRequired},
		{name: "active scrolls", by: account(setBrief, `POST /v1/scrolls {}`), call: `POST /v1/scrolls {}`, status: 409, kind: apierr.ScrollActiveLimit},
	}
}

func refusalsOfRates(t *testing.T) (*apptest.Running, []refusalCase) {
	running := apptest.Start(t, func(cfg *app.Config) {
		cfg.RateLimit = true
		cfg.Protocols.AccountBurst, cfg.Protocols.AccountRate = 1, 0.01
	})
	tired := func(t *testing.T) *apptest.Caller {
		account := order(t, running, running.Account(t, "standard"), 0, "usage:read")
		account.Get(t, "GET /v1/usage", &struct{}{})
		return account
	}
	wait := map[string]any{"retryAfter": nil}
	return running, []refusalCase{
		{name: "rate", by: tired, call: "GET /v1/usage", status: 429, kind: apierr.RateLimited, fields: wait},
		{name: "rate before scope", by: tired, call: "GET /v1/rules", status: 429, kind: apierr.RateLimited, fields: wait},
	}
}

// deafProvider never answers.
type deafProvider struct{}

var errDeaf = errors.New("dial tcp 192.0.2.1:443: i/o timeout")

func (deafProvider) Create(context.Context, billing.Order) (session, url string, err error) {
	return "", "", errDeaf
}

func (deafProvider) State(context.Context, string) (billing.Payment, error) {
	return billing.Payment{}, errDeaf
}

func refusalsOfProviders(t *testing.T) (*apptest.Running, []refusalCase) {
	running := apptest.StartBy(t, app.StartWithProvider(deafProvider{}))
	nobody := func(*testing.T) *apptest.Caller { return running.Anonymous() }
	account := func(t *testing.T) *apptest.Caller { return running.Account(t, "standard") }
	again := map[string]any{"retryable": true}
	return running, []refusalCase{
		{name: "checkout", by: nobody, call: `POST /v1/subscribe {"billingInterval":"monthly"}`, status: 502, kind: apierr.TemporaryServiceError, fields: again},
		{name: "older checkout", by: nobody, call: `POST /v1/signup {"amountCents":500}`, status: 502, kind: apierr.UpstreamError, fields: again},
		{name: "older checkout of an account", by: account, call: `POST /v1/topup {"amountCents":500}`, status: 502, kind: apierr.UpstreamError, fields: again},
	}
}

func refusalsOfBrokenStorage(t *testing.T) (*apptest.Running, []refusalCase) {
	running := apptest.Start(t)
	account := running.Account(t, "standard")
	running.Exec(t, "ALTER TABLE workspaces RENAME TO lost")
	return running, []refusalCase{{
		name: "storage", by: func(*testing.T) *apptest.Caller { return account }, call: "GET /v1/workspace", header: "X-Request-Id: lookup-7",
		status: 409, kind: apierr.OperationError, fields: map[string]any{"requestId": "lookup-7"},
	}}
}

// faultKinds reads the constants, so that a new one cannot be forgotten here.
func faultKinds(t *testing.T) []apierr.Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../modules/kernel/apierr/apierr.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []apierr.Kind
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Kind" {
			text, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			kinds = append(kinds, apierr.Kind(text))
		}
		return true
	})
	if len(kinds) < 17 {
		t.Fatalf("only %d kinds were found, want at least 17", len(kinds))
	}
	return kinds
}
