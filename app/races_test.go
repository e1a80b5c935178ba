package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app"
	"github.com/scrollery/scrollery/app/apptest"
)

// TestRacesHaveOneWinner makes the calls that must succeed once many times at once.
func TestRacesHaveOneWinner(t *testing.T) {
	t.Parallel()
	held := func(cfg *app.Config) { // no scroll ends before the test does
		cfg.Scrolls.Pause = func(ctx context.Context, _, _ string) { <-ctx.Done() }
		cfg.Scrolls.Heartbeat = 50 * time.Millisecond
	}
	apptest.Each(t, func(t *testing.T, running *apptest.Running) {
		t.Run("claims of one token", func(t *testing.T) { raceOfClaims(t, running) })
		t.Run("starts with one key", func(t *testing.T) { raceOfStarts(t, running) })
		t.Run("first workspaces", func(t *testing.T) { raceOfWorkspaces(t, running) })
		t.Run("same first workspace", func(t *testing.T) { raceOfOneWorkspace(t, running) })
		t.Run("places for scrolls", func(t *testing.T) { raceForPlaces(t, running) })
		running.Exec(t, "UPDATE scrolls SET status = 'cancelled', stage = NULL")
	}, held)
}

// tally counts the answers by a member of their body, or their error.
func tally(t *testing.T, answers []*apptest.Answer, member string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, answer := range answers {
		body := answer.JSON(t)
		text, ok := body[member].(string)
		if !ok {
			text, _ = body["error"].(string)
		}
		counts[text]++
	}
	return counts
}

func wantTally(t *testing.T, got, want map[string]int) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func raceOfClaims(t *testing.T, running *apptest.Running) {
	visitor := running.Anonymous()
	var checkout struct{ URL, ClaimToken string }
	visitor.Get(t, `POST /v1/subscribe {"billingInterval":"annual","plan":"pro"}`, &checkout)
	claim := fmt.Sprintf(`POST /v1/subscribe/claim {"claimToken":%q}`, checkout.ClaimToken)
	if status := visitor.Do(t, claim, "").JSON(t)["status"]; status != "pending" {
		t.Errorf(`unpaid, the claim is %v, want "pending"`, status)
	}
	pay(t, checkout.URL, "racer@example.com")
	answers := visitor.Together(t, 32, func(int) string { return claim })
	wantTally(t, tally(t, answers, "status"), map[string]int{"completed": 1, "already_claimed": 31})
	accounts := map[any]bool{}
	for _, answer := range answers {
		body := answer.JSON(t)
		accounts[body["accountId"]] = true
		if _, minted := body["apiKey"]; minted != (body["status"] == "completed") {
			t.Errorf("got a key: %t with the status %v, want one exactly where it is completed: %s", minted, body["status"], answer.Body)
		}
		if key, ok := body["apiKey"].(string); ok {
			var usage struct{ Active bool }
			if visitor.WithKey(key).Get(t, "GET /v1/usage", &usage); !usage.Active {
				t.Errorf("the claimed key's subscription is not active: got %v, want Active", usage.Active)
			}
		}
	}
	if len(accounts) != 1 {
		t.Errorf("the claims are of %d accounts, want 1", len(accounts))
	}
}

func pay(t *testing.T, checkout, email string) {
	t.Helper()
	response, err := http.PostForm(checkout, url.Values{"email": {email}, "action": {"pay"}})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the checkout answered %s, want 200", response.Status)
	}
}

func raceOfStarts(t *testing.T, running *apptest.Running) {
	account := running.Account(t, "pro")
	account.Get(t, setBrief, &struct{}{})
	answers := account.Together(t, 16, func(int) string { return `POST /v1/scrolls {"idempotencyKey":"one start"}` })
	wantTally(t, tally(t, answers, "outcome"), map[string]int{"queued": 1, "existing": 15})
	ids := map[any]bool{}
	for _, answer := range answers {
		body := answer.JSON(t)
		ids[body["scroll"].(map[string]any)["id"]] = true
		if queued := body["outcome"] == "queued"; queued != (answer.Status == http.StatusAccepted) {
			t.Errorf("got status %d of the outcome %v, want 202 exactly where it is queued", answer.Status, body["outcome"])
		}
	}
	if len(ids) != 1 {
		t.Errorf("%d scrolls were started, want 1", len(ids))
	}
}

func raceOfWorkspaces(t *testing.T, running *apptest.Running) {
	account := running.Account(t, "pro")
	answers := account.Together(t, 16, func(i int) string { return fmt.Sprintf(`POST /v1/workspace {"description":"brief %d"}`, i) })
	wantTally(t, tally(t, answers, "outcome"), map[string]int{"created": 1, "workspace_already_set": 15})
	var current struct {
		Workspace struct{ ID, Description string }
	}
	account.Get(t, "GET /v1/workspace", &current)
	for _, answer := range answers {
		if !strings.Contains(string(answer.Body), current.Workspace.ID) || !strings.Contains(string(answer.Body), current.Workspace.Description+`"`) {
			t.Errorf("not the workspace that there is: %s, want Body with %v and Body with %v", answer.Body, current.Workspace.ID, current.Workspace.Description+`"`)
		}
	}
}

func raceOfOneWorkspace(t *testing.T, running *apptest.Running) {
	account := running.Account(t, "pro")
	answers := account.Together(t, 16, func(int) string { return setBrief })
	wantTally(t, tally(t, answers, "outcome"), map[string]int{"created": 1, "existing": 15})
}

func raceForPlaces(t *testing.T, running *apptest.Running) {
	account := running.Account(t, "pro")
	account.Get(t, setBrief, &struct{}{})
	answers := account.Together(t, 12, func(int) string { return `POST /v1/scrolls {}` })
	wantTally(t, tally(t, answers, "outcome"), map[string]int{"queued": 3, "scroll_active_limit": 9})
}
