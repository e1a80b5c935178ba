package keys

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/store/storetest"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

func TestNoSecretIsStored(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		_, key := b.open(t, "ana@example.com")
		if err := b.inForce(t, key); err != nil {
			t.Error(err)
		}
		found := 0
		storetest.Rows(t, db, func(rows *sql.Rows) error {
			var digest []byte
			var hint, scopes string
			found++
			err := rows.Scan(&digest, &hint, &scopes)
			if len(digest) != 32 || hint != key[len(key)-4:] || len(scopes) == 0 {
				t.Errorf("got a row with hash %x, hint %q, scopes %q; want 32 bytes, the last four characters and scopes", digest, hint, scopes)
			}
			return err
		}, "SELECT hash, hint, scopes FROM keys")
		if found == 0 {
			t.Error("got no row, want one for the key")
		}
	})
}

func TestSessionKeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		_, key := b.open(t, "ana@example.com")
		_, who := b.state(t, key)
		ctx := viewer.NewContext(context.Background(), who)
		mint := func(ttl time.Duration, scopes ...string) Session {
			t.Helper()
			session, err := b.CreateSession(ctx, scopes, ttl)
			if err != nil {
				t.Fatal(err)
			}
			return session
		}

		whole := mint(0)
		if got := whole.ExpiresAt.Sub(b.clock); got != time.Hour {
			t.Errorf("a session without a ttl: got %v, want %v", got, time.Hour)
		}
		if diff := cmp.Diff(viewer.AllScopes(), whole.Scopes); diff != "" {
			t.Errorf("scopes of a session without a choice (-want +got):\n%s", diff)
		}
		some := mint(24*time.Hour, "usage:read", "library:read")
		if diff := cmp.Diff([]string{"library:read", "usage:read"}, some.Scopes); diff != "" {
			t.Errorf("chosen scopes (-want +got):\n%s", diff)
		}
		if _, ok := publicid.Parse(publicid.Key, some.ID); !ok {
			t.Errorf("got id %q, want the id of a key", some.ID)
		}

		if err := b.inForce(t, whole.Secret); err != nil {
			t.Error(err)
		}
		b.clock = b.clock.Add(time.Hour)
		if err := b.inForce(t, whole.Secret); !apierr.Is(err, apierr.AuthRequired) {
			t.Errorf("after its hour: got %v, want %v", err, apierr.AuthRequired)
		}
		if err := b.inForce(t, some.Secret); err != nil {
			t.Error(err)
		}
		if err := b.Revoke(context.Background(), publicid.Format(publicid.Key, who.KeyID)); err != nil {
			t.Fatal(err)
		}
		if err := b.inForce(t, some.Secret); !apierr.Is(err, apierr.AuthRequired) {
			t.Errorf("after its parent's end: got %v, want %v", err, apierr.AuthRequired)
		}
		if err := b.inForce(t, key); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("the parent: got %v, want %v", err, apierr.Unauthorized)
		}
	})
}

func TestSessionKeysAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, storetest.SQLite(t))
	reader := &viewer.Viewer{AccountID: 1, KeyID: 2, Scopes: []string{"usage:read", "keys:write"}}
	session := &viewer.Viewer{AccountID: 1, KeyID: 3, Session: true, Scopes: viewer.AllScopes()}
	for name, c := range map[string]struct {
		who    *viewer.Viewer
		scopes []string
		ttl    time.Duration
		want   apierr.Kind
	}{
		"nobody":                {nil, nil, 0, apierr.Unauthorized},
		"a job":                 {&viewer.Viewer{AccountID: 1}, nil, 0, apierr.Unauthorized},
		"a session":             {session, nil, 0, apierr.Forbidden},
		"a scope it lacks":      {reader, []string{"usage:read", "rules:write"}, 0, apierr.Forbidden},
		"a scope there is not":  {reader, []string{"usage:read", "all"}, 0, apierr.InvalidRequest},
		"more than a day":       {reader, nil, 24*time.Hour + time.Second, apierr.InvalidRequest},
		"a time that is over":   {reader, nil, -time.Second, apierr.InvalidRequest},
		"an empty scope's name": {reader, []string{""}, 0, apierr.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			if c.who != nil {
				ctx = viewer.NewContext(ctx, c.who)
			}
			if _, err := b.CreateSession(ctx, c.scopes, c.ttl); !apierr.Is(err, c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	_, err := b.CreateSession(viewer.NewContext(context.Background(), reader), []string{"rules:write"}, 0)
	if f := apierr.As(err); f == nil || f.RequiredScope != "rules:write" || !slices.Equal(f.GrantedScopes, reader.Scopes) {
		t.Errorf("got %+v, want the required scope rules:write and the granted scopes %q", err, reader.Scopes)
	}
	if got := storetest.Count(t, b.db, "SELECT count(*) FROM keys"); got != 0 {
		t.Errorf("got %d keys, want 0", got)
	}
}

func TestUnbroken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := setup(t, db)
		account, key := b.open(t, "ana@example.com")
		at := func(since time.Time) (ok bool) {
			t.Helper()
			err := db.Write(context.Background(), func(ctx context.Context, tx *store.Tx) (err error) {
				ok, err = b.Unbroken(ctx, tx, account, since)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		if got, before := at(b.clock), at(b.clock.Add(-time.Millisecond)); !got || before {
			t.Errorf("got unbroken %t since the key was made and %t since before, want true and false", got, before)
		}
		_, who := b.state(t, key)
		if err := b.Revoke(context.Background(), publicid.Format(publicid.Key, who.KeyID)); err != nil {
			t.Fatal(err)
		}
		if at(b.clock) {
			t.Error("without a key in force: got unbroken, want broken")
		}
	})
}
