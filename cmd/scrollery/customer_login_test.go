package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app/apptest"
	customers "github.com/scrollery/scrollery/cmd/scrollery/customer"
)

func loginAndLogout(t *testing.T, caller *apptest.Caller) {
	file := func(c *terminal) string {
		text, err := os.ReadFile(filepath.Join(c.dir, "login.json"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	signIn := func(t *testing.T, c *terminal, args ...string) {
		t.Helper()
		got := c.run(t.Context(), caller.Key+"\n", append([]string{"login", "--server", caller.Address(), "--key", "-"}, args...)...)
		if got.code != 0 || got.stdout != "" {
			t.Fatalf("login: exit %d\n%s%s, want code 0 and stdout empty", got.code, got.stdout, got.stderr)
		}
	}
	t.Run("a key is stored, used and deleted", func(t *testing.T) {
		c := newTerminal(t, nil)
		signIn(t, c)
		if !strings.Contains(file(c), caller.Key) {
			t.Errorf("got the file %q, want the key in it", file(c))
		}
		if got := c.must(t, 0, "whoami", "--jq", `.server, .keyIn, .status, .hint`); got.stdout != caller.Address()+"\nfile\nactive\n"+caller.Key[len(caller.Key)-4:]+"\n" {
			t.Errorf("whoami: got %q, want the server, file, active and the hint of the key", got.stdout)
		}
		c.must(t, 0, "logout")
		if strings.Contains(file(c), caller.Key) {
			t.Errorf("after logout: got the file %q, want no key in it", file(c))
		}
		c.must(t, customers.ExitSignIn, "usage")
		if answer := caller.Do(t, "GET /v1/usage", ""); answer.Status != http.StatusOK {
			t.Errorf("logout revoked the key: %d, want %v", answer.Status, http.StatusOK)
		}
	})
	t.Run("a session key is stored alone, and revoked", func(t *testing.T) {
		c := newTerminal(t, nil)
		signIn(t, c, "--session", "1h", "--scopes", "usage:read")
		stored := file(c)
		_, rest, ok := strings.Cut(stored, `"key": "`)
		session, _, _ := strings.Cut(rest, `"`)
		if !ok || !strings.HasPrefix(session, "scr_sess_") || strings.Contains(stored, caller.Key) {
			t.Fatalf(`a session key: %v; the key itself is stored: %v, want one, session starting with "scr_sess_" and stored without %v`, ok, strings.Contains(stored, caller.Key), caller.Key)
		}
		c.must(t, 0, "usage")
		c.must(t, 0, "logout")
		if answer := caller.WithKey(session).Do(t, "GET /v1/usage", ""); answer.Status != http.StatusUnauthorized {
			t.Errorf("after logout the session key gets %d, want %v", answer.Status, http.StatusUnauthorized)
		}
	})
	t.Run("a key that the server refuses is not stored", func(t *testing.T) {
		c := newTerminal(t, nil)
		got := c.run(t.Context(), "scr_live_nonsense\n", "login", "--server", caller.Address(), "--key", "-")
		if got.code != customers.ExitSignIn || file(c) != "" {
			t.Errorf("exit %d, stored %q, want code %v and none", got.code, file(c), customers.ExitSignIn)
		}
	})
	t.Run("a subscription is paid, claimed and stored", func(t *testing.T) { subscribes(t, caller) })
	t.Run("an interrupt loses no key that was handed out", func(t *testing.T) { subscribesInterrupted(t, caller) })
	t.Run("a redirect is not followed", func(t *testing.T) {
		followed := false
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
		defer other.Close()
		server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
		defer server.Close()
		c := newTerminal(t, map[string]string{"SCROLLERY_KEY": caller.Key, "SCROLLERY_SERVER": server.URL})
		for _, args := range [][]string{{"usage"}, {"api", "GET", "/v1/usage"}, {"export", "-"}} {
			if got := c.must(t, customers.ExitFailed, args...); followed || !strings.Contains(got.stderr, "redirects to another address") {
				t.Errorf("%v: got %q (followed: %t), want a redirect that is named and not followed", args, got.stderr, followed)
			}
		}
	})
}

// subscribes pays in the test checkout when the command shows its address. Interrupted,
// it goes on with the same checkout.
func subscribes(t *testing.T, caller *apptest.Caller) {
	c := newTerminal(t, map[string]string{"SCROLLERY_SERVER": caller.Address()})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan result, 1)
	go func() { ended <- c.run(ctx, "", "subscribe", "--plan", "pro") }()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(c.dir, "claim.json")); err == nil {
			break
		}
	}
	interrupt()
	if got := <-ended; got.code != customers.ExitFailed {
		t.Fatalf("interrupted: exit %d, want %v: %s", got.code, customers.ExitFailed, got.stderr)
	}
	address := pay(t, c)
	got := c.must(t, 0, "login", "--subscribe")
	if !strings.Contains(got.stderr, address) || !strings.Contains(got.stderr, "Signed in") || len(c.opened) != 0 {
		t.Errorf(`stderr %q, opened %q, want stderr with %v, stderr with "Signed in" and no opened`, got.stderr, c.opened, address)
	}
	if got := c.must(t, 0, "usage", "--jq", ".status"); got.stdout != "active\n" {
		t.Errorf("status %q, want %q", got.stdout, "active\n")
	}
	if _, err := os.Stat(filepath.Join(c.dir, "claim.json")); !os.IsNotExist(err) {
		t.Errorf("the stored claim: got %v, want that it does not exist", err)
	}
}

// subscribesInterrupted pays while a claim is under way, and interrupts it: the key that
// it gets is stored.
func subscribesInterrupted(t *testing.T, caller *apptest.Caller) {
	origin, err := url.Parse(caller.Address())
	if err != nil {
		t.Fatal(err)
	}
	server := httputil.NewSingleHostReverseProxy(origin)
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/ClaimSubscription") {
			select {
			case asked <- struct{}{}:
			default: // a later claim
			}
			<-answer
			r = r.WithContext(context.WithoutCancel(r.Context())) // it does not see that the asker has gone
		}
		server.ServeHTTP(w, r)
	}))
	defer between.Close()
	c := newTerminal(t, map[string]string{"SCROLLERY_SERVER": between.URL})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan result, 1)
	go func() { ended <- c.run(ctx, "", "subscribe") }()
	select {
	case <-asked:
	case got := <-ended:
		t.Fatalf("subscribe ended before it claimed: exit %d: %s", got.code, got.stderr)
	}
	pay(t, c)
	interrupt()
	close(answer)
	if got := <-ended; got.code != 0 || !strings.Contains(got.stderr, "Signed in") {
		t.Errorf("interrupted in a claim: exit %d, stderr %q, want 0 and the key stored", got.code, got.stderr)
	}
	c.must(t, 0, "usage")
}

// pay pays the checkout that a terminal has started, and returns its address.
func pay(t *testing.T, c *terminal) (address string) {
	t.Helper()
	claims, err := os.ReadFile(filepath.Join(c.dir, "claim.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(claims), `"url": "`)
	address, _, _ = strings.Cut(rest, `"`)
	answer, err := http.Post(address, "application/x-www-form-urlencoded", strings.NewReader("email=new%40example.com&action=pay"))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("pay at %s: got %v, error %v; want status %v", address, answer, err, http.StatusOK)
	}
	answer.Body.Close()
	return address
}

// noSecrets gives a key to commands in every way that is wrong, and looks for it in what
// they print.
func noSecrets(t *testing.T, caller *apptest.Caller) {
	env := map[string]string{"SCROLLERY_SERVER": caller.Address(), "SCROLLERY_KEY": caller.Key}
	plain := map[string]string{"SCROLLERY_SERVER": caller.Address()}
	broken := map[string]string{"SCROLLERY_SERVER": "http://127.0.0.1:1", "SCROLLERY_KEY": caller.Key}
	for _, one := range []struct {
		env  map[string]string
		args string
	}{
		{plain, "login --key KEY"},
		{plain, "login KEY"},
		{plain, "login --key=KEY --json all"},
		{plain, "KEY"},
		{plain, "KEY usage"},
		{plain, "--KEY"},
		{plain, "login --server https://user:KEY@h"},
		{plain, "login --server KEY"},
		{plain, "key revoke KEY extra"},
		{plain, "scroll KEY"},
		{env, "key revoke KEY"},
		{env, "explain KEY"},
		{env, "scroll show KEY"},
		{env, "api GET /KEY"},
		{env, "api GET /v1/library?cursor=KEY"},
		{env, "api KEY /v1/usage"},
		{env, "outliers --kind KEY"},
		{env, "outliers --posted-after KEY"},
		{env, "outliers --json KEY"},
		{env, "outliers --jq KEY"},
		{env, "outliers --limit KEY"},
		{env, "rules put KEY"},
		{env, "rules diff KEY"},
		{env, "listen --forward-to KEY"},
		{env, "change list --since KEY"},
		{env, "whoami"},
		{env, "whoami --json all"},
		{env, "key list --json all"},
		{env, "usage --jq $ENV"},
		{env, "usage --jq env"},
		{env, "logout"},
		{env, "open"},
		{broken, "usage"},
		{broken, "usage --json all"},
		{broken, "change list"},
		{broken, "api GET /v1/usage"},
		{broken, "export -"},
		{broken, "keys list --data-dir DIR --email KEY"},
	} {
		c := newTerminal(t, one.env)
		got := c.run(t.Context(), caller.Key+"\n", strings.Fields(strings.NewReplacer("KEY", caller.Key, "DIR", t.TempDir()).Replace(one.args))...)
		if strings.Contains(got.stdout+got.stderr, caller.Key[9:]) {
			t.Errorf("%s: got the key in the output (exit %d), want it masked:\n%s%s", one.args, got.code, got.stdout, got.stderr)
		}
	}
	t.Run("no help and no flag takes one", func(t *testing.T) {
		root := newRoot(customers.System(strings.ToUpper))
		var walk func(*cobra.Command)
		walk = func(command *cobra.Command) {
			var help bytes.Buffer
			command.SetOut(&help)
			_ = command.Help()
			if found := customers.Mask(help.String()); found != help.String() {
				t.Errorf("the help of %s has a secret (-want +got):\n%s", command.CommandPath(), cmp.Diff(found, help.String()))
			}
			for _, child := range command.Commands() {
				walk(child)
			}
		}
		walk(root)
	})
}
