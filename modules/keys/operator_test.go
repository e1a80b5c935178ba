package keys

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
)

func TestCreateForEmail(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		ctx := context.Background()
		create := func(email string, scopes []string, ttl time.Duration) (string, int64) {
			t.Helper()
			key, err := b.CreateForEmail(ctx, email, "pro", scopes, ttl)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.inForce(t, key); err != nil {
				t.Error(err)
			}
			_, who := b.state(t, key)
			return key, who.AccountID
		}
		_, first := create("Ana@Example.com", nil, 0)
		_, again := create("ana@example.com", []string{"usage:read"}, 0)
		if first != again || b.payer.grants[first] != "pro" {
			t.Errorf(`got accounts %d and %d with plan %q, want one account with plan "pro"`, first, again, b.payer.grants[first])
		}
		session, same := create("ana@example.com", []string{"library:read"}, time.Minute)
		if same != first {
			t.Errorf("got a session of account %d, want one of %d", same, first)
		}
		listed, err := b.List(ctx, "ANA@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if len(listed) != 3 {
			t.Fatalf("got %d keys, want 3", len(listed))
		}
		last := listed[2]
		want := Key{
			ID: last.ID, AccountID: last.AccountID, Hint: session[len(session)-4:], Scopes: []string{"library:read"},
			Session: true, CreatedAt: last.CreatedAt, ExpiresAt: b.clock.Add(time.Minute),
		}
		if diff := cmp.Diff(want, last); diff != "" {
			t.Errorf("the session key (-want +got):\n%s", diff)
		}

		// Its parent is the full key; revoking that ends it, the small one stays.
		if err := b.Revoke(ctx, listed[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := b.Revoke(ctx, listed[0].ID); err != nil {
			t.Errorf("revoked a second time: got error %v, want none", err)
		}
		if err := b.inForce(t, session); !apierr.Is(err, apierr.AuthRequired) {
			t.Errorf("the session of a revoked key: got %v, want %v", err, apierr.AuthRequired)
		}
		// Without a fitting lasting key a new one is made to be the parent.
		create("ana@example.com", []string{"library:read"}, time.Minute)
		if listed, err = b.List(ctx, "ana@example.com"); err != nil || len(listed) != 5 {
			t.Fatalf("got %d keys, error %v; want 5 keys", len(listed), err)
		}
		if listed[3].Session || !listed[4].Session {
			t.Errorf("got new keys %+v, want a lasting one, then a session", listed[3:])
		}
		if _, other := create("bo@example.com", nil, time.Hour); other == first {
			t.Errorf("got account %d for two addresses, want one each", first)
		}
	})
}

func TestOperatorFaults(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	ctx := context.Background()
	for name, c := range map[string]struct {
		email, plan string
		scopes      []string
		ttl         time.Duration
		at          string // the path of the one issue; empty if the refusal is of another module
	}{
		"no address":     {"ana", "pro", nil, 0, "email"},
		"unknown scope":  {"a@b.c", "pro", []string{"all"}, 0, "scopes[0]"},
		"too long":       {"a@b.c", "pro", nil, 25 * time.Hour, "ttl"},
		"below nothing":  {"a@b.c", "pro", nil, -1, "ttl"},
		"no such plan":   {"a@b.c", "gold", nil, 0, ""},
		"header in mail": {"a@b.c\r\nBcc: d@e.f", "pro", nil, 0, "email"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.CreateForEmail(ctx, c.email, c.plan, c.scopes, c.ttl)
			if err == nil {
				t.Fatal("got no error, want a refusal")
			}
			f := apierr.As(err)
			if c.at != "" && (f == nil || len(f.Issues) != 1 || f.Issues[0].Path != c.at) {
				t.Errorf("got error %+v, want one issue at %s", f, c.at)
			}
		})
	}
	if got := storetest.Count(t, b.db, "SELECT count(*) FROM accounts"); got != 0 {
		t.Errorf("got %d accounts, want 0", got)
	}
	for _, id := range []string{"", "key_x", publicid.Format(publicid.Key, 7), publicid.Format(publicid.Video, 7)} {
		t.Run(fmt.Sprintf("%q is unknown", id), func(t *testing.T) {
			if err := b.Revoke(ctx, id); !apierr.Is(err, apierr.NotFound) {
				t.Errorf("revoke %q: got %v, want %s", id, err, apierr.NotFound)
			}
		})
	}
	if listed, err := b.List(ctx, "nobody@example.com"); err != nil || len(listed) != 0 {
		t.Errorf("an unknown address: got keys %v, error %v; want neither", listed, err)
	}
}

func TestTheAccountOfAnAddress(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		ctx := context.Background()
		var accounts []int64
		for range 3 {
			account, _ := b.open(t, "ana@example.com")
			accounts = append(accounts, account)
		}
		check := func(want int64) {
			t.Helper()
			if got, ok, err := b.AccountOf(ctx, "Ana@example.com"); got != want || !ok || err != nil {
				t.Errorf("got account %d, found %t, error %v; want %d", got, ok, err, want)
			}
		}
		check(accounts[0])
		b.payer.active[accounts[2]] = true
		check(accounts[2])
		b.payer.active[accounts[1]] = true
		check(accounts[1])
		if got, ok, err := b.AccountOf(ctx, "bo@example.com"); ok || err != nil {
			t.Errorf("an unknown address: got account %d, found %t, error %v; want none found", got, ok, err)
		}
	})
}
