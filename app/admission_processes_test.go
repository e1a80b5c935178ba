package app_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestRevokedKeysAreRefusedByAllProcesses revokes keys by one of two servers on one
// database, and by a command, while the servers answer calls with them. SQLite has one server.
func TestRevokedKeysAreRefusedByAllProcesses(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, address string) {
		start := func() *apptest.Running {
			return apptest.Start(t, func(cfg *app.Config) {
				if cfg.DatabaseURL = address; address != "" {
					cfg.Roles, cfg.DatabasePool = []string{"api"}, 4
				}
			})
		}
		here := start()
		owner := here.Account(t, "pro")
		callers := func(key string) []*apptest.Caller { return []*apptest.Caller{owner.WithKey(key)} }
		if address != "" {
			abroad := *start().Anonymous()
			callers = func(key string) []*apptest.Caller { return []*apptest.Caller{owner.WithKey(key), abroad.WithKey(key)} }
		}
		refuseSoon(t, here, owner, callers)
	})
}

func refuseSoon(t *testing.T, here *apptest.Running, owner *apptest.Caller, callers func(key string) []*apptest.Caller) {
	t.Helper()
	status := func(c *apptest.Caller) int { return c.Do(t, "GET /v1/outliers", "").Status }
	for i, revoke := range []func(id string){
		func(id string) {
			owner.Get(t, fmt.Sprintf(`POST /v1/api_keys/revoke {"id":%q}`, id), &struct{}{})
		},
		func(id string) {
			if err := here.Operator().RevokeKey(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		},
	} {
		var session struct{ APIKey, KeyID string }
		owner.Get(t, `POST /v1/api_keys/sessions {"scopes":["library:read"],"ttlSeconds":600}`, &session)
		all := callers(session.APIKey)
		for range 3 {
			for at, c := range all {
				if got := status(c); got != http.StatusOK {
					t.Fatalf("session %d, server %d, before it is revoked: got %d, want 200", i, at, got)
				}
			}
		}
		revoke(session.KeyID)
		revoked := time.Now()
		if got := status(all[0]); i == 0 && got != http.StatusUnauthorized {
			t.Errorf("session %d, the next call to the server that revoked it: got %d, want 401", i, got)
		}
		for at, c := range all {
			for got := 0; got != http.StatusUnauthorized; {
				asked := time.Now()
				if got = status(c); got != http.StatusUnauthorized && asked.Sub(revoked) > time.Second {
					t.Fatalf("session %d, server %d, %v after it was revoked: got %d, want 401", i, at, asked.Sub(revoked), got)
				}
				time.Sleep(20 * time.Millisecond) // within the rate
			}
		}
	}
}

// TestANewSubjectIsSeenByTheNextCall changes the subject of a workspace, which is kept with
// the key: the next list of the same server is that of the new one.
func TestANewSubjectIsSeenByTheNextCall(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, address string) {
		feed := t.TempDir()
		owner := apptest.Start(t, func(cfg *app.Config) {
			cfg.DatabaseURL = address
			cfg.SetStage("FEED_DIR", feed)
		}).Account(t, "pro")
		write(t, filepath.Join(feed, "videos.jsonl"), `{"platform":"tiktok","externalId":"7301234567890123456"}`+"\n")
		owner.Get(t, `POST /v1/workspace {"website":"https://coffee.example.org"}`, &struct{}{})
		if scroll := owner.Scroll(t, "{}"); scroll.Status != "completed" {
			t.Fatalf("the scroll ended %+v, want it completed", scroll)
		}
		for i := range 4 {
			var got struct{ CompletedScrolls int }
			owner.Get(t, "GET /v1/trends", &got)
			if want := 1 - i%2; got.CompletedScrolls != want {
				t.Errorf("change %d: got %d completed scrolls of the subject, want %d", i, got.CompletedScrolls, want)
			}
			owner.Get(t, fmt.Sprintf(`PUT /v1/workspace {"website":"https://%s.example.org"}`, []string{"tea", "coffee"}[i%2]), &struct{}{})
		}
	})
}
