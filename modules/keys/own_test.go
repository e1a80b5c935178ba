package keys

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// holder is the context of a call with a key.
func (b *bundle) holder(t *testing.T, key string, scopes ...string) (context.Context, string) {
	t.Helper()
	_, who := b.state(t, key)
	if len(scopes) > 0 {
		who.Scopes = scopes
	}
	return viewer.NewContext(context.Background(), who), publicid.Format(publicid.Key, who.KeyID)
}

func (b *bundle) session(t *testing.T, ctx context.Context) Session {
	t.Helper()
	session, err := b.CreateSession(ctx, nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// own lists all keys of a caller in pages of two.
func (b *bundle) ownKeys(t *testing.T, ctx context.Context) (ids []string, byID map[string]OwnKey) {
	t.Helper()
	byID = map[string]OwnKey{}
	for token := ""; ; {
		page, next, err := b.Own(ctx, 2, token)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range page {
			ids, byID[key.ID] = append(ids, key.ID), key
		}
		if token = next; token == "" {
			return ids, byID
		}
	}
}

func TestAnAccountListsItsKeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		_, key := b.open(t, "ana@example.com")
		b.open(t, "other@example.com")
		ctx, id := b.holder(t, key)
		first, second := b.session(t, ctx), b.session(t, ctx)
		ids, keys := b.ownKeys(t, ctx)
		if diff := cmp.Diff([]string{second.ID, first.ID, id}, ids); diff != "" {
			t.Fatalf("keys of the account (-want +got):\n%s", diff)
		}
		want := OwnKey{Key: keys[id].Key, Current: true, Active: true}
		want.Hint, want.ExpiresAt = key[len(key)-4:], time.Time{}
		if diff := cmp.Diff(want, keys[id]); diff != "" {
			t.Errorf("the calling key (-want +got):\n%s", diff)
		}
		want = OwnKey{Key: keys[first.ID].Key, ParentID: id, Active: true}
		want.ExpiresAt = first.ExpiresAt
		if diff := cmp.Diff(want, keys[first.ID]); diff != "" {
			t.Errorf("the session key (-want +got):\n%s", diff)
		}
		b.clock = b.clock.Add(time.Hour)
		if _, keys = b.ownKeys(t, ctx); keys[first.ID].Active || !keys[id].Active {
			t.Errorf("after an hour: got session active %v, key active %v; want false, true", keys[first.ID].Active, keys[id].Active)
		}
	})
}

func TestKeysAreRevokedByTheirAccount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		_, key := b.open(t, "ana@example.com")
		_, stranger := b.open(t, "other@example.com")
		ctx, id := b.holder(t, key)
		reader, _ := b.holder(t, key, "library:read")
		elsewhere, _ := b.holder(t, stranger)
		first, second := b.session(t, ctx), b.session(t, ctx)
		bySession, _ := b.holder(t, first.Secret, "library:read")

		revoke := func(t *testing.T, ctx context.Context, id string) *OwnKey {
			t.Helper()
			got, err := b.RevokeOwn(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		refused := func(t *testing.T, ctx context.Context, id string) {
			t.Helper()
			got, err := b.RevokeOwn(ctx, id)
			if f := apierr.As(err); got != nil || f == nil || f.Kind != apierr.Forbidden || f.RequiredScope != "keys:write" {
				t.Errorf("got %+v, %v; want forbidden with keys:write", got, err)
			}
		}
		t.Run("a key of another account is not found", func(t *testing.T) {
			if got := revoke(t, elsewhere, id); got != nil {
				t.Errorf("got %+v, want none", got)
			}
			if err := b.inForce(t, key); err != nil {
				t.Errorf("the other account's key: got error %v, want it in force", err)
			}
		})
		t.Run("a session without keys:write ends neither its parent, nor another session, nor what is not there", func(t *testing.T) {
			for _, other := range []string{id, second.ID, "key_unknown"} {
				refused(t, bySession, other)
			}
		})
		t.Run("a key without keys:write ends a session that it lent", func(t *testing.T) {
			if got := revoke(t, reader, second.ID); got == nil || got.Active || !got.RevokedAt.Equal(b.clock) {
				t.Errorf("got %+v, want one revoked at %v", got, b.clock)
			}
			if err := b.inForce(t, second.Secret); !apierr.Is(err, apierr.AuthRequired) {
				t.Errorf("got %v, want auth_required", err)
			}
		})
		t.Run("a second time changes nothing", func(t *testing.T) {
			at := b.clock
			b.clock = b.clock.Add(time.Minute)
			if got := revoke(t, reader, second.ID); got == nil || !got.RevokedAt.Equal(at) {
				t.Errorf("got %+v, want revoked at %v", got, at)
			}
		})
		t.Run("a session ends itself", func(t *testing.T) {
			if got := revoke(t, bySession, first.ID); got == nil || !got.Current || got.Active {
				t.Errorf("got %+v, want the current one, not active", got)
			}
		})
		t.Run("keys:write ends the account's other keys with their sessions", func(t *testing.T) {
			third := b.session(t, ctx)
			other, _ := b.holder(t, third.Secret, "keys:write")
			if got := revoke(t, other, id); got == nil || got.Active {
				t.Errorf("got %+v, want one that is not active", got)
			}
			if err := b.inForce(t, third.Secret); !apierr.Is(err, apierr.AuthRequired) {
				t.Errorf("the session of a revoked key: got %v, want auth_required", err)
			}
		})
		if got := storetest.Count(t, db, "SELECT count(*) FROM audit_entries WHERE action = 'key.revoke'"); got != 3 {
			t.Errorf("got %d audit entries, want 3", got)
		}
	})
}

// TestFullKeysOfTheReleaseBefore runs the migration that gives them the new scopes.
func TestFullKeysOfTheReleaseBefore(t *testing.T) {
	t.Parallel()
	const before = "workspace:read workspace:write rules:read rules:write scrolls:read scrolls:write " +
		"library:read library:write usage:read keys:write sandbox:write agent:run billing:write"
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		_, key := b.open(t, "ana@example.com")
		ctx, id := b.holder(t, key)
		session := b.session(t, ctx)
		storetest.Exec(t, db, "UPDATE keys SET scopes = $1", before)
		dialect := "postgres"
		if db.Dialect() == store.SQLite {
			dialect = "sqlite"
		}
		files, err := ent.Migrations(dialect)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"*_scopes_of_full_keys.sql", "*_scope_of_the_export.sql", "*_account_sources.sql", "*_shares.sql"} {
			names, err := fs.Glob(files, name)
			if err != nil || len(names) != 1 {
				t.Fatalf("got %q, %v; want one migration", names, err)
			}
			text, err := fs.ReadFile(files, names[0])
			if err != nil {
				t.Fatal(err)
			}
			_, update, found := strings.Cut(string(text), "-- a lasting key")
			if !found { // the rest of the file was done when the database was made
				t.Fatalf("got %s, want it to widen lasting keys", names[0])
			}
			storetest.Exec(t, db, "--"+update)
		}
		_, keys := b.ownKeys(t, ctx)
		if diff := cmp.Diff(strings.Fields(before), keys[session.ID].Scopes); diff != "" {
			t.Errorf("scopes of a session key (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(viewer.AllScopes(), keys[id].Scopes); diff != "" {
			t.Errorf("scopes of the full key (-want +got):\n%s", diff)
		}
	})
}

// TestSessionKeysDelayNoReissue: they end with their parents, however many a thief has made.
func TestSessionKeysDelayNoReissue(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		account, key := b.open(t, "ana@example.com")
		_, who := b.state(t, key)
		var sessions []string
		for range 3 {
			made, err := b.CreateSession(viewer.NewContext(context.Background(), who), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			sessions = append(sessions, made.Secret)
		}
		if status, _ := b.reissue(t, "ana@example.com", b.code(t, "ana@example.com")); status != ReissueCompleted {
			t.Fatalf("got %s, want completed", status)
		}
		for _, session := range sessions {
			if err := b.inForce(t, session); !apierr.Is(err, apierr.AuthRequired) {
				t.Errorf("a session key of a replaced key: got %v, want %v", err, apierr.AuthRequired)
			}
		}
		for what, query := range map[string]string{
			"changed keys":              "SELECT count(*) FROM keys WHERE account_id = $1 AND revoked_at IS NOT NULL",
			"entries of the feed about": "SELECT count(*) FROM changes WHERE account_id = $1 AND kind = 'key.revoked'",
		} {
			if got := storetest.Count(t, db, query, account); got != 1 {
				t.Errorf("%s: got %d, want 1, the lasting key", what, got)
			}
		}
	})
}
