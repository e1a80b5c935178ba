package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/secret"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// TestKeyIsRotatedBesideAServer kills the rotation with SIGKILL while it seals, and while it waits:
// webhooks sign and deletions are undone at any time, and in the end the old key opens nothing.
func TestKeyIsRotatedBesideAServer(t *testing.T) {
	t.Parallel()
	eachDatabase(t, chaosConfig, func(t *testing.T, c *chaos, open func(t *testing.T) *store.DB) {
		var lines strings.Builder
		for i := range 60 {
			fmt.Fprintf(&lines, `{"platform":"tiktok","externalId":"r%d","source":{"handle":"moka"},"metrics":{"views":%d}}`+"\n", i, 100+i)
		}
		file := filepath.Join(t.TempDir(), "videos.jsonl")
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		c.mustRun(t, exitDone, "admin", "import", "--email", "chaos@example.com", file)
		var hook struct{ Secret string }
		c.mustCall(t, "POST", "/v1/webhooks/create", `{"url":"https://example.com/first"}`, &hook)
		c.mustCall(t, "POST", "/v1/sources/set", `{"source":"youtube","secrets":{"api_key":"AIza-of-the-tenant"},"settings":{"derived_metrics_accepted":"yes"}}`, &struct{}{})
		var made struct{ Deletion struct{ ID, Status string } }
		c.mustCall(t, "POST", "/v1/library/delete", `{"platform":"tiktok","creator":"moka"}`, &made)
		for end := time.Now().Add(time.Minute); made.Deletion.Status != "deleted"; time.Sleep(50 * time.Millisecond) {
			var all struct{ Deletions []struct{ ID, Status string } }
			c.mustCall(t, "GET", "/v1/library/deletions", "", &all)
			if made.Deletion.Status = all.Deletions[0].Status; time.Now().After(end) {
				t.Fatalf("got the deletion %s, want it done", made.Deletion.Status)
			}
		}
		path := filepath.Join(c.dir, "secret.key")
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		old := strings.TrimSpace(string(before))
		keysOf := func() (keys int) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if !strings.HasPrefix(line, "names ") {
					keys++
				}
			}
			return keys
		}
		for n, patience := range []time.Duration{0, 0, 40 * time.Millisecond, 300 * time.Millisecond} {
			rotation := program(t.Context(), c.dir, "admin", "secrets", "rotate", "--wait", "1m")
			rotation.Env = append(rotation.Env, c.env...)
			if err := rotation.Start(); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(time.Minute); keysOf() < 2; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("got no second key in the file within a minute")
				}
			}
			time.Sleep(patience)
			_ = rotation.Process.Kill()
			_ = rotation.Wait()
			if got := keysOf(); got != 2 {
				t.Fatalf("after a kill: got %d keys in the file, want the new and the old one", got)
			}
			c.mustCall(t, "POST", "/v1/webhooks/create", fmt.Sprintf(`{"url":"https://example.com/%d"}`, n), &hook) // with the new key
		}
		c.mustRun(t, exitDone, "admin", "secrets", "rotate", "--wait", "100ms")
		if keysOf() != 1 {
			t.Errorf("got %d keys in the file, want the new one alone", keysOf())
		}
		var listed struct {
			Sources []struct {
				Source, State string
				Own           bool
			}
		}
		c.mustCall(t, "GET", "/v1/sources/list", "", &listed)
		for _, source := range listed.Sources {
			if source.Own != (source.Source == "youtube") || source.Own && source.State != "ready" {
				t.Errorf("after the rotation: got %+v, want the account's key of youtube still opened", source)
			}
		}
		db := open(t)
		opener, err := secret.NewSealer(old)
		if err != nil {
			t.Fatal(err)
		}
		sealed := 0
		for table, column := range map[string]string{"webhooks": "secret", "deleted_videos": "sealed"} {
			sealed += int(numberOf(t, db, "SELECT count(*) FROM "+table))
			mark := opener.KeyID()
			hexOf := "hex(substr(" + column + ", 2, 4))"
			if db.Dialect() == store.Postgres {
				hexOf = "encode(substr(" + column + ", 2, 4), 'hex')"
			}
			if n := numberOf(t, db, "SELECT count(*) FROM "+table+" WHERE lower("+hexOf+") = '"+mark+"'"); n != 0 {
				t.Errorf("table %s: got %d secrets of the old key, want none", table, n)
			}
		}
		if want := 60 + 1 + 4; sealed != want {
			t.Errorf("got %d sealed secrets, want %d", sealed, want)
		}
		var undone struct{ Deletion struct{ Status string } }
		c.mustCall(t, "POST", "/v1/library/undelete", fmt.Sprintf(`{"id":%q}`, made.Deletion.ID), &undone)
		if n := c.countVideos(t); n < 60 {
			t.Errorf("after the undo: got %d videos, want all 60 back", n)
		}
	})
}
