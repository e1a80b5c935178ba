package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
)

// account is the answer of getAccount.
type account struct {
	Key struct {
		KeyID, LastFour string
		Session         bool
		Scopes          []string
		ExpiresAt       *float64
	}
	Plan, Status         string
	AccountID            string
	BillingInterval      *string
	Credits, CreditsHeld float64
	Daily, Monthly       struct{ Budget, Left, RenewsAt float64 }
	Limits               struct{ CallsPerSecond, Burst, CallsAtOnce float64 }
}

// TestAnAccountKnowsItself: a key learns who it is, and what calls have spent before it.
func TestAnAccountKnowsItself(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		owner := running.Account(t, "pro")
		var before, after, session account
		owner.Get(t, "GET /v1/account", &before)
		if before.Key.LastFour != owner.Key[len(owner.Key)-4:] || before.Key.Session || before.Key.ExpiresAt != nil || before.Plan != "pro" || before.Status != "active" || before.BillingInterval != nil && *before.BillingInterval == "" {
			t.Errorf("got %+v, want the lasting key of an active pro account", before)
		}
		now := time.Now().UTC()
		tomorrow := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC)
		if renews := time.UnixMilli(int64(before.Daily.RenewsAt)); renews.Sub(tomorrow).Abs() > 24*time.Hour || renews.UTC().Hour() != 0 {
			t.Errorf("the day's units renew at %v, want the next midnight in UTC", renews)
		}
		if before.Daily.Budget <= 0 || before.Monthly.Budget < before.Daily.Budget || before.Limits.CallsPerSecond <= 0 || before.Limits.Burst < 1 {
			t.Errorf("got %+v, want budgets and limits above 0", before)
		}
		owner.Get(t, "GET /v1/library?limit=1", &struct{}{}) // one unit
		owner.Get(t, "GET /v1/account", &after)
		if spent := before.Daily.Left - after.Daily.Left; spent != 1 || before.Monthly.Left-after.Monthly.Left != 1 {
			t.Errorf("a list took %v units of the day and %v of the month, want 1 of each", spent, before.Monthly.Left-after.Monthly.Left)
		}
		owner.Get(t, "GET /v1/library/videos?ids=vid_1"+strings.Repeat(",vid_2", 20), &struct{}{}) // 21 ids: three units
		var many account
		owner.Get(t, "GET /v1/account", &many)
		if spent := after.Daily.Left - many.Daily.Left; spent != 3 {
			t.Errorf("21 videos by their ids took %v units, want 3", spent)
		}
		made := owner.Do(t, `POST /v1/api_keys/sessions {"scopes":["account:read","library:read"],"ttlSeconds":600}`, "").JSON(t)
		owner.WithKey(made["apiKey"].(string)).Get(t, "GET /v1/account", &session)
		if id := before.AccountID; !strings.HasPrefix(id, "acct_") || session.AccountID != id || made["accountId"] != id {
			t.Errorf("the key, its session and the answer that made it name the accounts %q, %q and %v, want one", id, session.AccountID, made["accountId"])
		}
		var other account
		running.Account(t, "pro").Get(t, "GET /v1/account", &other)
		if other.AccountID == before.AccountID {
			t.Errorf("two accounts have the id %q", other.AccountID)
		}
		if !session.Key.Session || session.Key.ExpiresAt == nil || len(session.Key.Scopes) != 2 || !slices.Contains(session.Key.Scopes, "account:read") || session.Key.KeyID == before.Key.KeyID {
			t.Errorf("got %+v, want the session key with its two scopes and its end", session.Key)
		}
		narrow := owner.Do(t, `POST /v1/api_keys/sessions {"scopes":["library:read"],"ttlSeconds":600}`, "").JSON(t)["apiKey"].(string)
		owner.WithKey(narrow).Do(t, "GET /v1/account", "").WantError(t, "forbidden")
	})
}
