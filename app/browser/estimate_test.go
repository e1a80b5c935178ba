package browser_test

import "testing"

// TestAnEstimateIsAskedOnce counts the estimates, which cost a unit each.
func TestAnEstimateIsAskedOnce(t *testing.T) {
	needBrowser(t)
	running := serve(t)
	account := prepared(t, running)
	b := launch(t).tab(t, running.BaseURL)
	b.signIn(account.Key, true)
	asked := func(where string, want int) {
		t.Helper()
		b.estimated()
		if got := eval[int](b, estimates); got != want {
			t.Errorf("%s: %d estimates were asked for, want %d", where, got, want)
		}
	}
	settle := func() { // the estimate waits until the typing stops
		t.Helper()
		eval[bool](b, `new Promise((done) => setTimeout(() => done(true), 1500))`)
	}
	b.estimated()
	b.press("Scrolls")
	asked("at first", 1)
	b.press("Account")
	b.sees("Today")
	b.press("Scrolls")
	asked("once more", 1)
	for _, part := range []string{"l", "latte", "latte art"} {
		b.fill("What to look for this time", part)
	}
	settle()
	asked("with a prompt", 2)
	b.fill("What to look for this time", "latte ar")
	b.fill("What to look for this time", "latte art")
	settle()
	asked("with the same prompt", 2)

	// A change of the account makes the answers old.
	b.press("Rules")
	b.fill("Rules", "- no giveaways\n- at least 100 views")
	b.press("Save the rules")
	b.sees("Version 2 is in force")
	b.press("Scrolls")
	asked("after a change", 3)
}
