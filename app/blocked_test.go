package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestABlockedAccount: the calls of its keys are refused, those of its sessions too, and what it
// shares is not shown. Both come back.
func TestABlockedAccount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		owner, other := running.Account(t, "pro"), running.Account(t, "pro")
		var session struct{ APIKey string }
		owner.Get(t, setBrief, &struct{}{})
		owner.Scroll(t, "{}")
		owner.Get(t, `POST /v1/api_keys/sessions {"scopes":["workspace:read"],"ttlSeconds":600}`, &session)
		var library struct{ Videos []struct{ ID string } }
		owner.Get(t, "GET /v1/library?limit=1", &library)
		var share struct{ URL string }
		owner.Get(t, `POST /v1/shares/create {"kind":"video","title":"One","id":"`+library.Videos[0].ID+`"}`, &share)
		page := "GET " + share.URL[strings.Index(share.URL, "/share/"):]

		shows := func(blocked bool) {
			t.Helper()
			want, wantPage := http.StatusOK, http.StatusOK
			if blocked {
				want, wantPage = http.StatusForbidden, http.StatusNotFound
			}
			for _, key := range []string{owner.Key, session.APIKey} {
				// Commands are another process, whose change is seen within a second.
				for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
					got := running.Anonymous().Do(t, "GET /v1/workspace", "Authorization: Bearer "+key)
					var said struct{ Error, Message string }
					_ = json.Unmarshal(got.Body, &said)
					if got.Status == want && (!blocked || said.Error == "forbidden" && strings.Contains(said.Message, "blocked")) {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("blocked %t: got %d %s, want %d", blocked, got.Status, got.Body, want)
					}
				}
			}
			if got := running.Anonymous().Do(t, page, ""); got.Status != wantPage {
				t.Errorf("blocked %t: got %d for a shared page, want %d", blocked, got.Status, wantPage)
			}
			if got := other.Do(t, "GET /v1/workspace", ""); got.Status != http.StatusOK {
				t.Errorf("blocked %t: another account got %d, want 200", blocked, got.Status)
			}
		}
		shows(false)
		if err := running.Operator().BlockAccount(t.Context(), owner.Email, false); err != nil {
			t.Fatal(err)
		}
		shows(true)
		if err := running.Operator().BlockAccount(t.Context(), owner.Email, true); err != nil {
			t.Fatal(err)
		}
		shows(false)
		running.Exec(t, "UPDATE accounts SET email = '"+owner.Email+"' WHERE email = '"+other.Email+"'")
		if err := running.Operator().BlockAccount(t.Context(), owner.Email, false); err == nil || !strings.Contains(err.Error(), "has 2 accounts") {
			t.Errorf("an address of two accounts: got error %v, want one that names both", err)
		}
		shows(false)
	}, sampleFeed)
}

// TestABlockedAccountRunsNothing: scrolls and imports that wait or run are cancelled, no operator
// starts one again, and once the account is admitted it may.
func TestABlockedAccountRunsNothing(t *testing.T) {
	t.Parallel()
	held := func(cfg *app.Config) { // no scroll ends by itself
		cfg.Scrolls.Pause = func(ctx context.Context, _, _ string) { <-ctx.Done() }
		cfg.Scrolls.Heartbeat = 50 * time.Millisecond
	}
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		owner := importing(t, running)
		started := func() string {
			t.Helper()
			var scroll struct{ Scroll apptest.Scroll }
			owner.Get(t, "POST /v1/scrolls {}", &scroll)
			return scroll.Scroll.ID
		}
		scroll := started()
		imported, _ := upload(t, owner, "name=a.jsonl", feedLines(0, 5, importTime))
		operator := running.Operator()
		if err := operator.BlockAccount(t.Context(), owner.Email, false); err != nil {
			t.Fatal(err)
		}
		for { // the import queues a scroll of its own
			found, err := operator.Scrolls(t.Context(), owner.Email, "cancelled")
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == 2 {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if _, err := operator.RetryScroll(t.Context(), scroll); err == nil || !strings.Contains(err.Error(), "blocked") {
			t.Errorf("started again: error %v, want one that says blocked", err)
		}
		if err := operator.BlockAccount(t.Context(), owner.Email, true); err != nil {
			t.Fatal(err)
		}
		awaitImport(t, owner, imported, "failed")
		if _, err := operator.RetryScroll(t.Context(), scroll); err != nil {
			t.Errorf("once admitted, started again: error %v, want none", err)
		}
	}, sampleFeed, held)
}
