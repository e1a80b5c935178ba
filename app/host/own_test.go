package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// tenants have secrets of their own by the tenant's name, which the context has.
type tenants map[string]map[string]*host.Own

type tenantKey struct{}

func (t tenants) Owned(ctx context.Context) (map[string]*host.Own, error) {
	name, _ := ctx.Value(tenantKey{}).(string)
	return t[name], nil
}

func of(t *testing.T, tenant string) context.Context {
	return context.WithValue(t.Context(), tenantKey{}, tenant)
}

// given is what a stage got in a call.
type given struct {
	Settings, Secrets map[string]string
	Env               []string
}

func (b *bundle) given(t *testing.T, ctx context.Context, id string) given {
	t.Helper()
	records, err := b.probe(ctx, id, "given")
	if err != nil || len(records) != 1 {
		t.Fatalf("got %d records and error %v, want 1", len(records), err)
	}
	var got given
	if err := json.Unmarshal([]byte(found(t, records[0])), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestSecretsAreOfOne: a call has all of the account's secrets or all of the operator's, at any
// time and however many run at once.
func TestSecretsAreOfOne(t *testing.T) {
	t.Parallel()
	own := tenants{}
	for n := range 4 {
		name := fmt.Sprintf("tenant-%d", n)
		own[name] = map[string]*host.Own{"keyed": {Ledger: "keyed/" + name, Secrets: map[string]string{"token": "secret-of-" + name, "none": "not-in-the-spec"}}}
	}
	b := setup(t, func(c *host.Config) {
		c.Accounts = own
		c.Secrets = map[string]map[string]string{"keyed": {"token": "the-operators-token", "extra": "the-operators-extra"}}
		c.Together = []string{"keyed", "judge"}
	})
	session := b.Session()
	defer session.Close()
	var all sync.WaitGroup
	for _, name := range append(slices.Collect(maps.Keys(own)), "a tenant without") {
		want := map[string]string{"token": "secret-of-" + name}
		if own[name] == nil {
			want = map[string]string{"token": "the-operators-token", "extra": "the-operators-extra"}
		}
		for range 2 {
			all.Go(func() {
				got := b.given(t, of(t, name), "keyed")
				if diff := cmp.Diff(want, got.Secrets); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
				if env := strings.Join(got.Env, "\n"); strings.Contains(env, "secret-of") || strings.Contains(env, "operators") {
					t.Errorf("%s: got a secret in the environment, want none", name)
				}
			})
		}
	}
	all.Wait()
	t.Run("a session's process never has an account's", func(t *testing.T) {
		_, err := session.Collect(of(t, "tenant-1"), "keyed", stage.Run{}, []stage.Seed{{Term: "given"}}, func([]stage.Record) error { return nil })
		if pid := session.PID(); err != nil || pid != 0 {
			t.Errorf("got process %d and error %v, want a process of its own", pid, err)
		}
		if _, err := session.Collect(of(t, "a tenant without"), "keyed", stage.Run{}, []stage.Seed{{Term: "given"}}, func([]stage.Record) error { return nil }); err != nil || session.PID() == 0 {
			t.Errorf("got process %d and error %v, want the session's", session.PID(), err)
		}
	})
	t.Run("what a stage logs of it is left out", func(t *testing.T) {
		if _, err := b.probe(of(t, "tenant-2"), "keyed", "stdout"); err != nil {
			t.Fatal(err)
		}
		if log := b.log.String(); strings.Contains(log, "secret-of-tenant-2") || !strings.Contains(log, "[token]") {
			t.Errorf("the log has the secret, or not its name:\n%s", log)
		}
	})
}

func TestOwnSecretsAreNotMadeUpFromTheOperators(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) {
		c.Secrets = map[string]map[string]string{"keyed": {"token": "the-operators-token"}}
		c.Accounts = tenants{
			"incomplete": {"keyed": {Ledger: "keyed/1", Secrets: map[string]string{"extra": "an-extra-of-the-tenant"}}},
			"unopened":   {"keyed": {Ledger: "keyed/2", Fault: stage.Misconfiguredf("they cannot be opened")}},
		}
	})
	for tenant, words := range map[string]string{"incomplete": `secret "token" is missing`, "unopened": "they cannot be opened"} {
		_, err := b.probe(of(t, tenant), "keyed", "given")
		if failure := wantFailure(t, err, stage.SourceUnavailable); !failure.Setup || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v, want %q", tenant, err, words)
		}
		owned, _ := b.Owned(of(t, tenant))
		if plugin, _ := b.FindOwn("keyed", owned["keyed"]); plugin.State != host.Unset {
			t.Errorf("%s: got state %s, want %s", tenant, plugin.State, host.Unset)
		}
	}
	if plugin, _ := b.Find("keyed"); plugin.State != host.Ready {
		t.Errorf("of the operator: got state %s, want %s", plugin.State, host.Ready)
	}
}

// TestOwnSettings: what an account may set is its own or the default, and never the operator's;
// the rest is the operator's, whatever the account says.
func TestOwnSettings(t *testing.T) {
	t.Parallel()
	spent := &ledger{left: 100}
	b := setup(t, func(c *host.Config) {
		c.Quotas = spent
		c.Secrets = map[string]map[string]string{"paying": {"token": "the-operators-token"}}
		c.Settings = map[string]map[string]string{"paying": {"accepted": "by the operator", "daily": "7", "tone": "loud", "url": "http://127.0.0.1:1"}}
		c.Accounts = tenants{"one": {"paying": {
			Ledger: "paying/one", Secrets: map[string]string{"token": "secret-of-one"},
			Settings: map[string]string{"accepted": "by one", "url": "http://127.0.0.1:2", "unknown": "x"},
		}}, "two": {"paying": {
			Ledger: "paying/two", Secrets: map[string]string{"token": "secret-of-two"}, Settings: map[string]string{"daily": "9"},
		}}}
	})
	for tenant, want := range map[string]map[string]string{
		"one":     {"accepted": "by one", "tone": "loud", "url": "http://127.0.0.1:1"},
		"without": {"accepted": "by the operator", "daily": "7", "tone": "loud", "url": "http://127.0.0.1:1"},
	} {
		if diff := cmp.Diff(want, b.given(t, of(t, tenant), "paying").Settings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tenant, diff)
		}
	}
	_, err := b.probe(of(t, "two"), "paying", "given")
	if failure := wantFailure(t, err, stage.SourceUnavailable); !failure.Setup {
		t.Errorf("without a statement of its own: got %v, want it missing", err)
	}
	template := stage.Run{Settings: map[string]map[string]string{"paying": {"accepted": "by the template", "daily": "55", "tone": "quiet"}}}
	for tenant, want := range map[string]map[string]string{
		"one":     {"accepted": "by one", "daily": "55", "tone": "quiet", "url": "http://127.0.0.1:1"},
		"two":     nil, // what it must state itself, no template states
		"without": {"accepted": "by the template", "daily": "55", "tone": "quiet", "url": "http://127.0.0.1:1"},
	} {
		var got given
		_, err := b.Collect(of(t, tenant), "paying", template, []stage.Seed{{Term: "given"}}, func(batch []stage.Record) error {
			return json.Unmarshal([]byte(found(t, batch[0])), &got)
		})
		if diff := cmp.Diff(want, got.Settings); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%s with a template: error %v (-want +got):\n%s", tenant, err, diff)
		}
	}
	for _, tenant := range []string{"one", "without"} {
		if _, err := b.probe(of(t, tenant), "paying", "spend:units,3"); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"paying/one units of 100 a utc_day: 3 ", "paying units of 7 a utc_day: 3 "}
	if diff := cmp.Diff(want, spent.asked); diff != "" {
		t.Errorf("the ledger was asked (-want +got):\n%s", diff)
	}
}

func TestOwnTokensAreKeptWithTheAccount(t *testing.T) {
	t.Parallel()
	v, kept := &vault{kept: map[[3]string]string{}}, []string{}
	b := setup(t, func(c *host.Config) {
		c.Tokens = v
		c.Accounts = tenants{"one": {"renewing": {
			Ledger: "renewing/one", Secrets: map[string]string{"token": "token-of-one"},
			Keep: func(_ context.Context, name, value string) error {
				kept = append(kept, name+" "+value)
				return nil
			},
		}}}
	})
	records, err := b.probe(of(t, "one"), "renewing", "renew:token,next-token-of-one")
	if err != nil || len(records) != 1 || found(t, records[0]) != "oktoken-of-one" {
		t.Fatalf("got %v and error %v, want the account's token", records, err)
	}
	if len(v.kept) > 0 || !slices.Equal(kept, []string{"token next-token-of-one"}) {
		t.Errorf("got %v in the operator's store and %v in the account's, want it in the latter alone", v.kept, kept)
	}
	if strings.Contains(b.log.String(), "next-token-of-one") {
		t.Error("got the renewed token in the log, want it left out")
	}
}

// TestOwnCallsWaitForTheirOwn: a tenant whose key waits for its site holds back no one else.
func TestOwnCallsWaitForTheirOwn(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) {
		c.Accounts = tenants{
			"slow":  {"paying": {Ledger: "paying/slow", Secrets: map[string]string{"token": "secret-of-slow"}, Settings: map[string]string{"accepted": "yes"}}},
			"quick": {"paying": {Ledger: "paying/quick", Secrets: map[string]string{"token": "secret-of-quick"}, Settings: map[string]string{"accepted": "yes"}}},
		}
		c.Secrets = map[string]map[string]string{"paying": {"token": "the-operators-token"}}
		c.Settings = map[string]map[string]string{"paying": {"accepted": "yes"}}
	})
	ctx, cancel := context.WithCancel(of(t, "slow"))
	defer cancel()
	began, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = b.Collect(ctx, "paying", stage.Run{}, []stage.Seed{{Term: "wait"}}, func([]stage.Record) error {
			close(began)
			return nil
		})
	}()
	<-began
	for _, tenant := range []string{"quick", "without"} {
		if got := b.given(t, of(t, tenant), "paying"); len(got.Secrets) != 1 {
			t.Errorf("%s: got %v, want a call beside the slow one", tenant, got.Secrets)
		}
	}
	second, stop := context.WithTimeout(of(t, "slow"), 300*time.Millisecond)
	defer stop()
	if _, err := b.probe(second, "paying", "given"); err == nil {
		t.Error("a second call with the slow one's key: got an answer, want it to wait for the first")
	}
	cancel()
	<-ended
}

// TestOwnCallsLeaveNoPages: with an account's secret no page is stored or read for others.
func TestOwnCallsLeaveNoPages(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *host.Config) {
		c.Accounts = tenants{"one": {"keyed": {Ledger: "keyed/one", Secrets: map[string]string{"token": "secret-of-one"}}}}
		c.Secrets = map[string]map[string]string{"keyed": {"token": "the-operators-token"}}
	})
	for _, term := range []string{"remember:feed", "recall:feed"} {
		_, err := b.probe(of(t, "one"), "keyed", term)
		wantFailure(t, err, stage.StageProtocol)
		if records, err := b.probe(of(t, "without"), "keyed", term); err != nil || len(records) != 1 || found(t, records[0]) != "ok" {
			t.Errorf("%s of another account: got %v and error %v, want ok", term, records, err)
		}
	}
}
