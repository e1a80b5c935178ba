package sources

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent/auditentry"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
	"github.com/scrollery/scrollery/plugins/stage"
)

// plugins has one source that takes keys, and one that takes none.
type plugins struct{}

func (plugins) Describe(id string) (Source, bool) {
	switch id {
	case "tube":
		return Source{
			ID: "tube", Secrets: []Secret{{"api_key", true}, {"session", false}},
			Settings: []stage.Setting{{Name: "accepted", Required: true, Help: "Say yes."}, {Name: "days", Type: stage.Number, Min: "1", Default: "30"}},
		}, true
	case "feed":
		return Source{ID: "feed"}, true
	}
	return Source{}, false
}

func (plugins) Try(context.Context, string, stage.Seed) (Tried, error) { return Tried{}, nil }

func (p plugins) Sources(context.Context) (all []Source, err error) {
	for _, id := range []string{"feed", "tube"} {
		source, _ := p.Describe(id)
		all = append(all, source)
	}
	return all, nil
}

type bundle struct {
	*Service
	db *store.DB
	// key is the text of the ring that seals.
	mu  sync.Mutex
	key string
}

const longKey, shortKey = "AIzaSyD-of-the-tenant-0042", "k3y-42"

func (b *bundle) turn(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.key = key
}

func each(t *testing.T, test func(t *testing.T, b *bundle)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := &bundle{db: db, key: strings.Repeat("1", secret.MinKey)}
		b.Service = New(Config{}, NewAccounts(db, func() (*secret.Sealer, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return secret.NewSealer(b.key)
		}), Needs{Plugins: plugins{}})
		test(t, b)
	})
}

// opened are the secrets that a call of an account's source gets.
func (b *bundle) opened(t *testing.T, account int64) (Own, map[string]string) {
	t.Helper()
	owned, err := b.accounts.List(viewer.As(t.Context(), account))
	if err != nil || len(owned) != 1 {
		t.Fatalf("got %d sources and error %v, want one", len(owned), err)
	}
	secrets, err := b.accounts.Open(owned[0])
	if err != nil {
		t.Fatal(err)
	}
	return owned[0], secrets
}

func (b *bundle) set(t *testing.T, account int64, c Change) {
	t.Helper()
	c.Source = "tube"
	if _, err := b.Set(viewer.As(t.Context(), account), c); err != nil {
		t.Fatal(err)
	}
}

func TestKeysOfAnAccount(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := viewer.As(t.Context(), 7)
		b.set(t, 7, Change{Secrets: map[string]string{"api_key": longKey, "session": shortKey}, Settings: map[string]string{"accepted": "yes"}})
		b.set(t, 8, Change{Secrets: map[string]string{"api_key": "another-tenants-key"}, Settings: map[string]string{"accepted": "yes"}})
		own, secrets := b.opened(t, 7)
		if diff := cmp.Diff(map[string]string{"api_key": longKey, "session": shortKey}, secrets); diff != "" {
			t.Errorf("secrets of calls (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"api_key": "0042", "session": ""}, own.Hints); diff != "" {
			t.Errorf("hints: want four characters of a long secret and none of a short one (-want +got):\n%s", diff)
		}
		for _, text := range []string{longKey, shortKey} {
			if strings.Contains(string(own.sealed), text) {
				t.Errorf("got %q in the row, want it sealed", text)
			}
		}
		// What is not sent stays.
		b.set(t, 7, Change{Secrets: map[string]string{"session": "another-session"}})
		b.set(t, 7, Change{Settings: map[string]string{"accepted": "yes", "days": "3"}})
		own, secrets = b.opened(t, 7)
		if diff := cmp.Diff(map[string]string{"api_key": longKey, "session": "another-session"}, secrets); diff != "" {
			t.Errorf("secrets after a part was set (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"accepted": "yes", "days": "3"}, own.Settings); diff != "" {
			t.Errorf("settings (-want +got):\n%s", diff)
		}
		all, err := b.List(ctx)
		if err != nil || len(all) != 2 || all[0].Own != nil || all[1].Own == nil {
			t.Errorf("got %+v and error %v, want the account's own of the second source alone", all, err)
		}
		for _, found := range []bool{true, false} {
			if got, err := b.Remove(ctx, "tube"); err != nil || got != found {
				t.Errorf("remove: got %t and error %v, want %t", got, err, found)
			}
		}
		var audited []string
		for _, entry := range b.db.Ent().AuditEntry.Query().Order(auditentry.ByID()).AllX(ctx) {
			audited = append(audited, entry.Action+" "+entry.Subject+entry.Detail)
		}
		if diff := cmp.Diff([]string{"source.set tube", "source.set tube", "source.set tube", "source.remove tube"}, audited); diff != "" {
			t.Errorf("the audit of the account (-want +got):\n%s", diff)
		}
		if _, secrets := b.opened(t, 8); secrets["api_key"] != "another-tenants-key" {
			t.Errorf("the other account's key is %q, want it untouched", secrets["api_key"])
		}
		if owned, err := b.accounts.List(viewer.System(t.Context())); err != nil || owned != nil {
			t.Errorf("without a tenant: got %v and error %v, want nothing", owned, err)
		}
	})
}

func TestWhatIsMissingIsRefused(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		for name, c := range map[string]struct {
			Change
			want []string
		}{
			"nothing":      {Change{}, []string{"secrets.api_key", "settings.accepted"}},
			"no statement": {Change{Secrets: map[string]string{"api_key": longKey}}, []string{"settings.accepted"}},
			"no key":       {Change{Settings: map[string]string{"accepted": "yes"}}, []string{"secrets.api_key"}},
		} {
			c.Source = "tube"
			_, err := b.Set(viewer.As(t.Context(), 7), c.Change)
			if diff := cmp.Diff(c.want, paths(err)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		if owned, err := b.accounts.List(viewer.As(t.Context(), 7)); err != nil || len(owned) > 0 {
			t.Errorf("got %d sources and error %v, want nothing stored", len(owned), err)
		}
	})
}

func paths(err error) (paths []string) {
	if refused := apierr.As(err); refused != nil {
		for _, issue := range refused.Issues {
			paths = append(paths, issue.Path)
		}
	}
	return paths
}

// TestARowOpensAtItsPlaceAlone: neither a row that was moved to another account, nor one that
// was sealed with a key that is gone, gives a secret.
func TestARowOpensAtItsPlaceAlone(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		whole := Change{Secrets: map[string]string{"api_key": longKey}, Settings: map[string]string{"accepted": "yes"}}
		b.set(t, 7, whole)
		own, _ := b.opened(t, 7)
		for name, moved := range map[string]Own{
			"of another account": {Source: own.Source, account: 8, sealed: own.sealed},
			"of another source":  {Source: "feed", account: 7, sealed: own.sealed},
		} {
			if got, err := b.accounts.Open(moved); !errors.Is(err, ErrUnopened) || len(got) > 0 {
				t.Errorf("%s: got %d secrets and error %v, want none and ErrUnopened", name, len(got), err)
			}
		}
		b.turn(strings.Repeat("2", secret.MinKey))
		if _, err := b.accounts.Open(own); !errors.Is(err, ErrUnopened) {
			t.Errorf("with another key: got error %v, want ErrUnopened", err)
		}
		if _, err := b.Set(viewer.As(t.Context(), 7), Change{Source: "tube", Settings: whole.Settings}); len(paths(err)) != 1 {
			t.Errorf("settings alone: got error %v, want the key needed again", err)
		}
		b.set(t, 7, whole)
		if _, secrets := b.opened(t, 7); secrets["api_key"] != longKey {
			t.Errorf("got %q after the key was set again, want it", secrets["api_key"])
		}
	})
}

func TestRenewedSecretsStay(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		ctx := viewer.As(t.Context(), 7)
		b.set(t, 7, Change{Secrets: map[string]string{"api_key": longKey, "session": "first-session"}, Settings: map[string]string{"accepted": "yes"}})
		own, _ := b.opened(t, 7)
		if err := b.accounts.Keep(ctx, own, "session", "second-session"); err != nil {
			t.Fatal(err)
		}
		if _, secrets := b.opened(t, 7); secrets["session"] != "second-session" || secrets["api_key"] != longKey {
			t.Errorf("got %v, want the renewed session", secrets)
		}
		b.set(t, 7, Change{Secrets: map[string]string{"session": "a-session-of-another-user"}})
		if err := b.accounts.Keep(ctx, own, "session", "third-session"); err != nil { // of a call that began before
			t.Fatal(err)
		}
		if _, secrets := b.opened(t, 7); secrets["session"] != "a-session-of-another-user" {
			t.Errorf("got %q, want what the account set last", secrets["session"])
		}
		if _, err := b.Remove(ctx, "tube"); err != nil {
			t.Fatal(err)
		}
		if err := b.accounts.Keep(ctx, own, "session", "fourth-session"); err != nil {
			t.Fatal(err)
		}
		if owned, err := b.accounts.List(ctx); err != nil || len(owned) > 0 {
			t.Errorf("got %d sources and error %v, want none after the removal", len(owned), err)
		}
	})
}

func TestRotatedKeysSealAgain(t *testing.T) {
	each(t, func(t *testing.T, b *bundle) {
		const accounts = resealedAtOnce + 5
		old, next := b.key, strings.Repeat("2", secret.MinKey)
		for account := int64(1); account <= accounts; account++ {
			b.set(t, account, Change{Secrets: map[string]string{"api_key": fmt.Sprintf("key-of-%05d", account)}, Settings: map[string]string{"accepted": "yes"}})
		}
		b.turn(next + "\n" + old)
		for _, want := range []int{accounts, 0} {
			if n, err := b.accounts.Reseal(t.Context()); err != nil || n != want {
				t.Errorf("got %d sealed again and error %v, want %d", n, err, want)
			}
		}
		b.turn(next)
		for account := int64(1); account <= accounts; account++ {
			if _, secrets := b.opened(t, account); secrets["api_key"] != fmt.Sprintf("key-of-%05d", account) {
				t.Errorf("account %d: got %q", account, secrets["api_key"])
			}
		}
	})
}

// TestFaultsRepeatNoSecret: whatever is wrong with a change, no message has a secret of it.
func TestFaultsRepeatNoSecret(t *testing.T) {
	t.Parallel()
	s := New(Config{}, nil, Needs{Plugins: plugins{}})
	for name, c := range map[string]struct {
		Change
		want []string
	}{
		"an unknown source":    {Change{Source: "mars", Secrets: map[string]string{"api_key": longKey}}, []string{"source"}},
		"one that takes none":  {Change{Source: "feed", Secrets: map[string]string{"api_key": longKey}}, []string{"source"}},
		"a secret of no name":  {Change{Source: "tube", Secrets: map[string]string{"apikey": longKey}}, []string{"secrets.apikey"}},
		"a short secret":       {Change{Source: "tube", Secrets: map[string]string{"api_key": "12345"}}, []string{"secrets.api_key"}},
		"a long secret":        {Change{Source: "tube", Secrets: map[string]string{"api_key": longKey + strings.Repeat("x", maxSecret)}}, []string{"secrets.api_key"}},
		"a secret with lines":  {Change{Source: "tube", Secrets: map[string]string{"api_key": longKey + "\r\nX-Other: 1"}}, []string{"secrets.api_key"}},
		"a setting of no name": {Change{Source: "tube", Settings: map[string]string{"api_url": "https://elsewhere.example.com"}}, []string{"settings.api_url"}},
		"a value of no number": {Change{Source: "tube", Settings: map[string]string{"days": "many"}}, []string{"settings.days"}},
		"a value of lines":     {Change{Source: "tube", Settings: map[string]string{"accepted": "yes\nno"}}, []string{"settings.accepted"}},
		"nothing wrong":        {Change{Source: "tube", Secrets: map[string]string{"api_key": longKey}, Settings: map[string]string{"days": "3"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			issues := s.faults(c.Change)
			if diff := cmp.Diff(c.want, paths(refuse(issues))); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
			for _, issue := range issues {
				for _, value := range c.Secrets {
					if strings.Contains(issue.Message, value) || strings.Contains(issue.Message, value[:5]) {
						t.Errorf("got %q, want no secret in it", issue.Message)
					}
				}
			}
		})
	}
}
