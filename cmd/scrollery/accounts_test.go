package main

import (
	"strings"
	"testing"
	"time"

	"github.com/scrollery/scrollery/app/apptest"
)

// TestAccountsOfOperators has an operator's commands beside a server: plans, credits with
// references, and a deletion that is called off.
func TestAccountsOfOperators(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, address string) {
		b := newChaos(t, address)
		const who = "chaos@example.com"
		for _, step := range []struct {
			command string
			code    int
			want    string
		}{
			{"keys create --email " + who + " --plan standard", exitFailed, "the account has pro: change that with `scrollery admin accounts plan " + who + " --plan standard`"},
			{"keys create --email " + who, exitDone, "scr_live_"},
			{"keys create --email new@example.com", exitFailed, "there is no account of the address"},
			{"keys create --email new@example.com --plan standard", exitDone, "scr_live_"},
			{"accounts show " + who, exitDone, "pro"},
			{"accounts plan " + who + " --plan gold", exitWrongUse, "none of standard, pro and none"},
			{"accounts plan " + who + " --plan none", exitDone, "cancelled"},
			{"keys create --email " + who, exitDone, "scr_live_"},
			{"accounts show " + who, exitDone, "cancelled"},
			{"keys create --email " + who + " --plan pro", exitDone, "scr_live_"},
			{"accounts plan " + who + " --plan standard", exitDone, "standard"},
			{"accounts plan nobody@example.com --plan pro", exitFailed, "there is no account"},

			{"accounts limits " + who, exitWrongUse, "daily_units=50000"},
			{"accounts limits " + who + " daily_unit=7", exitFailed, "did you mean daily_units?"},
			{"accounts limits " + who + " daily_units=0", exitFailed, "no number from 1 to 1000000000"},
			{"accounts limits " + who + " framed_videos=0 daily_units=7 max_videos=12", exitDone, "daily_units=7 max_videos=12 framed_videos=0\n"},
			{"accounts plan " + who + " --plan pro", exitDone, "daily_units=7 max_videos=12 framed_videos=0\n"},
			{"accounts limits " + who + " max_videos=plan framed_videos=plan", exitDone, "own limits  daily_units=7\n"},
			{"accounts limits " + who + " daily_units=plan", exitDone, "subscription.limits"},
			{"accounts plan " + who + " --plan standard", exitDone, "standard"},

			{"credits grant " + who + " --credits 100 --reference march", exitDone, "100\n"},
			{"credits grant " + who + " --credits 100 --reference march", exitDone, "100\n"},
			{"credits grant " + who + " --credits 101 --reference march", exitFailed, "the reference moved +100 credits before"},
			{"credits grant " + who + " --credits 100 --reference " + strings.Repeat("x", 101), exitFailed, "the reference has 101 characters, and may have 100"},
			{"credits take " + who + " --credits 30", exitWrongUse, "--reference is needed"},
			{"credits take " + who + " --credits 30 --reference march", exitDone, "70\n"},
			{"credits take " + who + " --credits 30 --reference march", exitDone, "70\n"},
			{"credits take " + who + " --credits 40 --reference march", exitFailed, "the reference moved -30 credits before"},
			{"credits take " + who + " --credits 90 --reference april", exitDone, "0\nThe account owes 20."},
			{"credits take " + who + " --credits 90 --reference april", exitDone, "0\nThe account owes 20."},

			{"accounts block " + who + " --lift", exitFailed, "is not blocked"},
			{"accounts block " + who, exitDone, "blocked since"},
			{"accounts block " + who, exitFailed, "is blocked already"},
			{"accounts list", exitDone, "blocked"},
			{"accounts block " + who + " --lift", exitDone, "account.unblock"},

			{"accounts delete " + who, exitWrongUse, "--yes"},
			{"accounts delete " + who + " --keep", exitFailed, "no deletion"},
			{"accounts delete " + who + " --yes", exitDone, "--keep"},
			{"accounts delete " + who + " --yes", exitDone, "--keep"},
			{"accounts show " + who, exitDone, "account.erase_confirmed"},
			{"accounts delete " + who + " --keep", exitDone, "The account stays."},
			{"accounts delete " + who + " --keep", exitFailed, "no deletion"},
		} {
			got := b.command(t, strings.Fields("admin "+step.command)...)
			if shown := got.stdout + got.stderr; got.code != step.code || !strings.Contains(shown, step.want) {
				t.Errorf("%s: exit %d, %q, want %d and text with %q", step.command, got.code, shown, step.code, step.want)
			}
		}
	})
}

// TestLimitsOfOneAccount: a server that runs keeps the limits of one account within two seconds,
// and lets it go on once they are its plan's again.
func TestLimitsOfOneAccount(t *testing.T) {
	t.Parallel()
	apptest.OnEach(t, func(t *testing.T, address string) {
		b := newChaos(t, address)
		limit := func(changes string) {
			t.Helper()
			if got := b.command(t, strings.Fields("admin accounts limits chaos@example.com "+changes)...); got.code != exitDone {
				t.Fatalf("limits %s: exit %d, %s", changes, got.code, got.stderr)
			}
		}
		budget := func() (daily float64) {
			var account struct{ Daily struct{ Budget float64 } }
			b.mustCall(t, "GET", "/v1/account", "", &account)
			return account.Daily.Budget
		}
		becomes := func(what string, is func() bool) {
			t.Helper()
			for until := time.Now().Add(20 * time.Second); !is(); time.Sleep(50 * time.Millisecond) {
				if time.Now().After(until) {
					t.Fatalf("%s: not seen by the server", what)
				}
			}
		}
		limit("daily_units=5000 max_videos=10")
		becomes("5,000 units a day", func() bool { return budget() == 5000 })
		var started struct{ Scroll apptest.Scroll }
		b.mustCall(t, "POST", "/v1/scrolls", `{"idempotencyKey":"limits-of-one"}`, &started)
		if ended := b.await(t, started.Scroll.ID); ended.Status != "completed" || b.countVideos(t) != 10 {
			t.Errorf("the scroll is %s and the library has %d videos, want it completed with 10", ended.Status, b.countVideos(t))
		}
		limit("daily_units=1")
		becomes("a unit a day", func() bool {
			err := b.call(t.Context(), "GET", "/v1/workspace", "", nil)
			return err != nil && strings.Contains(err.Error(), "429")
		})
		limit("daily_units=plan")
		becomes("the plan's units", func() bool {
			return b.call(t.Context(), "GET", "/v1/workspace", "", nil) == nil && budget() == 100_000_000
		})
	})
}
