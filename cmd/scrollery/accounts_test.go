package main

import (
	"strings"
	"testing"

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

			{"credits grant " + who + " --credits 100 --reference march", exitDone, "100\n"},
			{"credits grant " + who + " --credits 100 --reference march", exitDone, "100\n"},
			{"credits grant " + who + " --credits 101 --reference march", exitFailed, "the reference moved +100 credits before"},
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
