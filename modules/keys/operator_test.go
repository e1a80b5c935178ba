package keys

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

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
			t.Errorf("accounts %d and %d, plan %q", first, again, b.payer.grants[first])
		}
		session, same := create("ana@example.com", []string{"library:read"}, time.Minute)
		if same != first {
			t.Errorf("the session is of account %d, want %v", same, first)
		}
		listed, err := b.List(ctx, "ANA@example.com")
		if err != nil || len(listed) != 3 {
			t.Fatalf("%d keys, %v, want no error and 3 listed", len(listed), err)
		}
		last := listed[2]
		if !last.Session || !slices.Equal(last.Scopes, []string{"library:read"}) || !last.ExpiresAt.Equal(b.clock.Add(time.Minute)) {
			t.Errorf("listed %+v", last)
		}

		// Its parent is the full key; revoking that ends it, the small one stays.
		if err := b.Revoke(ctx, listed[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := b.Revoke(ctx, listed[0].ID); err != nil {
			t.Errorf("a second time: %v", err)
		}
		if err := b.inForce(t, session); !apierr.Is(err, apierr.AuthRequired) {
			t.Errorf("the session: %v, want %v", err, apierr.AuthRequired)
		}
		// Without a fitting lasting key a new one is made to hang on.
		create("ana@example.com", []string{"library:read"}, time.Minute)
		if listed, _ = b.List(ctx, "ana@example.com"); len(listed) != 5 || listed[3].Session {
			t.Errorf("%d keys", len(listed))
		}
		if _, other := create("bo@example.com", nil, time.Hour); other == first {
			t.Errorf("two addresses share an account: got %v, want other than %v", other, first)
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
	}{
		"no address":     {"ana", "pro", nil, 0},
		"unknown scope":  {"a@b.c", "pro", []string{"all"}, 0},
		"too long":       {"a@b.c", "pro", nil, 25 * time.Hour},
		"below nothing":  {"a@b.c", "pro", nil, -1},
		"no such plan":   {"a@b.c", "gold", nil, 0},
		"header in mail": {"a@b.c\r\nBcc: d@e.f", "pro", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := b.CreateForEmail(ctx, c.email, c.plan, c.scopes, c.ttl); err == nil {
				t.Error("got no error, want a refusal")
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
		t.Errorf("%v, %v, want no error and no listed", listed, err)
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
				t.Errorf("account %d, %v, %v, want %d", got, ok, err, want)
			}
		}
		check(accounts[0])
		b.payer.active[accounts[2]] = true
		check(accounts[2])
		b.payer.active[accounts[1]] = true
		check(accounts[1])
		if _, ok, err := b.AccountOf(ctx, "bo@example.com"); ok || err != nil {
			t.Error(ok, err)
		}
	})
}
