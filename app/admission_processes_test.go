package app_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestRevokedKeysAreRefusedByAllProcesses revokes keys by one of two servers on one
// database, and by a command, while both servers answer calls with them.
func TestRevokedKeysAreRefusedByAllProcesses(t *testing.T) {
	t.Parallel()
	address := apptest.ScratchPostgres(t)
	start := func() *apptest.Running {
		return apptest.Start(t, func(cfg *app.Config) {
			cfg.DatabaseURL, cfg.Roles, cfg.DatabasePool = address, []string{"api"}, 4
		})
	}
	here, there := start(), start()
	owner := here.Account(t, "pro")
	abroad := *there.Anonymous()
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
		atHome, away := owner.WithKey(session.APIKey), abroad.WithKey(session.APIKey)
		for range 3 {
			if got := [2]int{status(atHome), status(away)}; got != [2]int{http.StatusOK, http.StatusOK} {
				t.Fatalf("session %d, before it is revoked: got %v, want 200 twice", i, got)
			}
		}
		revoke(session.KeyID)
		revoked := time.Now()
		if got := status(atHome); i == 0 && got != http.StatusUnauthorized {
			t.Errorf("session %d, the next call to the server that revoked it: got %d, want 401", i, got)
		}
		for _, c := range []*apptest.Caller{atHome, away} {
			for got := 0; got != http.StatusUnauthorized; {
				asked := time.Now()
				if got = status(c); got != http.StatusUnauthorized && asked.Sub(revoked) > time.Second {
					t.Fatalf("session %d, %v after it was revoked: got %d, want 401", i, asked.Sub(revoked), got)
				}
			}
		}
	}
}
